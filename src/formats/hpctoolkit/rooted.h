/* A database whose contexts all stand below entry points, made from one that has none.
 *
 * Early drafts of the format (and other tools) list root functions without saying how the
 * program was entered; version 4.0 cannot. This view puts them below one entry point of
 * kind "unknown entry", with an id that no context has, and gives it the values of the global
 * context: that is what propagation from its children would yield. So paths get one
 * more element at the front; below it everything is as it was, ids included.
 *
 * The view borrows the other database and needs no release.
 * Threads: as the database it shows.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_ROOTED_H
#define CN_FORMATS_HPCTOOLKIT_ROOTED_H

#include "model/contexts/database.h"

struct cn_hpc_rooted {
    struct cn_database db; /* first: operations receive a pointer to it */
    struct cn_database *source;
    uint32_t entry; /* id of the added entry point */
};

/* `*db` is what to write: the source itself, or the view when it is needed. Fails when only
 * some of the topmost contexts are entry points. */
CN_CHECK bool cn_hpc_rooted_init(struct cn_hpc_rooted *rooted, struct cn_database *source,
                                 struct cn_database **db, struct cn_error *err);

#endif
