#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "cli/shell/args.h"
#include "cli/shell/command.h"
#include "cli/shell/kinds.h"
#include "open/formats.h"

static const struct cn_option options[] = {
    {.name = "title", .value = "TEXT", .help = "the title"},
    CN_OPTION_FOR(CN_FOR_MEASUREMENTS, "structure", 'S', "FILE", "read FILE"),
    CN_FILTER_FOR(CN_FOR_CALLS, "depth", 'D', "N", "N levels"),
    CN_OPTION_FOR(CN_FOR_DATA, "threads", 'j', "N", "N threads"),
    {0},
};

static const struct cn_command analyze = {
    .name = "analyze",
    .operands = "PATH",
    .operand_max = 1,
    .scope = CN_FOR_CALLS | CN_FOR_MEASUREMENTS,
    .options = options,
};

static void assert_named(unsigned scope, const char *expected)
{
    struct cn_text text = {0};

    cn_kinds_add(&text, scope);
    assert_string_equal(cn_text_str(&text), expected);
    cn_text_done(&text);
}

static void names_kinds_as_people_list_them(void **state)
{
    (void)state;
    assert_named(0, "");
    assert_named(CN_FOR_STORES, "stores");
    assert_named(CN_FOR_CALLS, "recordings and stores");
    assert_named(CN_FOR_COSTS, "databases, measurements and samples");
}

/* "" if the options may be used for data of these kinds. */
static void assert_check(const char *words, unsigned kinds, const char *message)
{
    struct cn_error err = {0};
    struct cn_args args;

    assert_true(cn_args_parse(&args, &analyze, 1, &words, &err));
    assert_int_equal(cn_kinds_check(&args, kinds, "run.data", &err), !*message);
    if (*message) {
        assert_int_equal(err.kind, CN_ERR_USAGE);
        assert_string_equal(err.text, message);
    }
    cn_args_done(&args);
}

static void refuses_options_for_other_data(void **state)
{
    (void)state;
    assert_check("--title=x", CN_FOR_RECORDINGS, "");
    assert_check("-j2", CN_FOR_MEASUREMENTS, "");
    assert_check("-D3", CN_FOR_STORES, "");
    assert_check("-D3", CN_FOR_MEASUREMENTS | CN_FOR_RECORDINGS, "");
    assert_check("-Sx", CN_FOR_RECORDINGS,
                 "--structure is for measurements; run.data is a recording");
    assert_check("-D3", CN_FOR_MEASUREMENTS,
                 "--depth is for recordings and stores; run.data is a directory of "
                 "measurements");
}

static void groups_options_by_what_they_are_for(void **state)
{
    static const unsigned expected[] = {0, CN_FOR_MEASUREMENTS, CN_FOR_CALLS};
    unsigned scope;
    size_t count = 0;

    (void)state;
    for (; cn_command_scope_at(&analyze, count, &scope); count++)
        assert_int_equal(scope, expected[count]);
    assert_int_equal(count, 3);
}

/* An option for data that its command does not take could never be used. */
static void finds_no_option_without_use(void **state)
{
    const struct cn_option *option;

    (void)state;
    for (size_t i = 0; cn_command_at(i); i++)
        for (size_t k = 0; (option = cn_command_option(cn_command_at(i), k)); k++)
            if (option->scope && cn_command_at(i)->scope &&
                !(option->scope & cn_command_at(i)->scope))
                fail_msg("%s --%s", cn_command_at(i)->name, option->name);
}

static void knows_the_kind_of_every_format(void **state)
{
    static const struct {
        const char *format;
        unsigned kind;
    } kinds[] = {
        {"uftrace", CN_FOR_RECORDINGS},
        {"chrome", CN_FOR_RECORDINGS},
        {"zipkin", CN_FOR_RECORDINGS},
        {"store", CN_FOR_STORES},
        {"hpctoolkit-v4", CN_FOR_DATABASES},
        {"hpctoolkit-meas", CN_FOR_MEASUREMENTS},
        {"perf", CN_FOR_SAMPLES},
        {"pprof", CN_FOR_SAMPLES},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        assert_int_equal(cn_kind_of(cn_format_find(kinds[i].format)), kinds[i].kind);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_kinds_as_people_list_them),
        cmocka_unit_test(refuses_options_for_other_data),
        cmocka_unit_test(groups_options_by_what_they_are_for),
        cmocka_unit_test(finds_no_option_without_use),
        cmocka_unit_test(knows_the_kind_of_every_format),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
