/* Threads of the server that wait for work. They take no signals: those are for the thread
 * that waits for the end.
 * Threads: any thread.
 */
#ifndef CN_SERVER_SERVED_WORKER_H
#define CN_SERVER_SERVED_WORKER_H

#include <pthread.h>

#include "base/error.h"

/* To be joined by the caller. */
CN_CHECK bool cn_worker_start(pthread_t *out, void *(*run)(void *arg), void *arg,
                              struct cn_error *err);

#endif
