/* A stored trace for other programs: JSON, Chrome's trace viewer, folded stacks. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/bytes/json.h"
#include "base/bytes/utf8.h"
#include "cli/shell/cli.h"
#include "cli/store/trace_print.h"
#include "cli/store/trace_set.h"
#include "cli/store/trace_words.h"

struct writer {
    const struct cn_args *args;
    const struct cn_trace_set *set;
    const struct cn_trace_cut *cut;
    struct cn_text text, word;
    struct cn_json json;
    struct cn_text path; /* folded: names from the first call on */
    size_t *ends;        /* where the path ends at a depth */
    size_t depth_capacity;
};

enum { FLUSH_LEN = 1 << 16 };

static void flush(struct writer *writer, bool is_last)
{
    if (!is_last && writer->text.len < FLUSH_LEN)
        return;
    cn_cli_print(writer->args, &writer->text);
    cn_text_clear(&writer->text);
}

static bool is_cut(const struct writer *writer, const struct cn_trace_part *part,
                   uint32_t node, uint32_t depth)
{
    return depth > writer->cut->depth ||
           part->trace.nodes[node].duration_ns < writer->cut->min_ns;
}

static void put_str(struct writer *writer, const char *key, const char *value)
{
    cn_json_key(&writer->json, key);
    cn_json_str(&writer->json, value);
}

static void put_u64(struct writer *writer, const char *key, uint64_t value)
{
    cn_json_key(&writer->json, key);
    cn_json_u64(&writer->json, value);
}

static void put_id(struct writer *writer, const char *key, uint64_t id)
{
    char text[17];

    if (id == 0)
        return;
    (void)snprintf(text, sizeof(text), "%016" PRIx64, id);
    put_str(writer, key, text);
}

/* A value as what it is; depth is limited by CN_TRACE_VALUE_DEPTH_MAX. */
static void put_value(struct writer *writer, const struct cn_trace *trace,
                      const struct cn_trace_value *value, unsigned depth)
{
    const struct cn_trace_value *items = trace->values + value->list.first;

    switch (value->kind) {
    case CN_VALUE_BOOL:
        cn_json_bool(&writer->json, value->boolean);
        return;
    case CN_VALUE_FLOAT:
        cn_json_f64(&writer->json, value->real);
        return;
    case CN_VALUE_LIST:
        if (depth == CN_TRACE_VALUE_DEPTH_MAX)
            break;
        cn_json_array(&writer->json);
        for (uint32_t i = 0; i < value->list.count; i++)
            put_value(writer, trace, &items[i], depth + 1);
        cn_json_end(&writer->json);
        return;
    case CN_VALUE_MAP:
        if (depth == CN_TRACE_VALUE_DEPTH_MAX)
            break;
        cn_json_object(&writer->json);
        for (uint32_t i = 0; i < value->list.count; i++) {
            cn_text_clear(&writer->word);
            cn_trace_value_add(&writer->word, trace, &items[2 * i]);
            cn_json_key(&writer->json, cn_text_str(&writer->word));
            put_value(writer, trace, &items[2 * i + 1], depth + 1);
        }
        cn_json_end(&writer->json);
        return;
    case CN_VALUE_INT:
        if (value->integer < 0)
            cn_json_f64(&writer->json, (double)value->integer);
        else
            cn_json_u64(&writer->json, (uint64_t)value->integer);
        return;
    case CN_VALUE_WORD:
        cn_json_str(&writer->json,
                    cn_trace_word(&writer->word, trace->words, value->word));
        return;
    case CN_VALUE_NULL:
        break;
    }
    cn_json_null(&writer->json);
}

static void put_attributes(struct writer *writer, const struct cn_trace *trace,
                           uint32_t node)
{
    for (uint32_t a = trace->nodes[node].first_attribute; a != CN_NONE;
         a = trace->attributes[a].next) {
        cn_json_key(&writer->json,
                    cn_trace_word(&writer->word, trace->words, trace->attributes[a].key));
        put_value(writer, trace, &trace->attributes[a].value, 0);
    }
}

static void put_exceptions(struct writer *writer, const struct cn_trace *trace,
                           uint32_t node)
{
    const struct cn_words *words = trace->words;

    cn_json_array(&writer->json);
    for (uint32_t e = trace->nodes[node].exception;
         e != 0 && cn_word_kind(words, e) == CN_WORD_EXCEPTION;
         e = cn_word_part(words, e, 3)) {
        uint32_t stack = cn_word_part(words, e, 2);

        cn_json_object(&writer->json);
        put_str(writer, "class",
                cn_trace_word(&writer->word, words, cn_word_part(words, e, 0)));
        put_str(writer, "message",
                cn_trace_word(&writer->word, words, cn_word_part(words, e, 1)));
        cn_json_key(&writer->json, "stack");
        cn_json_array(&writer->json);
        for (size_t i = 0; i < cn_word_part_count(words, stack); i++)
            cn_json_str(&writer->json, cn_trace_word(&writer->word, words,
                                                     cn_word_part(words, stack, i)));
        cn_json_end(&writer->json);
        cn_json_end(&writer->json);
    }
    cn_json_end(&writer->json);
}

static void put_span(struct writer *writer, const struct cn_trace *trace, uint32_t node)
{
    const struct cn_trace_span *span = &trace->spans[trace->nodes[node].span];

    put_id(writer, "span_id", span->id);
    put_id(writer, "parent_id", span->parent_id);
    put_u64(writer, "time_ns", span->time_ns);
    if (span->type != 0)
        put_str(writer, "type", cn_trace_word(&writer->word, trace->words, span->type));
    if (span->service != 0)
        put_str(writer, "service",
                cn_trace_word(&writer->word, trace->words, span->service));
}

static bool put_call(void *arg, const struct cn_trace_part *part, uint32_t node,
                     uint32_t depth)
{
    struct writer *writer = arg;
    const struct cn_trace_node *call = &part->trace.nodes[node];

    if (is_cut(writer, part, node, depth))
        return false;
    cn_json_object(&writer->json);
    put_u64(writer, "depth", depth);
    put_u64(writer, "start_ns",
            part->row.time_ns - writer->set->parts[0].row.time_ns + call->start_ns);
    put_u64(writer, "duration_ns", call->duration_ns);
    put_u64(writer, "self_ns", cn_trace_self_ns(&part->trace, node));
    put_u64(writer, "calls", call->calls);
    put_u64(writer, "errors", call->errors);
    put_str(writer, "method", cn_trace_method(&writer->word, &part->trace, node));
    if (call->flags & CN_TRACE_OPEN) {
        cn_json_key(&writer->json, "is_open");
        cn_json_bool(&writer->json, true);
    }
    if (call->span != CN_NONE)
        put_span(writer, &part->trace, node);
    if (call->first_attribute != CN_NONE) {
        cn_json_key(&writer->json, "attributes");
        cn_json_object(&writer->json);
        put_attributes(writer, &part->trace, node);
        cn_json_end(&writer->json);
    }
    if (call->exception != 0) {
        cn_json_key(&writer->json, "exceptions");
        put_exceptions(writer, &part->trace, node);
    }
    cn_json_end(&writer->json);
    cn_text_char(&writer->text, '\n');
    flush(writer, false);
    return true;
}

static void finish(struct writer *writer)
{
    flush(writer, true);
    cn_text_done(&writer->text);
    cn_text_done(&writer->word);
    cn_text_done(&writer->path);
    free(writer->ends);
}

void cn_trace_print_json(const struct cn_trace_set *set, const struct cn_args *args,
                         const struct cn_trace_cut *cut)
{
    const struct cn_store_row *row = &set->parts[0].row;
    struct writer writer = {.args = args, .set = set, .cut = cut};
    char id[33];

    writer.json.text = &writer.text;
    (void)snprintf(id, sizeof(id), "%016" PRIx64 "%016" PRIx64, row->trace_high,
                   row->trace_low);
    cn_json_object(&writer.json);
    put_str(&writer, "trace_id", id);
    put_u64(&writer, "time_ns", row->time_ns);
    cn_json_key(&writer.json, "calls");
    cn_json_array(&writer.json);
    cn_trace_set_walk(set, put_call, &writer);
    cn_json_end(&writer.json);
    cn_json_end(&writer.json);
    cn_text_char(&writer.text, '\n');
    finish(&writer);
}

static bool put_event(void *arg, const struct cn_trace_part *part, uint32_t node,
                      uint32_t depth)
{
    struct writer *writer = arg;
    const struct cn_trace_node *call = &part->trace.nodes[node];
    uint64_t start_ns =
        part->row.time_ns - writer->set->parts[0].row.time_ns + call->start_ns;

    if (is_cut(writer, part, node, depth))
        return false;
    cn_json_object(&writer->json);
    put_str(writer, "name", cn_trace_method(&writer->word, &part->trace, node));
    put_str(writer, "ph", "X");
    cn_json_key(&writer->json, "ts");
    cn_json_f64(&writer->json, (double)start_ns / 1000);
    cn_json_key(&writer->json, "dur");
    cn_json_f64(&writer->json, (double)call->duration_ns / 1000);
    put_u64(writer, "pid", 1);
    put_u64(writer, "tid", (uint64_t)(part - writer->set->parts) + 1);
    cn_json_key(&writer->json, "args");
    cn_json_object(&writer->json);
    put_attributes(writer, &part->trace, node);
    if (call->exception != 0) {
        cn_json_key(&writer->json, "exceptions");
        put_exceptions(writer, &part->trace, node);
    }
    cn_json_end(&writer->json);
    cn_json_end(&writer->json);
    cn_text_char(&writer->text, '\n');
    flush(writer, false);
    return true;
}

void cn_trace_print_chrome(const struct cn_trace_set *set, const struct cn_args *args,
                           const struct cn_trace_cut *cut)
{
    struct writer writer = {.args = args, .set = set, .cut = cut};

    writer.json.text = &writer.text;
    cn_json_object(&writer.json);
    cn_json_key(&writer.json, "traceEvents");
    cn_json_array(&writer.json);
    cn_trace_set_walk(set, put_event, &writer);
    cn_json_end(&writer.json);
    cn_json_end(&writer.json);
    cn_text_char(&writer.text, '\n');
    finish(&writer);
}

/* "main;handle;query 1200": time of the call itself in nanoseconds. */
static bool put_stack(void *arg, const struct cn_trace_part *part, uint32_t node,
                      uint32_t depth)
{
    struct writer *writer = arg;
    const char *name = cn_trace_method(&writer->word, &part->trace, node);
    uint64_t self_ns = cn_trace_self_ns(&part->trace, node);
    size_t end = depth > 0 ? writer->ends[depth - 1] : 0;

    if (is_cut(writer, part, node, depth))
        return false;
    while (depth >= writer->depth_capacity)
        writer->ends = cn_grow(writer->ends, writer->depth_capacity,
                               &writer->depth_capacity, sizeof(*writer->ends));
    if (writer->path.chars)
        writer->path.len = end;
    cn_text_str_add(&writer->path, depth > 0 ? ";" : "");
    cn_utf8_add_printable(&writer->path, name);
    writer->ends[depth] = writer->path.len;
    if (self_ns > 0)
        cn_text_printf(&writer->text, "%s %" PRIu64 "\n", cn_text_str(&writer->path),
                       self_ns);
    flush(writer, false);
    return true;
}

void cn_trace_print_folded(const struct cn_trace_set *set, const struct cn_args *args,
                           const struct cn_trace_cut *cut)
{
    struct writer writer = {.args = args, .set = set, .cut = cut};

    cn_trace_set_walk(set, put_stack, &writer);
    finish(&writer);
}
