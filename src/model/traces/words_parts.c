/* Composite words. */

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "model/traces/words.h"

size_t cn_word_part_count(const struct cn_words *words, uint32_t id)
{
    switch (cn_word_kind(words, id)) {
    case CN_WORD_VALUE:
        return 1;
    case CN_WORD_FRAME:
        return 3;
    case CN_WORD_PAIR:
    case CN_WORD_METHOD:
    case CN_WORD_EXCEPTION:
    case CN_WORD_STACK:
    case CN_WORD_AGENT:
    case CN_WORD_LIST:
    case CN_WORD_MAP:
    case CN_WORD_RESOURCE:
    case CN_WORD_SCOPE:
        return cn_word_bytes(words, id).len / CN_WORD_PART_LEN;
    case CN_WORD_TEXT:
    case CN_WORD_KEYWORD:
    case CN_WORD_CLASS:
    case CN_WORD_METHOD_NAME:
    case CN_WORD_UUID:
    case CN_WORD_SIGNATURE:
    case CN_WORD_BYTES:
    case CN_WORD_SCALAR:
    case CN_WORD_LOST:
    default:
        return 0;
    }
}

static uint32_t number_at(const struct cn_words *words, uint32_t id, size_t part)
{
    struct cn_bytes bytes = cn_word_bytes(words, id), number;

    if (!cn_bytes_slice(bytes, part * CN_WORD_PART_LEN, CN_WORD_PART_LEN, &number))
        return 0;
    return cn_u32_get(number.ptr);
}

uint32_t cn_word_part(const struct cn_words *words, uint32_t id, size_t part)
{
    if (part >= cn_word_part_count(words, id))
        return 0;
    uint32_t number = number_at(words, id, part);
    return number < id ? number : 0;
}

int32_t cn_word_line(const struct cn_words *words, uint32_t id)
{
    return (int32_t)number_at(words, id, 3);
}

struct cn_bytes cn_word_value_text(const struct cn_words *words, uint32_t id)
{
    struct cn_bytes bytes = cn_word_bytes(words, id);

    if (cn_word_kind(words, id) != CN_WORD_VALUE ||
        !cn_bytes_from(bytes, CN_WORD_PART_LEN, &bytes))
        return (struct cn_bytes){(const uint8_t *)"", 0};
    return bytes;
}

static uint32_t add_value(struct cn_words *words, uint32_t key, struct cn_bytes text)
{
    enum { TEXT_MAX = 64 };
    uint8_t bytes[CN_WORD_PART_LEN + TEXT_MAX];
    size_t len = text.len < TEXT_MAX ? text.len : TEXT_MAX;

    cn_u32_put(bytes, key);
    if (len)
        memcpy(bytes + CN_WORD_PART_LEN, text.ptr, len);
    return cn_words_add(words, CN_WORD_VALUE,
                        (struct cn_bytes){bytes, CN_WORD_PART_LEN + len});
}

/* A word being copied: `part` is its next part. */
struct part_copy {
    uint32_t id;
    size_t part, count;
    uint32_t *parts;
};

struct copies {
    struct part_copy *list;
    size_t count, capacity;
};

static void begin_copy(struct copies *copies, const struct cn_words *from, uint32_t id)
{
    struct part_copy copy = {.id = id, .count = cn_word_part_count(from, id)};

    copy.parts = cn_alloc(copy.count + 1, sizeof(uint32_t));
    CN_PUSH(copies->list, copies->count, copies->capacity, copy);
}

static uint32_t finish_copy(struct cn_words *words, const struct cn_words *from,
                            struct part_copy *copy)
{
    enum cn_word_kind kind = cn_word_kind(from, copy->id);
    uint32_t id;

    if (copy->count == 0)
        id = cn_words_add(words, kind, cn_word_bytes(from, copy->id));
    else if (kind == CN_WORD_VALUE)
        id = add_value(words, copy->parts[0], cn_word_value_text(from, copy->id));
    else {
        if (kind == CN_WORD_FRAME)
            copy->parts[copy->count++] = (uint32_t)cn_word_line(from, copy->id);
        id = cn_words_add_parts(words, kind, copy->parts, copy->count);
    }
    free(copy->parts);
    return id;
}

/* Parts have smaller numbers than their word, so this ends. It does not recurse: a chain of
 * causes may be long. */
uint32_t cn_words_copy(struct cn_words *words, const struct cn_words *from, uint32_t id)
{
    struct copies copies = {0};
    uint32_t result = 0;

    if (id == 0)
        return 0;
    if (cn_word_part_count(from, id) == 0)
        return cn_words_add(words, cn_word_kind(from, id), cn_word_bytes(from, id));
    begin_copy(&copies, from, id);
    while (copies.count > 0) {
        struct part_copy *top = &copies.list[copies.count - 1];
        uint32_t part =
            top->part < top->count ? cn_word_part(from, top->id, top->part) : 0;

        if (top->part < top->count && part != 0) {
            begin_copy(&copies, from, part);
            continue;
        }
        if (top->part < top->count) {
            top->parts[top->part++] = 0;
            continue;
        }
        result = finish_copy(words, from, top);
        if (--copies.count > 0) {
            top = &copies.list[copies.count - 1];
            top->parts[top->part++] = result;
        }
    }
    free(copies.list);
    return result;
}
