/* Heads of requests that two servers could read in two ways: the first one would let pass what the second
 * one was not asked.
 *
 * Threads: one thread at a time for each connection.
 */
#ifndef CN_SERVER_HTTP_HEAD_H
#define CN_SERVER_HTTP_HEAD_H

struct MHD_Connection;

/* Why a head is refused, with its method and version as libmicrohttpd has them; NULL: it is not. */
const char *cn_head_refusal(struct MHD_Connection *connection, const char *method,
                            const char *version);

#endif
