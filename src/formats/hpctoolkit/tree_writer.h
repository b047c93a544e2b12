/* A context tree being written: lists of siblings, children before their parents.
 *
 * The tree is walked once. A record is complete when its context is left, and goes to the
 * siblings collected so far; when their parent is left, they are written. One list of
 * encoded siblings is kept for each level of the current path.
 *
 * Set the first group, zero the rest; released with cn_hpc_tree_writer_done().
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_TREE_WRITER_H
#define CN_FORMATS_HPCTOOLKIT_TREE_WRITER_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct cn_context;
struct cn_database;
struct cn_function;
struct cn_out;
struct cn_progress;
struct cn_walk;

/* Encoded siblings. */
struct cn_hpc_level {
    uint8_t *bytes;
    size_t len, capacity;
    bool has_calls; /* for the format's use: a sibling is called, or calls */
};

/* Where the children of a context were written; no children are 0 bytes at 0. */
struct cn_hpc_children {
    uint64_t off, len;
};

struct cn_hpc_tree_writer {
    struct cn_database *db;
    struct cn_out *out;
    const struct cn_progress *progress;
    void *arg;
    /* Append the record of a context to levels[depth - 1]. */
    bool (*add)(struct cn_hpc_tree_writer *t, size_t depth,
                const struct cn_context *context, struct cn_hpc_children children,
                struct cn_error *err);

    struct cn_hpc_level *levels; /* the roots at 0 */
    size_t level_count, level_capacity;
    const struct cn_walk *walk;
    uint64_t context_count; /* written */
    uint32_t largest_id;
    uint64_t no_file_count, no_module_count; /* references that were dropped */
};

/* Write all contexts except the roots, which stay in levels[0]. */
CN_CHECK bool cn_hpc_tree_write(struct cn_hpc_tree_writer *t, struct cn_error *err);
void cn_hpc_tree_writer_done(struct cn_hpc_tree_writer *t);

/* Room for `len` more bytes of siblings. */
uint8_t *cn_hpc_level_append(struct cn_hpc_level *level, size_t len);

/* What a record can say about its context. A location without a file, or an address
 * without a module, is dropped and counted; other indexes must exist. */
struct cn_hpc_says {
    bool has_function, has_source, has_point;
};
CN_CHECK bool cn_hpc_tree_says(struct cn_hpc_tree_writer *t,
                               const struct cn_context *context, struct cn_hpc_says *out,
                               struct cn_error *err);

/* Check that the module and the file of a function exist, if it names them. */
CN_CHECK bool cn_hpc_function_check(const struct cn_database *db,
                                    const struct cn_function *function,
                                    struct cn_error *err);

#endif
