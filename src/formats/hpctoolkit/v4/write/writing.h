/* What the writers of the four files share: the job, the frame of a file.
 * Threads: one thread at a time; all workers read the job.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_V4_WRITE_WRITING_H
#define CN_FORMATS_HPCTOOLKIT_V4_WRITE_WRITING_H

#include "base/files/disk.h"
#include "base/files/out.h"
#include "formats/hpctoolkit/strings.h"
#include "formats/hpctoolkit/v4/format.h"
#include "formats/hpctoolkit/values/job.h"
#include "formats/hpctoolkit/values/trace_lines.h"
#include "model/contexts/database.h"
#include "model/format.h"

enum { CN_HPC_CONTEXTS_LEN_MAX = INT32_MAX }; /* hpcviewer reads it as one byte buffer */

struct cn_hpc_writing {
    struct cn_database *db;
    bool is_first; /* of the processes that write together: writes what is not divided */
    const struct cn_transpose_rank *rank; /* this process in cct.db; NULL: all of it */
    const struct cn_write_options *options;
    const char *dir;  /* of the files */
    unsigned workers; /* at least 1 */
    /* Set by the writer of meta.db. */
    uint32_t context_count; /* ids of contexts are below this */
    uint8_t
        *listed; /* a bit for each context below db->context_limit: meta.db lists it */
    uint64_t tuples_len; /* of the identities in profile.db */
    /* Set by the writer of trace.db: what timelines are exact to; 0: as the source has them */
    uint64_t resolution_ns;
};

/* The job for the engines in values/. */
static inline struct cn_hpc_value_job cn_hpc_writing_job(const struct cn_hpc_writing *w)
{
    return (struct cn_hpc_value_job){.db = w->db,
                                     .rank = w->rank,
                                     .options = w->options,
                                     .dir = w->dir,
                                     .workers = w->workers,
                                     .context_count = w->context_count};
}

/* The length of a file's header. */
static inline size_t cn_hpc_header_len(size_t section_count)
{
    return cn_hpc_file_header_size + section_count * cn_hpc_section_size;
}

/* Create a file of the database, or open it if the first process has created it, and leave
 * room for its header. */
CN_CHECK bool cn_hpc_file_begin(struct cn_out *out, const struct cn_hpc_writing *w,
                                const char *name, size_t section_count,
                                struct cn_error *err);

/* The files of this machine, not synced: a database is complete or absent after a crash of the
 * program, not of the machine. */
struct cn_disk cn_hpc_unsynced_disk(void);

/* Write header and footer, and close. */
CN_CHECK bool cn_hpc_file_end(struct cn_out *out, const char *format, const char *footer,
                              const struct cn_hpc_section *sections, size_t section_count,
                              struct cn_error *err);

/* The text files of a database: the taxonomy of metrics and the documents that explain it. */

/* Write metrics/default.yaml. Formulas over statistics that the database lacks are left out
 * and reported as lost: one of them would make readers reject the file. */
CN_CHECK bool cn_hpc_taxonomy_write(const struct cn_hpc_writing *w, struct cn_error *err);

/* Write FORMATS.md and metrics/METRICS.yaml.ex. */
CN_CHECK bool cn_hpc_documents_write(const struct cn_hpc_writing *w,
                                     struct cn_error *err);

/* Write states.db, unless the database does not know states over time. */
CN_CHECK bool cn_hpc_states_write(const struct cn_hpc_writing *w, struct cn_error *err);

/* Write origin.txt, unless nothing is known about the origin of the database. */
CN_CHECK bool cn_hpc_origin_write(const struct cn_hpc_writing *w, struct cn_error *err);

/* Write meta.db.
 *
 * Sections are in the order of real files:
 *   General, IdNames, Metrics, Strings, Modules, Files, Functions, Context
 * The first three contain their strings; all others are in Strings. */

/* Also sets w->context_count. */
CN_CHECK bool cn_hpc_meta_write(struct cn_hpc_writing *w, struct cn_error *err);

/* The offsets of records that others point to. */
struct cn_hpc_meta_layout {
    uint64_t modules_off, files_off, functions_off; /* record 0 of each table */
    struct cn_hpc_strings strings;                  /* the Strings section */
};

/* The Metrics section, at the end of the file. */
CN_CHECK bool cn_hpc_metrics_write(struct cn_out *out, struct cn_hpc_writing *w,
                                   struct cn_hpc_meta_layout *meta, struct cn_error *err);

/* The Context section, at the end of the file. Sets w->context_count. */
CN_CHECK bool cn_hpc_contexts_write(struct cn_out *out, struct cn_hpc_writing *w,
                                    struct cn_hpc_meta_layout *layout,
                                    struct cn_error *err);

/* Write profile.db, cct.db and trace.db, each into a file that cn_hpc_file_begin() has begun.
 *
 * Where processes work together, each writes its own profiles, timelines and ranges of
 * contexts; the first one writes the rest and ends the files.
 * Threads: each function works on w->workers threads and returns when all have ended.
 */

/* The length of the identities of all profiles: w->tuples_len. Fails if there is no profile. */
CN_CHECK bool cn_hpc_tuples_measure(struct cn_database *db, uint64_t *len,
                                    struct cn_error *err);

/* Fails on a plane with two values for the same context and metric. A plane that is not
 * sorted is sorted in memory. */
CN_CHECK bool cn_hpc_profiles_write(const struct cn_hpc_writing *w, struct cn_out *out,
                                    struct cn_error *err);

/* Needs w->context_count. The file ends when `out->end_off` is the end of all blocks. */
CN_CHECK bool cn_hpc_cct_write(const struct cn_hpc_writing *w, struct cn_out *out,
                               struct cn_error *err);
CN_CHECK bool cn_hpc_cct_end(const struct cn_hpc_writing *w, struct cn_out *out,
                             struct cn_error *err);

/* The steps before and after processes combine the totals and lengths of their lines. Fails if
 * time runs backwards. */
CN_CHECK bool cn_hpc_traces_encode(const struct cn_hpc_writing *w,
                                   struct cn_hpc_trace_lines *lines, struct cn_out *out,
                                   struct cn_error *err);
CN_CHECK bool cn_hpc_traces_end(const struct cn_hpc_writing *w,
                                struct cn_hpc_trace_lines *lines, struct cn_out *out,
                                struct cn_error *err);

#endif
