#include "formats/exchange/read/traces/span_set.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "base/files/unpack.h"
#include "base/map.h"
#include "base/text.h"
#include "formats/exchange/read/traces/span_links.h"
#include "formats/exchange/read/traces/spans.h"
#include "formats/exchange/read/traces/stack_text.h"

enum { UNPACKED_MAX = 256 << 20, SPAN_MAX = 1 << 24, LIST_MAX = 1 << 16 };

void cn_span_set_begin(struct cn_span_set *set)
{
    CN_PUSH(set->spans, set->count, set->capacity,
            (struct cn_set_span){.first_attribute = (uint32_t)set->attribute_count,
                                 .parent = CN_NONE});
}

bool cn_span_set_end(struct cn_span_set *set, struct cn_error *err)
{
    struct cn_set_span *span = cn_span_set_current(set);

    if (span->end_ns > span->time_ns)
        span->duration_ns = span->end_ns - span->time_ns;
    cn_span_set_add_links(set);
    return (span->id != 0 && (span->trace_high | span->trace_low) != 0) ||
           cn_fail(err, CN_ERR_FORMAT, "the span has no trace id or no span id");
}

void cn_span_set_attribute(struct cn_span_set *set, uint32_t key,
                           struct cn_trace_value value)
{
    CN_PUSH(set->attributes, set->attribute_count, set->attribute_capacity,
            (struct cn_set_attribute){key, value});
    if (!set->is_loose)
        cn_span_set_current(set)->attribute_count++;
}

static uint32_t keyword(struct cn_span_set *set, const char *text)
{
    return cn_words_add_str(&set->words, CN_WORD_KEYWORD, text);
}

/* A copy of a word's text. Adding a word moves the texts of all words. */
static struct cn_text text_of(const struct cn_span_set *set, uint32_t word)
{
    struct cn_bytes bytes = cn_word_bytes(&set->words, word);
    struct cn_text copy = {0};

    cn_text_add(&copy, (const char *)bytes.ptr, bytes.len);
    return copy;
}

static struct cn_bytes bytes_of(const struct cn_text *text)
{
    return (struct cn_bytes){(const uint8_t *)cn_text_str(text), text->len};
}

/* The same text as a word of another kind. */
static uint32_t copy_word(struct cn_span_set *set, enum cn_word_kind kind, uint32_t word)
{
    struct cn_text copy = text_of(set, word);
    uint32_t number = cn_words_add(&set->words, kind, bytes_of(&copy));

    cn_text_done(&copy);
    return number;
}

/* The text of an attribute, from `first` on; 0 if there is none. */
static uint32_t find_attribute(const struct cn_span_set *set, size_t first,
                               const char *key)
{
    struct cn_bytes bytes = {(const uint8_t *)key, strlen(key)};
    uint32_t word = cn_words_find(&set->words, CN_WORD_KEYWORD, bytes);

    for (size_t i = first; word && i < set->attribute_count; i++)
        if (set->attributes[i].key == word &&
            set->attributes[i].value.kind == CN_VALUE_WORD)
            return set->attributes[i].value.word;
    return 0;
}

void cn_span_set_event_begin(struct cn_span_set *set)
{
    set->is_loose = true;
    set->first_loose = set->attribute_count;
    set->event_name = 0;
}

void cn_span_set_event_end(struct cn_span_set *set)
{
    size_t first = set->first_loose;
    uint32_t type = find_attribute(set, first, "exception.type");
    uint32_t message = find_attribute(set, first, "exception.message");
    uint32_t stack = find_attribute(set, first, "exception.stacktrace");

    set->is_loose = false;
    set->losses.event_times++;
    set->losses.event_attributes +=
        set->attribute_count - first - (type != 0) - (message != 0) - (stack != 0);
    set->attribute_count = first;
    if (type || message || stack) {
        struct cn_text text = text_of(set, stack);
        uint32_t class = type ? copy_word(set, CN_WORD_CLASS, type) : 0;

        cn_span_set_current(set)->exception =
            cn_stack_text_add(&set->words, class, message, bytes_of(&text));
        cn_text_done(&text);
        return;
    }
    cn_span_set_attribute(
        set, keyword(set, "event"),
        (struct cn_trace_value){.kind = CN_VALUE_WORD, .word = set->event_name});
}

void cn_span_set_resource_begin(struct cn_span_set *set)
{
    set->is_loose = true;
    set->first_of_resource = set->attribute_count;
}

void cn_span_set_resource_end(struct cn_span_set *set)
{
    set->is_loose = false;
    set->resource_count = set->attribute_count - set->first_of_resource;
}

void cn_span_set_share_resource(struct cn_span_set *set, size_t first_span)
{
    uint32_t key = keyword(set, "service.name"), service = 0;

    for (size_t i = 0; i < set->resource_count; i++) {
        const struct cn_set_attribute *attribute =
            &set->attributes[set->first_of_resource + i];

        if (attribute->key == key && attribute->value.kind == CN_VALUE_WORD)
            service = copy_word(set, CN_WORD_KEYWORD, attribute->value.word);
    }
    for (size_t i = first_span; i < set->count; i++) {
        set->spans[i].service = service;
        set->spans[i].first_of_resource = (uint32_t)set->first_of_resource;
        set->spans[i].resource_count = (uint32_t)set->resource_count;
    }
    set->first_of_resource = set->resource_count = 0;
}

void cn_span_set_status_message(struct cn_span_set *set, struct cn_bytes text)
{
    if (text.len > 0)
        cn_span_set_attribute(set, keyword(set, "status.message"),
                              cn_span_set_text(set, text));
}

void cn_span_set_list_add(struct cn_span_set *set, size_t first,
                          struct cn_trace_value value)
{
    if (set->value_count - first == LIST_MAX)
        return;
    CN_PUSH(set->values, set->value_count, set->value_capacity, value);
}

struct cn_trace_value cn_span_set_list(const struct cn_span_set *set, size_t first)
{
    return (struct cn_trace_value){
        .kind = CN_VALUE_LIST,
        .list = {(uint32_t)first, (uint32_t)(set->value_count - first)}};
}

uint32_t cn_span_set_kind(struct cn_span_set *set, uint64_t kind)
{
    return kind > 0 && kind < CN_SPAN_KIND_COUNT ? keyword(set, cn_span_kinds[kind]) : 0;
}

uint32_t cn_span_set_keyword(struct cn_span_set *set, struct cn_bytes text)
{
    return cn_words_add(&set->words, CN_WORD_KEYWORD, text);
}

struct cn_trace_value cn_span_set_text(struct cn_span_set *set, struct cn_bytes text)
{
    return (struct cn_trace_value){.kind = CN_VALUE_WORD,
                                   .word = cn_words_add(&set->words, CN_WORD_TEXT, text)};
}

bool cn_span_id_parse(struct cn_bytes text, uint64_t *high, uint64_t *low)
{
    uint64_t halves[2] = {0};

    if (text.len == 0 || text.len > 32)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.ptr[i] | 0x20;
        uint64_t digit = c >= '0' && c <= '9'   ? (uint64_t)(c - '0')
                         : c >= 'a' && c <= 'f' ? (uint64_t)(c - 'a' + 10)
                                                : 16;

        if (digit == 16)
            return false;
        halves[0] = halves[0] << 4 | halves[1] >> 60;
        halves[1] = halves[1] << 4 | digit;
    }
    *high = halves[0];
    *low = halves[1];
    return true;
}

static uint64_t key_of(const struct cn_set_span *span, uint64_t id, bool is_shared)
{
    uint64_t key[4] = {span->trace_high, span->trace_low, id, is_shared};

    return XXH3_64bits(key, sizeof(key));
}

/* A shared span has the id of the span that called it; that id, as the parent of other
 * spans, is the shared one. */
static void find_parents(struct cn_span_set *set)
{
    struct cn_map at = {0};

    for (uint32_t i = 0; i < set->count; i++)
        *cn_map_at(&at, key_of(&set->spans[i], set->spans[i].id, set->spans[i].is_shared),
                   i) = i;
    for (uint32_t i = 0; i < set->count; i++) {
        struct cn_set_span *span = &set->spans[i];

        if (span->is_shared)
            span->parent = cn_map_find(&at, key_of(span, span->id, false), CN_NONE);
        if (span->parent == CN_NONE && span->parent_id != 0)
            span->parent = cn_map_find(&at, key_of(span, span->parent_id, true), CN_NONE);
        if (span->parent == CN_NONE && span->parent_id != 0)
            span->parent =
                cn_map_find(&at, key_of(span, span->parent_id, false), CN_NONE);
        if (span->parent == i)
            span->parent = CN_NONE;
    }
    cn_map_done(&at);
}

static int by_parent(const void *a, const void *b, void *arg)
{
    const struct cn_set_span *spans = arg;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    const struct cn_set_span *x = &spans[i], *y = &spans[k];

    if (x->parent != y->parent)
        return x->parent < y->parent ? -1 : 1;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    return i < k ? -1 : i > k;
}

static void list_children(struct cn_span_set *set)
{
    size_t at = 0;

    set->children = cn_alloc(set->count, sizeof(*set->children));
    set->first_child = cn_alloc(set->count + 1, sizeof(*set->first_child));
    for (uint32_t i = 0; i < set->count; i++)
        set->children[i] = i;
    if (set->count > 0)
        qsort_r(set->children, set->count, sizeof(*set->children), by_parent, set->spans);
    for (uint32_t i = 0; i <= set->count; i++) {
        while (at < set->count && set->spans[set->children[at]].parent < i)
            at++;
        set->first_child[i] = (uint32_t)at;
    }
    /* Spans without a parent come last. */
    set->next_root = set->first_child[set->count];
}

static uint8_t first_char(struct cn_bytes bytes)
{
    for (size_t i = 0; i < bytes.len; i++)
        if (!strchr(" \t\r\n", bytes.ptr[i]) || bytes.ptr[i] == '\0')
            return bytes.ptr[i];
    return 0;
}

static bool has_text(struct cn_bytes bytes, const char *text)
{
    return memmem(bytes.ptr, bytes.len, text, strlen(text)) != NULL;
}

/* ResourceSpans: length-delimited field 1, with field 1 or 2 inside. */
static bool looks_like_otlp(struct cn_bytes bytes)
{
    size_t at = 1;

    if (bytes.len < 4 || bytes.ptr[0] != 0x0a)
        return false;
    while (at < bytes.len && at < 10 && bytes.ptr[at] & 0x80)
        at++;
    return at + 1 < bytes.len && (bytes.ptr[at + 1] == 0x0a || bytes.ptr[at + 1] == 0x12);
}

enum cn_span_system cn_span_set_probe(struct cn_bytes body)
{
    uint8_t beginning[65536];
    struct cn_bytes view = {beginning,
                            cn_unpack_beginning(body, beginning, sizeof(beginning))};
    uint8_t first = first_char(view);

    if (first == '[' && has_text(view, "\"traceId\""))
        return CN_SPANS_ZIPKIN;
    if (first == '{' && has_text(view, "\"resourceSpans\""))
        return CN_SPANS_OTLP_JSON;
    return looks_like_otlp(view) ? CN_SPANS_OTLP : CN_SPANS_NONE;
}

static bool read_plain(struct cn_span_set *set, struct cn_bytes body,
                       struct cn_error *err)
{
    switch (first_char(body)) {
    case '[':
        return cn_zipkin_read(set, body, err);
    case '{':
        return cn_otlp_json_read(set, body, err);
    default:
        return cn_otlp_read(set, body, err);
    }
}

bool cn_span_set_read(struct cn_span_set *set, struct cn_bytes body, struct cn_error *err)
{
    struct cn_text text = {0};
    bool ok;

    if (cn_is_packed(body)) {
        ok = cn_unpack(body, set->unpacked_max ? set->unpacked_max : UNPACKED_MAX, &text,
                       err) &&
             read_plain(set, bytes_of(&text), err);
        cn_text_done(&text);
    } else {
        ok = read_plain(set, body, err);
    }
    if (ok && set->count > SPAN_MAX)
        ok = cn_fail(err, CN_ERR_LIMIT, "%zu spans, more than %d", set->count, SPAN_MAX);
    if (!ok)
        return false;
    find_parents(set);
    list_children(set);
    return true;
}

/* A value of the set as one of the trace. Recursion ends: links are the deepest values that are
 * built, lists of maps of lists. */
static struct cn_trace_value copy_value(const struct cn_span_set *set,
                                        struct cn_trace *trace,
                                        struct cn_trace_value value)
{
    uint32_t count = value.kind == CN_VALUE_LIST  ? value.list.count
                     : value.kind == CN_VALUE_MAP ? 2 * value.list.count
                                                  : 0;

    if (count == 0)
        return value;
    struct cn_trace_value *items = cn_alloc(count, sizeof(*items));
    for (uint32_t i = 0; i < count; i++)
        items[i] = copy_value(set, trace, set->values[value.list.first + i]);
    value.list.first = cn_trace_add_values(trace, items, count);
    free(items);
    return value;
}

static void add_attributes(const struct cn_span_set *set, struct cn_trace *trace,
                           uint32_t first, uint32_t count)
{
    for (uint32_t i = first; i < first + count; i++)
        cn_trace_add_attribute(trace, set->attributes[i].key,
                               copy_value(set, trace, set->attributes[i].value));
}

static bool enter(struct cn_span_set *set, struct cn_trace *trace, uint32_t i,
                  uint64_t begin_ns, struct cn_error *err)
{
    struct cn_set_span *span = &set->spans[i];
    uint32_t parts[3] = {0, span->name, 0};
    uint32_t method = cn_words_add_parts(&set->words, CN_WORD_METHOD, parts, 3);

    span->is_used = true;
    if (!cn_trace_enter(trace, method,
                        span->time_ns > begin_ns ? span->time_ns - begin_ns : 0, err))
        return false;
    struct cn_trace_span *begun = cn_trace_add_span(trace, span->time_ns);
    begun->id = span->id;
    begun->parent_id = span->parent_id;
    begun->service = span->service;
    begun->type = span->type;
    add_attributes(set, trace, span->first_attribute, span->attribute_count);
    if (trace->node_count == 1 ||
        set->spans[span->parent].first_of_resource != span->first_of_resource)
        add_attributes(set, trace, span->first_of_resource, span->resource_count);
    if (span->exception)
        cn_trace_throw(trace, span->exception);
    if (span->is_error)
        cn_trace_mark(trace, CN_TRACE_ERROR);
    return true;
}

/* A span on the path, and the index of its next child. */
struct span_level {
    uint32_t span, next;
};

static bool build(struct cn_span_set *set, struct cn_trace *trace, uint32_t root,
                  struct span_level *levels, struct cn_error *err)
{
    uint64_t begin_ns = set->spans[root].time_ns;
    size_t depth = 1;

    levels[0] = (struct span_level){root, set->first_child[root]};
    if (!enter(set, trace, root, begin_ns, err))
        return false;
    while (depth > 0) {
        struct span_level *top = &levels[depth - 1];
        const struct cn_set_span *span = &set->spans[top->span];

        if (top->next < set->first_child[top->span + 1]) {
            uint32_t child = set->children[top->next++];

            /* A span that is too deep begins a trace. */
            if (set->spans[child].is_used || depth == CN_TRACE_DEPTH_MAX)
                continue;
            if (!enter(set, trace, child, begin_ns, err))
                return false;
            levels[depth++] = (struct span_level){child, set->first_child[child]};
            continue;
        }
        cn_trace_leave(trace,
                       (span->time_ns > begin_ns ? span->time_ns - begin_ns : 0) +
                           span->duration_ns,
                       trace->node_count - trace->current);
        depth--;
    }
    return true;
}

/* Roots first, then the spans of cycles. */
static uint32_t next_root(struct cn_span_set *set)
{
    size_t roots_at = set->first_child[set->count];

    while (set->next_root < set->count + roots_at) {
        size_t at = set->next_root++;
        uint32_t i = set->children[at < set->count ? at : at - set->count];

        if (!set->spans[i].is_used)
            return i;
    }
    return CN_NONE;
}

enum cn_step cn_span_set_next(struct cn_span_set *set, struct cn_trace *trace,
                              struct cn_error *err)
{
    uint32_t root = next_root(set);

    if (root == CN_NONE)
        return CN_END;
    cn_trace_clear(trace);
    trace->words = &set->words;
    trace->id_high = set->spans[root].trace_high;
    trace->id_low = set->spans[root].trace_low;
    struct span_level *levels = cn_alloc(CN_TRACE_DEPTH_MAX + 1, sizeof(*levels));
    bool ok = build(set, trace, root, levels, err);
    free(levels);
    return ok ? CN_ITEM : CN_FAIL;
}

void cn_span_set_done(struct cn_span_set *set)
{
    cn_words_done(&set->words);
    free(set->spans);
    free(set->attributes);
    free(set->values);
    free(set->links);
    free(set->children);
    free(set->first_child);
    *set = (struct cn_span_set){0};
}
