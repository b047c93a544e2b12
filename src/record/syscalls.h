/* System calls without the C library: no errno, no cancellation point, no vector registers,
 * so they are safe wherever a hook runs. They return -errno on failure, and always fail in
 * a sandbox.
 * Threads: any thread.
 */
#ifndef CN_RECORD_SYSCALLS_H
#define CN_RECORD_SYSCALLS_H

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "record/shared.h"

/* The program allows itself only some system calls: the recorder makes none. */
extern _Atomic bool cn_rec_is_sandboxed;

#if defined(__x86_64__)
static inline long cn_rec_raw_syscall6(long number, long a, long b, long c, long d,
                                       long e, long f)
{
    long result;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}
#elif defined(__aarch64__)
static inline long cn_rec_raw_syscall6(long number, long a, long b, long c, long d,
                                       long e, long f)
{
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;

    __asm__ volatile("svc 0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                     : "memory");
    return x0;
}
#else
#error "the recorder knows x86_64 and aarch64"
#endif

static inline long cn_rec_syscall6(long number, long a, long b, long c, long d, long e,
                                   long f)
{
    return atomic_load_explicit(&cn_rec_is_sandboxed, memory_order_relaxed)
               ? -EPERM
               : cn_rec_raw_syscall6(number, a, b, c, d, e, f);
}

static inline long cn_rec_syscall3(long number, long a, long b, long c)
{
    return cn_rec_syscall6(number, a, b, c, 0, 0, 0);
}

static inline uint32_t cn_rec_tid(void)
{
    return (uint32_t)cn_rec_syscall3(SYS_gettid, 0, 0, 0);
}

static inline uint32_t cn_rec_pid(void)
{
    return (uint32_t)cn_rec_syscall3(SYS_getpid, 0, 0, 0);
}

/* Open a file to append to it, with the rights that the umask leaves; or -errno. */
static inline long cn_rec_open_to_append(const char *path)
{
    return cn_rec_syscall6(SYS_openat, AT_FDCWD, (long)path,
                           O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600, 0, 0);
}

/* The same with the rights of a recording. */
static inline long cn_rec_append_to(const char *path)
{
    long fd = cn_rec_open_to_append(path);

    if (fd >= 0)
        (void)cn_rec_syscall3(SYS_fchmod, fd, 0600, 0);
    return fd;
}

/* A write beyond RLIMIT_FSIZE sent SIGXFSZ to this thread, which blocks it: take it back,
 * so that it does not end the program. */
static inline void cn_rec_forget_file_size_signal(void)
{
    uint64_t signals = UINT64_C(1) << (25 /* SIGXFSZ */ - 1);
    struct {
        long sec, nsec;
    } no_time = {0, 0};

    (void)cn_rec_syscall6(SYS_rt_sigtimedwait, (long)&signals, 0, (long)&no_time,
                          sizeof(signals), 0, 0);
}

/* Map zeroed memory; NULL on failure. */
static inline void *cn_rec_map(uint64_t len)
{
    long at = cn_rec_syscall6(SYS_mmap, 0, (long)len, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return at < 0 && at > -CN_REC_PAGE_LEN ? NULL : (void *)at;
}

/* Set the protection (PROT_*) of the pages from `low` to `high`. */
static inline bool cn_rec_protect(uintptr_t low, uintptr_t high, int how)
{
    low &= ~(uintptr_t)(CN_REC_PAGE_LEN - 1);
    return high <= low ||
           cn_rec_syscall3(SYS_mprotect, (long)low, (long)(high - low), how) == 0;
}

#endif
