/* Streams of calls over a directory: of a task, with everything that concerns it
 * merged, and of a single file.
 * Threads: each stream belongs to one thread at a time.
 */
#ifndef CN_FORMATS_UFTRACE_DIRECTORY_STREAM_H
#define CN_FORMATS_UFTRACE_DIRECTORY_STREAM_H

#include "formats/uftrace/directory/directory.h"

/* What every stream of this format begins with. */
struct cn_uft_stream {
    struct cn_call_stream base;
    enum cn_step (*next)(struct cn_uft_stream *stream, struct cn_call_batch *out,
                         struct cn_error *err);
    void (*close)(struct cn_uft_stream *stream);
};

/* The calls of a task. With `is_raw` just its file, nothing merged, with the bytes
 * of each record. */
struct cn_uft_stream *cn_uft_task_stream_new(const struct cn_uft_directory *dir,
                                             uint32_t task, struct cn_time_range range,
                                             bool is_raw);

/* The calls of a piece of a task, one that cn_uft_parts() gave. */
struct cn_uft_stream *cn_uft_part_stream_new(const struct cn_uft_directory *dir,
                                             uint32_t task,
                                             const struct cn_call_part *part);

/* perf-cpuN.dat, kernel-cpuN.dat or extern.dat. */
struct cn_uft_stream *cn_uft_source_stream_new(const struct cn_uft_directory *dir,
                                               const struct cn_source *source);

#endif
