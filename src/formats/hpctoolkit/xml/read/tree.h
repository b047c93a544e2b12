/* The context tree of an experiment.xml in memory, and the tables it refers to.
 *
 * A context takes 40 bytes, with links to its first child and next sibling. Elements become:
 *
 *   PF, Pr   a function, called or inlined; at the top of the tree an entry point; an
 *            instruction if only an address is known
 *   L        a loop
 *   S        a line
 *   C        a line: the call site of the functions inside. It is the same context as an <S>
 *            of the same location beside it. Without a location it is no context.
 *
 * Elements with negative ids are wrappers that the format requires; they are no contexts.
 * <no activity> is where threads wait: `idle_context`, which is not in the tree.
 * Threads: one thread fills it; then immutable.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_XML_READ_TREE_H
#define CN_FORMATS_HPCTOOLKIT_XML_READ_TREE_H

#include "base/map.h"
#include "formats/hpctoolkit/xml/read/head_reader.h"
#include "model/contexts/database.h"

#define CN_HPC_XML_NO_NODE UINT32_MAX /* ends lists of siblings */

enum cn_hpc_xml_node_flags {
    CN_HPC_XML_HAS_POINT = 1 << 0,
    CN_HPC_XML_FROM_CALL = 1 << 1, /* made from a <C> */
    CN_HPC_XML_IS_GONE = 1 << 2,   /* merged into another node */
};

struct cn_hpc_xml_node {
    uint32_t id; /* 0 for a line without one, until cn_hpc_xml_tree_number() */
    uint32_t next, child;
    uint8_t kind, relation; /* of the model */
    uint8_t entry, flags;
    uint32_t
        function; /* of an entry point its procedure, of a line its file; or CN_NONE */
    uint32_t line;
    uint32_t module; /* of the point */
    uint64_t offset;
};

/* A procedure of the table. Each location of it is a function. */
struct cn_hpc_xml_procedure {
    const char *name;
    uint64_t address;
    bool is_fake;
    uint32_t first_function;
    uint32_t variant_count;
};

/* From the ids of a table in the file to indexes here. Small ids need no hashing. */
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
    uint32_t largest_id; /* of all elements */
    uint32_t idle_context;

    const char **modules;
    struct cn_source_file *files;
    struct cn_function *functions;
    uint32_t *next_variants; /* by function: another one of the same procedure */
    uint32_t *function_procedures;
    struct cn_hpc_xml_procedure *procedures;
    size_t module_count, file_count, function_count, function_capacity, procedure_count;
    struct cn_hpc_xml_ids module_ids, file_ids, procedure_ids; /* CN_NONE: unknown */
};

/* Set up the tables of the head, without contexts. Strings are borrowed from the head's
 * arena. */
void cn_hpc_xml_tree_init(struct cn_hpc_xml_tree *tree,
                          const struct cn_hpc_xml_head *head);
void cn_hpc_xml_tree_done(struct cn_hpc_xml_tree *tree);

/* Add a context without links. */
uint32_t cn_hpc_xml_tree_add(struct cn_hpc_xml_tree *tree, struct cn_hpc_xml_node node);

/* The function of a procedure with the module, offset, file and line of `location`. */
uint32_t cn_hpc_xml_tree_function(struct cn_hpc_xml_tree *tree, uint32_t procedure,
                                  const struct cn_function *location);

/* Merge call sites and lines of the same location among the children of `parent`. */
void cn_hpc_xml_tree_join_lines(struct cn_hpc_xml_tree *tree, uint32_t parent);

/* Number the lines without an id from `first` on. Returns the next free id. */
uint32_t cn_hpc_xml_tree_number(struct cn_hpc_xml_tree *tree, uint32_t first);

/* cn_hpc_xml_ids_find() of an id that is in no table. */
#define CN_HPC_XML_MISSING (UINT32_MAX - 1)

static inline uint32_t cn_hpc_xml_ids_find(const struct cn_hpc_xml_ids *ids, int64_t id)
{
    if (id >= 0 && (uint64_t)id < ids->small_count)
        return ids->small[id];
    return cn_map_find(&ids->others, (uint64_t)id, CN_HPC_XML_MISSING);
}

/* Once all contexts are added: count them, sort the functions by procedure, and release
 * what only adding needs. */
void cn_hpc_xml_tree_finish(struct cn_hpc_xml_tree *tree);

/* The context at index `at`, which may be any number: fails if there is none. */
CN_CHECK bool cn_hpc_xml_tree_context(const struct cn_hpc_xml_tree *tree, uint64_t at,
                                      struct cn_context *out, struct cn_error *err);

#endif
