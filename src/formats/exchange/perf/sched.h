/* Tracepoints of the scheduler: which thread leaves a processor to which one, and which thread makes
 * another one ready to run.
 *
 * Their fields have been at the same offsets since Linux 4.4 on 64-bit machines; a file whose
 * bytes do not look like them has none.
 * Threads: any.
 */
#ifndef CN_FORMATS_EXCHANGE_PERF_SCHED_H
#define CN_FORMATS_EXCHANGE_PERF_SCHED_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/exchange/perf/file.h"

enum cn_perf_sched_kind { CN_PERF_NOT_SCHED, CN_PERF_SCHED_SWITCH, CN_PERF_SCHED_WAKE };

struct cn_perf_sched {
    uint32_t from, to; /* threads: that stops or wakes, that runs or is woken */
    bool is_preempted; /* the one that stops could have run on */
    bool
        is_from_interrupt; /* hardware or software: the thread may have been interrupted */
    bool is_from_hardware; /* it was */
};

/* What the samples of an event are, by its name; the second one: if they have fields. */
enum cn_perf_sched_kind cn_perf_sched_named(const char *name);
enum cn_perf_sched_kind cn_perf_sched_of(const struct cn_perf_event *event);

/* Decode the fields of a sample. False if they are not those of this kind. */
bool cn_perf_sched_decode(enum cn_perf_sched_kind kind, struct cn_bytes raw,
                          struct cn_perf_sched *out);

/* True if a file has the switches of whole processors: the thread that stops is the one that was
 * switched to. Those of a few threads say when these stop, not when they run again. Reads the file
 * from its beginning, and leaves it there. */
bool cn_perf_sched_is_whole(struct cn_perf_file *file);

#endif
