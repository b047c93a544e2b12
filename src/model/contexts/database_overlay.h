/* Overlays of a database: a database that changes some of what another contains and passes the
 * rest on.
 *
 * An overlay is a struct that starts with struct cn_database_overlay. Its operations are those below,
 * except where it changes something. It borrows the other database.
 * Threads: as the database it shows.
 */
#ifndef CN_MODEL_CONTEXTS_DATABASE_OVERLAY_H
#define CN_MODEL_CONTEXTS_DATABASE_OVERLAY_H

#include "model/contexts/database.h"

struct cn_database_overlay {
    struct cn_database db; /* first: operations receive a pointer to it */
    struct cn_database *source;
};

/* Operations that pass everything on. */
extern const struct cn_database_ops cn_database_overlay_ops;

/* Read values of the source: during the call, the cursor belongs to it. */
CN_CHECK bool cn_database_overlay_values_begin(struct cn_database *db,
                                               struct cn_value_cursor *cursor,
                                               struct cn_error *err);
CN_CHECK enum cn_step cn_database_overlay_values_next(struct cn_value_cursor *cursor,
                                                      struct cn_value_batch *out,
                                                      struct cn_error *err);

#endif
