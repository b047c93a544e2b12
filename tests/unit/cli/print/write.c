#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/text.h"
#include "cli/print/write.h"

/* The output grows linearly with the number of rows, however deep they are. */
static void limits_indentation_and_prints_the_depth(void **state)
{
    struct cn_text text = {0};

    (void)state;
    cn_indent_add(&text, 3);
    assert_string_equal(cn_text_str(&text), "      ");
    cn_text_clear(&text);
    cn_indent_add(&text, CN_INDENT_MAX);
    assert_int_equal(text.len, 2 * CN_INDENT_MAX);
    cn_text_clear(&text);
    cn_indent_add(&text, 1000000);
    assert_string_equal(cn_text_str(&text) + 2 * CN_INDENT_MAX, "[1000000] ");
    cn_text_done(&text);
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
        cmocka_unit_test(limits_indentation_and_prints_the_depth),
        cmocka_unit_test(empties_a_text_that_it_writes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
