/* Questions about one trace of a store.
 * Threads: any thread.
 */
#ifndef CN_SERVER_API_TRACE_LOAD_H
#define CN_SERVER_API_TRACE_LOAD_H

#include <stdint.h>

#include "base/error.h"

struct cn_json;
struct cn_request;
struct cn_served;
struct cn_trace;

/* Answer with the trace that the parameter `key` names, "SEGMENT.ROW" as lists of
 * traces give it. It has at least one call. */
typedef bool cn_trace_answer(struct cn_request *request, const struct cn_trace *trace,
                             struct cn_error *err);
CN_CHECK bool cn_api_with_trace(struct cn_served *served, struct cn_request *request,
                                cn_trace_answer *answer, struct cn_error *err);

/* The same with all spans of that trace, of all services. */
struct cn_trace_set;
typedef bool cn_trace_set_answer(struct cn_request *request,
                                 const struct cn_trace_set *set, struct cn_error *err);
CN_CHECK bool cn_api_with_trace_set(struct cn_served *served, struct cn_request *request,
                                    cn_trace_set_answer *answer, struct cn_error *err);

/* Append the member "path": the numbers of the calls around a call, outermost first. */
void cn_json_add_call_path(struct cn_json *json, const struct cn_trace *trace,
                           uint32_t node);

#endif
