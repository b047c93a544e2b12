/* The contexts of sampled measurements: one tree for all threads, grown as call
 * paths are met.
 *
 * A context is numbered when it is first met, so that every parent has a smaller
 * number than its children. Number 0 is the global context above all others.
 * Threads: one thread at a time; readers share a finished tree.
 */
#ifndef CN_ANALYZE_SAMPLES_SAMPLED_CONTEXTS_H
#define CN_ANALYZE_SAMPLES_SAMPLED_CONTEXTS_H

#include "analyze/samples/sampled_log.h"
#include "base/map.h"
#include "model/contexts/samples.h"

struct cn_sampled_context {
    uint64_t offset; /* loops and instructions */
    uint32_t parent; /* the global context is its own */
    uint32_t function;
    uint32_t file, line;
    uint32_t module;
    uint16_t entry; /* enum cn_entry */
    uint8_t kind, relation;
};

/* Where an instruction below some context was put. */
struct cn_sampled_expansion {
    uint64_t address;
    uint32_t parent, module;
    uint32_t first, last; /* contexts: the outermost and the innermost; 0: a free slot */
};

/* An instruction whose callers below `parent` are not known. */
struct cn_sampled_spot {
    uint32_t parent, module;
    uint64_t address;
};

struct cn_sampled_contexts {
    struct cn_measurements *measurements;
    struct cn_sampled_log *log; /* NULL: nobody wants to know */
    struct cn_sampled_context *list;
    size_t count, capacity;
    uint32_t *children; /* hash of (parent, place) -> context; 0: a free slot */
    size_t child_slots;
    struct cn_sampled_expansion *expansions;
    size_t expansion_count, expansion_slots;
};

void cn_sampled_contexts_init(struct cn_sampled_contexts *contexts,
                              struct cn_measurements *measurements);
void cn_sampled_contexts_done(struct cn_sampled_contexts *contexts);

/* The contexts below, added when they are new. */
uint32_t cn_sampled_contexts_entry(struct cn_sampled_contexts *contexts,
                                   enum cn_entry entry);

/* A called function that has no scopes around it: code that is not known, or what a
 * placeholder stands for. */
uint32_t cn_sampled_contexts_unknown(struct cn_sampled_contexts *contexts,
                                     uint32_t parent);
uint32_t cn_sampled_contexts_placeholder(struct cn_sampled_contexts *contexts,
                                         uint32_t parent, uint64_t code);

/* The function `entry`, where way number `way` to an instruction begins. */
uint32_t cn_sampled_contexts_way(struct cn_sampled_contexts *contexts,
                                 const struct cn_sampled_spot *spot, size_t way,
                                 const struct cn_code_scope *entry);

/* The contexts of an instruction and the scopes around it, called from `parent`.
 * `*out` is borrowed until the next call. */
CN_CHECK bool cn_sampled_contexts_expand(struct cn_sampled_contexts *contexts,
                                         uint32_t parent, uint32_t module,
                                         uint64_t address,
                                         struct cn_sampled_expansion *out,
                                         struct cn_error *err);

/* An instruction inside a line or function is not shown: what it calls is shown
 * below its parent. */
static inline bool cn_sampled_context_is_hidden(const struct cn_sampled_context *context)
{
    return context->kind == CN_CONTEXT_INSTRUCTION && context->relation == CN_LEXICAL;
}

#endif
