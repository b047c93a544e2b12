/* The mappings of a process: a list, newest first, that forked processes share.
 *
 * Adding a mapping takes the same time for any number of them. Where lookups have passed many
 * mappings, one of them gets an index of itself and all older ones. Lists are counted by their
 * references.
 * Threads: as unwind.h.
 */
#ifndef CN_UNWIND_MAPPINGS_H
#define CN_UNWIND_MAPPINGS_H

#include "unwind/unwind.h"

struct cn_unwind_node {
    struct cn_unwind_mapping mapping;
    struct cn_unwind_node *older;
    struct cn_unwind_index *index; /* NULL: none */
    size_t reference_count;
    size_t count; /* of this and older ones */
    uint64_t id;  /* of the list that begins here */
};

enum { CN_UNWIND_INDEX_MAX = 32 }; /* indexes of an unwinder */

/* The nodes that have an index, the next to lose it at `next`. */
struct cn_unwind_indexes {
    struct cn_unwind_node *nodes[CN_UNWIND_INDEX_MAX];
    size_t next;
};

/* Put a mapping before a list, whose reference it takes. */
struct cn_unwind_node *cn_unwind_node_new(struct cn_unwind_node *older,
                                          const struct cn_unwind_mapping *mapping,
                                          uint64_t id);

/* Release a reference of a list; NULL is fine. */
void cn_unwind_node_release(struct cn_unwind_node *node,
                            struct cn_unwind_indexes *indexes);

/* The newest mapping of a list that contains an address; NULL if there is none, or only
 * among those older than the newest 65,536. */
const struct cn_unwind_mapping *cn_unwind_node_find(struct cn_unwind_node *node,
                                                    struct cn_unwind_indexes *indexes,
                                                    uint64_t address);

#endif
