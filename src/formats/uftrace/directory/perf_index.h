/* Events of perf-cpuN.dat, by the numbers in `perf_records` of a directory.
 * Threads: any thread.
 */
#ifndef CN_FORMATS_UFTRACE_DIRECTORY_PERF_INDEX_H
#define CN_FORMATS_UFTRACE_DIRECTORY_PERF_INDEX_H

#include "formats/uftrace/records/perf_reader.h"

struct cn_uft_directory;

/* Decode the event of one of perf_records. */
bool cn_uft_perf_event_at(const struct cn_uft_directory *dir, uint64_t record,
                          struct cn_uft_perf_event *out);

/* 1 + the processor of one of perf_records; 0 if it is unknown. */
uint16_t cn_uft_perf_processor(const struct cn_uft_directory *dir, uint64_t record);

/* True if a wait of the task, from an event "out" to the next one "in", contains this
 * time. */
bool cn_uft_perf_is_waiting(const struct cn_uft_directory *dir, uint32_t task,
                            uint64_t time_ns);

/* True if the task stopped running. */
bool cn_uft_perf_is_out(const struct cn_uft_perf_event *event);

#endif
