/* Sampled measurements: one tree of call paths with costs per thread, before any analysis.
 * The counterpart of model/calls/recording.h for samples.
 *
 * cn_measurements_read() reads a thread. Its call tree, values and samples refer to
 * addresses in modules. cn_measurements_scopes() resolves an address to the scopes around
 * it, from the function down to the line.
 *
 * Strings in a profile are views of its bytes; those of functions and files live as long as
 * the measurements.
 * Threads: cn_measurements_read() from any thread, each with its own profile, and
 * cn_measurements_profile_len(); the rest one thread at a time.
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
    CN_NODE_UNKNOWN,     /* code outside all modules */
    CN_NODE_PLACEHOLDER, /* a name without code; `address` is its code */
    CN_NODE_POINT,       /* an instruction: `address` in `module` */

    /* GPU work measured in ranges. Below the launched kernel: */
    CN_NODE_LAUNCH_CONTEXT, /* `address` is the id of the GPU context */
    CN_NODE_RANGE_LAUNCH,   /* below that; `address` is the id of the range */
    /* At the top, each below the one before it: */
    CN_NODE_RANGE_ROOT,
    CN_NODE_RANGE_CONTEXT, /* `address` is the id of the GPU context */
    CN_NODE_RANGE,         /* `address` is the id of the range */
    CN_NODE_RANGE_SAMPLE,  /* an instruction that ran in the range */
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
    bool is_unwound; /* false: the calls between its parent and it are unknown */
};

/* How a metric is shown by default. */
enum cn_metric_show {
    CN_SHOW_HIDDEN,
    CN_SHOW_ALWAYS,
    CN_SHOW_TOTAL,
    CN_SHOW_SELF,
    CN_SHOW_NEVER,
};

struct cn_sampled_metric {
    struct cn_bytes name, description;
    struct cn_bytes
        formula;            /* over "#0", "#1", ...: the metrics of this list; or empty */
    struct cn_bytes format; /* of printf() */
    uint8_t show;           /* enum cn_metric_show */
    bool shows_percent;
    bool is_moved; /* values belong to the outermost scope of their node */
};

struct cn_sampled_value {
    double value; /* in the unit of the metric: multiplied by the period */
    uint32_t node;
    uint16_t metric;
};

struct cn_node_sample {
    uint64_t time_ns; /* since the epoch */
    uint32_t node;    /* CN_NONE if it does not exist */
};

/* Where the logical number of an identity comes from. */
enum cn_numbering {
    CN_NUMBERED,         /* both numbers are given */
    CN_NUMBER_LOCALLY,   /* count physical ids with the same ids before them */
    CN_NUMBER_GLOBALLY,  /* count physical ids of this kind */
    CN_NUMBERED_LOGICAL, /* the logical number identifies it */
};

struct cn_sampled_identity {
    uint64_t physical, logical;
    uint16_t kind;
    uint8_t numbering; /* enum cn_numbering */
};

/* One thread. A zeroed profile is ready for use, and is reused for the next thread. */
struct cn_sampled_profile {
    struct cn_bytes program; /* its name, for a title */
    struct cn_bytes program_path;

    const struct cn_sampled_metric *metrics;
    const struct cn_bytes *modules; /* paths as recorded */
    const struct cn_bytes *kinds;   /* names of kinds of identities; empty if unused */
    size_t metric_count, module_count, kind_count;
    struct cn_bytes metrics_id, modules_id; /* equal bytes: equal lists */
    size_t folder; /* modules with the same path in different folders are different */

    const struct cn_sampled_identity *identity;
    size_t identity_count;

    const struct cn_sampled_node *nodes; /* parents before their children */
    const struct cn_sampled_value *values;
    const struct cn_node_sample *samples; /* in the order of time */
    size_t node_count, value_count, sample_count;
    bool has_call_samples; /* samples belong to the outermost scope of their node */

    const char *damage;      /* what was skipped; NULL: nothing */
    const char *damage_file; /* of the file with this name beside it; NULL: of itself */
    void *own;               /* private to the reader */
};

/* A scope around an instruction. */
struct cn_code_scope {
    uint8_t kind;     /* CN_CONTEXT_FUNCTION, _LOOP or _LINE */
    uint8_t relation; /* to the scope before it; of the first scope to its caller */
    uint32_t function;
    uint32_t file, line;
    uint32_t module;
    uint64_t offset;
};

struct cn_code_scopes {
    const struct cn_code_scope *list; /* outermost first; valid until the next call */
    size_t count;
    bool has_instruction; /* the instruction is a scope below these */
};

/* A possible call path to an instruction: the outermost function, and the calls down to the
 * function of the instruction, in the same module. */
struct cn_call_path {
    const uint64_t *calls; /* addresses, the outermost first */
    size_t call_count;
    struct cn_code_scope entry;
};

struct cn_call_paths {
    const struct cn_call_path *list; /* valid until the next call */
    size_t count;                    /* 0: unknown */
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
    bool (*scopes)(struct cn_measurements *m, uint32_t module, uint64_t address,
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
    struct cn_warning *warnings; /* resolving addresses may add more */
    struct cn_arena arena;
};

/* For formats: add a warning. */
CN_PRINTF(3, 4)
void cn_measurements_warn(struct cn_measurements *m, bool is_damage, const char *fmt,
                          ...);

/* Read a thread. Errors name its file. */
CN_CHECK bool cn_measurements_read(const struct cn_measurements *m, size_t index,
                                   struct cn_sampled_profile *into, struct cn_error *err);

static inline void cn_sampled_profile_done(const struct cn_measurements *m,
                                           struct cn_sampled_profile *profile)
{
    m->ops->profile_done(profile);
}

static inline const char *cn_measurements_profile_path(const struct cn_measurements *m,
                                                       size_t index)
{
    return m->ops->profile_path(m, index);
}

/* The bytes of the files of a thread, for dividing the work; 0 if unknown. */
static inline uint64_t cn_measurements_profile_len(const struct cn_measurements *m,
                                                   size_t index)
{
    return m->ops->profile_len(m, index);
}

/* The number of a module of a profile; the same file has the same number in all profiles. */
CN_CHECK static inline bool
cn_measurements_find_module(struct cn_measurements *m, size_t profile,
                            struct cn_bytes path, uint32_t *out, struct cn_error *err)
{
    return m->ops->find_module(m, profile, path, out, err);
}

/* The scopes around an instruction; none if unknown. */
CN_CHECK static inline bool cn_measurements_scopes(struct cn_measurements *m,
                                                   uint32_t module, uint64_t address,
                                                   struct cn_code_scopes *out,
                                                   struct cn_error *err)
{
    return m->ops->scopes(m, module, address, out, err);
}

/* The possible call paths to an instruction of a GPU. */
CN_CHECK static inline bool cn_measurements_call_paths(struct cn_measurements *m,
                                                       uint32_t module, uint64_t address,
                                                       struct cn_call_paths *out,
                                                       struct cn_error *err)
{
    return m->ops->call_paths(m, module, address, out, err);
}

/* The function of a placeholder, which has only a name. */
static inline uint32_t cn_measurements_placeholder(struct cn_measurements *m,
                                                   uint64_t code)
{
    return m->ops->placeholder(m, code);
}

/* Modules, files and functions, by the numbers of the functions above. */
static inline void cn_measurements_module(const struct cn_measurements *m, uint32_t index,
                                          struct cn_module *out)
{
    m->ops->module(m, index, out);
}

static inline void cn_measurements_file(struct cn_measurements *m, uint32_t index,
                                        struct cn_source_file *out)
{
    m->ops->file(m, index, out);
}

static inline void cn_measurements_function(const struct cn_measurements *m,
                                            uint32_t index, struct cn_function *out)
{
    m->ops->function(m, index, out);
}

static inline void cn_measurements_close(struct cn_measurements *m) /* NULL is fine */
{
    if (m)
        m->ops->close(m);
}

#endif
