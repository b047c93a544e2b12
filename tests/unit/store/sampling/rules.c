/* Rules of sampling: what they accept, which share of traces they keep, and how segments store it. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "store/sampling/decisions.h"
#include "store/sampling/rules.h"
#include "store/segment/config.h"
#include "store/segment/weights.h"
#include "support/scratch.h"

static void refuse(const char *line, const char *why)
{
    struct cn_sample_rules *rules = NULL;
    struct cn_error err = {0};

    assert_false(cn_sample_rules_add(&rules, line, &err));
    assert_null(rules);
    assert_non_null(strstr(err.text, why));
}

static void rules_are_a_query_and_a_rate(void **state)
{
    struct cn_sample_rules *rules = NULL;
    struct cn_error err = {0};

    (void)state;
    assert_true(cn_sample_rules_add(&rules, "# none", &err));
    assert_true(cn_sample_rules_add(&rules, "", &err));
    assert_true(cn_sample_rules_add(&rules, " { span:name = \"a:b\" } : 12.5% ", &err));
    assert_true(cn_sample_rules_add(&rules, "rest:0.0001%", &err));
    assert_int_equal(rules->count, 2);
    assert_string_equal(rules->list[0].query, "{ span:name = \"a:b\" }");
    assert_int_equal(rules->list[0].rate, 125000);
    assert_null(rules->list[1].query);
    assert_int_equal(rules->list[1].rate, 1);
    assert_false(cn_sample_rules_add(&rules, "errors: 1%", &err));
    assert_int_equal(rules->count, 2);
    cn_sample_rules_free(rules);
    refuse("errors", "is not a rule");
    refuse("errors: 1e1%", "is not a rate");
    refuse("errors: -1%", "is not a rate");
    refuse("errors: nan%", "is not a rate");
    refuse("errors: 100.1%", "is not a rate");
    refuse("errors: %", "is not a rate");
    refuse("(errors: 5%", "rule 1, '(errors': ");
}

static void there_is_a_limit_of_rules(void **state)
{
    struct cn_sample_rules *rules = NULL;
    struct cn_error err = {0};

    (void)state;
    for (int i = 0; i < CN_SAMPLE_RULES_MAX; i++)
        assert_true(cn_sample_rules_add(&rules, "errors: 5%", &err));
    assert_false(cn_sample_rules_add(&rules, "errors: 5%", &err));
    assert_int_equal(err.kind, CN_ERR_LIMIT);
    cn_sample_rules_free(rules);
}

/* Also where ids are counted, as those of some agents. */
static void a_rate_keeps_that_share_of_traces(void **state)
{
    const uint32_t rates[] = {0, 1000, 50000, 500000, 999000, CN_RATE_ALL};
    enum { TRACES = 200000 };

    (void)state;
    for (size_t r = 0; r < sizeof(rates) / sizeof(rates[0]); r++) {
        double expected = (double)TRACES * rates[r] / CN_RATE_ALL;
        uint64_t kept = 0;

        for (uint64_t i = 0; i < TRACES; i++) {
            bool stays = cn_sample_keeps(0, i, rates[r]);

            kept += stays;
            if (stays && r + 1 < sizeof(rates) / sizeof(rates[0]))
                assert_true(cn_sample_keeps(0, i, rates[r + 1]));
        }
        assert_true((double)kept > expected * 0.97 - 20);
        assert_true((double)kept < expected * 1.03 + 20);
    }
    /* As docs/formats/store.md computes it. */
    assert_true(cn_sample_keeps(1, 2, CN_RATE_ALL));
    assert_false(cn_sample_keeps(1, 2, 0));
}

static struct cn_store_config parse(const char *lines)
{
    struct cn_text text = {0};
    struct cn_store_config config;
    struct cn_error err = {0};

    cn_text_printf(&text, "version = 2\n%s", lines);
    assert_true(cn_store_config_parse(&config, cn_bytes_of(cn_text_str(&text)), &err));
    cn_text_done(&text);
    return config;
}

static void configs_keep_what_was_sampled(void **state)
{
    struct cn_store_config config =
        parse("sampled = yes\ndropped.traces = 7\n"
              "dropped.spans = 30\nrates = 16:1000000 99:50\n");
    struct cn_text text = {0};

    (void)state;
    assert_true(config.sampled.is_sampled);
    assert_int_equal(config.sampled.rate_count, 2);
    assert_int_equal(config.sampled.rates[1].rate, 50);
    cn_store_config_print(&config, &text);
    assert_non_null(
        strstr(cn_text_str(&text), "dropped.spans = 30\nrates = 16:1000000 99:50\n"));
    cn_text_done(&text);
    assert_true(parse("sampled = later\n").sampled.is_awaited);
    assert_string_equal(config.damage, "");
}

static void damaged_rates_are_damage(void **state)
{
    static const char *const bad[] = {
        "16",
        "16:",
        "16:0",
        "16:1000001",
        "16:5 16:6",
        "17:5 16:6",
        "16:5,5",
        "16:5 17:100x",
        "x:5",
        "16:99999999",
        "-1:5",
        "16: 5 x",
        "1:1 2:1 3:1 4:1 5:1 6:1 7:1 8:1 9:1 10:1 11:1 12:1 13:1 14:1 15:1 16:1 17:1",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct cn_text text = {0};

        cn_text_printf(&text, "sampled = yes\nrates = %s\n", bad[i]);
        struct cn_store_config config = parse(cn_text_str(&text));
        if (config.damage[0] == '\0')
            fail_msg("'%s' is accepted", bad[i]);
        assert_true(config.sampled.rate_count <= CN_STORE_RATES_MAX);
        cn_text_done(&text);
    }
}

static void rows_weigh_what_their_rates_say(void **state)
{
    struct cn_row_weights weights = {
        .count = 2, .list = {{10, CN_RATE_ALL / 4}, {20, CN_RATE_ALL / 2}}};
    struct cn_rows rows;

    (void)state;
    cn_rows_init(&rows, 30);
    cn_rows_set_range(&rows, 0, 30);
    assert_true(cn_row_weight(&weights, 9) == 1);
    assert_true(cn_row_weight(&weights, 10) == 4);
    assert_true(cn_row_weight(&weights, 29) == 2);
    assert_true(cn_rows_weight(&weights, &rows) == 10 + 40 + 20);
    weights.count = 0;
    assert_true(cn_rows_weight(&weights, &rows) == 30);
    cn_rows_done(&rows);
}

static void decisions_are_kept_and_checked(void **state)
{
    static const char *const bad[] = {
        "",          "x",
        "1\n",       "2\n00000000000000010000000000000002 5\n",
        "1\nx 5\n",  "1\n00000000000000010000000000000002 1000001\n",
        "-1\n",      "0\n00000000000000010000000000000002 5\n",
        "1\n0 0\n0", "99999999999999999999999\n",
    };
    struct cn_decisions decisions;
    struct cn_error err = {0};

    (void)state;
    assert_true(cn_decisions_open(&decisions, ".", &err));
    for (uint64_t i = 0; i < 100; i++) {
        struct cn_decision *one = cn_decisions_at(&decisions, i / 10, i);

        assert_true(one->is_new);
        one->rate = (uint32_t)i * 1000;
        one->number = 7;
    }
    assert_true(cn_decisions_save(&decisions, ".", 7, &err));
    cn_decisions_done(&decisions);
    assert_true(cn_decisions_open(&decisions, ".", &err));
    assert_int_equal(decisions.count, 100);
    assert_int_equal(cn_decisions_find(&decisions, 9, 99)->rate, 99000);
    assert_int_equal(cn_decisions_find(&decisions, 9, 99)->number, 7);
    assert_null(cn_decisions_find(&decisions, 9, 98 + 100));
    assert_true(cn_decisions_forget(&decisions, ".", &err)); /* they are new */
    assert_int_equal(decisions.count, 100);
    cn_decisions_done(&decisions);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        cn_scratch_write("sampled.000008", bad[i], strlen(bad[i]));
        if (cn_decisions_open(&decisions, ".", &err))
            fail_msg("'%s' is accepted", bad[i]);
        assert_int_equal(err.kind, CN_ERR_FORMAT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_are_a_query_and_a_rate),
        cmocka_unit_test(there_is_a_limit_of_rules),
        cmocka_unit_test(a_rate_keeps_that_share_of_traces),
        cmocka_unit_test(configs_keep_what_was_sampled),
        cmocka_unit_test(damaged_rates_are_damage),
        cmocka_unit_test(rows_weigh_what_their_rates_say),
        CN_SCRATCH_TEST(decisions_are_kept_and_checked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
