/* Requests with traces: their bodies go to the collector, and they are answered when the
 * traces are on disk.
 * Threads: the threads of the server; a request belongs to one at a time.
 */
#ifndef CN_SERVER_HTTP_COLLECT_H
#define CN_SERVER_HTTP_COLLECT_H

#include <microhttpd.h>
#include <stddef.h>

#include "base/error.h"
#include "base/text.h"

struct cn_server;

enum cn_collect_state {
    CN_COLLECT_READING,  /* the body is arriving */
    CN_COLLECT_WAITING,  /* for the commit */
    CN_COLLECT_ANSWERED, /* `status` and `err` are set */
};

/* A request between callbacks. */
struct cn_collect {
    struct MHD_Connection *connection;
    enum cn_collect_state state;
    bool is_too_long;
    struct cn_text body;
    unsigned status;
    struct cn_error err;
};

/* True if traces can be posted to this address. */
bool cn_collect_is_address(const struct cn_server *server, const char *url);

/* The next bytes of the body. */
void cn_collect_read(struct cn_collect *collect, const char *data, size_t len);

/* The body is complete: hand it to the collector. The connection is suspended until
 * the state is CN_COLLECT_ANSWERED. */
void cn_collect_submit(struct cn_server *server, struct cn_collect *collect,
                       const char *url);

#endif
