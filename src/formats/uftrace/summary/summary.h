/* The summary of a recording: for each block of records its times, its counts and the
 * functions that are open at its start, so that a time range can be read without the rest.
 *
 *     task = cn_uft_summary_find_task(summary, tid);
 *     block = cn_uft_summary_find(summary, task, time_ns);
 *     reader = cn_uft_record_reader_new(records, summary->blocks[block].stored_off);
 *
 * It is cached in the user's cache, up to 256 MiB of all recordings. A file that does not match
 * the records is ignored and replaced.
 * Threads: immutable once built.
 */
#ifndef CN_FORMATS_UFTRACE_SUMMARY_SUMMARY_H
#define CN_FORMATS_UFTRACE_SUMMARY_SUMMARY_H

#include "base/error.h"
#include "formats/uftrace/format.h"
#include "formats/uftrace/packed/record_source.h"
#include "formats/uftrace/summary/format.h"

struct cn_progress;

/* Measure the payload of a record with `more`; `rest` begins after its two words. False
 * when that is impossible: the records end there. */
typedef bool (*cn_uft_measure_fn)(void *arg, struct cn_uft_record record,
                                  struct cn_bytes rest, size_t *len);

/* The records of one task, and how to measure their payloads. */
struct cn_uft_summary_source {
    uint32_t tid;
    uint64_t mtime_ns; /* of their file */
    const struct cn_uft_records *records;
    cn_uft_measure_fn measure; /* called by one thread at a time with this `arg` */
    void *arg;
};

struct cn_uft_summary {
    struct cn_uft_summary_task *tasks; /* by tid */
    struct cn_uft_summary_block *blocks;
    uint64_t *open; /* addresses of functions */
    uint32_t task_count, block_count;
    uint64_t open_count;
};

/* The summary of these records, which are sorted by tid: read from its file if that is
 * valid, else built and saved where possible. Fails only when interrupted. The caller
 * owns the result. */
CN_CHECK bool cn_uft_summary_get(struct cn_uft_summary **out, const char *dir,
                                 const struct cn_uft_summary_source *sources,
                                 uint32_t count, unsigned workers,
                                 const struct cn_progress *progress,
                                 struct cn_error *err);

/* The steps of cn_uft_summary_get(). Opening fails if there is no file, or an invalid one. */
CN_CHECK bool cn_uft_summary_open(struct cn_uft_summary **out, const char *dir,
                                  const struct cn_uft_summary_source *sources,
                                  uint32_t count, struct cn_error *err);
CN_CHECK bool cn_uft_summary_build(struct cn_uft_summary **out,
                                   const struct cn_uft_summary_source *sources,
                                   uint32_t count, unsigned workers,
                                   const struct cn_progress *progress,
                                   struct cn_error *err);
CN_CHECK bool cn_uft_summary_save(const struct cn_uft_summary *summary, const char *dir,
                                  struct cn_error *err);
void cn_uft_summary_free(struct cn_uft_summary *summary); /* NULL is fine */

/* Decode a summary. The bytes are not referenced afterwards. */
CN_CHECK bool cn_uft_summary_decode(struct cn_bytes bytes, struct cn_uft_summary **out,
                                    struct cn_error *err);

/* The task of a summary, without its blocks. */
static inline struct cn_uft_summary_task
cn_uft_summary_task_of(const struct cn_uft_summary_source *source)
{
    return (struct cn_uft_summary_task){
        .tid = source->tid,
        .is_packed = source->records->is_packed,
        .len = source->records->content.len,
        .mtime_ns = source->mtime_ns,
    };
}

/* The index of a task; CN_NONE when it has no records. */
uint32_t cn_uft_summary_find_task(const struct cn_uft_summary *summary, uint32_t tid);

/* The first block of a task with records at or after a time; CN_NONE when there is none. */
uint32_t cn_uft_summary_find(const struct cn_uft_summary *summary, uint32_t task,
                             uint64_t time_ns);

#endif
