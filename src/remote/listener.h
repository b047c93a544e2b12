/* Receives recordings from any number of senders, one thread for all of them.
 *
 * A connection is closed in order only when its recording is on the disk; in any other way,
 * including the end of this process, the sender sees it reset. One that does not name a
 * recording in time is closed; when there are as many as there may be, the one that has been
 * silent for longest as well.
 * Threads: one thread at a time.
 */
#ifndef CN_REMOTE_LISTENER_H
#define CN_REMOTE_LISTENER_H

#include <stdint.h>

#include "base/error.h"

struct cn_receiver;

struct cn_listener_options {
    const char *address; /* NULL: the loopback address */
    const char *token;   /* that senders must send; NULL: any sender is accepted */
    uint16_t port;       /* 0: a free one */
    const char *folder;  /* of the recordings; must exist */
    uint64_t size_limit; /* bytes of one recording */
    int stop;            /* a descriptor that is readable when it is time to end */
    /* A recording is complete, or (with an error) has ended before that. */
    void (*on_end)(void *arg, const struct cn_receiver *receiver, const char *peer,
                   const struct cn_error *err);
    void *arg;
};

struct cn_listener {
    struct cn_listener_options options;
    int socket;
    uint16_t port; /* in use */
};

CN_CHECK bool cn_listener_open(struct cn_listener *listener,
                               const struct cn_listener_options *options,
                               struct cn_error *err);
void cn_listener_close(struct cn_listener *listener);

/* True for an address that only programs of this machine reach, as for NULL. */
bool cn_listener_is_local(const char *address);

/* Receive until `stop` is readable. */
CN_CHECK bool cn_listener_run(struct cn_listener *listener, struct cn_error *err);

#endif
