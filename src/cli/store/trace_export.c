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

static void put_span(struct export_writer *writer, const struct cn_trace *trace,
                     uint32_t node)
{
    const struct cn_trace_span *span = &trace->spans[trace->nodes[node].span];

    put_id(writer, "span_id", span->id);
    put_id(writer, "parent_id", span->parent_id);
    put_u64(writer, "time_ns", span->time_ns);
    put_word(writer, "type", trace->words, span->type);
    put_word(writer, "service", trace->words, span->service);
}

/* The next attribute of a node with the same key from `a` on; CN_NONE. */
static uint32_t next_of(const struct cn_trace *trace, uint32_t a, uint32_t key)
{
    while (a != CN_NONE && trace->attributes[a].key != key)
        a = trace->attributes[a].next;
    return a;
}

/* Values of the same key, such as those of several events, are a list. */
static void put_values(struct export_writer *writer, const struct cn_trace *trace,
                       uint32_t a)
{
    uint32_t key = trace->attributes[a].key;
    bool is_list = next_of(trace, trace->attributes[a].next, key) != CN_NONE;

    if (is_list)
        cn_json_array(&writer->json);
    for (; a != CN_NONE; a = next_of(trace, trace->attributes[a].next, key))
        cn_json_trace_value(&writer->json, trace, &trace->attributes[a].value, true);
    if (is_list)
        cn_json_end(&writer->json);
}

static void put_attributes(struct export_writer *writer, const struct cn_trace *trace,
                           uint32_t node)
{
    uint32_t first = trace->nodes[node].first_attribute;

    cn_json_add_object(&writer->json, "attributes");
    for (uint32_t a = first; a != CN_NONE; a = trace->attributes[a].next) {
        if (cn_trace_is_links(trace, &trace->attributes[a]) ||
            next_of(trace, first, trace->attributes[a].key) != a)
            continue;
        cn_text_clear(&writer->word);
        cn_words_print(trace->words, trace->attributes[a].key, &writer->word);
        cn_json_key(&writer->json, cn_text_str(&writer->word));
        put_values(writer, trace, a);
    }
    cn_json_end(&writer->json);
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
    if (call->first_attribute != CN_NONE)
        put_attributes(writer, &branch->trace, node);
    const struct cn_trace_attribute *links = cn_trace_find_links(&branch->trace, node);
    if (links) {
        cn_json_key(&writer->json, "links");
        cn_json_trace_links(&writer->json, &branch->trace, links, true);
    }
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
