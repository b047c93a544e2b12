/* Answers readers of a store in object storage: the fresh segments of this collector
 * (store/bucket/unsealed.h).
 * Threads: any thread of the server.
 */
#ifndef CN_SERVER_HTTP_UNSEALED_H
#define CN_SERVER_HTTP_UNSEALED_H

#include <microhttpd.h>

#include "base/error.h"

struct cn_server;

/* True for addresses that this answers. */
bool cn_fresh_is_address(const char *url);

/* NULL with an error if there is no such segment or file, or without memory. */
struct MHD_Response *cn_fresh_answer(struct cn_server *server,
                                     struct MHD_Connection *connection, const char *url,
                                     struct cn_error *err);

#endif
