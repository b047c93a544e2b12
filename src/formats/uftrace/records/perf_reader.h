/* perf-cpuN.dat: context switches and task events of one processor.
 * Threads: any thread.
 */
#ifndef CN_FORMATS_UFTRACE_RECORDS_PERF_READER_H
#define CN_FORMATS_UFTRACE_RECORDS_PERF_READER_H

#include "base/bytes/bytes.h"
#include "base/error.h"
#include "model/step.h"

struct cn_uft_perf_event {
    uint64_t time_ns;
    uint32_t tid, pid;
    uint32_t parent_tid;   /* of a new task */
    uint32_t id;           /* CN_EVENT_*; 0 for records of other kinds */
    struct cn_bytes name;  /* of a task that was renamed */
    struct cn_bytes bytes; /* of the whole record */
};

/* Read the record at *off, and move *off to the next one. */
CN_CHECK enum cn_step cn_uft_perf_next(struct cn_bytes file, bool is_big_endian,
                                       uint64_t *off, struct cn_uft_perf_event *out,
                                       struct cn_error *err);

#endif
