/* Time ranges without reading what comes before them, by the summary of a recording.
 * Threads: one thread at a time builds it; reading from any thread.
 */
#ifndef CN_FORMATS_UFTRACE_DIRECTORY_RANGE_INDEX_H
#define CN_FORMATS_UFTRACE_DIRECTORY_RANGE_INDEX_H

#include "formats/uftrace/directory/directory.h"

/* Take the summary that is there, if it fits the records. */
void cn_uft_ranges_open(struct cn_uft_directory *dir);

/* Build it when it is not there, as the recording's `prepare`. Fails only when
 * interrupted. */
CN_CHECK bool cn_uft_ranges_prepare(struct cn_recording *rec, unsigned workers,
                                    const struct cn_progress *progress,
                                    struct cn_error *err);

/* Where to begin to see all records of a task from a time on. */
uint64_t cn_uft_ranges_find(const struct cn_uft_directory *dir, uint32_t task,
                            uint64_t time_ns);

#endif
