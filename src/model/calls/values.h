/* The data of calls and events: arguments, return values and counters, printed as uftrace
 * prints them.
 * Threads: any thread.
 */
#ifndef CN_MODEL_CALLS_VALUES_H
#define CN_MODEL_CALLS_VALUES_H

#include "model/calls/recording.h"

/* An argument or return value. */
struct cn_call_value {
    const struct cn_argument_spec *spec;
    struct cn_bytes bytes; /* of a string: without its length */
};

/* An iteration over values:
 *     cn_call_values_begin(&values, rec, batch, call);
 *     while (cn_call_values_next(&values, &value)) ... */
struct cn_call_values {
    const struct cn_argument_spec *next, *end;
    struct cn_bytes rest;
    bool is_big_endian;
};

/* A call without data, or an event, has no values. */
void cn_call_values_begin(struct cn_call_values *values, const struct cn_recording *rec,
                          const struct cn_call_batch *batch, const struct cn_call *call);
bool cn_call_values_next(struct cn_call_values *values, struct cn_call_value *out);

/* The length of the data of a call at the start of `bytes`. False if it does not fit. */
CN_CHECK bool cn_call_values_measure(const struct cn_argument_specs *specs,
                                     struct cn_bytes bytes, bool is_big_endian,
                                     uint32_t *len);

/* The value as a number, zero extended; of a longer value the first 8 bytes. */
uint64_t cn_call_value_number(const struct cn_call_values *values,
                              const struct cn_call_value *value);

/* The same, with the sign that the value has in its size. */
int64_t cn_call_value_signed(const struct cn_call_values *values,
                             const struct cn_call_value *value);

/* The value of a floating-point number of 4, 8 or 10 bytes; 0 for other sizes. */
double cn_call_value_real(const struct cn_call_values *values,
                          const struct cn_call_value *value);

/* Append the type of a value, for `cairn dump`: "d64", "u8", "str", "p", "f32". */
void cn_call_value_type_print(const struct cn_call_value *value, struct cn_text *text);

/* Append the members of an enum in a value: "RED|BLUE+0x10". */
void cn_enum_print(const struct cn_enum *enumeration, int64_t value,
                   struct cn_text *text);

/* Append a value as `replay` shows it. Pointers are resolved in `task` at `time_ns`. */
void cn_call_value_print(const struct cn_recording *rec, uint32_t task, uint64_t time_ns,
                         const struct cn_call_values *values,
                         const struct cn_call_value *value, struct cn_text *text);

/* Append "(1, "x")" for an entry, " = 3" for an exit, as uftrace replay does; "()" for an
 * entry without arguments, nothing for an exit without a result. Pointers are resolved in
 * `task`. */
void cn_recording_print_arguments(const struct cn_recording *rec, uint32_t task,
                                  const struct cn_call_batch *batch,
                                  const struct cn_call *call, struct cn_text *text);

/* The name of an event: "linux:sched-in", "read:proc/statm"; NULL if the id is unknown. */
const char *cn_recording_event_name(const struct cn_recording *rec, uint64_t id);

/* The counters of a trigger (`-T FUNC@read=page-fault`) at the begin of the call, or their
 * difference at its end. Sources and counters are numbered from 0; the counters of a source
 * are consecutive. */
enum {
    CN_COUNTER_VMSIZE, /* KB */
    CN_COUNTER_VMRSS,
    CN_COUNTER_SHARED,
    CN_COUNTER_MAJOR_FAULTS,
    CN_COUNTER_MINOR_FAULTS,
    CN_COUNTER_CYCLES,
    CN_COUNTER_INSTRUCTIONS,
    CN_COUNTER_CACHE_REFERENCES,
    CN_COUNTER_CACHE_MISSES,
    CN_COUNTER_BRANCHES,
    CN_COUNTER_BRANCH_MISSES,
    CN_COUNTER_COUNT,
    CN_COUNTER_SOURCES = 5,
    CN_COUNTERS_OF_SOURCE_MAX = 3,
};

/* The name of each counter, with its unit: "resident memory (KB)". */
extern const char *const cn_counter_names[CN_COUNTER_COUNT];

struct cn_counters {
    unsigned source;
    unsigned first, count;
    bool is_difference;
    uint64_t values[CN_COUNTERS_OF_SOURCE_MAX]; /* a difference is in two's complement */
};

/* True if events with this id have counters. */
static inline bool cn_event_has_counters(uint64_t id)
{
    return id >= CN_EVENT_READ_STATM && id <= CN_EVENT_DIFF_BRANCH;
}

/* The counters of an event; false if it has none. */
CN_CHECK bool cn_recording_counters(const struct cn_recording *rec,
                                    const struct cn_call_batch *batch,
                                    const struct cn_call *call, struct cn_counters *out);

/* The reading of a counter with a name of its own, which cn_recording_event_name() has for
 * CN_EVENT_COUNTER + *number. False if the event is none, or its value is not finite. */
CN_CHECK bool cn_recording_named_reading(const struct cn_recording *rec,
                                         const struct cn_call_batch *batch,
                                         const struct cn_call *call, uint32_t *number,
                                         double *value);

/* Counters of triggers as values: a difference is added to the value at the begin of the
 * same call. One for each task. */
struct cn_counter_levels;
struct cn_counter_levels *cn_counter_levels_new(void);
void cn_counter_levels_free(struct cn_counter_levels *levels); /* NULL is fine */

/* Take the next counters of the task, and make them values. False if the begin of the call
 * is unknown. */
bool cn_counter_levels_take(struct cn_counter_levels *levels,
                            struct cn_counters *counters);

/* Append the data of an event: "vmsize=4KB vmrss=2KB shared=1KB". Unless `is_raw`,
 * differences have a sign. False if there is no printable data. */
bool cn_recording_print_event(const struct cn_recording *rec,
                              const struct cn_call_batch *batch,
                              const struct cn_call *call, bool is_raw,
                              struct cn_text *text);

/* The same for an event of a task: a watched variable has its name. */
bool cn_recording_print_task_event(const struct cn_recording *rec, uint32_t task,
                                   const struct cn_call_batch *batch,
                                   const struct cn_call *call, bool is_raw,
                                   struct cn_text *text);

#endif
