/* Chrome trace events as JSON, in two variants: cairn's and that of uftrace dump --chrome.
 *
 * Viewers read times as microseconds in a double, which is too small for the nanoseconds
 * of a date: cairn's times count from the start of the recording, which is in the
 * metadata. uftrace's times count from the epoch of its clock. */

#include <inttypes.h>
#include <stdlib.h>

#include "analyze/calls/flows.h"
#include "analyze/calls/stack.h"
#include "base/alloc.h"
#include "base/bytes/digits.h"
#include "base/bytes/json.h"
#include "formats/exchange/exchange.h"
#include "formats/exchange/read/readers.h"
#include "formats/exchange/write/spans/samples.h"
#include "formats/exchange/write/spans/writers.h"
#include "model/calls/values.h"

/* Text that many events share. */
struct words {
    struct cn_text text;
    size_t *name_at; /* by function and schedule: offset of its `,"name":"f"` */
    bool is_uftrace, without_values;
    bool has_range; /* calls that began before it have no begin */
};

/* The text before and after the time, in the events of one kind and task. */
struct chrome_frame {
    struct cn_text before, after;
};
struct frames {
    struct chrome_frame begin, end, event, counter, name;
    struct cn_counter_levels *levels; /* NULL until the task has counters of triggers */
};

static void make_words(struct words *words, const struct cn_recording *rec)
{
    uint32_t count = rec->function_count + 2;

    words->name_at = cn_alloc(count + 1u, sizeof(*words->name_at));
    for (uint32_t i = 0; i < count; i++) {
        words->name_at[i] = words->text.len;
        cn_text_str_add(&words->text, ",\"name\":");
        cn_json_quote(&words->text, cn_call_name(rec, i, 0, NULL));
    }
    words->name_at[count] = words->text.len;
}

static void make_frame(struct chrome_frame *frame, const struct words *words,
                       const struct cn_task *task, const char *phase)
{
    struct cn_text *about = words->is_uftrace ? &frame->after : &frame->before;

    cn_text_str_add(&frame->before, words->is_uftrace ? ",\n{\"ts\":" : ",\n{");
    cn_text_printf(about, "%s\"ph\":%s,\"pid\":%" PRIu32, words->is_uftrace ? "," : "",
                   phase, task->pid);
    if (!words->is_uftrace || task->tid != task->pid)
        cn_text_printf(about, ",\"tid\":%" PRIu32, task->tid);
    if (!words->is_uftrace)
        cn_text_str_add(about, ",\"ts\":");
}

static void frame_done(struct chrome_frame *frame)
{
    cn_text_done(&frame->before);
    cn_text_done(&frame->after);
}

static void begin_writer(struct cn_writer *writer)
{
    const struct words *words = writer->arg;
    struct frames *frames = cn_alloc(1, sizeof(*frames));

    make_frame(&frames->begin, words, writer->task, "\"B\"");
    make_frame(&frames->end, words, writer->task, "\"E\"");
    make_frame(&frames->event, words, writer->task, "\"i\",\"s\":\"t\"");
    make_frame(&frames->counter, words, writer->task, "\"C\"");
    make_frame(&frames->name, words, writer->task, "\"M\"");
    writer->own = frames;
    /* Subtracting this modulo 2^64 adds the offset of the clock. */
    if (words->is_uftrace)
        writer->base_ns = 0 - cn_export_clock_offset_ns(writer->rec);
}

static void end_writer(struct cn_writer *writer)
{
    struct frames *frames = writer->own;

    frame_done(&frames->begin);
    frame_done(&frames->end);
    frame_done(&frames->event);
    frame_done(&frames->counter);
    frame_done(&frames->name);
    cn_counter_levels_free(frames->levels);
    free(frames);
}

static void add_event(struct cn_writer *writer, const struct cn_span *span)
{
    cn_text_str_add(&writer->text, ",\"name\":");
    cn_json_quote(&writer->text, cn_span_event_name(writer->rec, span));
    if (span->kind == CN_SPAN_LOST) {
        cn_text_printf(&writer->text, ",\"args\":{\"count\":%" PRIu64 "}", span->address);
    } else if (cn_span_event_data(writer->rec, span, &writer->scratch)) {
        cn_text_str_add(&writer->text, ",\"args\":{\"data\":");
        cn_json_quote(&writer->text, cn_text_str(&writer->scratch));
        cn_text_char(&writer->text, '}');
    }
}

static void add_name(struct cn_writer *writer, uint32_t function, uint64_t address)
{
    const struct words *words = writer->arg;
    char buffer[CN_CALL_NAME_MAX];

    if (function < writer->rec->function_count + 2) {
        size_t at = words->name_at[function];

        cn_text_add(&writer->text, words->text.chars + at,
                    words->name_at[function + 1] - at);
        return;
    }
    cn_text_str_add(&writer->text, ",\"name\":");
    cn_json_quote(&writer->text, cn_call_name(writer->rec, function, address, buffer));
}

static void add_frame(struct cn_writer *writer, const struct chrome_frame *frame,
                      uint64_t time_ns)
{
    const struct words *words = writer->arg;
    const struct cn_text *before = &frame->before, *after = &frame->after;
    char *to = cn_text_room(&writer->text, before->len + CN_MICROSECONDS_MAX);

    memcpy(to, before->chars, before->len);
    unsigned len = cn_microseconds_put(
        to + before->len, words->is_uftrace ? time_ns - writer->base_ns
                                            : cn_writer_since_ns(writer, time_ns));
    cn_text_advance(&writer->text, before->len + len);
    if (after->len > 0)
        cn_text_add(&writer->text, after->chars, after->len);
}

static void add_reading(void *arg, const struct cn_span *span, uint32_t counter,
                        const char *name, double value)
{
    struct cn_writer *writer = arg;
    const struct frames *frames = writer->own;

    (void)counter;
    add_frame(writer, &frames->counter, span->time_ns);
    cn_text_str_add(&writer->text, ",\"name\":");
    cn_json_quote(&writer->text, name);
    cn_text_str_add(&writer->text, ",\"args\":{\"value\":");
    cn_json_number(&writer->text, value);
    cn_text_str_add(&writer->text, "}}");
}

/* The new name of a task, as uftrace writes it. */
static void add_rename(struct cn_writer *writer, const struct cn_span *span)
{
    const struct frames *frames = writer->own;
    struct cn_bytes data = cn_call_data(span->batch, span->call);
    uint32_t tid = writer->task->tid;
    char *name =
        cn_strprintf("[%" PRIu32 "] %.*s", tid, (int)data.len, (const char *)data.ptr);

    for (int i = 0; i < 2; i++) {
        add_frame(writer, &frames->name, span->time_ns);
        cn_text_printf(&writer->text, ",\"name\":\"%s_name\",\"args\":{\"name\":",
                       i == 0 ? "process" : "thread");
        cn_json_quote(&writer->text, name);
        cn_text_str_add(&writer->text, "}}");
    }
    free(name);
}

static void visit(void *arg, const struct cn_span *span)
{
    struct cn_writer *writer = arg;
    const struct words *words = writer->arg;
    struct frames *frames = writer->own;

    switch ((enum cn_span_kind)span->kind) {
    case CN_SPAN_BEGIN:
        add_frame(writer, &frames->begin, span->time_ns);
        break;
    case CN_SPAN_END:
        if (!span->has_begin && (!words->is_uftrace || words->has_range))
            return;
        add_frame(writer, &frames->end, span->time_ns);
        break;
    case CN_SPAN_EVENT:
    case CN_SPAN_LOST:
        if (words->is_uftrace) {
            if (span->kind == CN_SPAN_EVENT && span->address == CN_EVENT_TASK_NAME)
                add_rename(writer, span);
            return;
        }
        if (cn_span_readings(writer->rec, span, &frames->levels, add_reading, writer))
            return;
        add_frame(writer, &frames->event, span->time_ns);
        add_event(writer, span);
        cn_text_char(&writer->text, '}');
        return;
    }
    if (words->is_uftrace && span->call && span->call->kind != CN_CALL_EVENT)
        add_name(writer, span->call->function, span->call->address);
    else
        add_name(writer, span->function, span->address);
    if (!words->without_values && cn_span_has_values(span)) {
        cn_span_values(writer->rec, span, &writer->scratch);
        cn_text_str_add(&writer->text, span->kind == CN_SPAN_BEGIN
                                           ? ",\"args\":{\"arguments\":"
                                           : ",\"args\":{\"retval\":");
        cn_json_quote(&writer->text, cn_text_str(&writer->scratch));
        cn_text_char(&writer->text, '}');
    }
    cn_text_char(&writer->text, '}');
}

static void add_task(struct cn_text *text, const struct cn_task *task, bool is_uftrace,
                     bool is_thread)
{
    const char *kind = is_thread ? "thread" : "process";
    struct cn_text name = {0};

    if (is_uftrace)
        cn_text_printf(text, "{\"ts\":0,\"ph\":\"M\",\"pid\":%" PRIu32, task->tid);
    else
        cn_text_printf(text,
                       "{\"ts\":0,\"ph\":\"M\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32,
                       task->pid, task->tid);
    cn_text_printf(text, ",\"name\":\"%s_name\",\"args\":{\"name\":", kind);
    if (is_uftrace)
        cn_text_printf(&name, "[%" PRIu32 "] ", task->tid);
    cn_text_str_add(&name, task->name);
    cn_json_quote(text, cn_text_str(&name));
    cn_text_str_add(text, "}}");
    cn_text_done(&name);
}

static void add_tasks(struct cn_export *x, bool is_uftrace)
{
    const struct cn_call_query *query = x->query;
    const char *separator = "";

    for (uint32_t i = 0; i < query->task_count; i++) {
        const struct cn_task *task = &query->rec->tasks[query->tasks[i]];

        cn_text_str_add(&x->text, separator);
        if (is_uftrace || task->tid == task->pid) {
            add_task(&x->text, task, is_uftrace, false);
            cn_text_str_add(&x->text, ",\n");
        }
        add_task(&x->text, task, is_uftrace, true);
        separator = ",\n";
    }
}

static void add_fact(struct cn_text *text, const char *name, const char *value)
{
    cn_text_printf(text, "\"%s\":", name);
    cn_json_quote(text, value ? value : "");
}

static void add_metadata(struct cn_text *text, const struct cn_recording *rec)
{
    const char *version = cn_recording_fact(rec, "uftrace_version");

    add_fact(text, "version", version ? version : "cairn " CN_VERSION);
    cn_text_str_add(text, ",\n");
    add_fact(text, "recorded_time", cn_recording_fact(rec, "record_date"));
    cn_text_str_add(text, ",\n");
    add_fact(text, "command_line", cn_recording_fact(rec, "cmdline"));
}

static void add_header_line(void *arg, const char *name, const char *text)
{
    struct cn_text *out = arg;

    cn_text_str_add(out, ",\n");
    add_fact(out, name, text);
}

static void add_flow_end(struct cn_export *x, const struct cn_flow *flow, uint64_t id,
                         bool is_start, uint64_t start_ns)
{
    const struct cn_task *task =
        &x->query->rec->tasks[is_start ? flow->from_task : flow->to_task];
    uint64_t time_ns = is_start ? flow->from_ns : flow->to_ns;
    char ts[CN_MICROSECONDS_MAX];
    unsigned len = cn_microseconds_put(ts, time_ns > start_ns ? time_ns - start_ns : 0);

    cn_text_printf(&x->text, ",\n{\"ph\":\"%s\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32,
                   is_start ? "s" : "f\",\"bp\":\"e", task->pid, task->tid);
    cn_text_printf(&x->text, ",\"ts\":%.*s,\"cat\":\"flow\",\"id\":%" PRIu64, (int)len,
                   ts, id);
    if (*flow->name) {
        cn_text_str_add(&x->text, ",\"name\":");
        cn_json_quote(&x->text, flow->name);
    }
    cn_text_char(&x->text, '}');
}

static bool add_flows(struct cn_export *x, struct cn_error *err)
{
    const struct cn_recording *rec = x->query->rec;
    uint64_t start_ns = cn_export_start_ns(x->query);
    bool ok = true;

    for (uint32_t i = 0; ok && i < cn_call_flow_count(rec); i++) {
        struct cn_flow flow;

        if (!cn_call_flow_at(rec, i, &flow))
            continue;
        add_flow_end(x, &flow, i + UINT64_C(1), true, start_ns);
        add_flow_end(x, &flow, i + UINT64_C(1), false, start_ns);
        ok = cn_export_flush(x, err);
    }
    return ok;
}

static bool write_events(struct cn_export *x, struct cn_error *err)
{
    static const struct cn_writer_ops ops = {
        .begin = begin_writer, .visit = visit, .end = end_writer};
    const struct cn_recording *rec = x->query->rec;
    bool is_uftrace = x->format == &cn_dump_chrome;
    struct words words = {.is_uftrace = is_uftrace,
                          .without_values = x->options->without_values,
                          .has_range = x->query->range.first_ns > 0};
    struct cn_span_counts counts;
    bool ok;

    cn_text_str_add(&x->text, "{");
    if (!is_uftrace) {
        cn_text_printf(&x->text,
                       "\"displayTimeUnit\":\"ns\",\"metadata\":{\n"
                       "\"base_time_ns\":\"%" PRIu64 "\",\n",
                       cn_export_start_ns(x->query) + cn_export_clock_offset_ns(rec));
        add_metadata(&x->text, rec);
        cn_export_header(x, add_header_line, &x->text);
        cn_text_str_add(&x->text, "\n},\n");
    }
    cn_text_str_add(&x->text, "\"traceEvents\":[\n");
    add_tasks(x, is_uftrace);
    make_words(&words, rec);
    ok = cn_export_writers(x, &ops, &words, &counts, err);
    free(words.name_at);
    cn_text_done(&words.text);
    ok = ok && (is_uftrace || add_flows(x, err));
    cn_text_str_add(&x->text, "\n]");
    if (is_uftrace) {
        cn_text_str_add(&x->text, ", \"displayTimeUnit\": \"ns\", \"metadata\": {\n");
        add_metadata(&x->text, rec);
        cn_text_str_add(&x->text, "\n} ");
        counts.without_begin = 0; /* they are written */
    }
    cn_text_str_add(&x->text, "}\n");
    if (ok)
        cn_export_lose_counts(x, &counts, !is_uftrace, true);
    return ok;
}

static bool write_samples(struct cn_export *x, struct cn_error *err)
{
    return cn_export_samples(x, write_events, err);
}

const struct cn_format cn_format_chrome = {
    .name = "chrome",
    .summary = "Chrome trace events as JSON: every call at its recorded time, with "
               "values and events",
    .holds = "calls",
    .is_file = true,
    .keeps_flows = true,
    .keeps_states = true,
    .has_time_axis = true,
    .probe = cn_chrome_probe,
    .open_recording = cn_chrome_open,
    .export_calls = write_events,
    .export_database = write_samples,
};

const struct cn_format cn_dump_chrome = {
    .name = "chrome",
    .summary = "the output of uftrace dump --chrome",
    .holds = "calls",
    .is_file = true,
    .export_calls = write_events,
};
