/* The nodes of contexts in a prototype's meta.db.
 * Threads: any thread.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_PROTO_CONTEXT_READER_H
#define CN_FORMATS_HPCTOOLKIT_PROTO_CONTEXT_READER_H

#include "formats/hpctoolkit/proto/meta_reader.h"

/* One node, taken apart: its specifications have the sizes it states. */
struct cn_hpc_proto_node {
    struct cn_hpc_proto_context head;
    struct cn_bytes callee, lexical;
    uint64_t len; /* of the node in the file */
};

/* The node at the start of `rest`. */
CN_CHECK bool cn_hpc_proto_node_open(struct cn_bytes rest, struct cn_hpc_proto_node *out,
                                     struct cn_error *err);

/* The parts of its lexical specification that its flags promise; `has` says
 * which. */
struct cn_hpc_proto_place {
    struct cn_hpc_proto_lexical head;
    struct cn_hpc_proto_function_pointer function;
    struct cn_hpc_proto_source source;
    struct cn_hpc_proto_point point;
};
CN_CHECK bool cn_hpc_proto_place_decode(struct cn_bytes lexical,
                                        struct cn_hpc_proto_place *out,
                                        struct cn_error *err);

/* Whether some root stands for an entry point. */
bool cn_hpc_proto_contexts_have_entries(const struct cn_hpc_proto_meta *meta);

/* The root whose samples say that a thread does not run; 0 when there is none. */
uint32_t cn_hpc_proto_contexts_idle(const struct cn_hpc_proto_meta *meta);

#endif
