/* What the data of a span has for TraceQL: attributes of each scope, events, links, status.
 *
 * Internal to store/traceql: the only file that knows how model/traces has them.
 * Threads: any thread may read while no thread changes the trace.
 */
#ifndef CN_STORE_TRACEQL_DATA_H
#define CN_STORE_TRACEQL_DATA_H

#include "model/traces/trace.h"
#include "store/traceql/program.h"

/* The value of a field that is in the data; nil if there is none. Lists are made in the arena. */
struct cn_tql_value cn_tql_data_field(const struct cn_trace *trace, uint32_t span,
                                      const struct cn_tql_field *field,
                                      struct cn_arena *arena);

/* A value that is no list and no map, whose text is a word. */
struct cn_tql_value cn_tql_data_value(const struct cn_words *words,
                                      const struct cn_trace_value *value,
                                      struct cn_arena *arena);

/* Call `visit` for each attribute of span, resource and scope, with its scope before the name; not for
 * the service, which spans of any store have. */
typedef void (*cn_tql_data_visit)(void *arg, const char *name,
                                  const struct cn_tql_value *value);
void cn_tql_data_each(const struct cn_trace *trace, uint32_t span, struct cn_arena *arena,
                      cn_tql_data_visit visit, void *arg);

#endif
