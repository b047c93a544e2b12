#include "model/traces/shared.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/record.h"

enum { SCALAR_LEN = 9 };

/* The words of a composite one. */
struct shared_parts {
    uint32_t *words;
    size_t count, capacity;
};

static void push(struct shared_parts *list, uint32_t word)
{
    CN_PUSH(list->words, list->count, list->capacity, word);
}

static uint32_t scalar_word(struct cn_words *words, enum cn_trace_value_kind kind,
                            uint64_t bits)
{
    uint8_t bytes[SCALAR_LEN] = {(uint8_t)kind};

    cn_u64_put(bytes + 1, bits);
    return cn_words_add(words, CN_WORD_SCALAR, (struct cn_bytes){bytes, sizeof(bytes)});
}

static uint32_t value_word(struct cn_words *words, const struct cn_trace *trace,
                           const struct cn_trace_value *value, unsigned depth);

static uint32_t list_word(struct cn_words *words, const struct cn_trace *trace,
                          const struct cn_trace_value *value, unsigned depth)
{
    bool is_map = value->kind == CN_VALUE_MAP;
    struct shared_parts list = {0};

    for (uint32_t i = 0; i < value->list.count * (is_map ? 2 : 1); i++)
        push(&list,
             value_word(words, trace, &trace->values[value->list.first + i], depth + 1));
    uint32_t word = cn_words_add_parts(words, is_map ? CN_WORD_MAP : CN_WORD_LIST,
                                       list.words, list.count);
    free(list.words);
    return word;
}

/* Depth is limited by CN_TRACE_VALUE_DEPTH_MAX. */
static uint32_t value_word(struct cn_words *words, const struct cn_trace *trace,
                           const struct cn_trace_value *value, unsigned depth)
{
    uint64_t bits = 0;

    switch (depth <= CN_TRACE_VALUE_DEPTH_MAX ? value->kind : CN_VALUE_NULL) {
    case CN_VALUE_WORD:
        return value->word;
    case CN_VALUE_LIST:
    case CN_VALUE_MAP:
        return list_word(words, trace, value, depth);
    case CN_VALUE_BOOL:
        bits = value->boolean;
        break;
    case CN_VALUE_INT:
        bits = (uint64_t)value->integer;
        break;
    case CN_VALUE_FLOAT:
        memcpy(&bits, &value->real, sizeof(bits));
        break;
    case CN_VALUE_NULL:
        break;
    }
    return scalar_word(words, value->kind, bits);
}

static void push_rest(struct shared_parts *list, struct cn_words *words,
                      const struct cn_trace *trace, const struct cn_trace_shared *shared)
{
    push(list, shared->schema_url);
    push(list, shared->dropped_attributes == 0
                   ? 0
                   : scalar_word(words, CN_VALUE_INT, shared->dropped_attributes));
    for (uint32_t i = shared->attributes.first; i != CN_NONE;
         i = trace->attributes[i].next) {
        push(list, trace->attributes[i].key);
        push(list, value_word(words, trace, &trace->attributes[i].value, 0));
    }
}

static bool is_empty(const struct cn_trace_shared *shared)
{
    return (shared->name | shared->version | shared->schema_url |
            shared->dropped_attributes) == 0 &&
           shared->attributes.first == CN_NONE;
}

uint32_t cn_trace_resource_add(struct cn_words *words, const struct cn_trace *trace,
                               const struct cn_trace_shared *resource)
{
    struct shared_parts list = {0};

    if (is_empty(resource))
        return 0;
    push_rest(&list, words, trace, resource);
    uint32_t word = cn_words_add_parts(words, CN_WORD_RESOURCE, list.words, list.count);
    free(list.words);
    return word;
}

uint32_t cn_trace_scope_add(struct cn_words *words, const struct cn_trace *trace,
                            const struct cn_trace_shared *scope)
{
    struct shared_parts list = {0};

    if (is_empty(scope))
        return 0;
    push(&list, scope->name);
    push(&list, scope->version);
    push_rest(&list, words, trace, scope);
    uint32_t word = cn_words_add_parts(words, CN_WORD_SCOPE, list.words, list.count);
    free(list.words);
    return word;
}

static struct cn_trace_value scalar_of(struct cn_bytes bytes)
{
    struct cn_trace_value value = {.kind = CN_VALUE_NULL};

    if (bytes.len != SCALAR_LEN)
        return value;
    uint64_t bits = cn_u64_get(bytes.ptr + 1);
    switch (bytes.ptr[0]) {
    case CN_VALUE_BOOL:
        return (struct cn_trace_value){.kind = CN_VALUE_BOOL, .boolean = bits != 0};
    case CN_VALUE_INT:
        return (struct cn_trace_value){.kind = CN_VALUE_INT, .integer = (int64_t)bits};
    case CN_VALUE_FLOAT:
        value.kind = CN_VALUE_FLOAT;
        memcpy(&value.real, &bits, sizeof(bits));
        return value;
    default:
        return value;
    }
}

static struct cn_trace_value value_of(struct cn_trace *trace,
                                      const struct cn_words *words, uint32_t word,
                                      unsigned depth);

/* Elements are next to each other, after those of the lists among them. */
static struct cn_trace_value list_of(struct cn_trace *trace, const struct cn_words *words,
                                     uint32_t word, unsigned depth)
{
    bool is_map = cn_word_kind(words, word) == CN_WORD_MAP;
    uint32_t count = (uint32_t)cn_word_part_count(words, word);
    struct cn_trace_value value = {.kind = is_map ? CN_VALUE_MAP : CN_VALUE_LIST};

    count -= is_map ? count % 2 : 0;
    struct cn_trace_value *items = cn_alloc(count, sizeof(*items));
    for (uint32_t i = 0; i < count; i++)
        items[i] = value_of(trace, words, cn_word_part(words, word, i), depth + 1);
    value.list.count = is_map ? count / 2 : count;
    value.list.first = cn_trace_add_values(trace, items, count);
    free(items);
    return value;
}

/* Depth is limited by CN_TRACE_VALUE_DEPTH_MAX. Parts have smaller numbers than their word. */
static struct cn_trace_value value_of(struct cn_trace *trace,
                                      const struct cn_words *words, uint32_t word,
                                      unsigned depth)
{
    enum cn_word_kind kind = cn_word_kind(words, word);

    if (kind == CN_WORD_SCALAR)
        return scalar_of(cn_word_bytes(words, word));
    if (kind != CN_WORD_LIST && kind != CN_WORD_MAP)
        return (struct cn_trace_value){.kind = CN_VALUE_WORD, .word = word};
    return depth < CN_TRACE_VALUE_DEPTH_MAX
               ? list_of(trace, words, word, depth)
               : (struct cn_trace_value){.kind = CN_VALUE_NULL};
}

struct cn_trace_shared cn_trace_shared_read(struct cn_trace *trace,
                                            const struct cn_words *words, uint32_t word)
{
    struct cn_trace_shared shared = {.attributes = CN_TRACE_EMPTY_LIST};
    enum cn_word_kind kind = cn_word_kind(words, word);
    size_t at = 0, count = cn_word_part_count(words, word);

    if (kind != CN_WORD_RESOURCE && kind != CN_WORD_SCOPE)
        return shared;
    if (kind == CN_WORD_SCOPE) {
        shared.name = cn_word_part(words, word, at++);
        shared.version = cn_word_part(words, word, at++);
    }
    shared.schema_url = cn_word_part(words, word, at++);
    uint32_t dropped = cn_word_part(words, word, at++);
    if (cn_word_kind(words, dropped) == CN_WORD_SCALAR)
        shared.dropped_attributes =
            (uint32_t)scalar_of(cn_word_bytes(words, dropped)).integer;
    for (; at + 1 < count; at += 2) {
        struct cn_trace_value value =
            value_of(trace, words, cn_word_part(words, word, at + 1), 0);

        cn_trace_list_add(trace, &shared.attributes, cn_word_part(words, word, at),
                          value);
    }
    return shared;
}
