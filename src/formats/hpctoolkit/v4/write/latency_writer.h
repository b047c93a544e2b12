/* Write latency.db, and leave its metrics out of the other files.
 *
 * HPCToolkit's readers show every metric of a database as a column, so the calls by duration
 * (bucket.h), some hundred metrics, are stored in a file that they ignore.
 * Threads: one thread at a time; writing starts threads of its own.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_V4_WRITE_LATENCY_WRITER_H
#define CN_FORMATS_HPCTOOLKIT_V4_WRITE_LATENCY_WRITER_H

#include "formats/hpctoolkit/v4/write/writing.h"
#include "model/contexts/database_overlay.h"

/* A database as the other files contain it: without latency metrics, and with statistics
 * that are numbered without gaps (hpcviewer numbers its own metrics after them). */
struct cn_hpc_shown {
    struct cn_database_overlay overlay; /* first: operations receive a pointer to it */
    struct cn_database_ops ops;
    uint16_t *prop_ids; /* new id by old one, or CN_HPC_SHOWN_DROPPED */
    uint16_t *stat_ids; /* the same */
    uint64_t *counts;   /* values and contexts of each profile; NULL: not known */
    struct cn_arena arena;
};
#define CN_HPC_SHOWN_DROPPED UINT16_MAX

/* Set `*db` to the database to write, the source or, if it is needed, the overlay. */
void cn_hpc_shown_init(struct cn_hpc_shown *shown, struct cn_database *source,
                       struct cn_database **db);
void cn_hpc_shown_done(struct cn_hpc_shown *shown); /* safe when zeroed */

/* Count what remains of the profiles of this process. Processes that work together leave room
 * for the profiles of others: `counts` must be those of all before values are written. */
CN_CHECK bool cn_hpc_shown_count(struct cn_hpc_shown *shown, struct cn_error *err);

/* latency.db while it is written. Where processes work together, each encodes the planes of
 * its own profiles. The first one creates the file and appends its own; the others write
 * theirs when they know where, and describe them to the first. */
struct cn_hpc_latency_writer;

/* NULL if the database has no latency metrics. */
struct cn_hpc_latency_writer *cn_hpc_latency_new(const struct cn_hpc_writing *w,
                                                 struct cn_database *source);
void cn_hpc_latency_free(struct cn_hpc_latency_writer *writer); /* NULL is fine */

/* Encode the planes of this process; `*len` bytes, and where those of the first process end in
 * the file (of other processes: 0). */
CN_CHECK bool cn_hpc_latency_encode(struct cn_hpc_latency_writer *writer, uint64_t *len,
                                    uint64_t *end_off, struct cn_error *err);

/* Write the planes of a process other than the first at `off`, and describe them. */
CN_CHECK bool cn_hpc_latency_place(struct cn_hpc_latency_writer *writer, uint64_t off,
                                   struct cn_text *message, struct cn_error *err);

/* The first process: add the planes that another one has written, `len` bytes; in order. */
CN_CHECK bool cn_hpc_latency_add(struct cn_hpc_latency_writer *writer,
                                 struct cn_bytes message, uint64_t len,
                                 struct cn_error *err);
CN_CHECK bool cn_hpc_latency_end(struct cn_hpc_latency_writer *writer,
                                 struct cn_error *err);

#endif
