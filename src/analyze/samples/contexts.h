/* The contexts of sampled measurements: one tree for all threads.
 *
 * Contexts are numbered in the order in which they are added, parents before children. Number
 * 0 is the global context above all others.
 * Threads: one thread at a time adds; meanwhile any thread may call
 * cn_sampled_contexts_find(), and cn_sampled_context_at() with a context that it was given.
 */
#ifndef CN_ANALYZE_SAMPLES_CONTEXTS_H
#define CN_ANALYZE_SAMPLES_CONTEXTS_H

#include "base/map.h"
#include "base/shared_map.h"
#include "base/text.h"
#include "model/contexts/samples.h"

struct cn_sampled_context {
    uint64_t offset; /* loops and instructions */
    uint32_t parent; /* that of the global context is 0 */
    uint32_t function;
    uint32_t file, line;
    uint32_t module;
    uint16_t entry; /* enum cn_entry */
    uint8_t kind, relation;
};

/* The contexts of a step below a parent: the outermost and the innermost. */
struct cn_sampled_expansion {
    uint32_t first, last;
};

/* An instruction with unknown callers below `parent`. */
struct cn_sampled_spot {
    uint32_t parent, module;
    uint64_t address;
};

enum cn_sampled_step_kind {
    CN_STEP_ENTRY,       /* `address` is an enum cn_entry */
    CN_STEP_UNKNOWN,     /* unknown code */
    CN_STEP_PLACEHOLDER, /* `address` is its code */
    CN_STEP_POINT,       /* an instruction and the scopes around it */
    CN_STEP_PATH,        /* the first function of call path number `path` to it */
};

struct cn_sampled_step {
    uint64_t address;
    uint32_t parent; /* context */
    uint32_t module; /* of the measurements; CN_NONE: none */
    uint32_t path;
    uint32_t last; /* the innermost context of the step */
    uint8_t kind;  /* enum cn_sampled_step_kind */
};

/* A module by its name in a profile. */
struct cn_sampled_log_module {
    size_t profile;
    const char *path;
    uint32_t number; /* of the measurements, in this process */
};

/* A log of the steps that may have added contexts: other processes replay it to get contexts
 * with the same numbers (log.h). A zeroed log is empty. */
struct cn_sampled_log {
    struct cn_sampled_step *steps;
    size_t count, capacity;
    struct cn_sampled_log_module *modules;
    size_t module_count, module_capacity;
    struct cn_map module_numbers; /* index in `modules`, by number of the measurements */
    struct cn_arena arena;
};

struct cn_sampled_contexts {
    struct cn_measurements *measurements;
    struct cn_sampled_log *log;         /* NULL: steps are not logged */
    struct cn_sampled_context **blocks; /* of contexts; a block does not move */
    size_t count;
    struct cn_map children;          /* contexts by hash */
    struct cn_shared_map expansions; /* see cn_sampled_contexts_find() */
};

enum { CN_CONTEXT_BLOCK_BITS = 14, CN_CONTEXT_BLOCK_LEN = 1 << CN_CONTEXT_BLOCK_BITS };

static inline struct cn_sampled_context *
cn_sampled_context_at(const struct cn_sampled_contexts *contexts, uint32_t id)
{
    return &contexts->blocks[id >> CN_CONTEXT_BLOCK_BITS][id % CN_CONTEXT_BLOCK_LEN];
}

void cn_sampled_log_done(struct cn_sampled_log *log);

/* Log the name of a module; once is enough. */
void cn_sampled_log_name(struct cn_sampled_log *log, uint32_t module, size_t profile,
                         struct cn_bytes path);

void cn_sampled_contexts_init(struct cn_sampled_contexts *contexts,
                              struct cn_measurements *measurements);
void cn_sampled_contexts_done(struct cn_sampled_contexts *contexts);

/* The contexts of a step that was made before: CN_STEP_ENTRY with an enum cn_entry as
 * `address`, _UNKNOWN, _PLACEHOLDER with its code, _POINT. False if it was not made yet, or is
 * being made. */
bool cn_sampled_contexts_find(const struct cn_sampled_contexts *contexts,
                              enum cn_sampled_step_kind kind, uint32_t parent,
                              uint32_t module, uint64_t address,
                              struct cn_sampled_expansion *out);

/* The functions below return a context, added when it is new. */
uint32_t cn_sampled_contexts_entry(struct cn_sampled_contexts *contexts,
                                   enum cn_entry entry);

/* A called function without scopes: unknown code, or the function of a placeholder. */
uint32_t cn_sampled_contexts_unknown(struct cn_sampled_contexts *contexts,
                                     uint32_t parent);
uint32_t cn_sampled_contexts_placeholder(struct cn_sampled_contexts *contexts,
                                         uint32_t parent, uint64_t code);

/* The function `entry`, the first of call path number `path` to an instruction. */
uint32_t cn_sampled_contexts_path(struct cn_sampled_contexts *contexts,
                                  const struct cn_sampled_spot *spot, size_t path,
                                  const struct cn_code_scope *entry);

/* The contexts of an instruction and the scopes around it, called from `parent`. */
CN_CHECK bool cn_sampled_contexts_expand(struct cn_sampled_contexts *contexts,
                                         uint32_t parent, uint32_t module,
                                         uint64_t address,
                                         struct cn_sampled_expansion *out,
                                         struct cn_error *err);

/* True for an instruction inside a line or function: it is not shown, and the functions it
 * calls are shown below its parent. */
static inline bool cn_sampled_context_is_hidden(const struct cn_sampled_context *context)
{
    return context->kind == CN_CONTEXT_INSTRUCTION && context->relation == CN_LEXICAL;
}

/* Messages with logs of contexts, so that all processes give contexts the same numbers.
 *
 * Steps identify code by module and address, so another process that reads the same files can
 * replay them: first those of earlier profiles, then those of later ones. Contexts then have
 * the numbers that one process would give them. */

/* Encode a log:
 *   u64 count, then for each: modules (u64 profile, path), contexts (u32 parent),
 *   steps (u64 address, u32 parent, module, path, last, kind) */
void cn_sampled_log_encode(const struct cn_sampled_log *log,
                           const struct cn_sampled_contexts *contexts,
                           struct cn_text *message);

/* Replay the steps of a message. `is_copy`: contexts are empty, and must get the numbers of
 * the message. Fails when this process finds other code than the sender; some steps may have
 * been replayed then. */
CN_CHECK bool cn_sampled_log_replay(struct cn_sampled_contexts *contexts,
                                    struct cn_bytes message, bool is_copy,
                                    struct cn_error *err);

#endif
