/* Names and data of events. */

#include "model/calls/values.h"

#include <inttypes.h>
#include <math.h>

#include "base/bytes/record.h"
#include "base/text.h"

static const struct cn_event_name known[] = {
    {CN_EVENT_READ_STATM, "read:proc/statm"},
    {CN_EVENT_READ_PAGE_FAULT, "read:page-fault"},
    {CN_EVENT_DIFF_STATM, "diff:proc/statm"},
    {CN_EVENT_DIFF_PAGE_FAULT, "diff:page-fault"},
    {CN_EVENT_READ_CYCLE, "read:pmu-cycle"},
    {CN_EVENT_DIFF_CYCLE, "diff:pmu-cycle"},
    {CN_EVENT_READ_CACHE, "read:pmu-cache"},
    {CN_EVENT_DIFF_CACHE, "diff:pmu-cache"},
    {CN_EVENT_READ_BRANCH, "read:pmu-branch"},
    {CN_EVENT_DIFF_BRANCH, "diff:pmu-branch"},
    {CN_EVENT_WATCH_CPU, "watch:cpu"},
    {CN_EVENT_WATCH_VAR, "watch:var"},
    {CN_EVENT_CALLSITE, "callsite"},
    {CN_EVENT_SCHED_IN, "linux:sched-in"},
    {CN_EVENT_SCHED_OUT, "linux:sched-out"},
    {CN_EVENT_SCHED_BOTH, "linux:schedule"},
    {CN_EVENT_TASK_NEW, "linux:task-new"},
    {CN_EVENT_TASK_EXIT, "linux:task-exit"},
    {CN_EVENT_TASK_NAME, "linux:task-name"},
    {CN_EVENT_SCHED_OUT_PREEMPT, "linux:sched-out (pre-empted)"},
    {CN_EVENT_SCHED_BOTH_PREEMPT, "linux:schedule (pre-empted)"},
    {CN_EVENT_EXTERN, "external-data"},
};

const char *cn_recording_event_name(const struct cn_recording *rec, uint64_t id)
{
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (known[i].id == id)
            return known[i].name;
    for (uint32_t i = 0; i < rec->event_name_count; i++)
        if (rec->event_names[i].id == id)
            return rec->event_names[i].name;
    return NULL;
}

const char *const cn_counter_names[CN_COUNTER_COUNT] = {
    [CN_COUNTER_VMSIZE] = "virtual memory (KB)",
    [CN_COUNTER_VMRSS] = "resident memory (KB)",
    [CN_COUNTER_SHARED] = "shared memory (KB)",
    [CN_COUNTER_MAJOR_FAULTS] = "major page faults",
    [CN_COUNTER_MINOR_FAULTS] = "minor page faults",
    [CN_COUNTER_CYCLES] = "cycles",
    [CN_COUNTER_INSTRUCTIONS] = "instructions",
    [CN_COUNTER_CACHE_REFERENCES] = "cache references",
    [CN_COUNTER_CACHE_MISSES] = "cache misses",
    [CN_COUNTER_BRANCHES] = "branches",
    [CN_COUNTER_BRANCH_MISSES] = "branch misses",
};

/* Sources of counters: names and units, in the order of the data. */
struct events_source {
    uint64_t read_id, diff_id;
    const char *names[CN_COUNTERS_OF_SOURCE_MAX], *unit;
    unsigned first, count;
};

static const struct events_source sources[CN_COUNTER_SOURCES] = {
    {CN_EVENT_READ_STATM,
     CN_EVENT_DIFF_STATM,
     {"vmsize", "vmrss", "shared"},
     "KB",
     CN_COUNTER_VMSIZE,
     3},
    {CN_EVENT_READ_PAGE_FAULT,
     CN_EVENT_DIFF_PAGE_FAULT,
     {"major", "minor"},
     "",
     CN_COUNTER_MAJOR_FAULTS,
     2},
    {CN_EVENT_READ_CYCLE,
     CN_EVENT_DIFF_CYCLE,
     {"cycles", "instructions"},
     "",
     CN_COUNTER_CYCLES,
     2},
    {CN_EVENT_READ_CACHE,
     CN_EVENT_DIFF_CACHE,
     {"refers", "misses"},
     "",
     CN_COUNTER_CACHE_REFERENCES,
     2},
    {CN_EVENT_READ_BRANCH,
     CN_EVENT_DIFF_BRANCH,
     {"branch", "misses"},
     "",
     CN_COUNTER_BRANCHES,
     2},
};

static uint64_t word_at(const struct cn_recording *rec, struct cn_bytes data, size_t i)
{
    struct cn_bytes word;

    if (!cn_bytes_array(data, 8 * (uint64_t)i, 1, 8, &word))
        return 0;
    return rec->is_big_endian ? cn_u64_be_get(word.ptr) : cn_u64_get(word.ptr);
}

/* The source of the counters of an event, or NULL. */
static const struct events_source *find_source(const struct cn_call *call)
{
    for (size_t i = 0; i < CN_COUNTER_SOURCES; i++)
        if (call->address == sources[i].read_id || call->address == sources[i].diff_id)
            return &sources[i];
    return NULL;
}

bool cn_recording_counters(const struct cn_recording *rec,
                           const struct cn_call_batch *batch, const struct cn_call *call,
                           struct cn_counters *out)
{
    const struct events_source *source = find_source(call);
    struct cn_bytes data = cn_call_data(batch, call);

    if (call->kind != CN_CALL_EVENT || !(call->flags & CN_CALL_HAS_DATA) || !source ||
        data.len < 8 * (size_t)source->count)
        return false;
    struct cn_counters counters = {
        .source = (unsigned)(source - sources),
        .first = source->first,
        .count = source->count,
        .is_difference = call->address == source->diff_id,
    };
    for (unsigned i = 0; i < source->count; i++)
        counters.values[i] = word_at(rec, data, i);
    *out = counters;
    return true;
}

bool cn_recording_named_reading(const struct cn_recording *rec,
                                const struct cn_call_batch *batch,
                                const struct cn_call *call, uint32_t *number,
                                double *value)
{
    struct cn_bytes data = cn_call_data(batch, call);

    if (call->kind != CN_CALL_EVENT || !(call->flags & CN_CALL_HAS_DATA) ||
        call->address < CN_EVENT_COUNTER ||
        call->address >= CN_EVENT_COUNTER + CN_NAMED_COUNTER_MAX || data.len < 8)
        return false;
    double found = rec->is_big_endian ? cn_f64_be_get(data.ptr) : cn_f64_get(data.ptr);
    if (!isfinite(found))
        return false;
    *number = (uint32_t)(call->address - CN_EVENT_COUNTER);
    *value = found;
    return true;
}

static bool print_counters(const struct cn_recording *rec,
                           const struct events_source *source, struct cn_bytes data,
                           bool is_signed, struct cn_text *text)
{
    for (size_t i = 0; i < source->count; i++) {
        uint64_t value = word_at(rec, data, i);

        if (data.len < 8 * (i + 1))
            return i > 0;
        cn_text_printf(text, "%s%s=", i > 0 ? " " : "", source->names[i]);
        cn_text_printf(text, is_signed ? "%+" PRId64 "%s" : "%" PRId64 "%s",
                       (int64_t)value, source->unit);
    }
    return true;
}

/* The value of a watched variable, which has the size of the variable, after its address. */
static int64_t watched_value(const struct cn_recording *rec, struct cn_bytes data)
{
    size_t len = data.len < 16 ? data.len - 8 : 8;
    uint64_t value = 0;

    for (size_t i = 0; i < len; i++)
        value |= (uint64_t)data.ptr[8 + i] << 8 * (rec->is_big_endian ? len - 1 - i : i);
    return len == 0 ? 0 : (int64_t)(value << (64 - 8 * len)) >> (64 - 8 * len);
}

static bool print_plain(const struct cn_call *call, struct cn_bytes data,
                        const struct cn_recording *rec, struct cn_text *text)
{
    switch (call->address) {
    case CN_EVENT_WATCH_CPU:
        if (data.len < 4)
            return false;
        cn_text_printf(text, "cpu=%" PRId32,
                       (int32_t)(rec->is_big_endian ? cn_u32_be_get(data.ptr)
                                                    : cn_u32_get(data.ptr)));
        return true;
    case CN_EVENT_WATCH_VAR:
        if (data.len < 8)
            return false;
        cn_text_printf(text, "addr=%#" PRIx64 " value=%" PRId64, word_at(rec, data, 0),
                       watched_value(rec, data));
        return true;
    case CN_EVENT_CALLSITE:
        if (data.len < 8)
            return false;
        cn_text_printf(text, "callsite=%#" PRIx64, word_at(rec, data, 0));
        return true;
    case CN_EVENT_TASK_NAME:
    case CN_EVENT_EXTERN:
        cn_text_add(text, (const char *)data.ptr, data.len);
        return true;
    default:
        return rec->ops->print_tracepoint &&
               rec->ops->print_tracepoint(rec, call, data, text);
    }
}

bool cn_recording_print_event(const struct cn_recording *rec,
                              const struct cn_call_batch *batch,
                              const struct cn_call *call, bool is_raw,
                              struct cn_text *text)
{
    struct cn_bytes data = cn_call_data(batch, call);
    const struct events_source *source = find_source(call);
    uint32_t number;
    double value;

    if (call->kind != CN_CALL_EVENT || !(call->flags & CN_CALL_HAS_DATA))
        return false;
    if (cn_recording_named_reading(rec, batch, call, &number, &value)) {
        cn_text_printf(text, "%.15g", value);
        return true;
    }
    if (source)
        return print_counters(rec, source, data,
                              !is_raw && call->address == source->diff_id, text);
    return print_plain(call, data, rec, text);
}

bool cn_recording_print_task_event(const struct cn_recording *rec, uint32_t task,
                                   const struct cn_call_batch *batch,
                                   const struct cn_call *call, bool is_raw,
                                   struct cn_text *text)
{
    struct cn_bytes data = cn_call_data(batch, call);
    uint32_t variable = CN_NONE;

    if (call->address == CN_EVENT_WATCH_VAR && call->flags & CN_CALL_HAS_DATA &&
        data.len >= 8 && task != CN_NONE)
        variable =
            cn_recording_find_function(rec, task, call->time_ns, word_at(rec, data, 0));
    if (variable == CN_NONE)
        return cn_recording_print_event(rec, batch, call, is_raw, text);
    cn_text_printf(text, "%s=%" PRId64, rec->functions[variable].name,
                   watched_value(rec, data));
    return true;
}
