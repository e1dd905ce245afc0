// Preloaded before a program: fails the request with the number FAIL_NUMBER to a file below the folder FAIL_BELOW, with
// the error number FAIL_ERROR. FAIL_KINDS has a letter for each kind of request that is counted: R reads, O opens,
// S asks for the status, L lists, W writes and changes names. The number of requests is written to the file FAIL_COUNT
// at the end.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define REAL(type, name, ...) \
    static type (*real)(__VA_ARGS__); \
    if (!real) real = (type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

static atomic_int requests;

static const char *setting(const char *name) {
    const char *value = getenv(name);
    return value ? value : "";
}

__attribute__((destructor)) static void report(void) {
    const char *path = getenv("FAIL_COUNT");
    FILE *out = path ? fopen(path, "w") : NULL;
    if (out) {
        fprintf(out, "%d", atomic_load(&requests));
        fclose(out);
    }
}

static int is_below(const char *path) {
    const char *below = getenv("FAIL_BELOW");
    size_t length = below ? strlen(below) : 0;
    return length && !strncmp(path, below, length) && (path[length] == '/' || !path[length]);
}

static int is_open_below(int file) {
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return is_below(path);
}

static int is_at_below(int folder, const char *path) {
    if (path && path[0] == '/') return is_below(path);
    if (folder != AT_FDCWD) return is_open_below(folder);
    char here[PATH_MAX], whole[2 * PATH_MAX];
    if (!path || !getcwd(here, sizeof here)) return 0;
    snprintf(whole, sizeof whole, "%s/%s", here, path);
    return is_below(whole);
}

static int fails(char kind) {
    if (!strchr(setting("FAIL_KINDS"), kind)) return 0;
    if (atomic_fetch_add(&requests, 1) != atoi(setting("FAIL_NUMBER"))) return 0;
    errno = atoi(setting("FAIL_ERROR"));
    return 1;
}

ssize_t pread64(int file, void *out, size_t length, off_t offset) {
    REAL(ssize_t, "pread64", int, void *, size_t, off_t);
    return is_open_below(file) && fails('R') ? -1 : real(file, out, length, offset);
}

ssize_t pread(int file, void *out, size_t length, off_t offset) { return pread64(file, out, length, offset); }

ssize_t read(int file, void *out, size_t length) {
    REAL(ssize_t, "read", int, void *, size_t);
    return is_open_below(file) && fails('R') ? -1 : real(file, out, length);
}

int open64(const char *path, int flags, ...) {
    REAL(int, "open64", const char *, int, ...);
    va_list more;
    va_start(more, flags);
    mode_t mode = va_arg(more, mode_t);
    va_end(more);
    return is_at_below(AT_FDCWD, path) && fails('O') ? -1 : real(path, flags, mode);
}

int openat64(int folder, const char *path, int flags, ...) {
    REAL(int, "openat64", int, const char *, int, ...);
    va_list more;
    va_start(more, flags);
    mode_t mode = va_arg(more, mode_t);
    va_end(more);
    return is_at_below(folder, path) && fails('O') ? -1 : real(folder, path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...) {
    REAL(int, "openat", int, const char *, int, ...);
    va_list more;
    va_start(more, flags);
    mode_t mode = va_arg(more, mode_t);
    va_end(more);
    return is_at_below(folder, path) && fails('O') ? -1 : real(folder, path, flags, mode);
}

int statx(int folder, const char *restrict path, int flags, unsigned mask, struct statx *restrict out) {
    REAL(int, "statx", int, const char *, int, unsigned, struct statx *);
    return is_at_below(folder, path) && fails('S') ? -1 : real(folder, path, flags, mask, out);
}

long syscall(long number, ...) {
    REAL(long, "syscall", long, ...);
    va_list more;
    va_start(more, number);
    long a = va_arg(more, long), b = va_arg(more, long), c = va_arg(more, long);
    long d = va_arg(more, long), e = va_arg(more, long), f = va_arg(more, long);
    va_end(more);
    if (number == SYS_openat2 && is_at_below((int)a, (const char *)b) && fails('O')) return -1;
    return real(number, a, b, c, d, e, f);
}

char *realpath(const char *restrict path, char *restrict out) {
    REAL(char *, "realpath", const char *, char *);
    return is_at_below(AT_FDCWD, path) && fails('S') ? NULL : real(path, out);
}

ssize_t write(int file, const void *bytes, size_t length) {
    REAL(ssize_t, "write", int, const void *, size_t);
    return is_open_below(file) && fails('W') ? -1 : real(file, bytes, length);
}

ssize_t pwrite64(int file, const void *bytes, size_t length, off_t offset) {
    REAL(ssize_t, "pwrite64", int, const void *, size_t, off_t);
    return is_open_below(file) && fails('W') ? -1 : real(file, bytes, length, offset);
}

int ftruncate64(int file, off_t length) {
    REAL(int, "ftruncate64", int, off_t);
    return is_open_below(file) && fails('W') ? -1 : real(file, length);
}

int mkdir(const char *path, mode_t mode) {
    REAL(int, "mkdir", const char *, mode_t);
    return is_at_below(AT_FDCWD, path) && fails('W') ? -1 : real(path, mode);
}

int mkdirat(int folder, const char *path, mode_t mode) {
    REAL(int, "mkdirat", int, const char *, mode_t);
    return is_at_below(folder, path) && fails('W') ? -1 : real(folder, path, mode);
}

int unlinkat(int folder, const char *path, int flags) {
    REAL(int, "unlinkat", int, const char *, int);
    return is_at_below(folder, path) && fails('W') ? -1 : real(folder, path, flags);
}

int rename(const char *from, const char *to) {
    REAL(int, "rename", const char *, const char *);
    return is_at_below(AT_FDCWD, to) && fails('W') ? -1 : real(from, to);
}

int renameat(int one, const char *from, int other, const char *to) {
    REAL(int, "renameat", int, const char *, int, const char *);
    return is_at_below(other, to) && fails('W') ? -1 : real(one, from, other, to);
}

int renameat2(int one, const char *from, int other, const char *to, unsigned flags) {
    REAL(int, "renameat2", int, const char *, int, const char *, unsigned);
    return is_at_below(other, to) && fails('W') ? -1 : real(one, from, other, to, flags);
}

DIR *opendir(const char *path) {
    REAL(DIR *, "opendir", const char *);
    return is_at_below(AT_FDCWD, path) && fails('L') ? NULL : real(path);
}

DIR *fdopendir(int folder) {
    REAL(DIR *, "fdopendir", int);
    return is_open_below(folder) && fails('L') ? NULL : real(folder);
}

struct dirent64 *readdir64(DIR *listed) {
    REAL(struct dirent64 *, "readdir64", DIR *);
    return is_open_below(dirfd(listed)) && fails('L') ? NULL : real(listed);
}
