#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bytes/csv.h"
#include "base/text.h"

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

static void makes_formulas_text(void **state)
{
    struct cn_text text = {0};

    (void)state;
    check_csv("=1+1", "'=1+1");
    check_csv("@SUM(A1,2)", "\"'@SUM(A1,2)\"");
    check_csv("-[Shape draw]", "'-[Shape draw]");
    check_csv("-1.5e3", "-1.5e3");
    check_csv("+3", "+3");
    check_csv("-", "'-");
    check_csv("operator=", "operator=");
    cn_csv_add_quoted(&text, "=x");
    assert_string_equal(cn_text_str(&text), "\"'=x\"");
    cn_text_done(&text);
}

static void shows_hostile_bytes_in_hexadecimal(void **state)
{
    (void)state;
    check_csv("a\nb", "a\\x0ab");
    check_csv("\xff,\x1b", "\"\\xff,\\x1b\"");
    check_csv("größe", "größe");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quotes_cells_only_where_needed),
        cmocka_unit_test(makes_formulas_text),
        cmocka_unit_test(shows_hostile_bytes_in_hexadecimal),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
