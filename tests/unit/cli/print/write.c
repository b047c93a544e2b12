#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/text.h"
#include "cli/print/write.h"

static void check_csv(const char *value, const char *expected)
{
    struct cn_text text = {0};

    cn_csv_add(&text, value);
    assert_string_equal(cn_text_str(&text), expected);
    cn_text_done(&text);
}

static void quotes_cells_only_where_needed(void **state)
{
    (void)state;
    check_csv("", "");
    check_csv("main", "main");
    check_csv("std::map<int, int>", "\"std::map<int, int>\"");
    check_csv("say \"hi\"", "\"say \"\"hi\"\"\"");
}

static void shows_hostile_bytes_in_hexadecimal(void **state)
{
    (void)state;
    check_csv("a\nb", "a\\x0ab");
    check_csv("\xff,\x1b", "\"\\xff,\\x1b\"");
    check_csv("größe", "größe");
}

static void empties_a_text_that_it_writes(void **state)
{
    struct cn_text text = {0};
    char *written = NULL;
    size_t len = 0;
    FILE *to = open_memstream(&written, &len);

    (void)state;
    cn_text_flush(&text, to);
    cn_text_str_add(&text, "one ");
    cn_text_flush(&text, to);
    assert_int_equal(text.len, 0);
    cn_text_str_add(&text, "two");
    cn_text_flush(&text, to);
    assert_int_equal(fclose(to), 0);
    assert_string_equal(written, "one two");
    free(written);
    cn_text_done(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quotes_cells_only_where_needed),
        cmocka_unit_test(shows_hostile_bytes_in_hexadecimal),
        cmocka_unit_test(empties_a_text_that_it_writes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
