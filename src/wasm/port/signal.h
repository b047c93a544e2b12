/* There are no signals.
 * Threads: one thread at a time.
 */
#ifndef CN_WASM_PORT_SIGNAL_H
#define CN_WASM_PORT_SIGNAL_H

#include <sys/types.h>

#define SIG_SETMASK 2

static inline int sigfillset(sigset_t *set)
{
    *set = 0xff;
    return 0;
}

static inline int pthread_sigmask(int how, const sigset_t *set, sigset_t *before)
{
    return 0;
}

#endif
