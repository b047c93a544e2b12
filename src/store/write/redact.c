#include "store/write/redact.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/files/file.h"
#include "base/map.h"
#include "base/name_filter.h"
#include "base/regex.h"
#include "base/sha256.h"
#include "base/text.h"
#include "model/traces/shared.h"
#include "model/traces/trace.h"
#include "store/write/translate.h"

enum {
    RULES_MAX = 1000,
    HASH_LEN = 16,           /* bytes of a hash that are stored */
    WORDS_LEN_MAX = 8 << 20, /* of the redactor, before it begins again */
    CAUSES_MAX = 64,
};

enum redact_action { REDACT_DROP, REDACT_HASH, REDACT_MASK };

static const char mask[] = "***";

/* Patterns are compiled by each redactor: matching caches. */
struct redact_rule {
    enum redact_action action;
    char *key, *pattern; /* a pattern of NULL: all of the value */
};

struct cn_redaction {
    struct redact_rule *list;
    size_t count, capacity;
    char *salt;
};

struct redact_matcher {
    enum redact_action action;
    struct cn_name_filter keys;
    struct cn_regex_finder *pattern; /* NULL: all of the value */
};

struct cn_redactor {
    const struct cn_redaction *rules;
    struct redact_matcher *matchers; /* by rule */
    struct cn_translation translation;
    struct cn_words words;
    struct cn_map keys; /* word of a key -> 1, or 2 if a rule applies to it */
    struct cn_map
        shared; /* word of a resource or scope -> that without what is left out */
    struct cn_trace scratch;
    uint64_t count;
};

static struct cn_bytes take_part(struct cn_bytes *line)
{
    struct cn_bytes part = *line;

    part.len = 0;
    while (part.len < line->len && !strchr(" \t", line->ptr[part.len]))
        part.len++;
    line->ptr += part.len;
    line->len -= part.len;
    while (line->len > 0 && strchr(" \t", line->ptr[0])) {
        line->ptr++;
        line->len--;
    }
    return part;
}

static bool is_part(struct cn_bytes part, const char *word)
{
    return part.len == strlen(word) && memcmp(part.ptr, word, part.len) == 0;
}

static char *copy_part(struct cn_bytes part)
{
    return cn_strprintf("%.*s", (int)part.len, (const char *)part.ptr);
}

/* Compile a rule; the result is released with release_matcher(), also on failure. */
static bool compile(struct redact_matcher *out, const struct redact_rule *rule,
                    struct cn_error *err)
{
    *out = (struct redact_matcher){.action = rule->action};
    return cn_name_filter_add(&out->keys, rule->key, CN_MATCH_GLOB, err) &&
           (!rule->pattern || cn_regex_finder_new(&out->pattern, rule->pattern, 0, err));
}

static void release_matcher(struct redact_matcher *matcher)
{
    cn_name_filter_done(&matcher->keys);
    cn_regex_finder_free(matcher->pattern);
}

static void free_rule(struct redact_rule *rule)
{
    free(rule->key);
    free(rule->pattern);
}

static bool add_rule(struct cn_redaction *rules, enum redact_action action,
                     struct cn_bytes line, struct cn_error *err)
{
    struct cn_bytes key = take_part(&line);
    struct redact_matcher tried;

    if (key.len == 0)
        return cn_fail(err, CN_ERR_USAGE, "the key is missing");
    if (line.len > 0 && action != REDACT_MASK)
        return cn_fail(err, CN_ERR_USAGE, "only mask has a pattern after the key");
    if (rules->count == RULES_MAX)
        return cn_fail(err, CN_ERR_USAGE, "more than %d rules", RULES_MAX);
    CN_PUSH(rules->list, rules->count, rules->capacity,
            ((struct redact_rule){.action = action,
                                  .key = copy_part(key),
                                  .pattern = line.len > 0 ? copy_part(line) : NULL}));
    bool ok = compile(&tried, &rules->list[rules->count - 1], err);
    release_matcher(&tried);
    if (!ok)
        free_rule(&rules->list[--rules->count]);
    return ok;
}

static bool read_line(struct cn_redaction *rules, struct cn_bytes line,
                      struct cn_error *err)
{
    while (line.len > 0 && strchr(" \t\r", line.ptr[line.len - 1]))
        line.len--;
    while (line.len > 0 && strchr(" \t", line.ptr[0])) {
        line.ptr++;
        line.len--;
    }
    if (line.len == 0 || line.ptr[0] == '#')
        return true;
    if (memchr(line.ptr, '\0', line.len))
        return cn_fail(err, CN_ERR_USAGE, "a zero byte");
    struct cn_bytes action = take_part(&line);
    if (is_part(action, "drop"))
        return add_rule(rules, REDACT_DROP, line, err);
    if (is_part(action, "hash"))
        return add_rule(rules, REDACT_HASH, line, err);
    if (is_part(action, "mask"))
        return add_rule(rules, REDACT_MASK, line, err);
    if (!is_part(action, "salt") || line.len == 0)
        return cn_fail(err, CN_ERR_USAGE,
                       "'%.*s' is not a rule: drop KEY, hash KEY, mask KEY [REGEX] or "
                       "salt TEXT",
                       (int)(action.len < 40 ? action.len : 40),
                       (const char *)action.ptr);
    free(rules->salt);
    rules->salt = copy_part(line);
    return true;
}

bool cn_redaction_add(struct cn_redaction **rules, const char *line, struct cn_error *err)
{
    struct cn_bytes bytes = cn_bytes_of(line);

    if (!*rules)
        *rules = cn_alloc(1, sizeof(**rules));
    return read_line(*rules, bytes, err);
}

static bool read_lines(struct cn_redaction *rules, struct cn_bytes text,
                       struct cn_error *err)
{
    for (unsigned number = 1; text.len > 0; number++) {
        const uint8_t *end = memchr(text.ptr, '\n', text.len);
        size_t len = end ? (size_t)(end - text.ptr) : text.len;

        if (!read_line(rules, (struct cn_bytes){text.ptr, len}, err))
            return cn_fail_in(err, "line %u", number);
        text.ptr += len + (end != NULL);
        text.len -= len + (end != NULL);
    }
    return true;
}

bool cn_redaction_open(struct cn_redaction **out, const char *path, struct cn_error *err)
{
    struct cn_redaction *rules = cn_alloc(1, sizeof(*rules));
    struct cn_file file = {0};

    bool ok = cn_file_open(&file, path, err) &&
              (read_lines(rules, file.bytes, err) || cn_fail_in(err, "%s", path));
    cn_file_close(&file);
    if (!ok) {
        cn_redaction_free(rules);
        return false;
    }
    *out = rules;
    return true;
}

void cn_redaction_free(struct cn_redaction *rules)
{
    if (!rules)
        return;
    for (size_t i = 0; i < rules->count; i++)
        free_rule(&rules->list[i]);
    free(rules->list);
    free(rules->salt);
    free(rules);
}

struct cn_redactor *cn_redactor_new(const struct cn_redaction *rules)
{
    struct cn_redactor *redactor = cn_alloc(1, sizeof(*redactor));
    struct cn_error never;

    redactor->rules = rules;
    redactor->matchers = cn_alloc(rules->count, sizeof(*redactor->matchers));
    for (size_t i = 0; i < rules->count; i++)
        (void)!compile(&redactor->matchers[i], &rules->list[i], &never);
    return redactor;
}

void cn_redactor_free(struct cn_redactor *redactor)
{
    if (!redactor)
        return;
    for (size_t i = 0; i < redactor->rules->count; i++)
        release_matcher(&redactor->matchers[i]);
    free(redactor->matchers);
    cn_translation_done(&redactor->translation);
    cn_words_done(&redactor->words);
    cn_map_done(&redactor->keys);
    cn_map_done(&redactor->shared);
    cn_trace_done(&redactor->scratch);
    free(redactor);
}

uint64_t cn_redactor_count(const struct cn_redactor *redactor)
{
    return redactor->count;
}

static bool matches(const struct cn_redactor *redactor, size_t rule, const char *key)
{
    return cn_name_filter_matches(&redactor->matchers[rule].keys, key);
}

/* True if a rule applies to this key. */
static bool is_named(const struct cn_redactor *redactor, const char *key)
{
    for (size_t i = 0; i < redactor->rules->count; i++)
        if (matches(redactor, i, key))
            return true;
    return false;
}

/* The same of a word, remembered. */
static bool is_key_named(struct cn_redactor *redactor, uint32_t key)
{
    uint32_t *known = cn_map_at(&redactor->keys, key, 0);

    if (*known == 0) {
        char *text = copy_part(cn_word_bytes(&redactor->words, key));
        bool is = is_named(redactor, text);

        free(text);
        *known = is ? 2 : 1;
    }
    return *known == 2;
}

static void hash(const struct cn_redactor *redactor, struct cn_text *text)
{
    const char *salt = redactor->rules->salt ? redactor->rules->salt : "";
    uint8_t out[CN_SHA256_LEN];

    cn_hmac_sha256(salt, strlen(salt), cn_text_str(text), text->len, out);
    cn_text_clear(text);
    for (size_t i = 0; i < HASH_LEN; i++)
        cn_text_printf(text, "%02x", out[i]);
}

/* Replace what matches; true if something does. */
static bool mask_matches(struct cn_regex_finder *pattern, struct cn_text *text)
{
    struct cn_text masked = {0};
    size_t begin, end, at = 0, from = 0;
    bool has_changed = false;

    while (from <= text->len &&
           cn_regex_find(pattern, cn_text_str(text), text->len, from, &begin, &end)) {
        if (end == begin) { /* nothing to hide there */
            from = end + 1;
            continue;
        }
        cn_text_add(&masked, cn_text_str(text) + at, begin - at);
        cn_text_str_add(&masked, mask);
        at = from = end;
        has_changed = true;
    }
    if (has_changed) {
        cn_text_add(&masked, cn_text_str(text) + at, text->len - at);
        cn_text_done(text);
        *text = masked;
    } else {
        cn_text_done(&masked);
    }
    return has_changed;
}

enum redacted { REDACTED_NOT, REDACTED_CHANGED, REDACTED_DROPPED };

/* Apply all rules for a key to a text. */
static enum redacted redact_text(struct cn_redactor *redactor, const char *key,
                                 struct cn_text *text)
{
    enum redacted result = REDACTED_NOT;

    for (size_t i = 0; i < redactor->rules->count; i++) {
        const struct redact_matcher *matcher = &redactor->matchers[i];
        bool has_changed = true;

        if (!matches(redactor, i, key))
            continue;
        if (matcher->action == REDACT_DROP) {
            redactor->count++;
            return REDACTED_DROPPED;
        }
        if (matcher->action == REDACT_HASH) {
            hash(redactor, text);
        } else if (matcher->pattern) {
            has_changed = mask_matches(matcher->pattern, text);
        } else {
            cn_text_clear(text);
            cn_text_str_add(text, mask);
        }
        redactor->count += has_changed;
        if (has_changed)
            result = REDACTED_CHANGED;
    }
    return result;
}

/* A word for what the rules leave of it; 0 if it is dropped. */
static uint32_t redact_word(struct cn_redactor *redactor, const char *key, uint32_t word,
                            enum cn_word_kind kind)
{
    struct cn_bytes bytes = cn_word_bytes(&redactor->words, word);
    struct cn_text text = {0};

    if (word == 0 || !is_named(redactor, key))
        return word;
    cn_text_add(&text, (const char *)bytes.ptr, bytes.len);
    enum redacted how = redact_text(redactor, key, &text);
    if (how == REDACTED_DROPPED)
        word = 0;
    else if (how == REDACTED_CHANGED)
        word = cn_words_add(
            &redactor->words, kind,
            (struct cn_bytes){(const uint8_t *)cn_text_str(&text), text.len});
    cn_text_done(&text);
    return word;
}

/* Text of a value that is neither a list nor a map. */
static void print_scalar(const struct cn_redactor *redactor, const struct cn_trace *trace,
                         const struct cn_trace_value *value, struct cn_text *text)
{
    if (value->kind == CN_VALUE_WORD) {
        struct cn_bytes bytes = cn_word_bytes(&redactor->words, value->word);

        cn_text_add(text, (const char *)bytes.ptr, bytes.len);
    } else {
        cn_trace_value_print(trace, value, text);
    }
}

static bool redact_value(struct cn_redactor *redactor, struct cn_trace *trace,
                         const char *key, struct cn_trace_value *value, unsigned depth);

/* Elements of a map have a key of their own, and that of the map. What is dropped is null: nothing of
 * it is left in the trace. */
static void redact_elements(struct cn_redactor *redactor, struct cn_trace *trace,
                            const char *key, const struct cn_trace_value *value,
                            unsigned depth)
{
    bool is_map = value->kind == CN_VALUE_MAP;
    uint32_t step = is_map ? 2 : 1;

    for (uint32_t i = 0; i < value->list.count; i++) {
        uint32_t at = value->list.first + i * step;
        struct cn_trace_value *element = &trace->values[at + step - 1];
        const struct cn_trace_value *name = &trace->values[at];
        bool is_kept = redact_value(redactor, trace, key, element, depth + 1);

        if (is_kept && is_map && name->kind == CN_VALUE_WORD) {
            char *own = copy_part(cn_word_bytes(&redactor->words, name->word));

            is_kept = redact_value(redactor, trace, own, element, depth + 1);
            free(own);
        }
    }
}

/* Remove a value with all that is in it. */
static void erase(struct cn_trace *trace, struct cn_trace_value *value, unsigned depth)
{
    struct cn_trace_value was = *value;
    uint32_t count = was.kind == CN_VALUE_MAP    ? 2 * was.list.count
                     : was.kind == CN_VALUE_LIST ? was.list.count
                                                 : 0;

    *value = (struct cn_trace_value){.kind = CN_VALUE_NULL};
    for (uint32_t i = 0; depth <= CN_TRACE_VALUE_DEPTH_MAX && i < count; i++)
        erase(trace, &trace->values[was.list.first + i], depth + 1);
}

/* False if it is dropped; then it is null. Depth is limited by CN_TRACE_VALUE_DEPTH_MAX. */
static bool redact_value(struct cn_redactor *redactor, struct cn_trace *trace,
                         const char *key, struct cn_trace_value *value, unsigned depth)
{
    struct cn_text text = {0};

    if (value->kind == CN_VALUE_NULL)
        return true;
    if (depth > CN_TRACE_VALUE_DEPTH_MAX) {
        *value = (struct cn_trace_value){.kind = CN_VALUE_NULL};
        return true;
    }
    if (value->kind == CN_VALUE_LIST || value->kind == CN_VALUE_MAP) {
        for (size_t i = 0; i < redactor->rules->count; i++) {
            if (redactor->matchers[i].action != REDACT_DROP || !matches(redactor, i, key))
                continue;
            erase(trace, value, depth);
            redactor->count++;
            return false;
        }
        redact_elements(redactor, trace, key, value, depth);
        return true;
    }
    if (!is_named(redactor, key))
        return true;
    print_scalar(redactor, trace, value, &text);
    enum redacted how = redact_text(redactor, key, &text);
    if (how == REDACTED_DROPPED)
        *value = (struct cn_trace_value){.kind = CN_VALUE_NULL};
    else if (how == REDACTED_CHANGED)
        *value = (struct cn_trace_value){
            .kind = CN_VALUE_WORD,
            .word = cn_words_add(
                &redactor->words, CN_WORD_TEXT,
                (struct cn_bytes){(const uint8_t *)cn_text_str(&text), text.len})};
    cn_text_done(&text);
    return how != REDACTED_DROPPED;
}

/* Apply the rules to an attribute; false if it is dropped. */
static bool redact_attribute(struct cn_redactor *redactor, struct cn_trace *trace,
                             struct cn_trace_attribute *attribute)
{
    bool is_nested =
        attribute->value.kind == CN_VALUE_LIST || attribute->value.kind == CN_VALUE_MAP;

    if (!is_nested && !is_key_named(redactor, attribute->key))
        return true;
    char *key = copy_part(cn_word_bytes(&redactor->words, attribute->key));
    bool is_kept = redact_value(redactor, trace, key, &attribute->value, 0);
    free(key);
    return is_kept;
}

/* Attributes that are dropped are unlinked, and emptied: all of the array is translated. */
static void redact_list(struct cn_redactor *redactor, struct cn_trace *trace,
                        struct cn_trace_list *list)
{
    uint32_t before = CN_NONE, next;

    for (uint32_t i = list->first; i != CN_NONE; i = next) {
        struct cn_trace_attribute *attribute = &trace->attributes[i];

        next = attribute->next;
        if (redact_attribute(redactor, trace, attribute)) {
            before = i;
            continue;
        }
        attribute->key = 0;
        if (before == CN_NONE)
            list->first = next;
        else
            trace->attributes[before].next = next;
        if (list->last == i)
            list->last = before;
    }
}

/* A resource or scope, once for each word. */
static uint32_t redact_shared(struct cn_redactor *redactor, uint32_t word)
{
    uint32_t *known;

    if (word == 0)
        return 0;
    known = cn_map_at(&redactor->shared, word, 0);
    if (*known == 0) {
        bool is_scope = cn_word_kind(&redactor->words, word) == CN_WORD_SCOPE;
        struct cn_trace *scratch = &redactor->scratch;

        cn_trace_clear(scratch);
        scratch->words = &redactor->words;
        struct cn_trace_shared shared =
            cn_trace_shared_read(scratch, &redactor->words, word);
        redact_list(redactor, scratch, &shared.attributes);
        word = is_scope ? cn_trace_scope_add(&redactor->words, scratch, &shared)
                        : cn_trace_resource_add(&redactor->words, scratch, &shared);
        *known = word + 1;
    }
    return *known - 1;
}

/* The name of a call with a span is that of the span; methods of agents are names of code. */
static uint32_t redact_name(struct cn_redactor *redactor, uint32_t method)
{
    struct cn_words *words = &redactor->words;
    uint32_t parts[3];

    if (cn_word_kind(words, method) != CN_WORD_METHOD)
        return redact_word(redactor, "span:name", method, cn_word_kind(words, method));
    for (size_t i = 0; i < 3; i++)
        parts[i] = cn_word_part(words, method, i);
    uint32_t name =
        redact_word(redactor, "span:name", parts[1], cn_word_kind(words, parts[1]));
    if (name == parts[1])
        return method;
    parts[1] = name;
    return cn_words_add_parts(words, CN_WORD_METHOD, parts, 3);
}

/* A stack is a whole: it is dropped if any of its text must not be stored. */
static uint32_t redact_stack(struct cn_redactor *redactor, uint32_t stack)
{
    static const char key[] = "exception.stacktrace";
    struct cn_text text = {0};

    if (stack == 0 || !is_named(redactor, key))
        return stack;
    for (size_t i = 0; i < cn_word_part_count(&redactor->words, stack); i++) {
        cn_words_print(&redactor->words, cn_word_part(&redactor->words, stack, i), &text);
        cn_text_char(&text, '\n');
    }
    if (redact_text(redactor, key, &text) != REDACTED_NOT)
        stack = 0;
    cn_text_done(&text);
    return stack;
}

/* The causes first: they have lower numbers. */
static uint32_t redact_exception(struct cn_redactor *redactor, uint32_t exception)
{
    struct cn_words *words = &redactor->words;
    uint32_t chain[CAUSES_MAX], cause = 0;
    size_t count = 0;

    if (!is_named(redactor, "exception.type") &&
        !is_named(redactor, "exception.message") &&
        !is_named(redactor, "exception.stacktrace"))
        return exception;
    for (uint32_t e = exception; e != 0 && count < CAUSES_MAX;
         e = cn_word_part(words, e, 3)) {
        if (cn_word_kind(words, e) != CN_WORD_EXCEPTION)
            break;
        chain[count++] = e;
    }
    if (count == 0)
        return redact_word(redactor, "exception.message", exception,
                           cn_word_kind(words, exception));
    while (count > 0) {
        uint32_t e = chain[--count], class = cn_word_part(words, e, 0);
        uint32_t parts[4] = {
            redact_word(redactor, "exception.type", class, cn_word_kind(words, class)),
            redact_word(redactor, "exception.message", cn_word_part(words, e, 1),
                        CN_WORD_TEXT),
            redact_stack(redactor, cn_word_part(words, e, 2)),
            cause,
        };

        cause = cn_words_add_parts(words, CN_WORD_EXCEPTION, parts, 4);
    }
    return cause;
}

static void redact_span(struct cn_redactor *redactor, struct cn_trace_span *span)
{
    span->status_message =
        redact_word(redactor, "span:statusMessage", span->status_message, CN_WORD_TEXT);
    span->trace_state =
        redact_word(redactor, "span:traceState", span->trace_state, CN_WORD_TEXT);
    span->service = redact_word(redactor, "service.name", span->service, CN_WORD_KEYWORD);
    span->resource = redact_shared(redactor, span->resource);
    span->scope = redact_shared(redactor, span->scope);
}

static void redact_trace(struct cn_redactor *redactor, struct cn_trace *trace)
{
    for (uint32_t i = 0; i < trace->node_count; i++) {
        struct cn_trace_node *node = &trace->nodes[i];
        struct cn_trace_list list = {node->first_attribute, node->last_attribute};

        redact_list(redactor, trace, &list);
        node->first_attribute = list.first;
        node->last_attribute = list.last;
        node->exception = redact_exception(redactor, node->exception);
        if (node->span != CN_NONE)
            node->method = redact_name(redactor, node->method);
    }
    for (uint32_t i = 0; i < trace->event_count; i++) {
        trace->events[i].name =
            redact_word(redactor, "event:name", trace->events[i].name, CN_WORD_TEXT);
        redact_list(redactor, trace, &trace->events[i].attributes);
    }
    for (uint32_t i = 0; i < trace->link_count; i++) {
        trace->links[i].trace_state = redact_word(
            redactor, "link:traceState", trace->links[i].trace_state, CN_WORD_TEXT);
        redact_list(redactor, trace, &trace->links[i].attributes);
    }
    for (uint32_t i = 0; i < trace->span_count; i++)
        redact_span(redactor, &trace->spans[i]);
}

const struct cn_trace *cn_redact(struct cn_redactor *redactor,
                                 const struct cn_trace *trace)
{
    struct cn_trace *copy = &redactor->translation.trace;

    if (redactor->words.arena_len > WORDS_LEN_MAX) {
        cn_words_rewind(&redactor->words, 0);
        cn_translation_forget(&redactor->translation);
        cn_map_done(&redactor->keys);
        cn_map_done(&redactor->shared);
    }
    (void)cn_translate(&redactor->translation, trace, &redactor->words);
    redact_trace(redactor, copy);
    return copy;
}
