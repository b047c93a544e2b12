/* <SecCallPathProfileData>, read into a tree.
 *
 * The text is scanned once, with a stack of open elements whose depth format.h limits. Call
 * sites are merged with their lines when the element around them ends.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_XML_READ_TREE_READER_H
#define CN_FORMATS_HPCTOOLKIT_XML_READ_TREE_READER_H

#include "formats/hpctoolkit/xml/read/tree.h"

/* Receives what the tree of a 2.x file contains besides contexts. Functions may be NULL. */
struct cn_hpc_xml_tree_sink {
    void *arg;
    /* <M>: a value of a context, 0 for the global one. */
    void (*value)(void *arg, uint32_t context, int64_t metric, double value);
    /* The attribute `it`: the id of a context in samples. */
    void (*sample_id)(void *arg, uint64_t sample_id, uint32_t context);
};

struct cn_hpc_xml_tree_source {
    struct cn_bytes text; /* the whole file */
    bool is_mapped;       /* pages that were read may be given back */
    struct cn_hpc_xml_tree_sink sink;
};

/* Messages name line and column. */
CN_CHECK bool cn_hpc_xml_tree_read(struct cn_hpc_xml_tree *tree,
                                   const struct cn_hpc_xml_head *head,
                                   const struct cn_hpc_xml_tree_source *source,
                                   struct cn_error *err);

#endif
