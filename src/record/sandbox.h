/* Programs that restrict their system calls (seccomp): what the libraries inside of them share that take
 * the place of prctl() and syscall().
 * Threads: any thread.
 */
#ifndef CN_RECORD_SANDBOX_H
#define CN_RECORD_SANDBOX_H

#include <errno.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

#include "record/syscalls.h"

/* True for a system call, by its number and first argument, after which others may end the program. */
static inline bool cn_rec_restricts(uint64_t number, uint64_t first)
{
    return number == SYS_prctl
               ? first == PR_SET_SECCOMP
               : number == SYS_seccomp && first <= SECCOMP_SET_MODE_FILTER;
}

/* As syscall() of the C library, where that is not found yet. */
static inline long cn_rec_early_syscall(long number, long a, long b, long c, long d,
                                        long e, long f)
{
    long result = cn_rec_raw_syscall6(number, a, b, c, d, e, f);

    if (result >= 0 || result < -4095)
        return result;
    errno = (int)-result;
    return -1;
}

#endif
