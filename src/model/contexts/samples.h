/* What sampled measurements are: call paths with costs, one tree a thread, before
 * anything was added up. The sampled sibling of model/calls/recording.h.
 *
 * A thread is read whole with cn_measurements_read(): its call tree, its values and
 * its samples name modules and addresses in them. What an address means is asked for
 * with cn_measurements_places(): the scopes around it, from the function down to the
 * line.
 *
 * Strings inside a profile are views of its bytes; those of functions and files live
 * as long as the measurements.
 * Threads: cn_measurements_read() from any thread, each with a profile of its own;
 * the rest one thread at a time.
 */
#ifndef CN_MODEL_CONTEXTS_SAMPLES_H
#define CN_MODEL_CONTEXTS_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/bytes/bytes.h"
#include "base/error.h"
#include "model/contexts/context.h"
#include "model/contexts/database.h"

enum cn_node_kind {
    CN_NODE_GLOBAL,      /* the context above all others: the root, or "does not run" */
    CN_NODE_ENTRY,       /* `address` is an enum cn_entry */
    CN_NODE_UNKNOWN,     /* code that belongs to no module */
    CN_NODE_PLACEHOLDER, /* something that has a name but no code; `address` says which */
    CN_NODE_POINT,       /* an instruction: `address` in `module` */

    /* GPU work that was measured in ranges. Below the kernel that was launched: */
    CN_NODE_LAUNCH_CONTEXT, /* `address` is the id of the GPU context */
    CN_NODE_RANGE_LAUNCH,   /* below that; `address` is the id of the range */
    /* At the top, each below the one before it: */
    CN_NODE_RANGE_ROOT,
    CN_NODE_RANGE_CONTEXT, /* `address` is the id of the GPU context */
    CN_NODE_RANGE,         /* `address` is the id of the range */
    CN_NODE_RANGE_SAMPLE,  /* an instruction that ran in it */
};

static inline bool cn_node_is_of_range(uint8_t kind)
{
    return kind >= CN_NODE_LAUNCH_CONTEXT;
}

/* A node of a call tree. */
struct cn_sampled_node {
    uint64_t address;
    uint32_t parent; /* an earlier node; CN_NONE for those at the top */
    uint16_t module; /* index in the profile's modules */
    uint8_t kind;    /* enum cn_node_kind */
    bool is_unwound; /* else the calls between its parent and it are not known */
};

/* Which users want to see a metric, and how. */
enum cn_metric_show {
    CN_SHOW_HIDDEN, /* unless asked for */
    CN_SHOW_ALWAYS,
    CN_SHOW_TOTAL,
    CN_SHOW_SELF,
    CN_SHOW_NEVER,
};

struct cn_sampled_metric {
    struct cn_bytes name, description;
    struct cn_bytes
        formula;            /* over "#0", "#1", ...: the metrics of this list; or empty */
    struct cn_bytes format; /* printf's */
    uint8_t show;           /* enum cn_metric_show */
    bool shows_percent;
    bool is_moved; /* values belong to the outermost scope of their node */
};

struct cn_sampled_value {
    double value; /* in the unit of the metric: periods are applied */
    uint32_t node;
    uint16_t metric;
};

struct cn_node_sample {
    uint64_t time_ns; /* since the epoch */
    uint32_t node;    /* CN_NONE when it names a node that is not there */
};

/* How the numbers of an identity are to be understood. */
enum cn_numbering {
    CN_NUMBERED,        /* both numbers are given */
    CN_NUMBER_LOCALLY,  /* count physical ids among those with the same ids before them */
    CN_NUMBER_GLOBALLY, /* count physical ids of this kind */
    CN_NUMBERED_LOGICAL, /* the logical number is what counts */
};

struct cn_sampled_identity {
    uint64_t physical, logical;
    uint16_t kind;
    uint8_t numbering; /* enum cn_numbering */
};

/* One thread. A zeroed one is ready for use, and is used again for the next
 * thread. */
struct cn_sampled_profile {
    struct cn_bytes program;      /* what was run, for a title */
    struct cn_bytes program_path; /* its file */

    const struct cn_sampled_metric *metrics;
    const struct cn_bytes *modules; /* paths as recorded */
    const struct cn_bytes *kinds;   /* names of kinds of identities; empty where unused */
    size_t metric_count, module_count, kind_count;
    struct cn_bytes metrics_id, modules_id; /* equal bytes mean equal lists */
    size_t folder; /* modules with the same path are the same in one folder only */

    const struct cn_sampled_identity *identity;
    size_t identity_count;

    const struct cn_sampled_node *nodes; /* parents before their children */
    const struct cn_sampled_value *values;
    const struct cn_node_sample *samples; /* in the order of time */
    size_t node_count, value_count, sample_count;
    bool has_call_samples; /* samples mean the outermost scope of their node */

    const char *damage; /* what had to be left out; NULL when nothing */
    void *own;          /* the reader's */
};

/* A scope around an instruction. */
struct cn_code_scope {
    uint8_t kind;     /* CN_CONTEXT_FUNCTION, _LOOP or _LINE */
    uint8_t relation; /* to the place before it; of the first to whatever calls it */
    uint32_t function;
    uint32_t file, line;
    uint32_t module;
    uint64_t offset;
};

struct cn_code_scopes {
    const struct cn_code_scope *list; /* outermost first; until the next question */
    size_t count;
    bool has_instruction; /* the instruction itself is a place too, below all of these */
};

/* A way on which an instruction can have been reached: the outermost function, and the
 * calls down to the instruction's own function, in the same module. */
struct cn_call_path {
    const uint64_t *calls; /* addresses, the outermost first */
    size_t call_count;
    struct cn_code_scope entry;
};

struct cn_call_paths {
    const struct cn_call_path *list; /* borrowed until the next question */
    size_t count;                    /* 0: not known */
};

struct cn_measurements;

struct cn_measurements_ops {
    bool (*read)(const struct cn_measurements *m, size_t index,
                 struct cn_sampled_profile *into, struct cn_error *err);
    void (*profile_done)(struct cn_sampled_profile *profile);
    const char *(*profile_path)(const struct cn_measurements *m, size_t index);
    uint64_t (*profile_len)(const struct cn_measurements *m, size_t index);
    bool (*find_module)(struct cn_measurements *m, size_t profile, struct cn_bytes path,
                        uint32_t *out, struct cn_error *err);
    bool (*places)(struct cn_measurements *m, uint32_t module, uint64_t address,
                   struct cn_code_scopes *out, struct cn_error *err);
    bool (*call_paths)(struct cn_measurements *m, uint32_t module, uint64_t address,
                       struct cn_call_paths *out, struct cn_error *err);
    uint32_t (*placeholder)(struct cn_measurements *m, uint64_t code);
    void (*module)(const struct cn_measurements *m, uint32_t index,
                   struct cn_module *out);
    void (*file)(struct cn_measurements *m, uint32_t index, struct cn_source_file *out);
    void (*function)(const struct cn_measurements *m, uint32_t index,
                     struct cn_function *out);
    void (*close)(struct cn_measurements *m);
};

struct cn_measurements {
    const struct cn_measurements_ops *ops;
    const char *path; /* the first directory */
    size_t profile_count;
    struct cn_warning *warnings; /* what was odd; more may come as places are asked for */
    struct cn_arena arena;
};

void cn_measurements_close(struct cn_measurements *m); /* NULL is fine */

/* For formats: remember something worth telling the user once. */
CN_PRINTF(2, 3)
void cn_measurements_warn(struct cn_measurements *m, const char *fmt, ...);

/* Read a thread whole. Messages name its file. */
CN_CHECK bool cn_measurements_read(const struct cn_measurements *m, size_t index,
                                   struct cn_sampled_profile *into, struct cn_error *err);
void cn_sampled_profile_done(const struct cn_measurements *m,
                             struct cn_sampled_profile *profile);
const char *cn_measurements_profile_path(const struct cn_measurements *m, size_t index);

/* The bytes of a thread's profile, to share the work by; 0 when there is no telling. */
uint64_t cn_measurements_profile_len(const struct cn_measurements *m, size_t index);

/* The number of a module that a profile names; the same file has the same number
 * whoever names it. */
CN_CHECK bool cn_measurements_find_module(struct cn_measurements *m, size_t profile,
                                          struct cn_bytes path, uint32_t *out,
                                          struct cn_error *err);

/* The scopes around an instruction; none when nothing is known. */
CN_CHECK bool cn_measurements_places(struct cn_measurements *m, uint32_t module,
                                     uint64_t address, struct cn_code_scopes *out,
                                     struct cn_error *err);

/* The ways to an instruction of which only that is known, as on GPUs. */
CN_CHECK bool cn_measurements_call_paths(struct cn_measurements *m, uint32_t module,
                                         uint64_t address, struct cn_call_paths *out,
                                         struct cn_error *err);

/* The function that stands for a placeholder: it has a name and nothing else. */
uint32_t cn_measurements_placeholder(struct cn_measurements *m, uint64_t code);

/* Tables, by the numbers that places and find_module() have given out. */
void cn_measurements_module(const struct cn_measurements *m, uint32_t index,
                            struct cn_module *out);
void cn_measurements_file(struct cn_measurements *m, uint32_t index,
                          struct cn_source_file *out);
void cn_measurements_function(const struct cn_measurements *m, uint32_t index,
                              struct cn_function *out);

#endif
