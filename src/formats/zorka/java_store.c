#include "formats/zorka/java_store.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "formats/zorka/java_format.h"

enum {
    MARK_TEXT = 1, /* between a number and its text */
    MARK_ID = 2,   /* between the text and its number again */
    MARK_END = 3,  /* after the second number */
    ESCAPE = 0xff,
    ESCAPED = 4,
    DIGIT_FIRST = 48,
    DIGIT_BITS = 6,
    NUMBER_MAX = 1 << 28,
    PARTS_MAX = 4096,
};

struct cn_java_word {
    uint32_t id;
    uint32_t len;
    const uint8_t *bytes;
};

/* An unescaped text. */
struct cn_words_bytes {
    struct cn_words_bytes *next;
    uint8_t bytes[];
};

void cn_java_words_done(struct cn_java_words *words)
{
    while (words->blocks) {
        struct cn_words_bytes *next = words->blocks->next;

        free(words->blocks);
        words->blocks = next;
    }
    free(words->list);
    *words = (struct cn_java_words){0};
}

/* Digits of base 64, most significant first. */
static bool parse_number(struct cn_bytes text, uint32_t *out)
{
    uint64_t number = 0;

    if (text.len == 0)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < DIGIT_FIRST || text.ptr[i] >= DIGIT_FIRST + (1 << DIGIT_BITS))
            return false;
        number = number << DIGIT_BITS | (uint64_t)(text.ptr[i] - DIGIT_FIRST);
        if (number > NUMBER_MAX)
            return false;
    }
    *out = (uint32_t)number;
    return true;
}

static void add_word(struct cn_java_words *words, uint32_t id, struct cn_bytes text)
{
    struct cn_words_bytes *block = cn_alloc(1, sizeof(*block) + text.len + 1);
    size_t len = 0;

    for (size_t i = 0; i < text.len; i++) {
        uint8_t byte = text.ptr[i];

        if (byte == ESCAPE && i + 1 < text.len) {
            byte = text.ptr[++i];
            byte = byte == ESCAPED + ESCAPED ? ESCAPE : (uint8_t)(byte - ESCAPED);
        }
        block->bytes[len++] = byte;
    }
    block->next = words->blocks;
    words->blocks = block;
    CN_PUSH(words->list, words->count, words->capacity,
            (struct cn_java_word){.id = id, .len = (uint32_t)len, .bytes = block->bytes});
}

/* Records up to a zero byte: number 01 text 02 number 03. */
static bool read_records(struct cn_bytes rest, struct cn_java_words *words,
                         struct cn_error *err)
{
    size_t whole_len = rest.len;

    while (rest.len > 0 && rest.ptr[0] != 0) {
        struct cn_bytes number, text, again;
        size_t off = whole_len - rest.len;
        uint32_t id, id_again;

        if (!cn_bytes_take_until(&rest, MARK_TEXT, &number) ||
            !cn_bytes_take_until(&rest, MARK_ID, &text) ||
            !cn_bytes_take_until(&rest, MARK_END, &again) || !parse_number(number, &id) ||
            !parse_number(again, &id_again) || id != id_again || id == 0 ||
            text.len > CN_WORD_LEN_MAX)
            return cn_fail(err, CN_ERR_FORMAT,
                           "damaged word at offset %zu of the records", off);
        add_word(words, id, text);
    }
    return true;
}

bool cn_java_wal_read(struct cn_bytes file, struct cn_java_words *words,
                      struct cn_error *err)
{
    static const uint8_t magic[] = {'W', 'A', 'L', MARK_END};
    struct cn_bytes head;

    if (!cn_bytes_take(&file, sizeof(magic), &head) ||
        memcmp(head.ptr, magic, sizeof(magic)) != 0)
        return cn_fail(err, CN_ERR_FORMAT, "not a text WAL");
    return read_records(file, words, err);
}

/* The parts of a composite word: numbers between marks. */
static void append_parts(struct cn_words *out, struct cn_bytes inner, uint8_t mark)
{
    uint8_t *bytes = cn_alloc(PARTS_MAX, CN_WORD_PART_LEN);
    size_t len = 0;

    while (inner.len > 0 && len < (size_t)PARTS_MAX * CN_WORD_PART_LEN) {
        struct cn_bytes number;
        uint32_t part;

        (void)cn_bytes_take_until(&inner, (char)mark, &number);
        cn_u32_put(bytes + len, parse_number(number, &part) ? part : 0);
        len += CN_WORD_PART_LEN;
    }
    cn_words_append(out, (enum cn_word_kind)mark, (struct cn_bytes){bytes, len});
    free(bytes);
}

/* 09 key 09 text 09 */
static void append_value(struct cn_words *out, struct cn_bytes inner)
{
    struct cn_bytes rest = inner, number;
    uint8_t bytes[CN_WORD_PART_LEN + 64];
    uint32_t key = 0;

    if (cn_bytes_take_until(&rest, CN_WORD_VALUE, &number)) {
        (void)parse_number(number, &key);
        inner = rest;
    }
    size_t len = inner.len < 64 ? inner.len : 64;
    cn_u32_put(bytes, key);
    if (len)
        memcpy(bytes + CN_WORD_PART_LEN, inner.ptr, len);
    cn_words_append(out, CN_WORD_VALUE, (struct cn_bytes){bytes, CN_WORD_PART_LEN + len});
}

static void append_word(struct cn_words *out, struct cn_bytes text)
{
    uint8_t mark = text.len ? text.ptr[0] : 0;
    struct cn_bytes inner;

    if (mark < CN_WORD_KEYWORD || mark > CN_WORD_AGENT || text.len < 2 ||
        text.ptr[text.len - 1] != mark) {
        cn_words_append(out, CN_WORD_TEXT, text);
        return;
    }
    (void)cn_bytes_slice(text, 1, text.len - 2, &inner);
    if (mark <= CN_WORD_SIGNATURE)
        cn_words_append(out, (enum cn_word_kind)mark, inner);
    else if (mark == CN_WORD_VALUE)
        append_value(out, inner);
    else
        append_parts(out, inner, mark);
}

void cn_java_words_finish(struct cn_java_words *words, struct cn_words *out)
{
    size_t gap_max = words->count * 16 + 65536; /* numbers without a word */

    CN_SORT(words->list, words->count, CN_UP(struct cn_java_word, id));
    for (size_t i = 0; i < words->count; i++) {
        const struct cn_java_word *word = &words->list[i];

        if (word->id <= out->count)
            continue; /* of equal numbers, the first counts */
        if (word->id - out->count > gap_max)
            break;
        while (out->count + 1 < word->id)
            cn_words_append(out, CN_WORD_LOST, (struct cn_bytes){0});
        append_word(out, (struct cn_bytes){word->bytes, word->len});
    }
}

bool cn_java_meta_slots(struct cn_bytes file, struct cn_bytes *slots,
                        struct cn_error *err)
{
    struct cn_java_meta_header head;
    struct cn_bytes all;

    if (!cn_java_meta_header_decode(file, &head) || head.magic != CN_JAVA_META_MAGIC)
        return cn_fail(err, CN_ERR_FORMAT, "not a qmeta.idx: does not begin with MQI0");
    (void)cn_bytes_from(file, cn_java_meta_header_size, &all);
    if (head.end_off >= cn_java_meta_header_size &&
        head.end_off - cn_java_meta_header_size < all.len)
        all.len = head.end_off - cn_java_meta_header_size;
    all.len -= all.len % cn_java_meta_slot_size;
    *slots = all;
    return true;
}
