/* samuel-emit: `samuel emit`, answered by the server of the project if there is one.
 *
 * It takes the arguments of `samuel emit` and knows nothing but the socket, the protocol (src/samuel/emit/serve/wire.py)
 * and what to do without an answer: start `samuel emit` (in a run, the program that the command line names), or, once
 * handlers may have been called, give the answer that the server sent for this case. src/samuel/emit/serve/thin_client.py does the same in Python.
 *
 * The build gives it SAMUEL_VERSION, and in passed.h PASSED_NAMES and PASSED_PREFIXES. With WITHOUT_LIBC it needs no
 * C library, whose start takes longer than the rest of the client: hence no function here that prints or formats.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#ifdef __APPLE__
#include <mach-o/dyld.h>
#include <stdio.h>
#else
#include <sys/mman.h>
#endif
#ifdef WITHOUT_LIBC
#include "bare_linux.h"
#endif
#include "passed.h"

#define PROTOCOL "samuel-emit 2"
#define REPLY_MS 2000                          /* for the server to take the call, and to be about to call handlers */
#define LOOK_MS 50
#define LARGEST_STDIN (16u * 1024 * 1024 + 1)  /* one byte more than the server takes: it says so */
#define LARGEST_FRAME (64u * 1024 * 1024)
#define CHUNK 16384u                           /* read at once; most messages are shorter */
#define LONGEST_DEADLINE 1000000               /* seconds */
#define NO_FAILURE 255
#define ENDING ".sock"
#define PROOF_FILE "/fd/63"
#define DENY 2 /* what agents take for a refusal: without an answer nothing goes on */
#define NO_MEMORY "error: `samuel-emit` has no memory left, so this is denied\n"
#define NO_INPUT "error: `samuel-emit` cannot read its input, so this is denied\n"
#define NO_READER "error: `samuel-emit` cannot write its answer, so this is denied\n"

extern char **environ;
static char **arguments; /* those after the program's name, without the server and the deadline */
/* `--server PATH PID BORN FALLBACK` in front of everything else: the server of a run, and the program that answers
 * without it. These four words; NULL for the server of the project. */
static char **run_server;
static char directory[PATH_MAX], installation[PATH_MAX];
static char proof[128]; /* that nothing confines this process, as src/samuel/emit/serve/proof.py has it */

typedef struct {
    char *data;
    size_t size, room;
} Buffer;

static Buffer standard_input, received;
static int has_input; /* stdin was read, so `samuel emit` needs it from us */

/* Never without a reason: Codex takes exit code 2 and nothing on stderr for a fault of the hook, and goes on. */
_Noreturn static void deny(const char *reason) {
    if (write(2, reason, strlen(reason)) < 0) _exit(DENY);
    _exit(DENY);
}

/* Make room for so many more bytes. */
static void reserve(Buffer *buffer, size_t size) {
    if (buffer->size + size <= buffer->room) return;
    buffer->room = 2 * (buffer->size + size);
    char *larger = malloc(buffer->room);
    if (!larger) deny(NO_MEMORY);
    if (buffer->size) memcpy(larger, buffer->data, buffer->size);
    buffer->data = larger; /* the smaller one is not given back: the program ends soon */
}

static void add(Buffer *buffer, const void *data, size_t size) {
    reserve(buffer, size);
    memcpy(buffer->data + buffer->size, data, size);
    buffer->size += size;
}

static void add_field(Buffer *buffer, const char *text) {
    add(buffer, "", 1); /* NUL: between the fields */
    add(buffer, text, strlen(text));
}

static void add_text(Buffer *buffer, const char *text) { add(buffer, text, strlen(text)); }

/* Three texts after another, as many of them as there is room for; gives the length of all. */
static size_t join(char *to, size_t room, const char *first, const char *second, const char *third) {
    const char *const texts[] = {first, second, third};
    size_t length = 0;
    for (int i = 0; i < 3; i++)
        for (const char *at = texts[i]; *at; at++, length++)
            if (length + 1 < room) to[length] = *at;
    to[length < room ? length : room - 1] = '\0';
    return length;
}

/* A number in decimal, or in hexadecimal with zeros in front; `to` has room for 24 characters. */
static char *number_text(char *to, uint64_t number, unsigned base, int digits) {
    char reversed[24];
    int length = 0;
    for (; number || length < digits; number /= base) reversed[length++] = "0123456789abcdef"[number % base];
    for (int i = 0; i < length; i++) to[i] = reversed[length - 1 - i];
    to[length] = '\0';
    return to;
}

static void put_number(char *at, uint32_t number) {
    for (int i = 3; i >= 0; i--, number >>= 8) at[i] = (char)number;
}

static uint32_t number_at(const char *at) {
    uint32_t number = 0;
    for (int i = 0; i < 4; i++) number = number << 8 | (unsigned char)at[i];
    return number;
}

/* Without the server */

/* Give stdin, which was read, to the program that is started next. */
static int replace_stdin(void) {
#ifdef __APPLE__
    FILE *file = tmpfile();
    int fd = file ? fileno(file) : -1;
#else
    int fd = memfd_create("stdin", 0);
#endif
    if (fd < 0) return -1;
    for (size_t at = 0; at < standard_input.size;) {
        ssize_t wrote = write(fd, standard_input.data + at, standard_input.size - at);
        if (wrote <= 0) return -1;
        at += (size_t)wrote;
    }
    return lseek(fd, 0, SEEK_SET) < 0 || dup2(fd, 0) < 0 ? -1 : 0;
}

/* Start the `samuel` of a directory, as `execvp` does; an empty name is the working directory. */
static void start_in(const char *place, size_t length, char **words) {
    char program[PATH_MAX + 16], name[PATH_MAX];
    if (length >= sizeof name) return;
    memcpy(name, place, length);
    name[length] = '\0';
    join(program, sizeof program, name, length ? "/" : "", "samuel");
    execve(program, words, environ);
}

/* Start the `samuel` of this installation, or else the one on PATH. */
static void start_samuel(char **words) {
    int reason = 0;
    if (installation[0]) start_in(installation, strlen(installation), words);
    const char *at = getenv("PATH");
    for (const char *end = at; at; at = *end ? end + 1 : NULL) {
        end = strchr(at, ':');
        if (!end) end = at + strlen(at);
        start_in(at, (size_t)(end - at), words);
        if (errno != ENOENT && errno != ENOTDIR) reason = errno;
    }
    errno = reason ? reason : ENOENT;
}

/* Become `samuel emit`, or in a run the program that the command line names for this case. */
_Noreturn static void cold(void) {
    int count = 0;
    while (arguments[count]) count++;
    char **words = malloc(((size_t)count + 4) * sizeof *words);
    if (words && (!has_input || replace_stdin() == 0)) {
        signal(SIGPIPE, SIG_DFL);
        words[0] = "samuel";
        words[1] = "emit";
        words[2] = run_server ? run_server[3] : "--server-was-asked";
        memcpy(words + 3, arguments, ((size_t)count + 1) * sizeof *words); /* with the NULL at their end */
        if (run_server)
            execve(words[2], words + 2, environ);
        else
            start_samuel(words);
    }
    Buffer message = {0};
    char number[24];
    add_text(&message, "error: `samuel-emit` cannot start `");
    add_text(&message, run_server ? run_server[3] : "samuel");
    add_text(&message, "`: ");
    if (errno == ENOENT || errno == EACCES) {
        add_text(&message, errno == ENOENT ? "there is no such program" : "it may not be started");
    } else {
        add_text(&message, "error ");
        add_text(&message, number_text(number, (uint64_t)errno, 10, 1));
    }
    add(&message, "\n", 2); /* with the NUL at its end */
    deny(message.data);
}

/* Where the server listens: as src/samuel/emit/serve/socket_name.py has it */

static uint64_t hash(const char *data, size_t size) { /* FNV-1a */
    uint64_t value = 0xcbf29ce484222325u;
    for (size_t i = 0; i < size; i++) value = (value ^ (unsigned char)data[i]) * 0x100000001b3u;
    return value;
}

static int is_c_locale(void) {
    const char *all = getenv("LC_ALL"), *lang = getenv("LANG");
    return !(all && all[0]) && (!lang || !lang[0] || !strcmp(lang, "C") || !strcmp(lang, "POSIX"));
}

/* Python sets LC_CTYPE for itself where there is no other locale. */
static int is_coerced(const char *variable) {
    static const char *const values[] = {"LC_CTYPE=C.UTF-8", "LC_CTYPE=C.utf8", "LC_CTYPE=UTF-8"};
    for (int i = 0; i < 3; i++)
        if (!strcmp(variable, values[i])) return is_c_locale();
    return 0;
}

static int decides(const char *variable) {
    if (is_coerced(variable)) return 0;
    static const char *const names[] = {PASSED_NAMES}, *const prefixes[] = {PASSED_PREFIXES};
    const char *equals = strchr(variable, '=');
    size_t length = equals ? (size_t)(equals - variable) : strlen(variable);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == length && !strncmp(names[i], variable, length)) return 1;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (length >= strlen(prefixes[i]) && !strncmp(prefixes[i], variable, strlen(prefixes[i]))) return 1;
    return 0;
}

static int is_kind(const char *place, const char *name, mode_t kind) { /* kind 0: anything */
    char path[PATH_MAX + 32];
    struct stat status;
    join(path, sizeof path, strcmp(place, "/") ? place : "", "/", name);
    return stat(path, &status) == 0 && (!kind || (status.st_mode & S_IFMT) == kind);
}

/* Shorten `place` to the directory above it; 0 at the top. */
static int ascend(char *place) {
    char *slash = strrchr(place, '/');
    if (!slash || !strcmp(place, "/")) return 0;
    slash[slash == place] = '\0';
    return 1;
}

static void find_root(char *root) {
    size_t size = strlen(directory) + 1;
    memcpy(root, directory, size);
    do
        if (is_kind(root, "samuel.toml", S_IFREG) || is_kind(root, ".git", 0)) return;
    while (ascend(root));
    memcpy(root, directory, size);
    do
        if (is_kind(root, ".system/hooks", S_IFDIR)) return;
    while (ascend(root));
    memcpy(root, directory, size);
}

static int is_private(const char *place) {
    struct stat status;
    return lstat(place, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == getuid() &&
           !(status.st_mode & 077);
}

/* The path that leads to a directory over no link, in `real`; 0 if there is none. */
static int real_path(const char *place, char *real) {
#ifdef __APPLE__
    return realpath(place, real) != NULL;
#else
    char link[64] = "/proc/self/fd/";
    int fd = open(place, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return 0;
    number_text(link + strlen(link), (uint64_t)fd, 10, 1);
    ssize_t size = readlink(link, real, PATH_MAX - 1);
    close(fd);
    if (size <= 0) return 0;
    real[size] = '\0';
    return real[0] == '/';
#endif
}

/* Whether a place is in the project, which must not bring a socket of its own. */
static int is_in(const char *place, const char *root) {
    char real[PATH_MAX];
    size_t length = strlen(root);
    return !real_path(place, real) || (!strncmp(real, root, length) && (real[length] == '/' || length == 1));
}

/* The path of the socket; 0 where no directory for it belongs to this user alone. */
static int socket_path(char *path, size_t room) {
    char root[PATH_MAX], name[64], own_place[PATH_MAX + 32], shared_place[64], first[24], second[24];
    const char *const places[] = {own_place, shared_place};
    Buffer project = {0};
    uint64_t variables = 0;
    find_root(root);
    add(&project, root, strlen(root));
    add_field(&project, installation);
    add_field(&project, SAMUEL_VERSION);
    for (char **variable = environ; *variable; variable++)
        if (decides(*variable)) variables += hash(*variable, strlen(*variable));
    number_text(second, variables, 16, 16);
    join(name, sizeof name, number_text(first, hash(project.data, project.size), 16, 16), "-", second);
    const char *own = getenv("XDG_RUNTIME_DIR");
    join(own_place, sizeof own_place, own ? own : "", "/samuel", "");
    join(shared_place, sizeof shared_place, "/tmp/samuel-", number_text(first, getuid(), 10, 1), "");
    for (int i = own && own[0] == '/' && !is_in(own, root) ? 0 : 1; i < 2; i++)
        if (strlen(places[i]) + 1 + strlen(name) + strlen(ENDING) < room && is_private(places[i])) {
            size_t length = join(path, room, places[i], "/", name);
            join(path + length, room - length, ENDING, "", "");
            return 1;
        }
    return 0;
}

static int find_installation(void) {
    char program[PATH_MAX];
#ifdef __APPLE__
    uint32_t size = sizeof program;
    if (_NSGetExecutablePath(program, &size) || !realpath(program, installation)) return 0;
#else
    ssize_t size = readlink("/proc/self/exe", program, sizeof program - 1);
    if (size < 0) return 0;
    program[size] = '\0';
    memcpy(installation, program, (size_t)size + 1);
#endif
    return ascend(installation);
}

#ifndef WITHOUT_LIBC
static void unblock(int number) {
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, number);
    sigprocmask(SIG_UNBLOCK, &mask, NULL);
}
#endif

/* `--deadline SECONDS` at the end of the command line: then the kernel ends this process, and the `samuel emit` that it
 * may have become, since a timer survives that. Anything else is left to the parser of `samuel emit`. */
static void start_deadline(int count) {
    if (count < 2 || strcmp(arguments[count - 2], "--deadline")) return;
    const char *at = arguments[count - 1];
    unsigned seconds = 0;
    for (; *at >= '0' && *at <= '9' && seconds <= LONGEST_DEADLINE; at++)
        seconds = 10 * seconds + (unsigned)(*at - '0');
    if (*at || !seconds || seconds > LONGEST_DEADLINE) return;
    arguments[count - 2] = NULL;
    signal(SIGALRM, SIG_DFL); /* whatever our caller did to it */
    unblock(SIGALRM);
    alarm(seconds);
}

/* The server of a run, which there is on Linux only */

#ifndef __APPLE__
/* When a process started, as its /proc/PID/stat has it, in `born`; 0 if that cannot be known. */
static int start_time(const char *pid, char *born, size_t room) {
    char path[64], data[2048];
    join(path, sizeof path, "/proc/", pid, "/stat");
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t size = fd < 0 ? -1 : read(fd, data, sizeof data - 1);
    if (fd >= 0) close(fd);
    if (size <= 0) return 0;
    data[size] = '\0';
    char *at = strrchr(data, ')'); /* the name before it may have anything in it */
    for (int field = 2; at && field < 22; field++) at = strchr(at + 1, ' ');
    if (!at) return 0;
    size_t length = 0;
    for (at++; at[length] && at[length] != ' ' && at[length] != '\n';) length++;
    if (!length || length >= room) return 0;
    memcpy(born, at, length);
    born[length] = '\0';
    return 1;
}

/* Whether the peer of a connection is the process that the command line names. Whatever an agent starts belongs to the
 * same user and could listen at the same path, but it has another process id, or started later. */
static int is_run_server(long peer) {
    char pid[24], born[24];
    if (peer <= 0 || strcmp(number_text(pid, (uint64_t)peer, 10, 1), run_server[1])) return 0;
    return start_time(pid, born, sizeof born) && !strcmp(born, run_server[2]);
}

static void read_proof(long server) {
    char pid[24], link[64];
    join(link, sizeof link, "/proc/", number_text(pid, (uint64_t)server, 10, 1), PROOF_FILE);
    ssize_t size = readlink(link, proof, sizeof proof - 1);
    proof[size > 0 ? size : 0] = '\0';
}
#endif

/* The conversation */

static int connected(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, path, strlen(path) + 1); /* it fits: it was put where there is as much room */
    /* Not blocking: a server that takes no more calls must not hold up this one. */
#ifdef __APPLE__
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (fd >= 0 && fcntl(fd, F_SETFL, O_NONBLOCK) < 0) return -1;
#else
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
#endif
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address)) return -1;
#ifdef __APPLE__
    uid_t user;
    gid_t group;
    if (run_server || getpeereid(fd, &user, &group)) return -1;
#else
    struct ucred peer;
    socklen_t size = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size)) return -1;
    uid_t user = peer.uid;
    if (run_server && !is_run_server(peer.pid)) return -1;
    if (peer.pid > 0) read_proof(peer.pid);
#endif
    return user == getuid() ? fd : -1; /* the directory belongs to this user; the server must, too */
}

static int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Wait until the socket is ready, or for as long as an event may go unnoticed; 0 when there is no time left. */
static int ready(int fd, short events, int64_t until) {
    int64_t left = until - now_ms();
    struct pollfd awaited = {.fd = fd, .events = events};
    return left > 0 && (poll(&awaited, 1, (int)(left < LOOK_MS ? left : LOOK_MS)) >= 0 || errno == EINTR);
}

static int send_all(int fd, const Buffer *message, int64_t until) {
    char length[4];
    put_number(length, (uint32_t)message->size);
    for (size_t at = 0; at < 4 + message->size;) {
        /* In one piece, so that the server is woken once. */
        struct iovec parts[] = {{length + (at < 4 ? at : 4), at < 4 ? 4 - at : 0},
                                {message->data + (at < 4 ? 0 : at - 4), message->size - (at < 4 ? 0 : at - 4)}};
        ssize_t sent = writev(fd, parts, 2);
        if (sent > 0)
            at += (size_t)sent;
        else if ((errno != EAGAIN && errno != EINTR) || !ready(fd, POLLOUT, until))
            return 0;
    }
    return 1;
}

/* The server closes the connection after its last message, so a client that waits for this sleeps through the messages
 * before it: to be woken for each would take a processor that server and hook could use. A message of which a part has
 * come is waited for as usual, since it may be too large for the socket. */
#ifdef POLLRDHUP
#define END_OF_CONNECTION POLLRDHUP
#else
#define END_OF_CONNECTION POLLIN
#endif

/* The kind of the server's next message, whose body is then received.data + 5; 0 if none comes in time. */
static char next_frame(int fd, int64_t until) {
    for (;;) {
        if (received.size >= 5) {
            uint32_t size = number_at(received.data + 1);
            if (size > LARGEST_FRAME) return 0;
            if (received.size >= 5 + (size_t)size) return received.data[0];
        }
        reserve(&received, CHUNK);
        ssize_t count = recv(fd, received.data + received.size, CHUNK, 0);
        if (count > 0)
            received.size += (size_t)count;
        else if (count == 0 || (errno != EAGAIN && errno != EINTR))
            return 0;
        else if (!ready(fd, received.size ? POLLIN : END_OF_CONNECTION, until))
            return 0;
    }
}

static size_t body_size(void) { return number_at(received.data + 1); }

static void drop_frame(void) {
    size_t size = 5 + body_size();
    memmove(received.data, received.data + size, received.size - size);
    received.size -= size;
}

/* The next message that is not just ACCEPTED, after which there is as much time again. */
static char next_reply(int fd, int64_t milliseconds) {
    char kind;
    while ((kind = next_frame(fd, now_ms() + milliseconds)) == 'A') drop_frame();
    return kind;
}

static void read_stdin(void) {
    has_input = 1;
    while (standard_input.size < LARGEST_STDIN) {
        size_t room = LARGEST_STDIN - standard_input.size;
        reserve(&standard_input, CHUNK);
        ssize_t count = read(0, standard_input.data + standard_input.size, room < CHUNK ? room : CHUNK);
        if (count > 0) {
            standard_input.size += (size_t)count;
        } else if (count < 0 && errno == EAGAIN) {
            struct pollfd awaited = {.fd = 0, .events = POLLIN};
            poll(&awaited, 1, -1);
        } else if (count == 0) {
            break;
        } else if (errno != EINTR) {
            deny(NO_INPUT);
        }
    }
}

/* Whether this is an answer, all of it: two exit codes, and parts for stdout and stderr. */
static int is_answer(const char *body, size_t size) {
    size_t at = 2;
    while (at + 5 <= size && (body[at] == 1 || body[at] == 2)) at += 5 + (size_t)number_at(body + at + 1);
    return at == size;
}

/* Write an answer to stdout and stderr, and end with its exit code. */
_Noreturn static void write_answer(const char *body, size_t size) {
    int code = (unsigned char)body[0], failure = (unsigned char)body[1];
    for (size_t at = 2; at < size;) {
        int stream = body[at];
        size_t length = number_at(body + at + 1);
        at += 5;
        for (size_t end = at + length; at < end;) {
            ssize_t wrote = write(stream, body + at, end - at);
            if (wrote > 0) {
                at += (size_t)wrote;
            } else if (errno != EINTR) {
                if (stream == 1 && failure == DENY) deny(NO_READER);
                if (stream == 1) _exit(failure == NO_FAILURE ? 1 : failure);
                at = end;
            }
        }
    }
    _exit(code);
}

/* Whether the message is a COMMITTED: a time, and an answer. */
static int is_committed(void) { return body_size() >= 4 && is_answer(received.data + 9, body_size() - 4); }

/* The server is silent. If a COMMITTED came after all, its answer counts; else none can come any more. */
_Noreturn static void no_answer(int fd) {
    shutdown(fd, SHUT_RDWR);
    if (next_reply(fd, 0) == 'F' && is_committed()) write_answer(received.data + 9, body_size() - 4);
    cold();
}

static void send_header(int fd) {
    Buffer header = {0};
    char count[24];
    int number = 0;
    while (arguments[number]) number++;
    number_text(count, (uint64_t)number, 10, 1);
    reserve(&header, CHUNK);
    add_text(&header, PROTOCOL);
    add_field(&header, "emit");
    add_field(&header, SAMUEL_VERSION);
    add_field(&header, installation);
    add_field(&header, directory);
    add_field(&header, proof);
    add_field(&header, count);
    for (int i = 0; i < number; i++) add_field(&header, arguments[i]);
    for (char **variable = environ; *variable; variable++) add_field(&header, *variable);
    if (!send_all(fd, &header, now_ms() + REPLY_MS)) no_answer(fd);
}

/* `--socket`: what a program that speaks the protocol itself has to know; nothing where there cannot be a server. */
static void print_socket(const char *path) {
    connected(path); /* for the proof, if there is a server */
    const char *const lines[] = {path, SAMUEL_VERSION, installation, directory, proof};
    Buffer text = {0};
    for (int i = 0; i < 5; i++) {
        add_text(&text, lines[i]);
        add_text(&text, "\n");
    }
    _exit(write(1, text.data, text.size) == (ssize_t)text.size ? 0 : 1);
}

/* Whether stdin, stdout and stderr are open: else the socket would take the place of one of them. */
static int has_streams(void) {
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0) return 0;
    return 1;
}

/* The words of `--server`, and the path among them if it fits; a path that does not, is one where no server listens. */
static int take_run_server(char **words, int count, char *path, size_t room) {
    if (count < 6 || strcmp(words[1], "--server")) return 0;
    run_server = words + 2;
    path[0] = '\0';
    if (strlen(run_server[0]) < room) join(path, room, run_server[0], "", "");
    return 5;
}

int main(int count, char **words) {
    char path[sizeof((struct sockaddr_un *)0)->sun_path];
    int taken = take_run_server(words, count, path, sizeof path);
    arguments = words + 1 + taken;
    start_deadline(count - 1 - taken);
    signal(SIGPIPE, SIG_IGN);
    const char *mode = getenv("SAMUEL_SERVE"), *nested = getenv("SAMUEL_EVENT_ID");
    int asks = count == 2 && !strcmp(words[1], "--socket");
    int is_on = run_server || !(mode && !strcmp(mode, "off"));
    int is_served = find_installation() && is_on && !(nested && nested[0]) &&
                    (asks || (has_streams() && !isatty(0) && !isatty(1))) && getcwd(directory, sizeof directory) &&
                    (run_server ? path[0] : socket_path(path, sizeof path));
    if (asks && is_served) print_socket(path);
    if (asks) _exit(0);
    if (!is_served) cold();
    int fd = connected(path);
    if (fd < 0) cold();
    send_header(fd);
    /* Without waiting for ACCEPTED: meanwhile the server looks at its files. If it says COLD, `samuel emit` gets it. */
    read_stdin();
    if (!send_all(fd, &standard_input, now_ms() + REPLY_MS)) no_answer(fd);
    char kind = next_reply(fd, REPLY_MS);
    if (kind == 'F' && is_committed()) {
        /* From here on handlers may have been called: this answer or that one, never a second call. */
        size_t size = body_size() - 4;
        char *unanswered = malloc(size + 1);
        if (!unanswered) deny(NO_MEMORY);
        memcpy(unanswered, received.data + 9, size);
        int64_t until = now_ms() + number_at(received.data + 5);
        drop_frame();
        if (next_frame(fd, until) != 'R' || !is_answer(received.data + 5, body_size())) write_answer(unanswered, size);
        kind = 'R';
    }
    if (kind == 'R' && is_answer(received.data + 5, body_size())) write_answer(received.data + 5, body_size());
    if (kind == 'C') cold();
    no_answer(fd);
}
