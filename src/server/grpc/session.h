/* One connection of HTTP/2, as bytes in and bytes out: frames become calls, and answers of calls
 * become frames. nghttp2 reads and writes the frames; sockets and TLS are elsewhere.
 *
 *     session = cn_h2_session_new(&service, "10.0.0.7");
 *     cn_h2_session_receive(session, bytes);      what the client sent
 *     cn_h2_session_output(session, &out, max);   what to send to it
 *     cn_h2_session_back(call, &service);         a call comes back from the collector
 *     cn_h2_session_free(session);
 *
 * A client that breaks the protocol, or costs more than it sends (floods of small frames, streams
 * that are reset), gets GOAWAY: the session is over when that is sent. Memory is bounded: streams,
 * headers of a call, messages, frames that wait for a client which does not read.
 *
 * The session owns its calls until they end; those that the collector has outlive it.
 * Threads: one thread at a time.
 */
#ifndef CN_SERVER_GRPC_SESSION_H
#define CN_SERVER_GRPC_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes/bytes.h"
#include "base/text.h"
#include "server/grpc/call.h"

struct cn_h2_session;

/* `who` identifies the sender: its address. NULL without memory. */
struct cn_h2_session *cn_h2_session_new(const struct cn_grpc_service *service,
                                        const char *who);
void cn_h2_session_free(struct cn_h2_session *session); /* NULL is fine */

/* Bytes from the client. False: the session is over, send what cn_h2_session_output() has. */
bool cn_h2_session_receive(struct cn_h2_session *session, struct cn_bytes bytes);

/* Append what should be sent, about `max` bytes of it. */
void cn_h2_session_output(struct cn_h2_session *session, struct cn_text *out, size_t max);

/* True if the session ends when its output has been sent. */
bool cn_h2_session_is_over(const struct cn_h2_session *session);

/* True when the client has sent its first frame, as it must. */
bool cn_h2_session_is_open(const struct cn_h2_session *session);

/* A call is back from the collector, with its outcome: answered if its stream is still there, else
 * freed. Returns its session, NULL if that is gone. */
struct cn_h2_session *cn_h2_session_back(struct cn_grpc_call *call,
                                         const struct cn_grpc_service *service);

/* Answer calls whose deadline has passed. Returns the next deadline, UINT64_MAX: none. */
uint64_t cn_h2_session_check(struct cn_h2_session *session, uint64_t now_ns);

/* The next deadline, or an earlier time. */
uint64_t cn_h2_session_deadline_ns(const struct cn_h2_session *session);

/* Tell the client to send no more calls; those that are there are answered. */
void cn_h2_session_shut(struct cn_h2_session *session);

/* Give up the calls whose message has not arrived: they are answered with UNAVAILABLE. */
void cn_h2_session_drop_arriving(struct cn_h2_session *session);

const char *cn_h2_session_who(const struct cn_h2_session *session);

/* True if the collector has calls of the session. */
bool cn_h2_session_is_awaited(const struct cn_h2_session *session);

/* Calls that are not answered yet; when the last message was whole, or call answered. */
size_t cn_h2_session_call_count(const struct cn_h2_session *session);
uint64_t cn_h2_session_since_ns(const struct cn_h2_session *session);

/* What a session keeps in the owner's stead. */
void cn_h2_session_set_owner(struct cn_h2_session *session, void *owner);
void *cn_h2_session_owner(const struct cn_h2_session *session);

#endif
