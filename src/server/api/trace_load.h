/* The trace of a store that a request is about, and one of its calls.
 * Threads: with the lock of the served store held.
 */
#ifndef CN_SERVER_API_TRACE_LOAD_H
#define CN_SERVER_API_TRACE_LOAD_H

#include <stdint.h>

#include "base/error.h"

struct cn_json;
struct cn_request;
struct cn_served_store;
struct cn_trace;

/* Load the trace of the parameter `key`, "SEGMENT.ROW" as lists of traces give it. The
 * caller is done with `trace` whatever happens. */
CN_CHECK bool cn_trace_of_request(struct cn_served_store *store,
                                  const struct cn_request *request,
                                  struct cn_trace *trace, struct cn_error *err);

/* Append a member: the numbers of the calls around one, the outermost first. */
void cn_json_add_call_path(struct cn_json *json, const struct cn_trace *trace,
                           uint32_t node);

#endif
