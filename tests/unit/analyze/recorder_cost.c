/* The recorder's cost in the description of a database. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyze/recorder_cost.h"
#include "base/text.h"

static void what_is_printed_is_parsed(void **state)
{
    static const struct cn_hook_cost costs[] = {{50750, 21781}, {1, 0}, {999999999, 5}};
    struct cn_text text = {0};

    (void)state;
    for (size_t i = 0; i < sizeof(costs) / sizeof(*costs); i++) {
        struct cn_hook_cost found;

        cn_text_clear(&text);
        cn_text_str_add(&text, "A title.\n");
        cn_recorder_cost_print(&text, costs[i]);
        cn_text_str_add(&text, "profile 1\n");
        found = cn_recorder_cost_parse(cn_text_str(&text));
        assert_int_equal(found.call_ps, costs[i].call_ps);
        assert_int_equal(found.inner_ps, costs[i].inner_ps);
    }
    cn_text_clear(&text);
    cn_recorder_cost_print(&text, (struct cn_hook_cost){0});
    assert_int_equal(text.len, 0);
    cn_text_done(&text);
}

static void other_descriptions_have_no_cost(void **state)
{
    static const char *const texts[] = {
        "",
        "Recording a call took ",
        "Recording a call took x ns, 2 ns of it between entry and exit",
        "Recording a call took 5 ns, 9 ns of it between entry and exit",
        "Recording a call took -5 ns, -9 ns of it between entry and exit",
        "Recording a call took 1e300 ns, 2 ns of it between entry and exit",
        "Recording a call took nan ns, 2 ns of it between entry and exit",
        "Recording a call took 50 ns, 2 ns",
    };

    (void)state;
    assert_int_equal(cn_recorder_cost_parse(NULL).call_ps, 0);
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        assert_int_equal(cn_recorder_cost_parse(texts[i]).call_ps, 0);
}

static void a_range_of_time_is_as_recorded(void **state)
{
    struct cn_text text = {0}, replaced = {0};

    (void)state;
    cn_text_str_add(&text, "A title.\n");
    cn_recorder_cost_print(&text, (struct cn_hook_cost){50750, 21781});
    cn_text_str_add(&text, "profile 1\n");
    assert_false(cn_recorder_cost_is_included(cn_text_str(&text)));
    cn_recorder_cost_replace(&replaced, cn_text_str(&text));
    assert_string_equal(cn_text_str(&replaced),
                        "A title.\nTimes are as recorded.\nprofile 1\n");
    assert_true(cn_recorder_cost_is_included(cn_text_str(&replaced)));
    cn_text_clear(&replaced);
    cn_recorder_cost_replace(&replaced, "A title.\n");
    assert_string_equal(cn_text_str(&replaced), "A title.\nTimes are as recorded.\n");
    assert_false(cn_recorder_cost_is_included(NULL));
    cn_text_done(&replaced);
    cn_text_done(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_printed_is_parsed),
        cmocka_unit_test(a_range_of_time_is_as_recorded),
        cmocka_unit_test(other_descriptions_have_no_cost),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
