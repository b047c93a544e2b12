/* The locks that threads of a perf.data file waited for: the words that they gave to the system call futex,
 * and the variables that these are in.
 *
 * A switch in such a call has its first argument among the registers of the sample, which `cairn sample
 * --off-cpu` and `perf record --user-regs` write.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_EXCHANGE_PERF_LOCKS_H
#define CN_FORMATS_EXCHANGE_PERF_LOCKS_H

#include "base/map.h"
#include "formats/exchange/perf/names.h"

struct cn_perf_sample;

/* The functions of the kernel in which a thread waits on a futex, and the C library's that call it. */
bool cn_perf_is_futex(const char *function);

/* What the frames of a stack say about that, the innermost first: those of the kernel, or where these have
 * no names, the innermost function of the user. */
struct cn_perf_futex_signs {
    bool has_kernel, is_in_kernel, has_user, is_in_user;
};

void cn_perf_futex_see(struct cn_perf_futex_signs *signs,
                       const struct cn_perf_frames *frames, bool is_kernel);

static inline bool cn_perf_futex_is(const struct cn_perf_futex_signs *signs)
{
    return signs->has_kernel ? signs->is_in_kernel : signs->is_in_user;
}

struct cn_perf_locks {
    struct cn_map lock_of; /* by pid and address: the import's number */
};

/* The number that the import has for the lock that a thread waits for; CN_NONE: its registers are unknown. */
uint32_t cn_perf_lock_of(struct cn_perf_locks *locks, struct cn_perf_names *names,
                         const struct cn_perf_sample *sample);
void cn_perf_locks_done(struct cn_perf_locks *locks);

#endif
