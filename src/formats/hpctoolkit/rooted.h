/* An overlay of a database that puts root contexts below an entry point.
 *
 * Early drafts of the format and other tools list root functions without an entry point;
 * version 4.0 cannot. The overlay adds one entry point of kind "unknown entry", with an id
 * that no context has and the values of the global context, which propagation from its
 * children would yield. Everything below it is unchanged, ids included.
 *
 * The overlay borrows the other database and needs no release.
 * Threads: as the database it shows.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_ROOTED_H
#define CN_FORMATS_HPCTOOLKIT_ROOTED_H

#include "model/contexts/database_overlay.h"

struct cn_hpc_rooted {
    struct cn_database_overlay overlay; /* first: operations receive a pointer to it */
    struct cn_database_ops ops;
    uint32_t entry; /* id of the added entry point */
};

/* Set `*db` to the database to write: the source, or the overlay if it is needed. Fails if only
 * some of the roots are entry points. */
CN_CHECK bool cn_hpc_rooted_init(struct cn_hpc_rooted *rooted, struct cn_database *source,
                                 struct cn_database **db, struct cn_error *err);

#endif
