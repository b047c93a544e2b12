/* An opened meta.db of v4 or of the prototype: sections, and the tables of modules, files and
 * functions. An encoding describes the bytes of a generation.
 *
 * Opening costs the same for tables of any size. Contexts are decoded by nodes.c.
 * Threads: immutable after open; strings and tables borrow the file's bytes or the arena.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_META_META_H
#define CN_FORMATS_HPCTOOLKIT_META_META_H

#include "base/arena.h"
#include "formats/hpctoolkit/meta/shapes.h"
#include "model/contexts/context.h"

struct cn_database;
struct cn_context;

/* The contexts of a meta.db: lists of nodes of any length, each with the place of the list of
 * its children.
 * Threads: one thread at a time for each walk.
 */

/* A record of a context, with the records that follow it. */
struct cn_hpc_node {
    uint64_t len; /* in the file */
    uint64_t children_off, children_len;
    uint32_t id;
    uint8_t relation, kind; /* as in the model, or values of later versions */
    uint16_t propagation;
    unsigned flags; /* as in the file */
    bool has_function, has_source, has_point;
    bool has_surplus; /* more words than the flags need */
    uint64_t function_off, file_off, module_off, offset;
    uint32_t line;

    size_t callee_len; /* prototype: how it was called; 0: it was not */
    bool has_caller;
    uint64_t caller_file_off;
};

enum cn_hpc_node_state {
    CN_HPC_NODE_BAD,   /* the list ends here */
    CN_HPC_NODE_SHORT, /* too short for its flags: what they announce is missing */
    CN_HPC_NODE_GOOD,
};

/* Decode the node at the start of `rest`, what is left of its list. With a message unless the
 * node is good. */
typedef enum cn_hpc_node_state (*cn_hpc_node_fn)(struct cn_bytes rest,
                                                 struct cn_hpc_node *out,
                                                 struct cn_error *err);

/* The records of a node, in the order of the file, as far as it has them. */
struct cn_hpc_node_layouts {
    const struct cn_record_layout *context, *callee, *lexical, *function, *source, *point;
};

/* The context of a node, without `at`. Fails if a pointer leads to no record. */
CN_CHECK bool cn_hpc_node_context(const struct cn_hpc_meta *meta,
                                  const struct cn_hpc_node *node, struct cn_context *out,
                                  struct cn_error *err);

/* The offset of the contexts that have no record of an entry point. */
uint64_t cn_hpc_roots_off(const struct cn_hpc_item *head);

/* Visit all nodes, after cn_hpc_walk_section() of the contexts. `index` is that of the node in
 * the tree or in its list, as the generation numbers them. False if visit() returned false, or
 * at damage. */
typedef bool (*cn_hpc_node_visit_fn)(void *arg, const struct cn_hpc_node *node,
                                     uint64_t off, uint64_t index);
CN_CHECK bool cn_hpc_walk_nodes(struct cn_hpc_walk *walk, cn_hpc_node_visit_fn visit,
                                struct cn_error *err);

struct cn_hpc_meta_encoding {
    const char *const *section_names;
    const struct cn_hpc_shape *const
        *shapes; /* headers by section, then elements; or NULL */
    cn_hpc_node_fn node;
    struct cn_hpc_node_layouts layouts;
    size_t node_min;       /* bytes of a node at least */
    const char *node_rule; /* that a node breaks which is too short for its flags */
    const char *copies; /* folder that paths of copied files are relative to; or NULL */
    bool is_proto; /* no alignment, no UTF-8; entry points are functions at the end */
};

/* The layout of a shape; NULL: the generation has no such record. */
static inline const struct cn_record_layout *
cn_hpc_meta_layout(const struct cn_hpc_meta_encoding *encoding, unsigned shape)
{
    return encoding->shapes[shape] ? encoding->shapes[shape]->layout : NULL;
}

struct cn_hpc_meta {
    const struct cn_hpc_meta_encoding *encoding;
    struct cn_bytes file; /* without the footer */
    struct cn_hpc_span sections[CN_HPC_META_SECTION_COUNT];
    bool is_unfinished; /* the file stops after the metrics */

    /* Set by cn_hpc_meta_open(). */
    struct cn_hpc_table modules, files, functions;
    struct cn_hpc_table entries; /* records of entry points; empty without */
    struct cn_hpc_span roots;    /* contexts without an entry point */
    const char **copied_paths;   /* of copied files, relative to the database; or NULL */
    struct {
        const struct cn_field *path;
    } module;
    struct {
        const struct cn_field *path, *flags;
    } source;
    struct {
        const struct cn_field *name, *module, *entry, *file, *line;
    } function;
};

/* Open the tables; the first group is set. Paths of copied files live in the arena. */
CN_CHECK bool cn_hpc_meta_open(struct cn_hpc_meta *meta, struct cn_arena *arena,
                               struct cn_error *err);

/* Set title, description, kinds and metrics of the database. Lists live in its arena. */
CN_CHECK bool cn_hpc_meta_read(const struct cn_hpc_meta *meta, struct cn_database *db,
                               struct cn_error *err);

/* One record of a table; the index must exist. */
CN_CHECK bool cn_hpc_meta_module(const struct cn_hpc_meta *meta, uint32_t index,
                                 struct cn_module *out, struct cn_error *err);
CN_CHECK bool cn_hpc_meta_file(const struct cn_hpc_meta *meta, uint32_t index,
                               struct cn_source_file *out, struct cn_error *err);
CN_CHECK bool cn_hpc_meta_function(const struct cn_hpc_meta *meta, uint32_t index,
                                   struct cn_function *out, struct cn_error *err);

#endif
