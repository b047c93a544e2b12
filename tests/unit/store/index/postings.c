/* Postings: what was collected is found again, in every form; damage is noticed. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/bytes/varint.h"
#include "base/text.h"
#include "store/index/posting_block.h"
#include "store/index/posting_merge.h"
#include "store/index/posting_steps.h"
#include "store/index/rows.h"
#include "support/made_spans.h"

enum { ROWS = 500, FIRST_ROW = 1000, KEYS = 300 };

/* Key k is in every (k+1)-th row; key 0 in all, the last ones in few. */
static bool has_key(uint32_t row, uint32_t key)
{
    return row % (key + 1) == 0 && (key < 250 || row == key);
}

static cn_posting_key key_at(uint32_t i)
{
    return cn_posting_key_of((enum cn_posting_kind)(i % 5), i % 5 == 1 ? i * 7 : 0,
                             i * 1000);
}

static void build(struct cn_text *out)
{
    struct cn_postings postings = {0};

    cn_postings_begin(&postings, FIRST_ROW);
    for (uint32_t row = 0; row < ROWS; row++) {
        for (uint32_t i = 0; i < KEYS; i++) {
            cn_posting_key key = key_at(i);

            if (!has_key(row, i))
                continue;
            cn_postings_add(&postings, FIRST_ROW + row, key);
            cn_postings_add(&postings, FIRST_ROW + row, key);
        }
        cn_postings_end_row(&postings);
    }
    cn_postings_encode(&postings, FIRST_ROW, out);
    cn_postings_done(&postings);
}

static struct cn_bytes bytes_of(const struct cn_text *text)
{
    return (struct cn_bytes){(const uint8_t *)cn_text_str(text), text->len};
}

static void count_row(void *arg, uint32_t row)
{
    (void)row;
    ++*(uint32_t *)arg;
}

static void finds_every_row_of_every_key(void **state)
{
    struct cn_text text = {0};
    struct cn_posting_block block;
    struct cn_error err = {0};
    struct cn_bytes rest;

    (void)state;
    build(&text);
    rest = bytes_of(&text);
    assert_true(cn_posting_block_take(&rest, &block, &err));
    assert_int_equal(rest.len, 0);
    assert_int_equal(block.first_row, FIRST_ROW);
    for (uint32_t i = 0; i < KEYS; i++) {
        struct cn_posting_entry entry;
        struct cn_rows rows;
        bool is_found;
        uint32_t visited = 0, expected = 0;

        cn_rows_init(&rows, FIRST_ROW + ROWS);
        assert_true(cn_posting_block_find(&block, key_at(i), &entry, &is_found, &err));
        if (is_found) {
            assert_true(cn_posting_rows_add(&block, &entry, &rows, &err));
            assert_true(cn_posting_rows_walk(&block, &entry, count_row, &visited, &err));
        }
        for (uint32_t row = 0; row < ROWS; row++) {
            expected += has_key(row, i);
            assert_int_equal(cn_rows_has(&rows, FIRST_ROW + row), has_key(row, i));
        }
        assert_int_equal(visited, expected);
        assert_int_equal(cn_rows_size(&rows), expected);
        cn_rows_done(&rows);
    }
    cn_text_done(&text);
}

static void walks_keys_in_order(void **state)
{
    struct cn_text text = {0};
    struct cn_posting_block block;
    struct cn_posting_walk walk;
    struct cn_posting_entry entry;
    struct cn_error err = {0};
    struct cn_bytes rest;
    cn_posting_key last = 0;
    uint32_t count = 0;
    enum cn_step step;

    (void)state;
    build(&text);
    rest = bytes_of(&text);
    assert_true(cn_posting_block_take(&rest, &block, &err));
    assert_true(cn_posting_walk_begin(&walk, &block, 0, &err));
    while ((step = cn_posting_walk_next(&walk, &entry, &err)) == CN_ITEM) {
        assert_true(count == 0 || entry.key > last);
        last = entry.key;
        count++;
    }
    assert_int_equal(step, CN_END);
    assert_int_equal(count, block.key_count);
    cn_text_done(&text);
}

static void rejects_every_truncation_and_flip(void **state)
{
    struct cn_text text = {0};
    struct cn_posting_block block;
    struct cn_error err = {0};
    struct cn_bytes rest;

    (void)state;
    build(&text);
    for (size_t len = 0; len < text.len; len += 1 + len / 100) {
        rest = (struct cn_bytes){(const uint8_t *)text.chars, len};
        assert_false(cn_posting_block_take(&rest, &block, &err));
        assert_int_equal(rest.len, len);
    }
    for (size_t i = 0; i < text.len * 8; i += 1 + i / 300) {
        text.chars[i / 8] = (char)(text.chars[i / 8] ^ 1 << i % 8);
        rest = bytes_of(&text);
        assert_false(cn_posting_block_take(&rest, &block, &err));
        text.chars[i / 8] = (char)(text.chars[i / 8] ^ 1 << i % 8);
    }
    cn_text_done(&text);
}

static void numbers_of_every_length_come_back(void **state)
{
    uint8_t bytes[CN_VARINT_LEN_MAX];

    (void)state;
    for (unsigned shift = 0; shift < 64; shift++) {
        uint64_t value = (UINT64_C(1) << shift) + (shift > 1), back;
        size_t len = cn_varint_put(bytes, value);
        struct cn_bytes rest = {bytes, len};

        assert_true(cn_varint_take(&rest, &back));
        assert_int_equal(back, value);
        assert_int_equal(rest.len, 0);
        rest = (struct cn_bytes){bytes, len - 1};
        assert_false(cn_varint_take(&rest, &back));
    }
    memset(bytes, 0xff, sizeof(bytes));
    assert_false(
        cn_varint_take(&(struct cn_bytes){bytes, sizeof(bytes)}, &(uint64_t){0}));
}

static void sets_of_rows_combine(void **state)
{
    struct cn_rows odd, low;

    (void)state;
    cn_rows_init(&odd, 131);
    cn_rows_init(&low, 131);
    for (uint32_t row = 1; row < 131; row += 2)
        cn_rows_set(&odd, row);
    cn_rows_set_range(&low, 3, 67);
    assert_int_equal(cn_rows_size(&low), 64);
    assert_true(cn_rows_has_range(&low, 3, 67));
    assert_true(cn_rows_has_range(&low, 10, 20));
    assert_false(cn_rows_has_range(&low, 2, 67));
    assert_false(cn_rows_has_range(&low, 3, 68));
    cn_rows_and(&low, &odd);
    assert_int_equal(cn_rows_size(&low), 32);
    cn_rows_not(&low);
    assert_int_equal(cn_rows_size(&low), 131 - 32);
    cn_rows_or(&low, &odd);
    assert_int_equal(cn_rows_size(&low), 131);
    assert_int_equal(cn_rows_next(&odd, 2), 3);
    assert_int_equal(cn_rows_next(&odd, 130), 131);
    assert_int_equal(cn_rows_before(&odd, 131), 129);
    assert_int_equal(cn_rows_before(&odd, 129), 127);
    assert_int_equal(cn_rows_before(&odd, 1), 131);
    cn_rows_done(&odd);
    cn_rows_done(&low);
}

static void check_steps(const uint32_t *rows, uint32_t count, uint32_t row_count)
{
    struct cn_posting_steps steps;
    struct cn_text text = {0};
    uint32_t row;

    cn_posting_steps_put(rows, count, &text);
    struct cn_bytes bytes = {(const uint8_t *)text.chars, text.len};
    assert_true(cn_posting_steps_begin(&steps, bytes, row_count));
    for (uint32_t i = 0; i < count; i++) {
        assert_true(cn_posting_steps_next(&steps, &row));
        assert_int_equal(row, rows[i]);
    }
    assert_int_equal(steps.left, 0);
    /* Of what is cut off, rows are those of the beginning, until there are no more. */
    for (size_t len = 0; len < bytes.len; len++) {
        uint8_t *cut = cn_alloc(len + 1, 1);
        uint32_t found = 0;

        memcpy(cut, bytes.ptr, len);
        if (cn_posting_steps_begin(&steps, (struct cn_bytes){cut, len}, row_count))
            while (steps.left > 0 && cn_posting_steps_next(&steps, &row) &&
                   row == rows[found])
                found++;
        assert_true(found < count);
        free(cut);
    }
    cn_text_done(&text);
}

static void steps_are_the_rows_again(void **state)
{
    static const uint32_t gaps[] = {1, 2, 9, 50, 5000, 3000000};
    uint64_t seed = 3;
    uint32_t rows[300];

    (void)state;
    for (size_t g = 0; g < sizeof(gaps) / sizeof(gaps[0]); g++) {
        uint32_t row = 0, count = 0;

        for (; count < 300; count++) {
            row += (uint32_t)(cn_made_number(&seed) % gaps[g]);
            rows[count] = row++;
        }
        check_steps(rows, count, row);
        /* One gap that is much wider than the others. */
        for (uint32_t i = 100; i < count; i++)
            rows[i] += 1000000;
        check_steps(rows, count, row + 1000000);
        check_steps(rows + count - 1, 1, row + 1000000);
    }
}

/* As cn_posting_file_write() encodes them. */
static void files_have_every_row_of_every_key(void **state)
{
    struct cn_posting_encoder encoder;
    struct cn_posting_block block, again = {0};
    struct cn_text text = {0}, lists = {0};
    struct cn_error err = {0};
    struct cn_posting_entry entry;
    bool is_found, has_steps = false;

    (void)state;
    build(&text);
    struct cn_bytes rest = {(const uint8_t *)text.chars, text.len};
    assert_true(cn_posting_block_take(&rest, &block, &err));
    cn_posting_encoder_init(&encoder, block.row_count);
    encoder.has_steps = true;
    assert_true(
        cn_posting_merge(&block, 1, block.first_row, &encoder, &lists, NULL, NULL, &err));
    again = (struct cn_posting_block){
        .first_row = block.first_row,
        .row_count = block.row_count,
        .lists = {(const uint8_t *)cn_text_str(&lists), lists.len},
        .entries = {(const uint8_t *)encoder.entries.chars, encoder.entries.len},
        .samples = {(const uint8_t *)encoder.samples.chars, encoder.samples.len},
    };
    for (uint32_t i = 0; i < KEYS; i++) {
        struct cn_rows rows;
        uint32_t visited = 0;

        cn_rows_init(&rows, FIRST_ROW + ROWS);
        assert_true(cn_posting_block_find(&again, key_at(i), &entry, &is_found, &err));
        if (is_found) {
            has_steps |= entry.form == CN_POSTING_STEPS;
            assert_true(cn_posting_rows_add(&again, &entry, &rows, &err));
            assert_true(cn_posting_rows_walk(&again, &entry, count_row, &visited, &err));
        }
        for (uint32_t row = 0; row < ROWS; row++)
            assert_int_equal(cn_rows_has(&rows, FIRST_ROW + row), has_key(row, i));
        assert_int_equal(visited, cn_rows_size(&rows));
        cn_rows_done(&rows);
    }
    assert_true(has_steps);
    cn_posting_encoder_done(&encoder);
    cn_text_done(&lists);
    cn_text_done(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_every_row_of_every_key),
        cmocka_unit_test(walks_keys_in_order),
        cmocka_unit_test(rejects_every_truncation_and_flip),
        cmocka_unit_test(numbers_of_every_length_come_back),
        cmocka_unit_test(sets_of_rows_combine),
        cmocka_unit_test(steps_are_the_rows_again),
        cmocka_unit_test(files_have_every_row_of_every_key),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
