/* The nodes of contexts in a prototype's meta.db.
 * Threads: any thread.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_PROTO_CONTEXT_READER_H
#define CN_FORMATS_HPCTOOLKIT_PROTO_CONTEXT_READER_H

#include "formats/hpctoolkit/proto/meta_reader.h"

/* A node and its specifications. */
struct cn_hpc_proto_node {
    struct cn_hpc_proto_context head;
    struct cn_bytes callee, lexical;
    uint64_t len; /* of the node in the file */
};

/* The node at the start of `rest`. */
CN_CHECK bool cn_hpc_proto_node_open(struct cn_bytes rest, struct cn_hpc_proto_node *out,
                                     struct cn_error *err);

/* A lexical specification; its flags say which of the other records it has. */
struct cn_hpc_proto_location {
    struct cn_hpc_proto_lexical head;
    struct cn_hpc_proto_function_pointer function;
    struct cn_hpc_proto_source source;
    struct cn_hpc_proto_point point;
};
CN_CHECK bool cn_hpc_proto_location_decode(struct cn_bytes lexical,
                                           struct cn_hpc_proto_location *out,
                                           struct cn_error *err);

#endif
