/* What is known about a call of a trace, or about all of its calls, as names and values: services,
 * types, errors, exceptions and attributes.
 * Threads: any thread.
 */
#ifndef CN_MODEL_TRACES_FACTS_H
#define CN_MODEL_TRACES_FACTS_H

#include "model/traces/trace.h"

/* `number` is NULL unless the value is a number. The texts are valid during the call. */
typedef void (*cn_trace_fact_fn)(void *arg, const char *key, const char *value,
                                 const double *number);

/* Of one call: also the attributes of the first call, its service and its type. */
void cn_trace_facts_visit(const struct cn_trace *trace, uint32_t node,
                          cn_trace_fact_fn visit, void *arg);

/* Of all calls and spans, except whether one failed: other data may have more calls of the trace. */
void cn_trace_facts_visit_all(const struct cn_trace *trace, cn_trace_fact_fn visit,
                              void *arg);

#endif
