/* The functions of a C library that samuel_emit.c uses, for Linux on x86-64 and 64-bit ARM, and the program's start.
 *
 * A C library prepares itself for whatever a program may do: glibc asks the processor about its features some twenty
 * times, which takes longer in a virtual machine than all that this client does. These are the system calls and little
 * else. Everywhere else the client is linked with the C library, whose functions have the same names.
 */

#include <errno.h>
#include <fcntl.h>
#include <linux/limits.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

char **environ;
static int last_error;

int *__errno_location(void) { return &last_error; }

/* The kernel's interface */

#if defined __x86_64__
__asm__(".globl _start\n_start:\n  xor %ebp, %ebp\n  mov %rsp, %rdi\n  and $-16, %rsp\n  call begin\n");

static long kernel(long number, long a, long b, long c, long d, long e, long f) {
    long result;
    register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}
#elif defined __aarch64__
__asm__(".globl _start\n_start:\n  mov x29, #0\n  mov x0, sp\n  and sp, x0, #-16\n  bl begin\n");

static long kernel(long number, long a, long b, long c, long d, long e, long f) {
    register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d, x4 __asm__("x4") = e, x5 __asm__("x5") = f;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
    return x0;
}
#else
#error "only for x86-64 and 64-bit ARM"
#endif

static long result(long value) {
    if (value >= 0 || value < -4095) return value;
    last_error = (int)-value;
    return -1;
}

#define CALL(number, a, b, c, d, e) result(kernel(number, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), 0))

void _exit(int code) {
    for (;;) kernel(SYS_exit_group, code, 0, 0, 0, 0, 0);
}
ssize_t read(int fd, void *data, size_t size) { return CALL(SYS_read, fd, data, size, 0, 0); }
ssize_t write(int fd, const void *data, size_t size) { return CALL(SYS_write, fd, data, size, 0, 0); }
ssize_t writev(int fd, const struct iovec *parts, int count) { return CALL(SYS_writev, fd, parts, count, 0, 0); }
int open(const char *path, int flags, ...) { return (int)CALL(SYS_openat, AT_FDCWD, path, flags, 0, 0); }
int close(int fd) { return (int)CALL(SYS_close, fd, 0, 0, 0, 0); }
off_t lseek(int fd, off_t offset, int whence) { return CALL(SYS_lseek, fd, offset, whence, 0, 0); }
int dup2(int from, int to) { return from == to ? to : (int)CALL(SYS_dup3, from, to, 0, 0, 0); }
int fcntl(int fd, int command, ...) { return (int)CALL(SYS_fcntl, fd, command, 0, 0, 0); } /* for F_GETFD only */
uid_t getuid(void) { return (uid_t)CALL(SYS_getuid, 0, 0, 0, 0, 0); }
int memfd_create(const char *name, unsigned flags) { return (int)CALL(SYS_memfd_create, name, flags, 0, 0, 0); }
int socket(int family, int kind, int protocol) { return (int)CALL(SYS_socket, family, kind, protocol, 0, 0); }
int shutdown(int fd, int how) { return (int)CALL(SYS_shutdown, fd, how, 0, 0, 0); }
int connect(int fd, const struct sockaddr *address, socklen_t size) {
    return (int)CALL(SYS_connect, fd, address, size, 0, 0);
}
int getsockopt(int fd, int level, int name, void *value, socklen_t *size) {
    return (int)CALL(SYS_getsockopt, fd, level, name, value, size);
}
ssize_t recv(int fd, void *data, size_t size, int flags) { return CALL(SYS_recvfrom, fd, data, size, flags, 0); }
ssize_t readlink(const char *path, char *target, size_t room) {
    return CALL(SYS_readlinkat, AT_FDCWD, path, target, room, 0);
}
int stat(const char *path, struct stat *status) { return (int)CALL(SYS_newfstatat, AT_FDCWD, path, status, 0, 0); }
int lstat(const char *path, struct stat *status) {
    return (int)CALL(SYS_newfstatat, AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW, 0);
}
int execve(const char *path, char *const words[], char *const variables[]) {
    return (int)CALL(SYS_execve, path, words, variables, 0, 0);
}
int clock_gettime(clockid_t clock, struct timespec *now) { return (int)CALL(SYS_clock_gettime, clock, now, 0, 0, 0); }

char *getcwd(char *path, size_t room) {
    long size = CALL(SYS_getcwd, path, room, 0, 0, 0);
    return size > 0 && path[0] == '/' ? path : NULL; /* else it cannot be reached from the root */
}

int isatty(int fd) {
    char settings[256];
#ifndef TCGETS
#define TCGETS 0x5401
#endif
    return CALL(SYS_ioctl, fd, TCGETS, settings, 0, 0) == 0;
}

int poll(struct pollfd *files, nfds_t count, int milliseconds) {
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    return (int)CALL(SYS_ppoll, files, count, milliseconds < 0 ? NULL : &time, 0, 8);
}

unsigned alarm(unsigned seconds) {
    struct itimerval time = {{0, 0}, {seconds, 0}};
    return (unsigned)CALL(SYS_setitimer, ITIMER_REAL, &time, 0, 0, 0);
}

/* Signals: only SIG_DFL and SIG_IGN, so that nothing has to be returned from. */

sighandler_t signal(int number, sighandler_t action) {
    struct {
        sighandler_t action;
        unsigned long flags;
        void *restorer;
        uint64_t mask;
    } change = {action, 0, NULL, 0};
    return CALL(SYS_rt_sigaction, number, &change, NULL, 8, 0) ? SIG_ERR : SIG_DFL;
}

static void unblock(int number) {
    uint64_t mask = (uint64_t)1 << (number - 1);
    CALL(SYS_rt_sigprocmask, SIG_UNBLOCK, &mask, NULL, 8, 0);
}

/* Memory and text. The empty statements keep a compiler from replacing a loop by a call of the very same function, and
 * the brackets a macro from replacing a name. */

#define AS_WRITTEN __asm__ volatile("")

void *memcpy(void *to, const void *from, size_t size) {
#ifdef __x86_64__
    void *at = to;
    __asm__ volatile("rep movsb" : "+D"(at), "+S"(from), "+c"(size) : : "memory");
#else
    for (size_t i = 0; i < size; i++) {
        AS_WRITTEN;
        ((char *)to)[i] = ((const char *)from)[i];
    }
#endif
    return to;
}

void *memmove(void *to, const void *from, size_t size) {
    if ((char *)to <= (const char *)from || (char *)to >= (const char *)from + size) return memcpy(to, from, size);
    while (size--) {
        AS_WRITTEN;
        ((char *)to)[size] = ((const char *)from)[size];
    }
    return to;
}

void *memset(void *to, int value, size_t size) {
    for (size_t i = 0; i < size; i++) {
        AS_WRITTEN;
        ((char *)to)[i] = (char)value;
    }
    return to;
}

size_t strlen(const char *text) {
    size_t length = 0;
    while (text[length]) {
        AS_WRITTEN;
        length++;
    }
    return length;
}

int strncmp(const char *one, const char *other, size_t most) {
    for (; most && *one && *one == *other; one++, other++, most--) AS_WRITTEN;
    return most ? (unsigned char)*one - (unsigned char)*other : 0;
}

int strcmp(const char *one, const char *other) { return strncmp(one, other, SIZE_MAX); }

char *(strchr)(const char *text, int wanted) {
    for (; *text != (char)wanted; text++) {
        AS_WRITTEN;
        if (!*text) return NULL;
    }
    return (char *)text;
}

char *(strrchr)(const char *text, int wanted) {
    const char *last = NULL;
    for (; *text; text++) {
        AS_WRITTEN;
        if (*text == (char)wanted) last = text;
    }
    return (char *)last;
}

char *getenv(const char *name) {
    size_t length = strlen(name);
    for (char **variable = environ; *variable; variable++)
        if (!strncmp(*variable, name, length) && (*variable)[length] == '=') return *variable + length + 1;
    return NULL;
}

/* Never given back: the program ends with its answer. */
void *malloc(size_t size) {
    static char first[128 * 1024] __attribute__((aligned(16))); /* no page of it is used before it is written to */
    static size_t used;
    size = (size + 15) & ~(size_t)15;
    if (size <= sizeof first - used) {
        used += size;
        return first + used - size;
    }
    long place = CALL(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    return place == -1 ? NULL : (void *)place;
}

int main(int count, char **words);

__attribute__((used)) void begin(long *stack) {
    char **words = (char **)(stack + 1);
    environ = words + *stack + 1;
    _exit(main((int)*stack, words));
}
