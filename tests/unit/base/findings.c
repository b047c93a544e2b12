#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/findings.h"
#include "base/text.h"

static void add_line(void *arg, const struct cn_finding *finding)
{
    cn_text_printf(arg, "%s %s %u %s: %s\n", finding->is_error ? "error" : "warning",
                   finding->file, (unsigned)finding->off, finding->rule, finding->text);
}

static void repeats_are_counted_by_rule_and_file(void **state)
{
    struct cn_text out = {0};
    struct cn_findings f = {
        .report = add_line, .arg = &out, .error_max = 2, .warning_max = 1};

    (void)state;
    cn_findings_begin(&f, "a");
    for (unsigned i = 0; i < 4; i++)
        cn_findings_error(&f, "size", i, "%u bytes", i);
    cn_findings_warn(&f, "size", 9, "odd");
    cn_findings_add(&f, false, "size", 10, "odd");
    cn_findings_begin(&f, "b");
    cn_findings_error(&f, "size", 0, "none");
    cn_findings_begin(&f, NULL);
    assert_string_equal(cn_text_str(&out), "error a 0 size: 0 bytes\n"
                                           "error a 1 size: 1 bytes\n"
                                           "warning a 9 size: odd\n"
                                           "error a 0 size: 2 more\n"
                                           "warning a 0 size: 1 more\n"
                                           "error b 0 size: none\n");
    assert_int_equal(f.error_count, 5);
    assert_int_equal(f.warning_count, 2);
    cn_text_done(&out);
}

static void without_limits_all_are_reported(void **state)
{
    struct cn_text out = {0};
    struct cn_findings f = {.report = add_line, .arg = &out, .file = "a"};

    (void)state;
    for (unsigned i = 0; i < 100; i++)
        cn_findings_error(&f, "x", 0, "y");
    cn_findings_begin(&f, NULL);
    assert_int_equal(out.len, 100 * sizeof("error a 0 x: y"));
    cn_text_done(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(repeats_are_counted_by_rule_and_file),
        cmocka_unit_test(without_limits_all_are_reported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
