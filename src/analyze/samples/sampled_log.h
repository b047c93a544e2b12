/* How contexts came about, step by step: what processes tell each other so that all of
 * them give contexts the same numbers.
 *
 * While contexts have a log, every step that may have added some is noted in it. Steps
 * name code by module and address, so that another process that sees the same files can
 * take them too: those of later profiles behind those of earlier ones, and the contexts
 * are numbered as if one process had met all profiles. A zeroed log is empty.
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_SAMPLES_SAMPLED_LOG_H
#define CN_ANALYZE_SAMPLES_SAMPLED_LOG_H

#include "base/map.h"
#include "base/text.h"
#include "model/contexts/samples.h"

struct cn_sampled_contexts;

enum cn_sampled_step_kind {
    CN_STEP_ENTRY,       /* `address` is an enum cn_entry */
    CN_STEP_UNKNOWN,     /* code that is not known */
    CN_STEP_PLACEHOLDER, /* `address` says which */
    CN_STEP_POINT,       /* an instruction and the scopes around it */
    CN_STEP_WAY,         /* the function where way number `way` to it begins */
};

struct cn_sampled_step {
    uint64_t address;
    uint32_t parent; /* context */
    uint32_t module; /* number of the measurements; CN_NONE: none */
    uint32_t way;
    uint32_t last; /* the innermost context it led to */
    uint8_t kind;  /* enum cn_sampled_step_kind */
};

/* A module, by the name that a profile has for it. */
struct cn_sampled_log_module {
    size_t profile;
    const char *path;
    uint32_t number; /* of the measurements, in this process */
};

struct cn_sampled_log {
    struct cn_sampled_step *steps;
    size_t count, capacity;
    struct cn_sampled_log_module *modules;
    size_t module_count, module_capacity;
    struct cn_map module_numbers; /* in that list, by number of the measurements */
    struct cn_arena arena;
};

void cn_sampled_log_done(struct cn_sampled_log *log);

/* Note a step; a NULL log is fine. */
void cn_sampled_log_add(struct cn_sampled_log *log, const struct cn_sampled_step *step);

/* Note what a module is called; once is enough. */
void cn_sampled_log_name(struct cn_sampled_log *log, uint32_t module, size_t profile,
                         struct cn_bytes path);

/* As a message:
 *   u64 count, then for each: modules (u64 profile, path), contexts (u32 parent),
 *   steps (u64 address, u32 parent, module, way, last, kind) */
void cn_sampled_log_encode(const struct cn_sampled_log *log,
                           const struct cn_sampled_contexts *contexts,
                           struct cn_text *message);

/* Take the steps of a message. `is_copy`: contexts are empty, and must get the numbers
 * that they have in the message. Fails when this process finds other code than the one
 * that sent it; some steps may have been taken then. */
CN_CHECK bool cn_sampled_log_replay(struct cn_sampled_contexts *contexts,
                                    struct cn_bytes message, bool is_copy,
                                    struct cn_error *err);

#endif
