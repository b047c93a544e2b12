#include "unwind/table.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/files/crc32c.h"
#include "base/search.h"

enum { CRC_END = 0x0c };

void cn_unwind_table_done(struct cn_unwind_table *table)
{
    free(table->begins);
    free(table->rules);
    free(table->words);
    free(table->expressions);
    *table = (struct cn_unwind_table){0};
}

const uint32_t *cn_unwind_table_find(const struct cn_unwind_table *table,
                                     uint64_t address)
{
    if (address < table->base || address - table->base > UINT32_MAX ||
        table->row_count == 0)
        return NULL;
    size_t at = cn_search_u32(table->begins, table->row_count, sizeof(*table->begins),
                              (uint32_t)(address - table->base));
    if (at == 0 || table->rules[at - 1] == 0)
        return NULL;
    return &table->words[table->rules[at - 1]];
}

bool cn_unwind_table_address(const struct cn_unwind_table *table, uint64_t file_off,
                             uint64_t *out)
{
    for (uint32_t i = 0; i < table->segment_count; i++) {
        const struct cn_unwind_segment *segment = &table->segments[i];

        if (file_off < segment->file_off || file_off - segment->file_off >= segment->len)
            continue;
        *out = segment->address + (file_off - segment->file_off);
        return true;
    }
    return false;
}

struct cn_bytes cn_unwind_table_expression(const struct cn_unwind_table *table,
                                           uint32_t off)
{
    return (struct cn_bytes){table->expressions + off + 2,
                             cn_u16_get(table->expressions + off)};
}

static void put_words(struct cn_text *out, const uint32_t *words, size_t count)
{
    uint8_t *to = (uint8_t *)cn_text_room(out, 4 * count);

    for (size_t i = 0; i < count; i++)
        cn_u32_put(to + 4 * i, words[i]);
    cn_text_advance(out, 4 * count);
}

void cn_unwind_table_encode(const struct cn_unwind_table *table, struct cn_text *out)
{
    struct cn_unwind_file head = {
        .magic = CN_UNWIND_FILE_MAGIC,
        .machine = (uint32_t)table->machine,
        .base = table->base,
        .entry = table->entry,
        .segment_count = table->segment_count,
        .row_count = (uint32_t)table->row_count,
        .word_count = (uint32_t)table->word_count,
        .expression_len = (uint32_t)table->expression_len,
    };
    uint8_t bytes[cn_unwind_file_size], segment[cn_unwind_segment_size];
    struct cn_bytes checked;

    cn_text_clear(out);
    cn_unwind_file_encode(&head, bytes);
    cn_text_add(out, (const char *)bytes, sizeof(bytes));
    for (uint32_t i = 0; i < table->segment_count; i++) {
        cn_unwind_segment_encode(&table->segments[i], segment);
        cn_text_add(out, (const char *)segment, sizeof(segment));
    }
    put_words(out, table->begins, table->row_count);
    put_words(out, table->rules, table->row_count);
    put_words(out, table->words, table->word_count);
    cn_text_add(out, (const char *)table->expressions, table->expression_len);
    checked =
        (struct cn_bytes){(const uint8_t *)out->chars + CRC_END, out->len - CRC_END};
    head.crc = cn_crc32c(checked);
    cn_unwind_file_encode(&head, (uint8_t *)out->chars);
}

static bool take_words(struct cn_bytes *rest, size_t count, uint32_t **out,
                       size_t *capacity)
{
    struct cn_bytes bytes;

    if (!cn_bytes_array(*rest, 0, count, 4, &bytes) ||
        !cn_bytes_from(*rest, bytes.len, rest))
        return false;
    *out = cn_renew(NULL, count, capacity, sizeof(**out));
    for (size_t i = 0; i < count; i++)
        (*out)[i] = cn_u32_get(bytes.ptr + 4 * i);
    return true;
}

static bool is_expression(const struct cn_unwind_table *table, uint32_t off)
{
    return off <= table->expression_len && table->expression_len - off >= 2 &&
           table->expression_len - off - 2 >= cn_u16_get(table->expressions + off);
}

/* Rules follow each other without gaps, so each is checked once. */
static bool check_rules(const struct cn_unwind_table *table, uint8_t *is_rule)
{
    size_t at = 1;

    while (at < table->word_count) {
        uint32_t word = table->words[at];
        size_t count = cn_unwind_rule_flags(word) & CN_UNWIND_COUNT_MASK;

        if (table->word_count - at < 2 + 2 * count ||
            cn_unwind_rule_cfa_register(word) >= CN_UNWIND_REGISTER_MAX ||
            cn_unwind_rule_return(word) >= CN_UNWIND_REGISTER_MAX ||
            (cn_unwind_rule_cfa(word) != CN_UNWIND_CFA_REGISTER &&
             (cn_unwind_rule_cfa(word) != CN_UNWIND_CFA_EXPRESSION ||
              !is_expression(table, table->words[at + 1]))))
            return false;
        is_rule[at] = 1;
        for (size_t i = at + 2; i < at + 2 + 2 * count; i += 2) {
            uint32_t number = table->words[i] & 0xff, kind = table->words[i] >> 8;
            uint32_t value = table->words[i + 1];

            if (number >= CN_UNWIND_REGISTER_MAX || kind == CN_UNWIND_SAME_VALUE ||
                kind >= CN_UNWIND_KINDS ||
                (kind == CN_UNWIND_IN_REGISTER && value >= CN_UNWIND_REGISTER_MAX) ||
                ((kind == CN_UNWIND_AT_EXPRESSION ||
                  kind == CN_UNWIND_VALUE_EXPRESSION) &&
                 !is_expression(table, value)))
                return false;
        }
        at += 2 + 2 * count;
    }
    return true;
}

static bool check_table(const struct cn_unwind_table *table, struct cn_error *err)
{
    uint8_t *is_rule = cn_alloc(table->word_count, 1);
    bool ok = check_rules(table, is_rule);

    for (size_t i = 0; ok && i < table->row_count; i++) {
        uint32_t rule = table->rules[i];

        ok = (i == 0 || table->begins[i] > table->begins[i - 1]) &&
             (rule == 0 || (rule < table->word_count && is_rule[rule]));
    }
    free(is_rule);
    return ok || cn_fail(err, CN_ERR_FORMAT, "rows or rules of the table are damaged");
}

static bool decode(struct cn_unwind_table *table, struct cn_bytes file,
                   struct cn_error *err)
{
    struct cn_unwind_file head;
    struct cn_bytes rest;

    if (!cn_unwind_file_decode(file, &head) || head.magic != CN_UNWIND_FILE_MAGIC ||
        !cn_bytes_from(file, CRC_END, &rest) || cn_crc32c(rest) != head.crc)
        return cn_fail(err, CN_ERR_FORMAT, "not a table, or its checksum is wrong");
    if (head.segment_count > CN_UNWIND_SEGMENT_MAX ||
        head.row_count > CN_UNWIND_ROW_MAX || head.word_count > CN_UNWIND_WORD_MAX ||
        head.word_count == 0 || head.expression_len > CN_UNWIND_EXPRESSION_MAX ||
        (head.machine != CN_UNWIND_X86_64 && head.machine != CN_UNWIND_AARCH64))
        return cn_fail(err, CN_ERR_LIMIT,
                       "a table of %u segments, %u rows, %u words for machine %u",
                       head.segment_count, head.row_count, head.word_count, head.machine);
    table->machine = (enum cn_unwind_machine)head.machine;
    table->base = head.base;
    table->entry = head.entry;
    table->segment_count = head.segment_count;
    table->row_count = head.row_count;
    table->word_count = head.word_count;
    table->expression_len = head.expression_len;
    if (!cn_bytes_from(file, cn_unwind_file_size, &rest))
        return cn_fail(err, CN_ERR_FORMAT, "the table is cut off");
    for (uint32_t i = 0; i < head.segment_count; i++)
        if (!cn_unwind_segment_take_first(&rest, &table->segments[i]))
            return cn_fail(err, CN_ERR_FORMAT, "segment %u is cut off", i);
    if (!take_words(&rest, head.row_count, &table->begins, &table->row_capacity) ||
        !take_words(&rest, head.row_count, &table->rules, &table->rule_capacity) ||
        !take_words(&rest, head.word_count, &table->words, &table->word_capacity) ||
        rest.len != head.expression_len)
        return cn_fail(err, CN_ERR_FORMAT, "%u rows and %u words do not fill the file",
                       head.row_count, head.word_count);
    table->expressions =
        cn_renew(NULL, head.expression_len, &table->expression_capacity, 1);
    if (rest.len > 0)
        memcpy(table->expressions, rest.ptr, rest.len);
    return check_table(table, err);
}

bool cn_unwind_table_decode(struct cn_unwind_table *table, struct cn_bytes file,
                            struct cn_error *err)
{
    struct cn_unwind_table decoded = {0};

    if (!decode(&decoded, file, err)) {
        cn_unwind_table_done(&decoded);
        return false;
    }
    *table = decoded;
    return true;
}
