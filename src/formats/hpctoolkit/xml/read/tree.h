/* The context tree of an experiment.xml in memory, and the tables it refers to.
 *
 * A context takes 40 bytes and a link to its first child and next sibling; everything else
 * is looked up in the tables. What elements become:
 *
 *   PF, Pr   a function: called, or inlined; at the top of the tree an entry point; an
 *            instruction where no function is known, only an address
 *   L        a loop
 *   S        a line
 *   C        a line as well, the one the functions inside were called from: the same as an <S> of
 *            the same place beside it. Where the place is unknown, it is left out.
 *
 * Negative ids are wrappers that the writer needed for the form; they are no contexts.
 * <no activity> is where threads wait: `idle_context`, not a part of the tree.
 * Threads: one thread fills it; then immutable.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_XML_READ_TREE_H
#define CN_FORMATS_HPCTOOLKIT_XML_READ_TREE_H

#include "base/map.h"
#include "formats/hpctoolkit/xml/read/head_reader.h"
#include "model/contexts/database.h"

/* No context: children and siblings end here. */
#define CN_HPC_XML_NO_NODE UINT32_MAX

enum cn_hpc_xml_node_flags {
    CN_HPC_XML_HAS_POINT = 1 << 0,
    CN_HPC_XML_FROM_CALL =
        1 << 1,                  /* made from a <C>, until an <S> of its place is found */
    CN_HPC_XML_IS_GONE = 1 << 2, /* became part of another one */
};

struct cn_hpc_xml_node {
    uint32_t id; /* 0 for a line that has none, until cn_hpc_xml_tree_number() */
    uint32_t next, child;
    uint8_t kind, relation; /* of the model */
    uint8_t entry, flags;
    uint32_t function; /* or the name of an entry point, or the file; CN_NONE: unknown */
    uint32_t line;
    uint32_t module; /* of the point */
    uint64_t offset;
};

/* A procedure of the table and the functions made of it: one for each place it was seen at. */
struct cn_hpc_xml_procedure {
    const char *name;
    uint64_t address;
    bool is_fake;
    uint32_t first_function;
    uint32_t variant_count;
};

/* Numbers of a table in the file -> positions here. Most are small: these need no hashing. */
struct cn_hpc_xml_ids {
    uint32_t *small;
    size_t small_count;
    struct cn_map others;
};

struct cn_hpc_xml_tree {
    struct cn_hpc_xml_node *nodes;
    size_t node_count, node_capacity;
    uint32_t root; /* the first entry point */
    uint64_t context_count;
    uint32_t largest_id; /* of contexts and of call sites that are none */
    uint32_t idle_context;

    const char **modules;
    struct cn_source_file *files;
    struct cn_function *functions;
    uint32_t *next_variants; /* of each function: another one of the same procedure */
    uint32_t *function_procedures;
    struct cn_hpc_xml_procedure *procedures;
    size_t module_count, file_count, function_count, function_capacity, procedure_count;
    struct cn_hpc_xml_ids module_ids, file_ids, procedure_ids; /* CN_NONE: unknown */
};

/* The tables of the head; the tree has no contexts yet. Strings are borrowed from
 * where the head has them. */
void cn_hpc_xml_tree_init(struct cn_hpc_xml_tree *tree,
                          const struct cn_hpc_xml_head *head);
void cn_hpc_xml_tree_done(struct cn_hpc_xml_tree *tree);

/* A new context, linked to nothing. */
uint32_t cn_hpc_xml_tree_add(struct cn_hpc_xml_tree *tree, struct cn_hpc_xml_node node);

/* The function that a procedure is at this place. */
uint32_t cn_hpc_xml_tree_function(struct cn_hpc_xml_tree *tree, uint32_t procedure,
                                  const struct cn_function *place);

/* Give ids from `first` on to the lines that have none. Returns the next free one. */
uint32_t cn_hpc_xml_tree_number(struct cn_hpc_xml_tree *tree, uint32_t first);

/* What cn_hpc_xml_ids_find() returns for a number that is in no table. */
#define CN_HPC_XML_MISSING (UINT32_MAX - 1)

static inline uint32_t cn_hpc_xml_ids_find(const struct cn_hpc_xml_ids *ids, int64_t id)
{
    if (id >= 0 && (uint64_t)id < ids->small_count)
        return ids->small[id];
    return cn_map_find(&ids->others, (uint64_t)id, CN_HPC_XML_MISSING);
}

/* Put functions into the order of the table, and forget what is only needed while the tree
 * grows. */
void cn_hpc_xml_tree_finish(struct cn_hpc_xml_tree *tree);

/* A context as the model sees it. `at` may be anything: fails when there is none. */
CN_CHECK bool cn_hpc_xml_tree_context(const struct cn_hpc_xml_tree *tree, uint64_t at,
                                      struct cn_context *out, struct cn_error *err);

#endif
