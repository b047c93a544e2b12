/* A stored trace for other programs. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/calls/filter.h"
#include "base/alloc.h"
#include "base/bytes/json.h"
#include "cli/shell/cli.h"
#include "cli/store/trace_print.h"
#include "formats/exchange/exchange.h"
#include "formats/exchange/write/traces/otlp.h"
#include "model/calls/query.h"
#include "model/traces/json.h"
#include "model/traces/links.h"
#include "model/traces/span.h"
#include "open/formats.h"
#include "store/trace/distributed.h"
#include "store/trace/methods.h"

struct export_writer {
    const struct cn_args *args;
    const struct cn_trace_set *set;
    const struct cn_trace_cut *cut;
    struct cn_text text, word;
    struct cn_json json;
};

enum { FLUSH_LEN = 1 << 16 };

static void put_u64(struct export_writer *writer, const char *key, uint64_t value)
{
    cn_json_key(&writer->json, key);
    cn_json_u64(&writer->json, value);
}

static void put_id(struct export_writer *writer, const char *key, uint64_t id)
{
    if (id != 0)
        cn_json_add_span_id(&writer->json, key, id);
}

static void put_word(struct export_writer *writer, const char *key,
                     const struct cn_words *words, uint32_t word)
{
    if (word != 0)
        cn_json_add_word(&writer->json, key, words, word);
}

static void put_count(struct export_writer *writer, const char *key, uint64_t value)
{
    if (value != 0)
        put_u64(writer, key, value);
}

static void put_span(struct export_writer *writer, const struct cn_trace *trace,
                     uint32_t node)
{
    const struct cn_trace_span *span = &trace->spans[trace->nodes[node].span];

    put_id(writer, "span_id", span->id);
    put_id(writer, "parent_id", span->parent_id);
    put_u64(writer, "time_ns", span->time_ns);
    put_word(writer, "type", trace->words, span->type);
    put_word(writer, "service", trace->words, span->service);
    if (span->status != CN_STATUS_UNSET)
        cn_json_add_str(&writer->json, "status",
                        span->status == CN_STATUS_OK ? "ok" : "error");
    put_word(writer, "status_message", trace->words, span->status_message);
    put_word(writer, "trace_state", trace->words, span->trace_state);
    put_count(writer, "flags", span->flags);
    put_count(writer, "dropped_attributes", span->dropped_attributes);
    put_count(writer, "dropped_events", span->dropped_events);
    put_count(writer, "dropped_links", span->dropped_links);
}

static void put_shared(struct export_writer *writer, const struct cn_trace *trace,
                       const struct cn_trace_span *span)
{
    const struct cn_trace_resource *resource = cn_trace_span_resource(trace, span);
    const struct cn_trace_scope *scope = cn_trace_span_scope(trace, span);

    if (resource && resource->attributes.first != CN_NONE) {
        cn_json_key(&writer->json, "resource");
        cn_json_trace_list(&writer->json, trace, &resource->attributes, true);
    }
    if (!scope || (scope->name == 0 && scope->attributes.first == CN_NONE))
        return;
    cn_json_add_object(&writer->json, "scope");
    put_word(writer, "name", trace->words, scope->name);
    put_word(writer, "version", trace->words, scope->version);
    if (scope->attributes.first != CN_NONE) {
        cn_json_key(&writer->json, "attributes");
        cn_json_trace_list(&writer->json, trace, &scope->attributes, true);
    }
    cn_json_end(&writer->json);
}

static void put_span_lists(struct export_writer *writer, const struct cn_trace *trace,
                           const struct cn_trace_span *span)
{
    put_shared(writer, trace, span);
    if (span->event_count > 0) {
        cn_json_key(&writer->json, "events");
        cn_json_trace_events(&writer->json, trace, span, true);
    }
    if (span->link_count > 0) {
        cn_json_key(&writer->json, "links");
        cn_json_trace_links(&writer->json, trace, span, true);
    }
}

/* The names of events or annotations: one, or a list. */
static void put_event_names(struct export_writer *writer, const struct cn_trace *trace,
                            const struct cn_trace_span *span, bool is_annotation)
{
    const struct cn_trace_event *events = cn_trace_span_events(trace, span);
    uint32_t count = 0;

    for (uint32_t i = 0; i < span->event_count; i++)
        count += events[i].is_annotation == is_annotation;
    if (count == 0)
        return;
    cn_json_key(&writer->json, is_annotation ? "annotation" : "event");
    if (count > 1)
        cn_json_array(&writer->json);
    for (uint32_t i = 0; i < span->event_count; i++)
        if (events[i].is_annotation == is_annotation)
            cn_json_word(&writer->json, trace->words, events[i].name);
    if (count > 1)
        cn_json_end(&writer->json);
}

/* What version 0.9 wrote as attributes of a span stays among them. */
static void put_former(struct export_writer *writer, const struct cn_trace *trace,
                       const struct cn_trace_span *span)
{
    put_word(writer, "status.message", trace->words, span->status_message);
    put_event_names(writer, trace, span, false);
    put_event_names(writer, trace, span, true);
}

static void put_attributes(struct export_writer *writer, const struct cn_trace *trace,
                           uint32_t node)
{
    uint32_t span = trace->nodes[node].span;
    uint32_t first = trace->nodes[node].first_attribute;

    cn_json_add_object(&writer->json, "attributes");
    cn_json_add_attributes(&writer->json, trace, first);
    if (span != CN_NONE)
        put_former(writer, trace, &trace->spans[span]);
    cn_json_end(&writer->json);
}

static bool has_attributes(const struct cn_trace *trace, uint32_t node)
{
    const struct cn_trace_node *call = &trace->nodes[node];

    return call->first_attribute != CN_NONE ||
           (call->span != CN_NONE && (trace->spans[call->span].status_message != 0 ||
                                      trace->spans[call->span].event_count > 0));
}

static bool put_call(void *arg, const struct cn_trace_branch *branch, uint32_t node,
                     uint32_t depth)
{
    struct export_writer *writer = arg;
    const struct cn_trace_node *call = &branch->trace.nodes[node];

    if (cn_trace_is_cut(writer->cut, branch, node, depth))
        return false;
    cn_json_object(&writer->json);
    put_u64(writer, "depth", depth);
    put_u64(writer, "start_ns",
            branch->row.time_ns - writer->set->branches[0].row.time_ns + call->start_ns);
    put_u64(writer, "duration_ns", call->duration_ns);
    put_u64(writer, "self_ns", cn_trace_set_self_ns(writer->set, branch, node));
    put_u64(writer, "calls", call->calls);
    put_u64(writer, "errors", call->errors);
    cn_text_clear(&writer->word);
    cn_words_print_method_name(branch->trace.words, call->method, &writer->word);
    cn_json_key(&writer->json, "method");
    cn_json_str(&writer->json, cn_text_str(&writer->word));
    if (call->flags & CN_TRACE_OPEN) {
        cn_json_key(&writer->json, "is_open");
        cn_json_bool(&writer->json, true);
    }
    if (call->span != CN_NONE)
        put_span(writer, &branch->trace, node);
    if (has_attributes(&branch->trace, node))
        put_attributes(writer, &branch->trace, node);
    if (call->span != CN_NONE)
        put_span_lists(writer, &branch->trace, &branch->trace.spans[call->span]);
    if (call->exception != 0) {
        cn_json_key(&writer->json, "exceptions");
        cn_json_exceptions(&writer->json, branch->trace.words, call->exception);
    }
    cn_json_end(&writer->json);
    cn_text_char(&writer->text, '\n');
    if (writer->text.len >= FLUSH_LEN) {
        cn_cli_print(writer->args, &writer->text);
        cn_text_clear(&writer->text);
    }
    return true;
}

void cn_trace_print_json(const struct cn_trace_set *set, const struct cn_args *args,
                         const struct cn_trace_cut *cut)
{
    const struct cn_store_row *row = &set->branches[0].row;
    struct export_writer writer = {.args = args, .set = set, .cut = cut};

    writer.json.text = &writer.text;
    cn_json_object(&writer.json);
    cn_json_add_trace_id(&writer.json, "trace_id", row->trace_high, row->trace_low);
    put_u64(&writer, "time_ns", row->time_ns);
    cn_json_add_array(&writer.json, "calls");
    cn_trace_set_walk(set, put_call, &writer);
    cn_json_end(&writer.json);
    cn_json_end(&writer.json);
    cn_text_char(&writer.text, '\n');
    cn_cli_print(args, &writer.text);
    cn_text_done(&writer.text);
    cn_text_done(&writer.word);
}

void cn_trace_print_otlp(const struct cn_trace_set *set, const struct cn_args *args)
{
    struct cn_text text = {0};
    struct cn_json json = {.text = &text};

    cn_json_object(&json);
    cn_json_add_array(&json, "resourceSpans");
    for (size_t i = 0; i < set->count; i++)
        if (!set->branches[i].is_copy)
            cn_otlp_json_trace(&json, &set->branches[i].trace,
                               cn_trace_branch_begin_ns(&set->branches[i], 0));
    cn_json_end(&json);
    cn_json_end(&json);
    cn_text_char(&text, '\n');
    cn_cli_print(args, &text);
    cn_text_done(&text);
}

bool cn_trace_export(const struct cn_trace_set *set, const char *format,
                     const struct cn_trace_cut *cut, struct cn_error *err)
{
    struct cn_recording *rec = cn_trace_set_recording(set, strcmp(format, "folded") == 0);
    uint32_t *tasks = cn_alloc(rec->task_count, sizeof(*tasks));
    struct cn_write_options options = {0};
    struct cn_call_filter filter;
    struct cn_call_query query = {
        .rec = rec,
        .filter = &filter,
        .range = cn_time_always,
        .tasks = tasks,
        .task_count = rec->task_count,
    };

    for (uint32_t i = 0; i < rec->task_count; i++)
        tasks[i] = i;
    cn_call_filter_init(&filter, rec);
    filter.time_ns = cut->min_ns;
    if (cut->depth < UINT32_MAX)
        filter.depth = cut->depth + 1;
    cn_call_filter_ready(&filter);
    bool ok = cn_export_calls(cn_format_find(format), &query, "-", &options, err);
    cn_call_filter_done(&filter);
    cn_recording_close(rec);
    free(tasks);
    return ok;
}
