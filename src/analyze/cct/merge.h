/* The merged tree of all tasks: nodes of the same path are one.
 *
 * Tasks are added in a fixed order, so the result does not depend on scheduling. The children
 * of the root are entry points, their descendants functions; between a function and its
 * callee are the line of the call site and the inlined functions around it, where known.
 * Threads: one thread at a time; once numbered, any thread may read.
 */
#ifndef CN_ANALYZE_CCT_MERGE_H
#define CN_ANALYZE_CCT_MERGE_H

#include "analyze/cct/locations.h"
#include "analyze/cct/task.h"
#include "base/map.h"
#include "model/calls/recording.h"
#include "model/contexts/context.h"

/* The modules, files, functions and lines of several recordings, deduplicated.
 *
 * Zero-initialised is empty, except for `locations`.
 * Threads: one thread at a time; once complete, any thread may read.
 */

/* A line of a file. */
struct cn_cct_source_line {
    uint32_t file, line;
};

struct cn_cct_names {
    const struct cn_cct_locations *locations; /* NULL: recorded ones only */
    struct cn_names module_keys, file_keys, function_keys;
    struct cn_module *modules;
    struct cn_source_file *files;
    struct cn_function *functions;
    size_t module_capacity, file_capacity, function_capacity;
    struct cn_cct_source_line *lines;
    struct cn_map line_numbers; /* by file << 32 | line */
    size_t line_count, line_capacity;
    struct cn_arena arena;
};

void cn_cct_names_done(struct cn_cct_names *names);

/* A name in valid UTF-8; lives as long as `name` and `names`. */
const char *cn_cct_names_text(struct cn_cct_names *names, const char *name);

/* The number of a function of a recording. */
uint32_t cn_cct_names_function(struct cn_cct_names *names, const struct cn_recording *rec,
                               uint32_t function);

/* The number of a function of which only the name is known. */
uint32_t cn_cct_names_other(struct cn_cct_names *names, const char *name);

/* The number of a function whose module and file are numbers of these names. */
uint32_t cn_cct_names_known(struct cn_cct_names *names,
                            const struct cn_function *function);

uint32_t cn_cct_names_module(struct cn_cct_names *names,
                             const struct cn_call_module *module);
uint32_t cn_cct_names_file(struct cn_cct_names *names, const char *path);
uint32_t cn_cct_names_line(struct cn_cct_names *names, uint32_t file, uint32_t line);

/* Keys: enum cn_entry for children of the root; else the number of a function, or with one
 * of these bits that of an inlined function or of a line. */
enum { CN_CCT_KEY_INLINED = 1 << 30 };
#define CN_CCT_KEY_LINE UINT32_C(0x80000000)

struct cn_cct_merged {
    struct cn_tree tree;
    struct cn_cct_names names;
    bool has_waits;    /* waiting is known: its node is that of its call */
    bool is_of_traces; /* all tasks have one entry point */

    /* Self time by node, only where short contexts are left out. */
    uint64_t *self_ns;
    size_t self_capacity;

    /* Once numbered. */
    uint32_t
        *ids; /* by node: its context; of a node that is left out, that of the nearest
                      context above */
    uint32_t context_count; /* ids are below this; 0 is the global context */
};

/* The numbers of one recording's functions in the merged names. */
struct cn_cct_functions {
    uint32_t *numbers; /* by function: number + 1 */
};

void cn_cct_merged_init(struct cn_cct_merged *merged,
                        const struct cn_cct_locations *locations);
void cn_cct_merged_done(struct cn_cct_merged *merged);

void cn_cct_functions_init(struct cn_cct_functions *functions,
                           const struct cn_recording *rec);
void cn_cct_functions_done(struct cn_cct_functions *functions);

/* Add the tree of a task. Returns the merged node of each of its nodes, to be released with
 * free(). */
CN_CHECK bool cn_cct_merged_add(struct cn_cct_merged *merged,
                                struct cn_cct_functions *functions,
                                const struct cn_cct_task *task, uint32_t **nodes,
                                struct cn_error *err);

/* Add the self time of a node, of a task's nodes, or of its open calls. */
void cn_cct_merged_weigh_node(struct cn_cct_merged *merged, cn_cct_id node,
                              uint64_t self_ns);
void cn_cct_merged_weigh(struct cn_cct_merged *merged, const struct cn_cct_costs *costs,
                         const uint32_t *nodes, size_t count);
void cn_cct_merged_weigh_open(struct cn_cct_merged *merged,
                              const struct cn_cct_task *task, const uint32_t *nodes);

/* Number contexts in depth-first order. Those with a total below `min_ns` are left out. */
void cn_cct_merged_number(struct cn_cct_merged *merged, uint64_t min_ns);

/* True if a node is a context of its own, not left out. */
static inline bool cn_cct_merged_is_context(const struct cn_cct_merged *merged,
                                            cn_cct_id node)
{
    return node == 0 || merged->ids[node] != merged->ids[merged->tree.links[node].parent];
}

#endif
