/* Writes recordings as uftrace data directories.
 *
 * A recording that was read from such a directory is copied byte for byte. Others are
 * written in version 4 of the format.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_UFTRACE_WRITE_WRITER_H
#define CN_FORMATS_UFTRACE_WRITE_WRITER_H

#include "model/calls/recording.h"
#include "model/format.h"

/* Write the directory `path`; it is renamed into place when it is complete. */
CN_CHECK bool cn_uft_write(const struct cn_recording *rec, const char *path,
                           const struct cn_write_options *options, struct cn_error *err);

/* A directory being written. */
struct cn_uft_writing {
    const struct cn_recording *rec;
    const char *dir; /* temporary folder */
    const struct cn_write_options *options;
};

/* Write a text file. */
CN_CHECK bool cn_uft_write_text(const struct cn_uft_writing *w, const char *name,
                                const struct cn_text *text, struct cn_error *err);

/* Write the files of a directory from the model. */
CN_CHECK bool cn_uft_write_info(const struct cn_uft_writing *w, struct cn_error *err);
CN_CHECK bool cn_uft_write_tasks(const struct cn_uft_writing *w, struct cn_error *err);
CN_CHECK bool cn_uft_write_modules(const struct cn_uft_writing *w, struct cn_error *err);
CN_CHECK bool cn_uft_write_records(const struct cn_uft_writing *w, struct cn_error *err);

/* The records that are written. */
struct cn_time_range cn_uft_written_range(const struct cn_uft_writing *w);

/* Copy the records of a file of the recording: TID.dat or perf-cpuN.dat. */
CN_CHECK bool cn_uft_copy_records(const struct cn_uft_writing *w, uint32_t source,
                                  struct cn_error *err);

#endif
