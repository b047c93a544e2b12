/* The header of views as lines for people. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyze/views/header.h"
#include "base/text.h"

static void add_line(void *arg, const char *name, const char *text)
{
    cn_text_printf(arg, "%s=%s\n", name, text);
}

static void check(const struct cn_header *header, const char *wanted)
{
    struct cn_text text = {0};

    cn_header_each(header, add_line, &text);
    assert_string_equal(cn_text_str(&text), wanted);
    cn_text_done(&text);
}

static void what_is_unknown_has_no_line(void **state)
{
    (void)state;
    check(&(struct cn_header){0}, "data=complete\n");
}

static void what_is_known_is_listed_in_order(void **state)
{
    const struct cn_header header = {
        .origin = {.program = "./app -n 3",
                   .host = "box",
                   .processor = "Abacus",
                   .processor_count = 2,
                   .machine = "x86_64",
                   .stacks = "unwound in the kernel",
                   .stack_count = 1000,
                   .whole_count = 1000},
        .duration_ns = 1500000000,
        .base = "measured time",
        .filters = "hide kernel",
    };

    (void)state;
    check(&header, "program=./app -n 3\n"
                   "duration=1.5 s\n"
                   "host=box\n"
                   "processors=2 x Abacus, x86_64\n"
                   "times=measured time\n"
                   "filters=hide kernel\n"
                   "stacks=unwound in the kernel, 100.0 % whole\n"
                   "data=complete\n");
}

static void what_is_missing_is_named_the_worst_first(void **state)
{
    const struct cn_header header = {
        .origin = {.stack_count = 1000, .whole_count = 900, .unnamed_count = 250},
        .lost_count = 1,
        .is_damaged = true,
    };

    (void)state;
    check(&header, "stacks=90.0 % whole\n"
                   "data=damaged: part of it could not be read, 1 record lost, 10.0 % of "
                   "stacks cut, 25.0 % of stacks have a function without a name\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_unknown_has_no_line),
        cmocka_unit_test(what_is_known_is_listed_in_order),
        cmocka_unit_test(what_is_missing_is_named_the_worst_first),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
