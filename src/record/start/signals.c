#include "record/start/signals.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "record/calls/filter.h"
#include "record/process.h"
#include "record/state/thread.h"

#define EXPORT __attribute__((visibility("default")))

typedef int (*sigaction_fn)(int, const struct sigaction *, struct sigaction *);
typedef void (*handler_fn)(int);
typedef handler_fn (*signal_fn)(int, handler_fn);

static struct {
    sigaction_fn sigaction;
    signal_fn signal;
    bool is_caught[CN_REC_SIGNAL_COUNT];
    struct sigaction wanted[CN_REC_SIGNAL_COUNT]; /* by the program, where it is caught */
} signals;

static void find(const char *name, void *function)
{
    void *found = dlsym(RTLD_NEXT, name);

    __builtin_memcpy(function, &found, sizeof(found));
}

static bool is_handler(const struct sigaction *action)
{
    return action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
}

/* The program's handler is recorded whole: it runs after trace_on, and before the other
 * actions. */
static void on_signal(int number, siginfo_t *info, void *context)
{
    struct cn_rec_shared *shared = cn_rec_process.shared;
    struct sigaction wanted = signals.wanted[number];
    uint8_t actions = shared->signals[number];

    if (actions & CN_REC_SIGNAL_ON)
        atomic_store(&shared->is_on, 1);
    if (is_handler(&wanted) && (wanted.sa_flags & (int)SA_RESETHAND))
        signals.wanted[number].sa_handler = SIG_DFL;
    if (is_handler(&wanted) && (wanted.sa_flags & SA_SIGINFO))
        wanted.sa_sigaction(number, info, context);
    else if (is_handler(&wanted))
        wanted.sa_handler(number);
    if (actions & CN_REC_SIGNAL_OFF)
        atomic_store(&shared->is_on, 0);
    if (actions & CN_REC_SIGNAL_FINISH)
        cn_rec_filter_finish(cn_rec_self);
}

static int catch_for(int number, const struct sigaction *wanted)
{
    struct sigaction ours = *wanted;

    ours.sa_sigaction = on_signal;
    ours.sa_flags = (int)(((unsigned)wanted->sa_flags | SA_SIGINFO) & ~SA_RESETHAND);
    if (!is_handler(wanted))
        ours.sa_flags |= SA_RESTART;
    return signals.sigaction(number, &ours, NULL);
}

void cn_rec_signals_begin(void)
{
    const struct cn_rec_shared *shared = cn_rec_process.shared;

    find("sigaction", &signals.sigaction);
    find("signal", &signals.signal);
    for (int i = 1; i < CN_REC_SIGNAL_COUNT && shared->has_signals; i++) {
        if (shared->signals[i] && signals.sigaction(i, NULL, &signals.wanted[i]) == 0)
            signals.is_caught[i] = catch_for(i, &signals.wanted[i]) == 0;
    }
}

EXPORT int sigaction(int number, const struct sigaction *action, struct sigaction *before)
{
    struct sigaction earlier;
    uint64_t mask;
    int result = 0;

    if (!signals.sigaction)
        find("sigaction", &signals.sigaction);
    if (number <= 0 || number >= CN_REC_SIGNAL_COUNT || !signals.is_caught[number])
        return signals.sigaction(number, action, before);
    cn_rec_block_signals(&mask);
    earlier = signals.wanted[number];
    if (action && (result = catch_for(number, action)) == 0)
        signals.wanted[number] = *action;
    cn_rec_restore_signals(&mask);
    if (before && result == 0)
        *before = earlier;
    return result;
}

EXPORT handler_fn signal(int number, handler_fn handler)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART}, before;

    if (!signals.signal)
        find("signal", &signals.signal);
    if (number <= 0 || number >= CN_REC_SIGNAL_COUNT || !signals.is_caught[number])
        return signals.signal(number, handler);
    return sigaction(number, &action, &before) == 0 ? before.sa_handler : SIG_ERR;
}
