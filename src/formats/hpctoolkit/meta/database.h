/* A database whose tree is a binary meta.db: what v4 and the prototype share.
 *
 * A format has a struct on the heap that starts with struct cn_hpc_meta_database, sets what
 * struct cn_hpc_meta needs, and opens it.
 * Threads: immutable after open; any thread may read, each with cursors of its own.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_META_DATABASE_H
#define CN_FORMATS_HPCTOOLKIT_META_DATABASE_H

#include "formats/hpctoolkit/meta/meta.h"
#include "formats/hpctoolkit/values/database.h"

struct cn_hpc_meta_database {
    struct cn_hpc_database database; /* first, so that one points to both */
    struct cn_hpc_meta meta;
    bool are_entries;   /* the roots are entry points */
    bool are_functions; /* without records of their own: see entries.h */
    uint32_t idle;      /* the root that means "not running" in samples; 0: none */
};

/* All operations. A context is found again by its offset in the file. */
extern const struct cn_database_ops cn_hpc_meta_database_ops;

/* Open the tables and read the head; the operations are set. Where the tree has no records of
 * entry points, but the function of a root represents one, all roots are entry points.
 * Messages name the file. */
CN_CHECK bool cn_hpc_meta_database_open(struct cn_hpc_meta_database *self,
                                        struct cn_error *err);

#endif
