/* The struct of an opened prototype's database, for the code of this folder.
 * Threads: immutable after open.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_PROTO_DATABASE_H
#define CN_FORMATS_HPCTOOLKIT_PROTO_DATABASE_H

#include "formats/hpctoolkit/proto/meta_reader.h"
#include "formats/hpctoolkit/values/database.h"

struct cn_hpc_proto {
    struct cn_hpc_database database; /* first, so that one points to both */
    struct cn_hpc_proto_meta meta;
};

static inline struct cn_hpc_proto *cn_hpc_proto_of(struct cn_database *db)
{
    return (struct cn_hpc_proto *)db;
}

/* Set the tree and its weight from the meta.db that was opened. */
void cn_hpc_proto_tree_init(struct cn_hpc_proto *proto);

#endif
