/* At the end of the program, ask the launcher to look for leaks, and wait until it has: it reads the memory
 * of this process, whose threads it stops. */

#include <errno.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <time.h>

#include "record/heap/log.h"
#include "record/process.h"
#include "record/state/thread.h"
#include "record/state/track.h"
#include "record/syscalls.h"

enum { NAP_MS = 100, PATIENCE_NAPS = 600 };

static uint32_t begin_pid; /* a forked child does not know what it inherited */

void cn_rec_leaks_begin(void)
{
    begin_pid = cn_rec_pid();
}

/* Wait until the state changes. */
static bool wait_while(struct cn_rec_leaks *leaks, uint32_t state)
{
    struct timespec nap = {.tv_nsec = NAP_MS * 1000000L};
    long launcher = (long)cn_rec_process.shared->launcher_pid;

    for (int i = 0; i < PATIENCE_NAPS; i++) {
        if (atomic_load(&leaks->state) != state)
            return true;
        (void)cn_rec_syscall6(SYS_futex, (long)&leaks->state, FUTEX_WAIT, (long)state,
                              (long)&nap, 0, 0);
        if (cn_rec_syscall3(SYS_kill, launcher, 0, 0) == -ESRCH)
            return false;
    }
    return false;
}

/* One process is looked at after another. */
static bool take(struct cn_rec_leaks *leaks)
{
    uint32_t state = CN_REC_REQUEST_FREE;

    while (!atomic_compare_exchange_strong(&leaks->state, &state, CN_REC_REQUEST_TAKEN)) {
        if (!wait_while(leaks, state))
            return false;
        state = CN_REC_REQUEST_FREE;
    }
    return true;
}

static void ask(struct cn_rec_leaks *leaks)
{
    if (!take(leaks))
        return;
    atomic_store(&leaks->pid, begin_pid);
    leaks->tid = cn_rec_tid();
    leaks->program = cn_rec_heap_program();
    atomic_store(&leaks->state, CN_REC_REQUEST_ASKED);
    cn_rec_track_ring_bell();
    (void)wait_while(leaks, CN_REC_REQUEST_ASKED);
    atomic_store(&leaks->pid, 0);
    atomic_store(&leaks->state, CN_REC_REQUEST_FREE);
    (void)cn_rec_syscall3(SYS_futex, (long)&leaks->state, FUTEX_WAKE, 1 << 30);
}

__attribute__((destructor)) static void end(void)
{
    struct cn_rec_shared *shared = cn_rec_process.shared;

    if (!shared || !shared->has_leaks || cn_rec_heap_program() == 0 ||
        atomic_load(&cn_rec_is_sandboxed))
        return;
    if (cn_rec_pid() == begin_pid)
        ask(&shared->leaks);
}
