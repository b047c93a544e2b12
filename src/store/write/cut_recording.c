#include "store/write/cut_recording.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <xxhash.h>

#include "base/path.h"
#include "base/text.h"
#include "model/calls/recording.h"
#include "model/calls/values.h"
#include "model/traces/trace.h"

struct cutting {
    struct cn_store_writer *writer;
    const struct cn_recording *recording;
    const char *function;
    uint32_t task;
    uint64_t epoch_ns; /* the date of time 0 of the recording's clock */
    struct cn_words *words;
    struct cn_trace trace;
    uint32_t base_depth; /* of the first call of the trace */
    bool is_open;
    struct cn_store_added added;
};

/* Derived from the date of the recording and its first call. */
static uint64_t find_epoch(const struct cn_recording *recording)
{
    const char *date = cn_recording_fact(recording, "record_date");
    uint64_t first_ns = UINT64_MAX, epoch_ns;
    struct tm tm = {0};

    for (uint32_t i = 0; i < recording->task_count; i++)
        if (recording->tasks[i].first_ns != 0 && recording->tasks[i].first_ns < first_ns)
            first_ns = recording->tasks[i].first_ns;
    if (!date || first_ns == UINT64_MAX || !strptime(date, "%a %b %d %H:%M:%S %Y", &tm))
        return 0;
    tm.tm_isdst = -1;
    epoch_ns = (uint64_t)mktime(&tm) * 1000000000;
    return epoch_ns > first_ns ? epoch_ns - first_ns : 0;
}

static uint32_t method_of(struct cutting *cutting, uint32_t function)
{
    const struct cn_recording *recording = cutting->recording;
    uint32_t parts[3] = {0};

    parts[1] =
        cn_words_add_str(cutting->words, CN_WORD_METHOD_NAME,
                         function == CN_NONE ? "?" : recording->functions[function].name);
    return cn_words_add_parts(cutting->words, CN_WORD_METHOD, parts, 3);
}

static struct cn_trace_value value_of(struct cutting *cutting,
                                      const struct cn_call_values *values,
                                      const struct cn_call_value *value)
{
    uint64_t number = cn_call_value_number(values, value);
    unsigned unused_bits = value->spec->size < 8 ? 64U - 8U * value->spec->size : 0;
    uint32_t bits = (uint32_t)number;
    double wide;
    float narrow;

    switch (value->spec->format) {
    case 's':
    case 'S':
        return (struct cn_trace_value){
            .kind = CN_VALUE_WORD,
            .word = cn_words_add(cutting->words, CN_WORD_TEXT, value->bytes)};
    case 'f':
        if (value->spec->size == sizeof(narrow)) {
            memcpy(&narrow, &bits, sizeof(narrow));
            wide = (double)narrow;
        } else
            memcpy(&wide, &number, sizeof(wide));
        return (struct cn_trace_value){.kind = CN_VALUE_FLOAT, .real = wide};
    case 'd':
    case 'i':
        return (struct cn_trace_value){
            .kind = CN_VALUE_INT,
            .integer =
                unused_bits < 64 ? (int64_t)(number << unused_bits) >> unused_bits : 0};
    default:
        return (struct cn_trace_value){.kind = CN_VALUE_INT, .integer = (int64_t)number};
    }
}

/* Arguments are "arg1", "arg2", ..., the return value is "retval". */
static void add_values(struct cutting *cutting, const struct cn_call_batch *batch,
                       const struct cn_call *call)
{
    struct cn_call_values values;
    struct cn_call_value value;
    char key[16];

    cn_call_values_begin(&values, cutting->recording, batch, call);
    while (cn_call_values_next(&values, &value)) {
        if (value.spec->index == 0)
            (void)snprintf(key, sizeof(key), "retval");
        else
            (void)snprintf(key, sizeof(key), "arg%u", value.spec->index);
        cn_trace_add_attribute(&cutting->trace,
                               cn_words_add_str(cutting->words, CN_WORD_KEYWORD, key),
                               value_of(cutting, &values, &value));
    }
}

static void identify(struct cutting *cutting, uint64_t time_ns)
{
    const struct cn_task *task = &cutting->recording->tasks[cutting->task];
    const struct cn_session *session =
        cn_recording_session_at(cutting->recording, cutting->task, time_ns);
    uint64_t origin[3] = {task->pid, task->tid, time_ns};
    const char *program = session ? session->exename : "";
    XXH128_hash_t id;

    id = XXH3_128bits_withSeed(origin, sizeof(origin),
                               session ? XXH3_64bits(session->sid, strlen(session->sid))
                                       : 0);
    cutting->trace.id_high = id.high64 | 1;
    cutting->trace.id_low = id.low64 | 1;
    cutting->trace.clock_ns = time_ns;
    struct cn_trace_span *span =
        cn_trace_add_span(&cutting->trace, cutting->epoch_ns + time_ns);
    span->id = (id.high64 ^ id.low64) | 1;
    span->type = cn_words_add_str(cutting->words, CN_WORD_KEYWORD, "call");
    span->service =
        cn_words_add_str(cutting->words, CN_WORD_KEYWORD, cn_path_name(program));
}

static bool finish(struct cutting *cutting, struct cn_error *err)
{
    cutting->is_open = false;
    cn_trace_settle(&cutting->trace);
    return cn_store_writer_add(cutting->writer, &cutting->trace, &cutting->added, err);
}

/* End calls deeper than `depth` that lost records or a longjmp left open. */
static void leave_to(struct cutting *cutting, uint32_t depth, uint64_t since_ns)
{
    struct cn_trace *trace = &cutting->trace;

    while (trace->depth > depth)
        cn_trace_leave(trace, since_ns, trace->node_count - trace->current);
}

static bool on_enter(struct cutting *cutting, const struct cn_call_batch *batch,
                     const struct cn_call *call, struct cn_error *err)
{
    struct cn_trace *trace = &cutting->trace;
    bool is_first = !cutting->is_open;

    if (is_first) {
        if (call->function == CN_NONE ||
            strcmp(cutting->recording->functions[call->function].name,
                   cutting->function) != 0)
            return true;
        if (!cn_store_writer_begin(cutting->writer, &cutting->words, err))
            return false;
        cn_trace_clear(trace);
        trace->words = cutting->words;
        trace->clock_ns = call->time_ns;
        cutting->base_depth = call->depth;
        cutting->is_open = true;
    }
    uint64_t since_ns = call->time_ns - trace->clock_ns;
    if (!is_first && call->depth > cutting->base_depth)
        leave_to(cutting, call->depth - cutting->base_depth, since_ns);
    if (!cn_trace_enter(trace, method_of(cutting, call->function), since_ns, err))
        return false;
    if (is_first)
        identify(cutting, call->time_ns);
    add_values(cutting, batch, call);
    return true;
}

static bool on_exit_of(struct cutting *cutting, const struct cn_call_batch *batch,
                       const struct cn_call *call, struct cn_error *err)
{
    struct cn_trace *trace = &cutting->trace;
    uint64_t since_ns = call->time_ns - trace->clock_ns;

    if (call->depth >= cutting->base_depth)
        leave_to(cutting, call->depth - cutting->base_depth + 1, since_ns);
    if (trace->depth == call->depth - cutting->base_depth + 1 &&
        call->depth >= cutting->base_depth) {
        add_values(cutting, batch, call);
        leave_to(cutting, call->depth - cutting->base_depth, since_ns);
    } else if (call->depth < cutting->base_depth) {
        leave_to(cutting, 0, since_ns);
    }
    return trace->depth > 0 || finish(cutting, err);
}

static bool on_call(struct cutting *cutting, const struct cn_call_batch *batch,
                    const struct cn_call *call, struct cn_error *err)
{
    if (call->kind == CN_CALL_ENTER)
        return on_enter(cutting, batch, call, err);
    if (!cutting->is_open)
        return true;
    if (call->kind == CN_CALL_EXIT)
        return on_exit_of(cutting, batch, call, err);
    if (call->kind == CN_CALL_LOST)
        cn_trace_mark(&cutting->trace, CN_TRACE_LOSSY);
    return true;
}

static bool cut_task(struct cutting *cutting, struct cn_error *err)
{
    struct cn_call_stream *stream;
    struct cn_call_batch batch;
    enum cn_step step = CN_FAIL;
    bool ok;

    if (!cn_recording_stream_open(cutting->recording, cutting->task, cn_time_always,
                                  &stream, err))
        return false;
    ok = true;
    while (ok && (step = cn_call_stream_next(stream, &batch, err)) == CN_ITEM)
        for (size_t i = 0; ok && i < batch.count; i++)
            ok = on_call(cutting, &batch, &batch.calls[i], err);
    cn_call_stream_close(stream);
    if (ok && cutting->is_open)
        ok = finish(cutting, err);
    return ok && step == CN_END;
}

bool cn_store_cut_recording(struct cn_store_writer *writer,
                            const struct cn_recording *recording, const char *function,
                            struct cn_store_added *out, struct cn_error *err)
{
    struct cutting cutting = {
        .writer = writer,
        .recording = recording,
        .function = function,
        .epoch_ns = find_epoch(recording),
    };
    uint32_t found = 0;
    bool ok = true;

    while (found < recording->function_count &&
           strcmp(recording->functions[found].name, function) != 0)
        found++;
    if (found == recording->function_count)
        return cn_fail(err, CN_ERR_NOT_FOUND, "%s: no function is named '%s'",
                       recording->path, function);
    for (cutting.task = 0; ok && cutting.task < recording->task_count; cutting.task++)
        ok = cut_task(&cutting, err);
    cn_trace_done(&cutting.trace);
    if (ok)
        *out = cutting.added;
    return ok;
}
