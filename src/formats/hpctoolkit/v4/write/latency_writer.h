/* Write latency.db, and leave its metrics out of the other files.
 *
 * HPCToolkit's readers show every metric of a database as a column, so the calls by duration
 * (bucket.h), some hundred metrics, are stored in a file that they ignore.
 * Threads: one thread at a time; writing starts threads of its own.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_V4_WRITE_LATENCY_WRITER_H
#define CN_FORMATS_HPCTOOLKIT_V4_WRITE_LATENCY_WRITER_H

#include "formats/hpctoolkit/v4/write/writing.h"
#include "model/contexts/database_view.h"

/* A database as the other files contain it: without latency metrics, and with statistics
 * that are numbered without gaps (hpcviewer numbers its own metrics after them). */
struct cn_hpc_shown {
    struct cn_database_view view; /* first: operations receive a pointer to it */
    struct cn_database_ops ops;
    uint16_t *prop_ids; /* new id by old one, or CN_HPC_SHOWN_DROPPED */
    uint16_t *stat_ids; /* the same */
    uint64_t *counts;   /* values and contexts of each profile; NULL with a single rank */
    struct cn_arena arena;
};
#define CN_HPC_SHOWN_DROPPED UINT16_MAX

/* Called by all ranks: set `*db` to the database to write, the source or, if it is needed,
 * the view. */
CN_CHECK bool cn_hpc_shown_init(struct cn_hpc_shown *shown, struct cn_database *source,
                                struct cn_ranks *ranks, struct cn_database **db,
                                struct cn_error *err);
void cn_hpc_shown_done(struct cn_hpc_shown *shown); /* safe when zeroed */

/* Called by all ranks: write latency.db of a database, unless it has no latency metrics. */
CN_CHECK bool cn_hpc_latency_write(const struct cn_hpc_writing *w,
                                   struct cn_database *source, struct cn_error *err);

#endif
