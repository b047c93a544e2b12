/* What is known about a call of a trace, as names and values, with the names that searches have: its
 * attributes and exception, and of the span that it is service, type, resource, scope, status message
 * and events. Whether it failed is left to those who know all records
 * of the trace.
 * Threads: any thread.
 */
#ifndef CN_MODEL_TRACES_FACTS_H
#define CN_MODEL_TRACES_FACTS_H

#include "model/traces/trace.h"

/* `number` is NULL unless the value is a number. The texts are valid during the call. */
typedef void (*cn_trace_fact_fn)(void *arg, const char *key, const char *value,
                                 const double *number);

void cn_trace_facts_visit(const struct cn_trace *trace, uint32_t node,
                          cn_trace_fact_fn visit, void *arg);

#endif
