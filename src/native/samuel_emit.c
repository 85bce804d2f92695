/* samuel-emit: `samuel emit`, answered by the server of the project if there is one.
 *
 * It takes the arguments of `samuel emit` and knows nothing but the socket, the protocol (src/samuel/serve/wire.py)
 * and what to do without an answer: start `samuel emit`, or, once handlers may have been called, give the answer that
 * the server sent for this case. src/samuel/serve/thin_client.py does the same in Python.
 *
 * The build gives it SAMUEL_VERSION, and in passed.h PASSED_NAMES and PASSED_PREFIXES.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
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
#else
#include <sys/mman.h>
#endif
#include "passed.h"

#define PROTOCOL "samuel-emit 1"
#define REPLY_MS 2000                          /* for the server to take the call, and to be about to call handlers */
#define LARGEST_STDIN (16u * 1024 * 1024 + 1)  /* one byte more than the server takes: it says so */
#define LARGEST_FRAME (64u * 1024 * 1024)
#define LONGEST_DEADLINE 1000000               /* seconds */
#define NO_FAILURE 255
#define DENY 2 /* what agents take for a refusal: without an answer nothing goes on */

extern char **environ;
static char **arguments; /* those after the program's name, without the server and the deadline */
static char directory[PATH_MAX], installation[PATH_MAX];

typedef struct {
    char *data;
    size_t size, room;
} Buffer;

static Buffer standard_input, received;
static int has_input; /* stdin was read, so `samuel emit` needs it from us */

static void add(Buffer *buffer, const void *data, size_t size) {
    if (buffer->size + size > buffer->room) {
        buffer->room = 2 * (buffer->size + size) + 4096;
        buffer->data = realloc(buffer->data, buffer->room);
        if (!buffer->data) exit(DENY);
    }
    memcpy(buffer->data + buffer->size, data, size);
    buffer->size += size;
}

static void add_field(Buffer *buffer, const char *text) {
    add(buffer, "", 1); /* NUL: between the fields */
    add(buffer, text, strlen(text));
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

/* Become `samuel emit`. */
static void cold(void) {
    char program[PATH_MAX + 16];
    int count = 0;
    while (arguments[count]) count++;
    char **words = calloc((size_t)count + 3, sizeof *words);
    if (words && (!has_input || replace_stdin() == 0)) {
        signal(SIGPIPE, SIG_DFL);
        words[0] = "samuel";
        words[1] = "emit";
        memcpy(words + 2, arguments, (size_t)count * sizeof *words);
        snprintf(program, sizeof program, "%s/samuel", installation);
        if (installation[0]) execv(program, words);
        execvp("samuel", words);
    }
    fprintf(stderr, "error: `samuel-emit` cannot start `samuel`: %s\n", strerror(errno));
    exit(DENY);
}

/* Where the server listens: as src/samuel/serve/place.py has it */

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
    size_t length = strcspn(variable, "=");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == length && !strncmp(names[i], variable, length)) return 1;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (length >= strlen(prefixes[i]) && !strncmp(prefixes[i], variable, strlen(prefixes[i]))) return 1;
    return 0;
}

static int is_kind(const char *place, const char *name, mode_t kind) { /* kind 0: anything */
    char path[PATH_MAX + 32];
    struct stat status;
    snprintf(path, sizeof path, "%s/%s", strcmp(place, "/") ? place : "", name);
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
    strcpy(root, directory);
    do
        if (is_kind(root, "samuel.toml", S_IFREG) || is_kind(root, ".git", 0)) return;
    while (ascend(root));
    strcpy(root, directory);
    do
        if (is_kind(root, ".system/hooks", S_IFDIR)) return;
    while (ascend(root));
    strcpy(root, directory);
}

static int is_private(const char *place) {
    struct stat status;
    return lstat(place, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == getuid() &&
           !(status.st_mode & 077);
}

/* Whether a place is in the project, which must not bring a socket of its own. */
static int is_in(const char *place, const char *root) {
    char real[PATH_MAX];
    size_t length = strlen(root);
    return !realpath(place, real) || (!strncmp(real, root, length) && (real[length] == '/' || length == 1));
}

/* The path of the socket; 0 where no directory for it belongs to this user alone. */
static int socket_path(char *path, size_t room) {
    char root[PATH_MAX], name[64], places[2][PATH_MAX + 32];
    Buffer project = {0};
    uint64_t variables = 0;
    find_root(root);
    add(&project, root, strlen(root));
    add_field(&project, installation);
    add_field(&project, SAMUEL_VERSION);
    for (char **variable = environ; *variable; variable++)
        if (decides(*variable)) variables += hash(*variable, strlen(*variable));
    int length = snprintf(name, sizeof name, "%016llx-%016llx.sock",
                          (unsigned long long)hash(project.data, project.size), (unsigned long long)variables);
    const char *own = getenv("XDG_RUNTIME_DIR");
    snprintf(places[0], sizeof places[0], "%s/samuel", own ? own : "");
    snprintf(places[1], sizeof places[1], "/tmp/samuel-%lu", (unsigned long)getuid());
    for (int i = own && own[0] == '/' && !is_in(own, root) ? 0 : 1; i < 2; i++)
        if (strlen(places[i]) + 1 + (size_t)length < room && is_private(places[i]))
            return snprintf(path, room, "%s/%s", places[i], name) > 0;
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
    strcpy(installation, program);
#endif
    return ascend(installation);
}

/* `--deadline SECONDS` at the end of the command line: then the kernel ends this process, and the `samuel emit` that it
 * may have become, since a timer survives that. Anything else is left to the parser of `samuel emit`. */
static void start_deadline(int count) {
    if (count < 2 || strcmp(arguments[count - 2], "--deadline")) return;
    const char *last = arguments[count - 1];
    char *end;
    unsigned long seconds = strtoul(last, &end, 10);
    if (last[0] < '0' || last[0] > '9' || *end || !seconds || seconds > LONGEST_DEADLINE) return;
    arguments[count - 2] = NULL;
    sigset_t alarm_only;
    sigemptyset(&alarm_only);
    sigaddset(&alarm_only, SIGALRM);
    signal(SIGALRM, SIG_DFL); /* whatever our caller did to it */
    sigprocmask(SIG_UNBLOCK, &alarm_only, NULL);
    alarm((unsigned)seconds);
}

/* The server of a run, which the command line names: `--server PATH PID BORN` in front of everything else */

static const char *const *run_server; /* these three words; NULL for the server of the project */

/* When a process started, as its /proc/PID/stat has it, in `born`; 0 if that cannot be known. */
static int start_time(const char *pid, char *born, size_t room) {
    char path[64], data[2048];
    snprintf(path, sizeof path, "/proc/%s/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t size = fd < 0 ? -1 : read(fd, data, sizeof data - 1);
    if (fd >= 0) close(fd);
    if (size <= 0) return 0;
    data[size] = '\0';
    char *at = strrchr(data, ')'); /* the name before it may have anything in it */
    for (int field = 2; at && field < 22; field++) at = strchr(at + 1, ' ');
    if (!at) return 0;
    size_t length = strcspn(++at, " \n");
    if (!length || length >= room) return 0;
    memcpy(born, at, length);
    born[length] = '\0';
    return 1;
}

/* Whether the peer of a connection is the process that the command line names. Whatever an agent starts belongs to the
 * same user and could listen at the same path, but it has another process id, or started later. */
static int is_run_server(long peer) {
    char pid[24], born[24];
    snprintf(pid, sizeof pid, "%ld", peer);
    return peer > 0 && !strcmp(pid, run_server[1]) && start_time(pid, born, sizeof born) &&
           !strcmp(born, run_server[2]);
}

/* The conversation */

static int connected(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    memcpy(address.sun_path, path, strlen(path) + 1); /* it fits: it was put where there is as much room */
    /* Not blocking: a server that takes no more calls must not hold up this one. */
    if (fd < 0 || fcntl(fd, F_SETFL, O_NONBLOCK) < 0 || connect(fd, (struct sockaddr *)&address, sizeof address))
        return -1;
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
#endif
    return user == getuid() ? fd : -1; /* the directory belongs to this user; the server must, too */
}

static int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Wait until the socket is ready; 0 when there is no time left. */
static int ready(int fd, short events, int64_t until) {
    for (;;) {
        int64_t left = until - now_ms();
        struct pollfd wanted = {.fd = fd, .events = events};
        int count = poll(&wanted, 1, left > 0 ? (int)(left > INT_MAX ? INT_MAX : left) : 0);
        if (count > 0) return 1;
        if (count == 0 || errno != EINTR) return 0;
    }
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

/* The kind of the server's next message, whose body is then received.data + 5; 0 if none comes in time. */
static char next_frame(int fd, int64_t until) {
    for (;;) {
        if (received.size >= 5) {
            uint32_t size = number_at(received.data + 1);
            if (size > LARGEST_FRAME) return 0;
            if (received.size >= 5 + (size_t)size) return received.data[0];
        }
        char part[65536];
        ssize_t count = recv(fd, part, sizeof part, 0);
        if (count > 0)
            add(&received, part, (size_t)count);
        else if (count == 0 || (errno != EAGAIN && errno != EINTR) || !ready(fd, POLLIN, until))
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
static char next_word(int fd, int64_t milliseconds) {
    char kind = next_frame(fd, now_ms() + milliseconds);
    if (kind != 'A') return kind;
    drop_frame();
    return next_frame(fd, now_ms() + milliseconds);
}

static void read_stdin(void) {
    char part[65536];
    has_input = 1;
    while (standard_input.size < LARGEST_STDIN) {
        size_t room = LARGEST_STDIN - standard_input.size;
        ssize_t count = read(0, part, room < sizeof part ? room : sizeof part);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) break;
        add(&standard_input, part, (size_t)count);
    }
}

/* Whether this is an answer, all of it: two exit codes, and parts for stdout and stderr. */
static int is_answer(const char *body, size_t size) {
    size_t at = 2;
    while (at + 5 <= size && (body[at] == 1 || body[at] == 2)) at += 5 + (size_t)number_at(body + at + 1);
    return at == size;
}

/* Write an answer to stdout and stderr, and end with its exit code. */
static void give(const char *body, size_t size) {
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
                if (stream == 1) exit(failure == NO_FAILURE ? 1 : failure); /* nobody reads the answer */
                at = end;
            }
        }
    }
    exit(code);
}

/* Whether the message is a COMMITTED: a time, and an answer. */
static int is_committed(void) { return body_size() >= 4 && is_answer(received.data + 9, body_size() - 4); }

/* The server is silent. If a COMMITTED came after all, its answer counts; else none can come any more. */
static void no_answer(int fd) {
    shutdown(fd, SHUT_RDWR);
    if (next_word(fd, 0) == 'F' && is_committed()) give(received.data + 9, body_size() - 4);
    cold();
}

static void send_header(int fd) {
    Buffer header = {0};
    char count[16];
    int number = 0;
    while (arguments[number]) number++;
    snprintf(count, sizeof count, "%d", number);
    add(&header, PROTOCOL, strlen(PROTOCOL));
    add_field(&header, "emit");
    add_field(&header, SAMUEL_VERSION);
    add_field(&header, installation);
    add_field(&header, directory);
    add_field(&header, count);
    for (int i = 0; i < number; i++) add_field(&header, arguments[i]);
    for (char **variable = environ; *variable; variable++) add_field(&header, *variable);
    if (!send_all(fd, &header, now_ms() + REPLY_MS)) no_answer(fd);
}

/* `--socket`: what a program that speaks the protocol itself has to know; nothing where there cannot be a server. */
static void tell(const char *path) {
    printf("%s\n%s\n%s\n%s\n", path, SAMUEL_VERSION, installation, directory);
    exit(0);
}

/* Whether stdin, stdout and stderr are open: else the socket would take the place of one of them. */
static int has_streams(void) {
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0) return 0;
    return 1;
}

/* The words of `--server`, and the path among them if it fits; a path that does not, is one where nobody listens. */
static int take_run_server(char **words, int count, char *path, size_t room) {
    if (count < 5 || strcmp(words[1], "--server")) return 0;
    run_server = (const char *const *)words + 2;
    path[0] = '\0';
    if (strlen(run_server[0]) < room) strcpy(path, run_server[0]);
    return 4;
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
    if (asks && is_served) tell(path);
    if (asks) exit(0);
    if (!is_served) cold();
    int fd = connected(path);
    if (fd < 0) cold();
    send_header(fd);
    /* Without waiting for ACCEPTED: meanwhile the server looks at its files. If it says COLD, `samuel emit` gets it. */
    read_stdin();
    if (!send_all(fd, &standard_input, now_ms() + REPLY_MS)) no_answer(fd);
    char kind = next_word(fd, REPLY_MS);
    if (kind == 'F' && is_committed()) {
        /* From here on handlers may have been called: this answer or that one, never a second call. */
        size_t size = body_size() - 4;
        char *unanswered = malloc(size + 1);
        if (!unanswered) exit(DENY);
        memcpy(unanswered, received.data + 9, size);
        int64_t until = now_ms() + number_at(received.data + 5);
        drop_frame();
        if (next_frame(fd, until) != 'R' || !is_answer(received.data + 5, body_size())) give(unanswered, size);
        kind = 'R';
    }
    if (kind == 'R' && is_answer(received.data + 5, body_size())) give(received.data + 5, body_size());
    if (kind == 'C') cold();
    no_answer(fd);
}
