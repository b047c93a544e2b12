#include "formats/exchange/read/traces/span_set.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "base/files/unpack.h"
#include "base/map.h"
#include "base/text.h"
#include "formats/exchange/read/traces/spans.h"
#include "formats/exchange/read/traces/stack_text.h"

enum { UNPACKED_MAX = 256 << 20, SPAN_MAX = 1 << 24 };

/* Bytes of a set that are kept for the next body. */
enum { KEPT_MAX = 16 << 20, KEPT_WORDS_MAX = 1 << 20 };

/* Longer times are cut in the tree of calls, so that sums of two fit: 73 years. */
static const uint64_t time_max_ns = INT64_MAX / 4;

static uint64_t cut_time(uint64_t ns)
{
    return ns < time_max_ns ? ns : time_max_ns;
}

void cn_span_set_begin(struct cn_span_set *set)
{
    CN_PUSH(set->spans, set->count, set->capacity,
            (struct cn_set_span){.span.is_whole = true, .parent = CN_NONE});
    set->list = (struct cn_trace_list)CN_TRACE_EMPTY_LIST;
    set->next_key = 0;
}

void cn_span_set_begin_otlp(struct cn_span_set *set)
{
    cn_span_set_begin(set);
    cn_span_set_current(set)->has_end = true;
    cn_span_set_current(set)->span.has_no_kind = true;
}

static void end_times(struct cn_set_span *set_span)
{
    struct cn_trace_span *span = &set_span->span;

    if (set_span->has_end)
        set_span->duration_ns =
            span->end_ns > span->time_ns ? cut_time(span->end_ns - span->time_ns) : 0;
    set_span->duration_ns = cut_time(set_span->duration_ns);
    span->has_end =
        set_span->has_end && span->end_ns - span->time_ns != set_span->duration_ns;
    if (!span->has_end)
        span->end_ns = 0;
}

bool cn_span_set_end(struct cn_span_set *set, struct cn_error *err)
{
    struct cn_set_span *span = cn_span_set_current(set);

    span->attributes = set->list;
    if (span->span.id != 0 && (span->trace_high | span->trace_low) != 0) {
        end_times(span);
        set->whole_count = set->count;
        return true;
    }
    if (!set->skips_bad)
        return cn_fail(err, CN_ERR_FORMAT, "the span has no trace id or no span id");
    set->bad_count++;
    set->count--;
    return true;
}

void cn_span_set_attribute(struct cn_span_set *set, uint32_t key,
                           struct cn_trace_value value)
{
    cn_trace_list_add(&set->pool, &set->list, key, value);
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

/* The text of an attribute; 0 if there is none. */
static uint32_t find_text(const struct cn_span_set *set, struct cn_trace_list list,
                          const char *key)
{
    uint32_t word = cn_words_find(&set->words, CN_WORD_KEYWORD, cn_bytes_of(key));

    for (uint32_t i = word ? list.first : CN_NONE; i != CN_NONE;
         i = set->pool.attributes[i].next) {
        const struct cn_trace_attribute *one = &set->pool.attributes[i];

        if (one->key == word && one->value.kind == CN_VALUE_WORD &&
            cn_word_kind(&set->words, one->value.word) == CN_WORD_TEXT)
            return one->value.word;
    }
    return 0;
}

/* Attributes that are added now belong to an event or link of the span. */
static void begin_inner(struct cn_span_set *set)
{
    set->outer = set->list;
    set->list = (struct cn_trace_list)CN_TRACE_EMPTY_LIST;
}

static struct cn_trace_list end_inner(struct cn_span_set *set)
{
    struct cn_trace_list inner = set->list;

    set->list = set->outer;
    return inner;
}

struct cn_trace_event *cn_span_set_event_begin(struct cn_span_set *set)
{
    struct cn_trace_span *span = &cn_span_set_current(set)->span;

    if (span->event_count++ == 0)
        span->first_event = set->pool.event_count;
    CN_PUSH(set->pool.events, set->pool.event_count, set->pool.event_capacity,
            (struct cn_trace_event){.attributes = CN_TRACE_EMPTY_LIST});
    begin_inner(set);
    return cn_span_set_event(set);
}

void cn_span_set_event_end(struct cn_span_set *set)
{
    struct cn_trace_list list = end_inner(set);
    uint32_t type = find_text(set, list, "exception.type");
    uint32_t message = find_text(set, list, "exception.message");
    uint32_t stack = find_text(set, list, "exception.stacktrace");

    cn_span_set_event(set)->attributes = list;
    if (type || message || stack) {
        struct cn_text text = text_of(set, stack);
        uint32_t class = type ? copy_word(set, CN_WORD_CLASS, type) : 0;

        cn_span_set_current(set)->exception =
            cn_stack_text_add(&set->words, class, message, bytes_of(&text));
        cn_text_done(&text);
    }
}

struct cn_trace_link *cn_span_set_link_begin(struct cn_span_set *set)
{
    struct cn_trace_span *span = &cn_span_set_current(set)->span;

    if (span->link_count++ == 0)
        span->first_link = set->pool.link_count;
    CN_PUSH(set->pool.links, set->pool.link_count, set->pool.link_capacity,
            (struct cn_trace_link){.attributes = CN_TRACE_EMPTY_LIST});
    begin_inner(set);
    return cn_span_set_link(set);
}

void cn_span_set_link_end(struct cn_span_set *set)
{
    cn_span_set_link(set)->attributes = end_inner(set);
}

void cn_span_set_shared_begin(struct cn_span_set *set)
{
    set->list = (struct cn_trace_list)CN_TRACE_EMPTY_LIST;
}

struct cn_trace_list cn_span_set_shared_end(struct cn_span_set *set)
{
    return set->list;
}

void cn_span_set_share_resource(struct cn_span_set *set, size_t first_span,
                                const struct cn_trace_shared *resource)
{
    uint32_t name = find_text(set, resource->attributes, "service.name");
    uint32_t service = name ? copy_word(set, CN_WORD_KEYWORD, name) : 0;
    uint32_t word = cn_trace_resource_add(&set->words, &set->pool, resource);

    for (size_t i = first_span; i < set->count; i++) {
        set->spans[i].span.service = service;
        set->spans[i].span.resource = word;
    }
}

void cn_span_set_share_scope(struct cn_span_set *set, size_t first_span,
                             const struct cn_trace_shared *scope)
{
    uint32_t word = cn_trace_scope_add(&set->words, &set->pool, scope);

    for (size_t i = first_span; i < set->count; i++)
        set->spans[i].span.scope = word;
}

size_t cn_span_set_list_begin(const struct cn_span_set *set)
{
    return set->element_count;
}

void cn_span_set_list_add(struct cn_span_set *set, struct cn_trace_value value)
{
    CN_PUSH(set->elements, set->element_count, set->element_capacity, value);
}

struct cn_trace_value cn_span_set_list_end(struct cn_span_set *set, size_t first,
                                           bool is_map)
{
    uint32_t count = (uint32_t)(set->element_count - first);
    struct cn_trace_value value = {.kind = is_map ? CN_VALUE_MAP : CN_VALUE_LIST};

    value.list.count = is_map ? count / 2 : count;
    value.list.first =
        cn_trace_add_values(&set->pool, count > 0 ? set->elements + first : NULL, count);
    set->element_count = first;
    return value;
}

void cn_span_set_kind(struct cn_span_set *set, uint64_t kind)
{
    struct cn_trace_span *span = &cn_span_set_current(set)->span;

    span->has_no_kind = kind == 0 || kind >= CN_SPAN_KIND_COUNT;
    span->type = span->has_no_kind ? 0 : keyword(set, cn_span_kinds[kind]);
}

uint32_t cn_span_set_keyword(struct cn_span_set *set, struct cn_bytes text)
{
    return cn_words_add(&set->words, CN_WORD_KEYWORD, text);
}

uint32_t cn_span_set_key(struct cn_span_set *set, struct cn_bytes text)
{
    uint32_t *guess = &set->keys[set->next_key];
    struct cn_bytes known = cn_word_bytes(&set->words, *guess);

    set->next_key = (set->next_key + 1) % CN_SPAN_KEYS_GUESSED;
    if (*guess == 0 || known.len != text.len || text.len == 0 ||
        memcmp(known.ptr, text.ptr, text.len) != 0)
        *guess = cn_span_set_keyword(set, text);
    return *guess;
}

uint32_t cn_span_set_word(struct cn_span_set *set, struct cn_bytes text)
{
    return cn_words_add(&set->words, CN_WORD_TEXT, text);
}

struct cn_trace_value cn_span_set_text(struct cn_span_set *set, struct cn_bytes text)
{
    return (struct cn_trace_value){.kind = CN_VALUE_WORD,
                                   .word = cn_span_set_word(set, text)};
}

struct cn_trace_value cn_span_set_bytes(struct cn_span_set *set, struct cn_bytes bytes)
{
    return (struct cn_trace_value){
        .kind = CN_VALUE_WORD, .word = cn_words_add(&set->words, CN_WORD_BYTES, bytes)};
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
    struct cn_map *at = &set->by_id;

    cn_map_reserve(at, set->count);
    /* A span that a body has twice counts once. */
    for (uint32_t i = 0; i < set->count; i++) {
        set->spans[i].is_used = *cn_map_at(at,
                                           key_of(&set->spans[i], set->spans[i].span.id,
                                                  set->spans[i].is_shared),
                                           i) != i;
        set->has_shared = set->has_shared || set->spans[i].is_shared;
    }
    for (uint32_t i = 0; i < set->count; i++) {
        struct cn_set_span *span = &set->spans[i];
        uint64_t id = span->span.id, parent_id = span->span.parent_id;

        if (span->is_shared)
            span->parent = cn_map_find(at, key_of(span, id, false), CN_NONE);
        if (span->parent == CN_NONE && parent_id != 0 && set->has_shared)
            span->parent = cn_map_find(at, key_of(span, parent_id, true), CN_NONE);
        if (span->parent == CN_NONE && parent_id != 0)
            span->parent = cn_map_find(at, key_of(span, parent_id, false), CN_NONE);
        if (span->parent == i)
            span->parent = CN_NONE;
    }
    cn_map_clear(at);
}

static int by_time(const void *a, const void *b, void *arg)
{
    const struct cn_set_span *spans = arg;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    const struct cn_set_span *x = &spans[i], *y = &spans[k];

    if (x->span.time_ns != y->span.time_ns)
        return x->span.time_ns < y->span.time_ns ? -1 : 1;
    return i < k ? -1 : i > k;
}

/* Spans with the same parent, which are in the order of the body, by time. */
static void sort_by_time(const struct cn_set_span *spans, uint32_t *list, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (spans[list[i]].span.time_ns < spans[list[i - 1]].span.time_ns) {
            qsort_r(list, count, sizeof(*list), by_time, (void *)(uintptr_t)spans);
            return;
        }
    }
}

/* Spans without a parent come last. */
static size_t parent_of(const struct cn_span_set *set, size_t i)
{
    uint32_t parent = set->spans[i].parent;

    return parent == CN_NONE ? set->count : parent;
}

static void list_children(struct cn_span_set *set)
{
    CN_GROW_TO(set->next_child, set->count + 2, set->next_capacity);
    CN_GROW_TO(set->children, set->count, set->child_capacity);
    CN_GROW_TO(set->first_child, set->count + 1, set->first_capacity);
    uint32_t *next = set->next_child;
    memset(next, 0, (set->count + 2) * sizeof(*next));
    for (size_t i = 0; i < set->count; i++)
        next[parent_of(set, i) + 1]++;
    for (size_t i = 0; i <= set->count; i++) {
        next[i + 1] += next[i];
        set->first_child[i] = next[i];
    }
    for (uint32_t i = 0; i < set->count; i++)
        set->children[next[parent_of(set, i)]++] = i;
    for (size_t i = 0; i <= set->count; i++)
        if (next[i] - set->first_child[i] > 1)
            sort_by_time(set->spans, set->children + set->first_child[i],
                         next[i] - set->first_child[i]);
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

static bool read_packed(struct cn_span_set *set, struct cn_bytes body,
                        struct cn_error *err)
{
    struct cn_error ignored;
    struct cn_text text = {0};
    bool ok =
        cn_unpack(body, set->unpacked_max ? set->unpacked_max : UNPACKED_MAX, &text, err);

    if (ok)
        ok = read_plain(set, bytes_of(&text), err);
    else if (set->stops_at_damage)
        (void)read_plain(set, bytes_of(&text), &ignored);
    cn_text_done(&text);
    return ok;
}

bool cn_span_set_read(struct cn_span_set *set, struct cn_bytes body, struct cn_error *err)
{
    bool ok =
        cn_is_packed(body) ? read_packed(set, body, err) : read_plain(set, body, err);

    if (!ok && set->stops_at_damage && err->kind == CN_ERR_FORMAT &&
        set->whole_count > 0) {
        set->damage = *err;
        set->count = set->whole_count;
        ok = true;
    }
    if (ok && set->count > SPAN_MAX)
        ok = cn_fail(err, CN_ERR_LIMIT, "%zu spans, more than %d", set->count, SPAN_MAX);
    if (!ok)
        return false;
    find_parents(set);
    list_children(set);
    CN_GROW_TO(set->pool.nodes, set->count, set->pool.node_capacity);
    CN_GROW_TO(set->pool.spans, set->count, set->pool.span_capacity);
    return true;
}

static uint64_t since(const struct cn_set_span *span, uint64_t begin_ns)
{
    return span->span.time_ns > begin_ns ? cut_time(span->span.time_ns - begin_ns) : 0;
}

static bool enter(struct cn_span_set *set, struct cn_trace *trace, uint32_t i,
                  uint64_t begin_ns, struct cn_error *err)
{
    struct cn_set_span *span = &set->spans[i];
    uint32_t parts[3] = {0, span->name, 0};
    uint32_t method = cn_words_add_parts(&set->words, CN_WORD_METHOD, parts, 3);

    span->is_used = true;
    if (!cn_trace_enter(trace, method, since(span, begin_ns), err))
        return false;
    span->span.node = trace->current;
    *cn_trace_add_span(trace, span->span.time_ns) = span->span;
    trace->nodes[trace->current].first_attribute = span->attributes.first;
    trace->nodes[trace->current].last_attribute = span->attributes.last;
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
    uint64_t begin_ns = set->spans[root].span.time_ns;
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
        cn_trace_leave(trace, since(span, begin_ns) + span->duration_ns,
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
    if (!set->levels)
        set->levels = cn_alloc(CN_TRACE_DEPTH_MAX + 1, sizeof(*set->levels));
    *trace = set->pool;
    trace->words = &set->words;
    trace->id_high = set->spans[root].trace_high;
    trace->id_low = set->spans[root].trace_low;
    trace->current = CN_NONE;
    /* Each span is a call of one trace: there is room for all. */
    trace->nodes = set->pool.nodes + set->built_count;
    trace->spans = set->pool.spans + set->built_count;
    trace->node_capacity = trace->span_capacity = set->count - set->built_count;
    if (!build(set, trace, root, set->levels, err))
        return CN_FAIL;
    set->built_count += trace->node_count;
    return CN_ITEM;
}

static size_t memory_of(const struct cn_span_set *set)
{
    const struct cn_trace *pool = &set->pool;

    return set->capacity * (sizeof(*set->spans) + sizeof(*pool->nodes)) +
           pool->span_capacity * sizeof(*pool->spans) +
           pool->attribute_capacity * sizeof(*pool->attributes) +
           pool->value_capacity * sizeof(*pool->values) +
           pool->event_capacity * sizeof(*pool->events) +
           pool->link_capacity * sizeof(*pool->links) + set->words.arena_capacity +
           set->element_capacity * sizeof(*set->elements);
}

void cn_span_set_clear(struct cn_span_set *set)
{
    if (memory_of(set) > KEPT_MAX) {
        struct cn_span_set empty = {.unpacked_max = set->unpacked_max,
                                    .skips_bad = set->skips_bad};

        cn_span_set_done(set);
        *set = empty;
        return;
    }
    if (set->words.arena_len > KEPT_WORDS_MAX) {
        cn_words_rewind(&set->words, 0);
        memset(set->keys, 0, sizeof(set->keys));
    }
    cn_trace_clear(&set->pool);
    set->count = set->built_count = set->element_count = 0;
    set->bad_count = 0;
    set->has_shared = false;
}

void cn_span_set_done(struct cn_span_set *set)
{
    cn_words_done(&set->words);
    free(set->spans);
    cn_trace_done(&set->pool);
    free(set->elements);
    free(set->children);
    free(set->first_child);
    free(set->next_child);
    cn_map_done(&set->by_id);
    free(set->levels);
    *set = (struct cn_span_set){0};
}
