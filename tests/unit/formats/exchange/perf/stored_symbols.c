/* A table of names is read as it was written; damage is found. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "formats/exchange/perf/stored_symbols.h"
#include "model/contexts/context.h"

static void fill(struct cn_stored_symbols *symbols)
{
    for (uint64_t i = 0; i < 3; i++) {
        cn_stored_symbols_level(symbols, &(struct cn_stored_level){.name = "outer",
                                                                   .module = "/bin/a",
                                                                   .build_id = "abcd",
                                                                   .file = "a.c",
                                                                   .line = 3,
                                                                   .offset = 0x100});
        cn_stored_symbols_level(
            symbols,
            &(struct cn_stored_level){
                .name = "", .module = "", .file = "a.c", .line = 5, .is_loop = true});
        if (i == 1)
            cn_stored_symbols_drop(symbols);
        else
            cn_stored_symbols_add(symbols, cn_stored_symbols_key("/bin/a", "abcd", i),
                                  &(struct cn_stored_symbol){
                                      .entry = CN_ENTRY_MAIN_THREAD,
                                      .line = 7,
                                      .file = i ? "a.c" : NULL,
                                      .module = "/bin/a",
                                      .build_id = "abcd",
                                      .offset = i,
                                      .is_partial = i == 0,
                                  });
    }
}

static void what_is_written_is_read(void **state)
{
    struct cn_stored_symbols symbols = {0}, read;
    struct cn_text bytes = {0};

    fill(&symbols);
    assert_int_equal(symbols.count, 2);
    assert_int_equal(symbols.level_count, 4);
    cn_stored_symbols_encode(&symbols, &bytes);
    assert_true(cn_stored_symbols_decode(&read, &bytes));
    const struct cn_stored_symbol *symbol =
        cn_stored_symbols_find(&read, cn_stored_symbols_key("/bin/a", "abcd", 2));
    assert_non_null(symbol);
    assert_string_equal(symbol->file, "a.c");
    assert_int_equal(symbol->offset, 2);
    assert_int_equal(symbol->count, 2);
    assert_false(symbol->is_partial);
    assert_string_equal(read.levels[symbol->first].name, "outer");
    assert_int_equal(read.levels[symbol->first].offset, 0x100);
    assert_true(read.levels[symbol->first + 1].is_loop);
    symbol = cn_stored_symbols_find(&read, cn_stored_symbols_key("/bin/a", "abcd", 0));
    assert_non_null(symbol);
    assert_null(symbol->file);
    assert_true(symbol->is_partial);
    assert_null(
        cn_stored_symbols_find(&read, cn_stored_symbols_key("/bin/a", "abcd", 1)));
    assert_null(cn_stored_symbols_find(&read, cn_stored_symbols_key("/bin/a", "", 0)));
    cn_stored_symbols_done(&read);
    cn_stored_symbols_done(&symbols);
    (void)state;
}

static void damage_is_survived(void **state)
{
    struct cn_stored_symbols symbols = {0}, read;
    struct cn_text bytes = {0};

    fill(&symbols);
    cn_stored_symbols_encode(&symbols, &bytes);
    for (size_t len = 0; len < bytes.len; len++) {
        struct cn_text cut = {0};

        cn_text_add(&cut, bytes.chars, len);
        assert_false(cn_stored_symbols_decode(&read, &cut));
        cn_stored_symbols_done(&read);
    }
    for (size_t bit = 0; bit < 8 * bytes.len; bit++) {
        struct cn_text flipped = {0};

        cn_text_add(&flipped, bytes.chars, bytes.len);
        flipped.chars[bit / 8] = (char)(flipped.chars[bit / 8] ^ 1 << bit % 8);
        if (cn_stored_symbols_decode(&read, &flipped))
            for (size_t i = 0; i < read.count; i++)
                assert_true(read.list[i].first + read.list[i].count <= read.level_count);
        cn_stored_symbols_done(&read);
    }
    cn_text_done(&bytes);
    cn_stored_symbols_done(&symbols);
    (void)state;
}

static void a_table_is_bounded(void **state)
{
    static char name[1 << 20];
    struct cn_stored_symbols symbols = {0};

    memset(name, 'x', sizeof(name) - 1);
    for (uint64_t i = 0; i < 100; i++) {
        memcpy(name, &(uint64_t){0x3030303030303030 + i}, sizeof(i));
        cn_stored_symbols_level(
            &symbols, &(struct cn_stored_level){.name = name, .module = "", .file = ""});
        cn_stored_symbols_add(&symbols, i, &(struct cn_stored_symbol){0});
    }
    assert_in_range(symbols.count, 60, 64);
    assert_int_equal(symbols.count + symbols.left_out, 100);
    cn_stored_symbols_done(&symbols);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(damage_is_survived),
        cmocka_unit_test(a_table_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
