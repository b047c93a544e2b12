/* Zipkin spans, version 2, as JSON. Traces are written as they are. Of a recording, one for each task
 * and for each call; a tag has the duration in nanoseconds. Times are whole microseconds. */

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/bytes/digits.h"
#include "base/bytes/json.h"
#include "formats/exchange/exchange.h"
#include "formats/exchange/read/traces/span_calls.h"
#include "formats/exchange/write/spans/finished.h"
#include "formats/exchange/write/traces/zipkin.h"

enum { NS_PER_US = 1000 };

static const char cut_times[] = "times (cut to microseconds)";

struct zipkin_own {
    struct cn_finished *finished;
    uint64_t cut_count; /* calls whose times were cut */
};

static void begin_writer(struct cn_writer *writer)
{
    struct zipkin_own *own = cn_alloc(1, sizeof(*own));

    own->finished = cn_trace_finished_new(writer);
    writer->own = own;
}

static void add_number(struct cn_text *text, const char *key, uint64_t value)
{
    cn_text_str_add(text, key);
    cn_text_advance(text, cn_digits_put(cn_text_room(text, CN_DIGITS_MAX), value));
}

static void add_tag(struct cn_text *text, const char *key, const char *value)
{
    if (!value[0])
        return;
    cn_text_printf(text, ",\"%s\":", key);
    cn_json_quote(text, value);
}

static void add_span(struct cn_writer *writer, const struct cn_finished_call *call)
{
    const struct cn_trace_export *trace = writer->arg;
    struct cn_text *text = &writer->text;
    uint64_t begin_ns = call->begin_ns + trace->offset_ns;
    uint64_t duration_ns = call->end_ns - call->begin_ns;

    ((struct zipkin_own *)writer->own)->cut_count +=
        begin_ns % NS_PER_US != 0 || duration_ns % NS_PER_US != 0;
    cn_text_str_add(text, ",\n");
    cn_trace_export_span(text, trace, call, "id", "parentId");
    add_number(text, ",\"timestamp\":", begin_ns / NS_PER_US);
    /* A duration of 0 means "unknown". */
    add_number(text,
               ",\"duration\":", duration_ns < NS_PER_US ? 1 : duration_ns / NS_PER_US);
    cn_text_str_add(text, ",\"localEndpoint\":{\"serviceName\":");
    cn_json_quote(text, cn_export_program(writer->rec));
    cn_text_printf(text,
                   "},\"tags\":{\"pid\":\"%" PRIu32 "\",\"tid\":\"%" PRIu32
                   "\",\"duration_ns\":\"%" PRIu64 "\"",
                   writer->task->pid, writer->task->tid, duration_ns);
    add_tag(text, "arguments", call->arguments);
    add_tag(text, "result", call->result);
    cn_text_str_add(text, "}}");
}

static void visit(void *arg, const struct cn_span *span)
{
    struct cn_writer *writer = arg;
    struct zipkin_own *own = writer->own;
    struct cn_finished_call call;

    if (cn_finished_visit(own->finished, span, &call))
        add_span(writer, &call);
}

static void end_writer(struct cn_writer *writer)
{
    struct zipkin_own *own = writer->own;
    struct cn_finished_call root;

    cn_trace_root(own->finished, writer, &root);
    add_span(writer, &root);
    cn_export_lose(writer->x, cut_times, own->cut_count);
    cn_finished_free(own->finished);
    free(own);
}

static bool write_calls(struct cn_export *x, struct cn_error *err)
{
    static const struct cn_writer_ops ops = {
        .begin = begin_writer, .visit = visit, .end = end_writer, .is_list = true};
    struct cn_trace_export trace;
    struct cn_span_counts counts;

    cn_trace_export_init(&trace, x->query);
    cn_text_char(&x->text, '[');
    if (!cn_export_writers(x, &ops, &trace, &counts, err))
        return false;
    cn_text_str_add(&x->text, "\n]\n");
    cn_export_lose_counts(x, &counts, false, true);
    return true;
}

/* Traces as they are, with their own ids. */
struct zipkin_traces {
    struct cn_export *x;
    struct cn_json json;
    struct cn_zipkin_losses losses;
};

static bool write_trace(void *arg, const struct cn_trace *trace, uint64_t begin_ns,
                        struct cn_error *err)
{
    struct zipkin_traces *traces = arg;

    cn_zipkin_trace(&traces->json, trace, begin_ns, &traces->losses);
    return cn_export_flush(traces->x, err);
}

static bool write_traces(struct cn_export *x, struct cn_error *err)
{
    struct zipkin_traces traces = {.x = x, .json.text = &x->text};

    cn_json_array(&traces.json);
    bool ok = cn_export_walk_traces(x, write_trace, &traces, err);
    cn_json_end(&traces.json);
    cn_export_lose(x, "types of spans that are no kinds", traces.losses.types);
    cn_export_lose(x, "types of attributes (tags are texts)", traces.losses.typed);
    cn_export_lose(x, "attributes with a key that their span has already",
                   traces.losses.repeated);
    cn_export_lose(x, "exceptions (written as tags)", traces.losses.exceptions);
    cn_export_lose(x, "attributes of events", traces.losses.event_attributes);
    cn_export_lose(x, "scopes, trace states, flags or dropped counts of spans",
                   traces.losses.rest);
    cn_export_lose(x, cut_times, traces.losses.times);
    return ok;
}

const struct cn_format cn_format_zipkin = {
    .name = "zipkin",
    .summary = "Zipkin spans, version 2, as JSON: one for each call, with values",
    .holds = "calls",
    .is_file = true,
    .probe = cn_zipkin_probe,
    .open_traces = cn_span_calls_open,
    .walk_traces = cn_span_traces_walk,
    .export_calls = write_calls,
    .export_traces = write_traces,
};
