/* Resources and scopes of spans, and their values, as words: many spans share them.
 * Threads: those of the words.
 */
#ifndef CN_MODEL_TRACES_SHARED_H
#define CN_MODEL_TRACES_SHARED_H

#include "model/traces/trace.h"

struct cn_words;

/* A resource, or a scope; its attributes are a list of the trace. */
struct cn_trace_shared {
    uint32_t name, version; /* of a scope */
    uint32_t schema_url;
    uint32_t dropped_attributes;
    struct cn_trace_list attributes;
};

/* A word for it in `words`, which is the dictionary of the trace; 0 if it is empty. */
uint32_t cn_trace_resource_add(struct cn_words *words, const struct cn_trace *trace,
                               const struct cn_trace_shared *resource);
uint32_t cn_trace_scope_add(struct cn_words *words, const struct cn_trace *trace,
                            const struct cn_trace_shared *scope);

/* Read a word of either kind, and add its attributes to the trace. Anything else is empty. */
struct cn_trace_shared cn_trace_shared_read(struct cn_trace *trace,
                                            const struct cn_words *words, uint32_t word);

#endif
