#include "formats/exchange/perf/sched.h"

#include <string.h>

#include "base/bytes/record.h"

enum { SWITCHES_SEEN = 1 << 16 };

/* Fields that all tracepoints begin with, then those of sched_switch and of sched_waking. */
enum {
    FLAGS_OFF = 2, /* u8 */
    PID_OFF = 4,   /* s32: the thread in which it happened */
    COMM_OFF = 8,
    COMM_LEN = 16,
    TID_OFF = 24,   /* s32: that stops, or is woken */
    STATE_OFF = 32, /* s64: 0 if the one that stops could have run on */
    NEXT_COMM_OFF = 40,
    NEXT_TID_OFF = 56,
    SWITCH_LEN = 64,
    WAKE_LEN = 36,
    IN_HARD_INTERRUPT = 0x08,
    IN_INTERRUPT = IN_HARD_INTERRUPT | 0x10, /* or soft */
    STATE_PREEMPTED = 0x100,                 /* beyond the states that tools are shown */
};

enum cn_perf_sched_kind cn_perf_sched_named(const char *name)
{
    /* sched_wakeup is left out: it may happen on the processor of the woken thread. */
    return strcmp(name, "sched:sched_switch") == 0   ? CN_PERF_SCHED_SWITCH
           : strcmp(name, "sched:sched_waking") == 0 ? CN_PERF_SCHED_WAKE
                                                     : CN_PERF_NOT_SCHED;
}

static bool is_comm(struct cn_bytes raw, size_t off)
{
    return memchr(raw.ptr + off, '\0', COMM_LEN) != NULL;
}

bool cn_perf_sched_decode(enum cn_perf_sched_kind kind, struct cn_bytes raw,
                          struct cn_perf_sched *out)
{
    bool is_switch = kind == CN_PERF_SCHED_SWITCH;

    if (kind == CN_PERF_NOT_SCHED ||
        raw.len < (size_t)(is_switch ? SWITCH_LEN : WAKE_LEN) || !is_comm(raw, COMM_OFF))
        return false;
    uint32_t tid = cn_u32_get(raw.ptr + TID_OFF), by = cn_u32_get(raw.ptr + PID_OFF);
    *out = (struct cn_perf_sched){
        .from = by,
        .to = tid,
        .is_from_interrupt = raw.ptr[FLAGS_OFF] & IN_INTERRUPT,
        .is_from_hardware = raw.ptr[FLAGS_OFF] & IN_HARD_INTERRUPT,
    };
    if (!is_switch)
        return true;
    if (by != tid || !is_comm(raw, NEXT_COMM_OFF))
        return false;
    uint64_t state = cn_u64_get(raw.ptr + STATE_OFF);
    out->to = cn_u32_get(raw.ptr + NEXT_TID_OFF);
    out->is_preempted = state == 0 || state & STATE_PREEMPTED;
    return true;
}

enum cn_perf_sched_kind cn_perf_sched_of(const struct cn_perf_event *event)
{
    return event->attr.sample_type & CN_PERF_HAS_RAW ? cn_perf_sched_named(event->name)
                                                     : CN_PERF_NOT_SCHED;
}

bool cn_perf_sched_is_whole(struct cn_perf_file *file)
{
    uint64_t same_count = 0, other_count = 0;
    struct cn_perf_record record;
    struct cn_perf_sample sample;
    struct cn_perf_sched sched;
    struct cn_map last_of = {0}; /* by processor: the thread that runs */
    struct cn_error ignored;
    bool is_traced = false;

    for (uint32_t i = 0; i < file->event_count; i++)
        is_traced =
            is_traced || cn_perf_sched_of(&file->events[i]) == CN_PERF_SCHED_SWITCH;
    while (is_traced && same_count + other_count < SWITCHES_SEEN &&
           cn_perf_next(file, &record, &ignored) == CN_ITEM) {
        if (record.head.type != CN_PERF_SAMPLE ||
            !cn_perf_sample_decode(file, &record, &sample, &ignored) ||
            cn_perf_sched_of(&file->events[sample.event]) != CN_PERF_SCHED_SWITCH ||
            !cn_perf_sched_decode(CN_PERF_SCHED_SWITCH, sample.raw, &sched))
            continue;
        uint32_t *last = cn_map_at(&last_of, sample.cpu, UINT32_MAX);
        same_count += *last == sched.from;
        other_count += *last != sched.from && *last != UINT32_MAX;
        *last = sched.to;
    }
    file->next = 0;
    cn_map_done(&last_of);
    return same_count > 10 * other_count;
}
