/* Recordings into uftrace data directories.
 *
 * What was read from such a directory is written byte for byte the same. Anything
 * else is written as a recorder of version 4 would have done it.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_UFTRACE_WRITE_WRITER_H
#define CN_FORMATS_UFTRACE_WRITE_WRITER_H

#include "model/calls/recording.h"
#include "model/format.h"

/* Write the directory `path`; it appears when it is complete. */
CN_CHECK bool cn_uft_write(const struct cn_recording *rec, const char *path,
                           const struct cn_write_options *options, struct cn_error *err);

/* What is being written. */
struct cn_uft_writing {
    const struct cn_recording *rec;
    const char *dir; /* where the files go */
    const struct cn_write_options *options;
};

/* A text file. */
struct cn_text;
CN_CHECK bool cn_uft_write_text(const struct cn_uft_writing *w, const char *name,
                                const struct cn_text *text, struct cn_error *err);

/* The parts of a directory, from the model. */
CN_CHECK bool cn_uft_write_info(const struct cn_uft_writing *w, struct cn_error *err);
CN_CHECK bool cn_uft_write_tasks(const struct cn_uft_writing *w, struct cn_error *err);
CN_CHECK bool cn_uft_write_modules(const struct cn_uft_writing *w, struct cn_error *err);
CN_CHECK bool cn_uft_write_records(const struct cn_uft_writing *w, struct cn_error *err);

/* TID.dat of one task, its records as they are stored. */
CN_CHECK bool cn_uft_copy_records(const struct cn_uft_writing *w, uint32_t source,
                                  struct cn_error *err);

#endif
