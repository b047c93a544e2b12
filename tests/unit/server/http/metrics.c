#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes/utf8.h"
#include "base/text.h"
#include "server/http/metrics.h"
#include "server/served/span_metrics.h"

static void check(const char *text, const char *wanted)
{
    struct cn_text open = {0};

    cn_text_str_add(&open, text);
    cn_metrics_to_open(&open);
    assert_string_equal(cn_text_str(&open), wanted);
    cn_text_done(&open);
}

static void counters_are_named_without_their_suffix(void **state)
{
    (void)state;
    check("", "# EOF\n");
    check("# HELP a_total Text with b_total.\n# TYPE a_total counter\na_total 5\n",
          "# HELP a Text with b_total.\n# TYPE a counter\na_total 5\n# EOF\n");
    check("# HELP open Now.\n# TYPE open gauge\nopen 1\n",
          "# HELP open Now.\n# TYPE open gauge\nopen 1\n# EOF\n");
    check("#\n# x\n# TYPE _total\n", "#\n# x\n# TYPE _total\n# EOF\n");
}

static void labels_are_utf8_and_escaped(void **state)
{
    struct cn_span_series series = {
        .service = "a\xc9z\"\\\n", .name = "\xc3\xa9\xe2\x82", .kind = "server"};
    struct cn_span_metrics metrics = {.series = &series, .series_count = 1};
    struct cn_text text = {0};

    (void)state;
    cn_metrics_add_spans(&text, &metrics, false);
    assert_true(cn_utf8_is_valid(cn_text_str(&text), text.len));
    assert_non_null(
        strstr(cn_text_str(&text),
               "service=\"a\\\\xc9z\\\"\\\\\\n\",span_name=\"\xc3\xa9\\\\xe2\\\\x82\""));
    cn_text_done(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counters_are_named_without_their_suffix),
        cmocka_unit_test(labels_are_utf8_and_escaped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
