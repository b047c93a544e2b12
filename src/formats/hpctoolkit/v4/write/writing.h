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
#include "model/contexts/database.h"
#include "model/format.h"

enum { CN_HPC_CONTEXTS_LEN_MAX = INT32_MAX }; /* hpcviewer reads it as one byte buffer */

struct cn_hpc_writing {
    struct cn_database *db;
    bool is_first; /* of the processes that write together: writes what is not divided */
    const struct cn_transpose_part *part; /* of this process in cct.db; NULL: all of it */
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
                                     .part = w->part,
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

#endif
