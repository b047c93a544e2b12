/* The summary of a recording as an index: reading a time range without the records before
 * it.
 * Threads: one thread at a time builds it; any thread may read it.
 */
#ifndef CN_FORMATS_UFTRACE_DIRECTORY_RANGE_INDEX_H
#define CN_FORMATS_UFTRACE_DIRECTORY_RANGE_INDEX_H

#include "formats/uftrace/directory/directory.h"

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
