#include "sampler/inside/leaks.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "sampler/inside/live.h"
#include "sampler/inside/slot.h"

enum { NAP_MS = 100, PATIENCE_NAPS = 600 };

static pid_t begin_pid;
static uint32_t program;

void cn_inside_leaks_begin(uint32_t image)
{
    begin_pid = getpid();
    program = image;
}

/* Wait until the state changes, unless cairn has ended. */
static bool wait_while(struct cn_inside_leaks *leaks, uint32_t state)
{
    const struct timespec nap = {.tv_nsec = NAP_MS * 1000000L};

    for (int i = 0; i < PATIENCE_NAPS; i++) {
        if (atomic_load(&leaks->state) != state)
            return true;
        (void)syscall(SYS_futex, &leaks->state, FUTEX_WAIT, state, &nap, NULL, 0);
        if (atomic_load(&cn_inside->is_over) ||
            (kill((pid_t)cn_inside->sampler_pid, 0) != 0 && errno == ESRCH))
            return false;
    }
    return false;
}

/* One program is looked at after another. */
static bool take(struct cn_inside_leaks *leaks)
{
    uint32_t state = CN_INSIDE_LEAKS_FREE;

    while (
        !atomic_compare_exchange_strong(&leaks->state, &state, CN_INSIDE_LEAKS_TAKEN)) {
        if (!wait_while(leaks, state))
            return false;
        state = CN_INSIDE_LEAKS_FREE;
    }
    return true;
}

static void ask(struct cn_inside_leaks *leaks)
{
    if (!take(leaks))
        return;
    leaks->tid = (uint32_t)syscall(SYS_gettid);
    leaks->image = program;
    leaks->places = (uint64_t)(uintptr_t)cn_live_places;
    atomic_store(&leaks->pid, (uint32_t)begin_pid);
    atomic_store(&leaks->state, CN_INSIDE_LEAKS_ASKED);
    (void)wait_while(leaks, CN_INSIDE_LEAKS_ASKED);
    atomic_store(&leaks->pid, 0);
    atomic_store(&leaks->state, CN_INSIDE_LEAKS_FREE);
    (void)syscall(SYS_futex, &leaks->state, FUTEX_WAKE, 1 << 30, NULL, NULL, 0);
}

__attribute__((destructor)) static void end(void)
{
    int error = errno;

    if (cn_inside_is_on() && cn_inside->has_leaks && begin_pid > 0 &&
        getpid() == begin_pid)
        ask(&cn_inside->leaks);
    errno = error;
}
