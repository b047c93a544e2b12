/* The events of the processors as the index of a directory names them.
 * Threads: any thread.
 */
#ifndef CN_FORMATS_UFTRACE_DIRECTORY_PERF_INDEX_H
#define CN_FORMATS_UFTRACE_DIRECTORY_PERF_INDEX_H

#include "formats/uftrace/records/perf_reader.h"

struct cn_uft_directory;

/* Decode one of perf_records. */
bool cn_uft_perf_event_at(const struct cn_uft_directory *dir, uint64_t record,
                          struct cn_uft_perf_event *out);

#endif
