#include "server/served/worker.h"

#include <signal.h>

bool cn_worker_start(pthread_t *out, void *(*run)(void *arg), void *arg,
                     struct cn_error *err)
{
    sigset_t all, before;
    int failure;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    failure = pthread_create(out, NULL, run, arg);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failure == 0 ||
           cn_fail(err, CN_ERR_IO, "cannot start a thread (error %d)", failure);
}
