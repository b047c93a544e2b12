/* Streams of calls: of a task with all its events merged in, or of a single file.
 * Threads: one thread at a time for each stream.
 */
#ifndef CN_FORMATS_UFTRACE_DIRECTORY_STREAM_H
#define CN_FORMATS_UFTRACE_DIRECTORY_STREAM_H

#include "formats/uftrace/directory/directory.h"
#include "model/calls/recording.h"

/* The start of every stream. */
struct cn_uft_stream {
    struct cn_call_stream base;
    enum cn_step (*next)(struct cn_uft_stream *stream, struct cn_call_batch *out,
                         struct cn_error *err);
    void (*close)(struct cn_uft_stream *stream);
};

/* The calls of a task. With `is_raw`, only those of its file, with the bytes of each
 * record. */
struct cn_uft_stream *cn_uft_task_stream_new(const struct cn_uft_directory *dir,
                                             uint32_t task, struct cn_time_range range,
                                             bool is_raw);

/* The calls of a part of a task, from cn_uft_parts(). */
struct cn_uft_stream *cn_uft_part_stream_new(const struct cn_uft_directory *dir,
                                             uint32_t task,
                                             const struct cn_call_part *part);

/* The operations of a task that is a stream of a GPU. */
struct cn_uft_stream *cn_uft_gpu_stream_new(const struct cn_uft_directory *dir,
                                            uint32_t task, struct cn_time_range range);

/* perf-cpuN.dat, kernel-cpuN.dat or extern.dat. */
struct cn_uft_stream *cn_uft_source_stream_new(const struct cn_uft_directory *dir,
                                               const struct cn_source *source);

/* Division of a long task into parts that can be read in parallel. Parts are about
 * `part_len` bytes long and begin at a record or a packed chunk.
 *
 * In plain files nothing marks the start of a record. It is assumed where many records
 * without payload follow one another in the order of time. In recordings with arguments
 * there may be no such run: then a part is longer, or the task is one part. */

/* Implements `parts` of struct cn_recording_ops. */
size_t cn_uft_parts(const struct cn_recording *rec, uint32_t task, uint64_t part_len,
                    struct cn_call_part **out);

/* The summary of a recording as an index: reading a time range without the records before
 * it.
 * Threads: one thread at a time builds it; any thread may read it.
 */

/* Open the summary if it exists and matches the records. */
void cn_uft_ranges_open(struct cn_uft_directory *dir);

/* Build it if it is missing; implements `prepare` of struct cn_recording_ops. Fails only
 * when interrupted. */
CN_CHECK bool cn_uft_ranges_prepare(struct cn_recording *rec, unsigned workers,
                                    const struct cn_progress *progress,
                                    struct cn_error *err);

/* The offset from which a reader sees all records of a task since `time_ns`. */
uint64_t cn_uft_ranges_find(const struct cn_uft_directory *dir, uint32_t task,
                            uint64_t time_ns);

#endif
