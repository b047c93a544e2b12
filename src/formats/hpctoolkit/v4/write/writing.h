/* What the writers of the four files share: the job, the frame of a file, its strings.
 * Threads: one thread at a time, but losses and the job are read by all workers.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_V4_WRITE_WRITING_H
#define CN_FORMATS_HPCTOOLKIT_V4_WRITE_WRITING_H

#include "base/files/out.h"
#include "base/map.h"
#include "formats/hpctoolkit/v4/format.h"
#include "formats/hpctoolkit/values/value_job.h"
#include "model/contexts/database.h"
#include "model/format.h"

enum { CN_HPC_CONTEXTS_LEN_MAX = INT32_MAX }; /* hpcviewer: one byte buffer */

struct cn_hpc_writing {
    struct cn_database *db;
    struct cn_ranks *ranks; /* who writes */
    const struct cn_write_options *options;
    const char *dir;  /* where the files go */
    unsigned workers; /* at least 1 */
    uint32_t
        context_count; /* ids of contexts are below this; set by the meta.db writer */
    uint8_t *listed; /* a bit for each context below db->context_limit that meta.db lists;
                          made by the writer, set by the meta.db writer */
};

/* The same as the engines of hpctoolkit/ want it. */
static inline struct cn_hpc_value_job cn_hpc_writing_job(const struct cn_hpc_writing *w)
{
    return (struct cn_hpc_value_job){.db = w->db,
                                     .options = w->options,
                                     .dir = w->dir,
                                     .workers = w->workers,
                                     .context_count = w->context_count};
}

/* Create a file of the database and leave room for its header. */
CN_CHECK bool cn_hpc_file_begin(struct cn_out *out, const struct cn_hpc_writing *w,
                                const char *name, size_t section_count,
                                struct cn_error *err);

/* The same for a file that all ranks write to: rank 0 creates it, the others open it.
 * They go on to fill in parts of it; rank 0 ends it when all are done. */
CN_CHECK bool cn_hpc_shared_file_begin(struct cn_out *out, const struct cn_hpc_writing *w,
                                       const char *name, size_t section_count,
                                       struct cn_error *err);

/* Write header and footer, and close. */
CN_CHECK bool cn_hpc_file_end(struct cn_out *out, const char *format, const char *footer,
                              const struct cn_hpc_section *sections, size_t section_count,
                              struct cn_error *err);

/* Strings of one section, each kept once, at offsets that follow each other. */
struct cn_hpc_strings {
    struct cn_names names;
    uint64_t *offs; /* of each name in the file */
    size_t capacity;
    uint64_t end_off; /* set to where the first string will be written */
};

/* The offset that `text` has in the file. */
uint64_t cn_hpc_strings_add(struct cn_hpc_strings *strings, const char *text);
CN_CHECK bool cn_hpc_strings_write(const struct cn_hpc_strings *strings,
                                   struct cn_out *out, struct cn_error *err);
void cn_hpc_strings_done(struct cn_hpc_strings *strings);

#endif
