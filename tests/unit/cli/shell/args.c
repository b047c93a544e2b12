#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "cli/shell/args.h"
#include "cli/shell/command.h"

static bool run_nothing(const struct cn_args *args, struct cn_error *err)
{
    (void)args;
    (void)err;
    return true;
}

static const struct cn_option options[] = {
    {.name = "depth", .letter = 'd', .value = "N", .help = "levels to show"},
    {.name = "min-share", .value = "PERCENT", .help = "hide smaller ones"},
    {.name = "metric", .letter = 'm', .value = "NAME", .is_repeatable = true},
    {.name = "all", .letter = 'a', .help = "hide nothing"},
    {.name = "columns", .value = "N", .help = "a name that shares a prefix with color"},
    CN_OPTION_FORMAT,
    {0},
};

static const struct cn_command view = {
    .name = "view",
    .operands = "SRC DST",
    .operand_min = 1,
    .operand_max = 2,
    .options = options,
    .run = run_nothing,
};

static const struct cn_command shell = {
    .name = "shell",
    .operands = "[bash|zsh]...",
    .operand_max = CN_OPERANDS_MAX,
    .run = run_nothing,
};

enum { WORDS_MAX = 12 };

static bool parse(struct cn_args *args, const struct cn_command *command,
                  const char *const words[WORDS_MAX], struct cn_error *err)
{
    size_t count = 0;

    while (count < WORDS_MAX && words[count])
        count++;
    return cn_args_parse(args, command, count, words, err);
}

#define WORDS(...) ((const char *const[WORDS_MAX]){__VA_ARGS__})

static void assert_refused(const struct cn_command *command,
                           const char *const words[WORDS_MAX], const char *message)
{
    struct cn_error err = {0};
    struct cn_args args;

    assert_false(parse(&args, command, words, &err));
    assert_int_equal(err.kind, CN_ERR_USAGE);
    assert_string_equal(err.text, message);
}

/* The value of --depth in each way of writing it. */
static void accepts_every_way_to_write_a_value(void **state)
{
    static const char *const ways[][WORDS_MAX] = {
        {"--depth=7", "db"}, {"--depth", "7", "db"}, {"-d", "7", "db"},
        {"-d7", "db"},       {"db", "-ad7"},         {"db", "-ad", "7"},
        {"--dep=7", "db"},   {"db", "--de", "7"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        struct cn_error err = {0};
        struct cn_args args;

        assert_true(parse(&args, &view, ways[i], &err));
        assert_string_equal(cn_args_value(&args, "depth"), "7");
        assert_int_equal(cn_args_count(&args), 1);
        assert_string_equal(cn_args_operand(&args, 0), "db");
        cn_args_done(&args);
    }
}

static void knows_shared_options_and_bundles_flags(void **state)
{
    struct cn_error err = {0};
    struct cn_args args;

    (void)state;
    assert_true(parse(&args, &view, WORDS("-qva", "db", "--no-pager"), &err));
    assert_true(cn_args_has(&args, "quiet"));
    assert_true(cn_args_has(&args, "verbose"));
    assert_true(cn_args_has(&args, "all"));
    assert_true(cn_args_has(&args, "no-pager"));
    assert_false(cn_args_has(&args, "help"));
    assert_null(cn_args_value(&args, "depth"));
    assert_null(cn_args_value(&args, "all"));
    cn_args_done(&args);
}

static void ends_options_at_two_dashes(void **state)
{
    struct cn_error err = {0};
    struct cn_args args;

    (void)state;
    assert_true(parse(&args, &view, WORDS("-q", "--", "--depth", "-"), &err));
    assert_int_equal(cn_args_count(&args), 2);
    assert_string_equal(cn_args_operand(&args, 0), "--depth");
    assert_string_equal(cn_args_operand(&args, 1), "-");
    cn_args_done(&args);
}

static void assert_operands(const struct cn_command *command,
                            const char *const words[WORDS_MAX], const char *expected)
{
    struct cn_error err = {0};
    struct cn_text text = {0};
    struct cn_args args;

    assert_true(parse(&args, command, words, &err));
    for (size_t i = 0; i < cn_args_count(&args); i++)
        cn_text_printf(&text, "%s%s",
                       i == args.separator ? " | "
                       : i > 0             ? " "
                                           : "",
                       cn_args_operand(&args, i));
    assert_string_equal(cn_text_str(&text), expected);
    cn_text_done(&text);
    cn_args_done(&args);
}

static void leaves_the_options_of_a_program_to_it(void **state)
{
    struct cn_command runs = view, records = view;

    (void)state;
    runs.operand_max = records.operand_max = CN_OPERANDS_MAX;
    runs.program = "";
    records.program = "all";
    assert_operands(&runs, WORDS("-q", "ls", "--color", "-x", "--", "-q"),
                    "ls --color -x -- -q");
    assert_operands(&runs, WORDS("--", "-x", "--", "-q"), " | -x -- -q");
    /* Without the option, operands are data; with "--" further on, they are as well. */
    assert_operands(&records, WORDS("db", "-q", "other"), "db other");
    assert_operands(&records, WORDS("--all", "ls", "--color"), "ls --color");
    assert_operands(&records, WORDS("--all", "db", "-q", "--", "ls", "-x"), "db | ls -x");
    assert_refused(&records, WORDS("db", "--sideways"), "unknown option --sideways");
}

static void takes_options_that_the_command_lacks_as_not_given(void **state)
{
    struct cn_error err = {0};
    struct cn_args args;

    (void)state;
    assert_true(parse(&args, &view, WORDS("db"), &err));
    assert_false(cn_args_has(&args, "raw")); /* of other commands */
    assert_null(cn_args_value(&args, "query"));
    cn_args_done(&args);
}

static void joins_the_options_of_two_lines(void **state)
{
    static const char *const expected[] = {"metric", "depth", "metric", "all"};
    struct cn_error err = {0};
    struct cn_args first, then, joined;
    const char *name, *value;
    size_t count = 0;

    (void)state;
    assert_true(parse(&first, &view, WORDS("-m", "a", "-d3", "ignored"), &err));
    assert_true(parse(&then, &view, WORDS("-m", "b", "-a", "db"), &err));
    cn_args_join(&joined, &first, &then);
    for (; (name = cn_args_at(&joined, count, &value)); count++)
        assert_string_equal(name, expected[count]);
    assert_int_equal(count, 4);
    assert_string_equal(cn_args_values(&joined, "metric").list[0], "a");
    assert_string_equal(cn_args_value(&joined, "metric"), "b");
    assert_int_equal(cn_args_count(&joined), 1);
    assert_string_equal(cn_args_operand(&joined, 0), "db");
    cn_args_done(&first);
    cn_args_done(&then);
    cn_args_done(&joined);
}

static void keeps_all_values_in_order_and_returns_the_last(void **state)
{
    static const char *const expected[] = {"a", "b", "c=", ""};
    struct cn_error err = {0};
    struct cn_values values;
    struct cn_args args;

    (void)state;
    assert_true(parse(&args, &view,
                      WORDS("-m", "a", "-d3", "--metric=b", "db", "-amc=", "--metric="),
                      &err));
    values = cn_args_values(&args, "metric");
    assert_int_equal(values.count, 4);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(values.list[i], expected[i]);
    assert_string_equal(cn_args_value(&args, "metric"), "");
    assert_string_equal(cn_args_value(&args, "depth"), "3");
    assert_true(cn_args_has(&args, "all"));
    assert_int_equal(cn_args_values(&args, "columns").count, 0);
    cn_args_done(&args);
}

static void refuses_options_that_exclude_each_other(void **state)
{
    struct cn_error err = {0};
    struct cn_args args;

    (void)state;
    assert_true(parse(&args, &view, WORDS("-a", "-d1", "db"), &err));
    assert_true(cn_args_exclusive(&args, "all", "columns", &err));
    assert_false(cn_args_exclusive(&args, "all", "depth", &err));
    assert_string_equal(err.text, "--all and --depth exclude each other");
    cn_args_done(&args);
}

static void takes_a_wrong_name_for_wrong_use(void **state)
{
    struct cn_error err = {0};
    struct cn_args args;

    (void)state;
    assert_true(parse(&args, &view, WORDS("-mfoo", "db"), &err));
    (void)cn_fail(&err, CN_ERR_NOT_FOUND, "no metric");
    assert_false(cn_args_misnamed(&args, "depth", &err));
    assert_int_equal(err.kind, CN_ERR_NOT_FOUND);
    assert_false(cn_args_misnamed(&args, "metric", &err));
    assert_int_equal(err.kind, CN_ERR_USAGE);
    (void)cn_fail(&err, CN_ERR_IO, "no disk");
    assert_false(cn_args_misnamed(&args, "metric", &err));
    assert_int_equal(err.kind, CN_ERR_IO);
    cn_args_done(&args);
}

static void takes_an_option_as_value_when_one_is_due(void **state)
{
    struct cn_error err = {0};
    struct cn_args args;

    (void)state;
    assert_true(parse(&args, &view, WORDS("--metric", "--all", "db"), &err));
    assert_string_equal(cn_args_value(&args, "metric"), "--all");
    assert_false(cn_args_has(&args, "all"));
    cn_args_done(&args);
}

static void needs_no_operands_beside_help(void **state)
{
    struct cn_error err = {0};
    struct cn_args args;

    (void)state;
    assert_true(parse(&args, &view, WORDS("--help"), &err));
    assert_true(cn_args_has(&args, "help"));
    cn_args_done(&args);
}

static void finds_help_after_any_word(void **state)
{
    static const char *const lines[][WORDS_MAX] = {
        {"-h", "a", "b", "c"},        {"a", "b", "c", "-h"},  {"--sideways", "--help"},
        {"--format=xml", "db", "-h"}, {"-z", "--help", "db"},
    };
    struct cn_error err = {0};
    struct cn_args args;

    (void)state;
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        assert_true(parse(&args, &view, lines[i], &err));
        assert_true(cn_args_has(&args, "help"));
        cn_args_done(&args);
    }
    assert_refused(&view, WORDS("--sideways", "--", "-h"), "unknown option --sideways");
}

static void refuses_unknown_options(void **state)
{
    (void)state;
    assert_refused(&view, WORDS("--dpeth=3", "db"),
                   "unknown option --dpeth, did you mean --depth?");
    assert_refused(&view, WORDS("--colour", "db"),
                   "unknown option --colour, did you mean --color?");
    assert_refused(&view, WORDS("--sideways", "db"), "unknown option --sideways");
    assert_refused(&view, WORDS("-z", "db"), "unknown option -z");
    assert_refused(&view, WORDS("-az", "db"), "unknown option -z");
    assert_refused(&view, WORDS("--=3", "db"), "unknown option --");
}

static void refuses_ambiguous_prefixes(void **state)
{
    (void)state;
    assert_refused(&view, WORDS("--col=3", "db"),
                   "option --col is ambiguous: --columns, --color");
    assert_refused(&view, WORDS("--m", "x", "db"),
                   "option --m is ambiguous: --min-share, --metric");
}

static void refuses_missing_and_unexpected_values(void **state)
{
    (void)state;
    assert_refused(&view, WORDS("db", "--depth"), "option --depth needs a value: N");
    assert_refused(&view, WORDS("db", "-d"), "option --depth needs a value: N");
    assert_refused(&view, WORDS("db", "--format"),
                   "option --format needs a value: text, json or csv");
    assert_refused(&view, WORDS("db", "--all=yes"),
                   "option --all takes no value, got 'yes'");
    assert_refused(&view, WORDS("db", "--all="), "option --all takes no value, got ''");
}

static void refuses_words_outside_a_choice(void **state)
{
    (void)state;
    assert_refused(&view, WORDS("--format=xml", "db"),
                   "--format: 'xml' is not one of text, json or csv");
    assert_refused(&view, WORDS("--format=", "db"),
                   "--format: '' is not one of text, json or csv");
    assert_refused(&view, WORDS("--format=text|json", "db"),
                   "--format: 'text|json' is not one of text, json or csv");
    assert_refused(&view, WORDS("--color", "sometimes", "db"),
                   "--color: 'sometimes' is not one of auto, always or never");
    assert_refused(&shell, WORDS("bash", "zsh", "csh"),
                   "'csh' is not one of bash or zsh");
}

static void refuses_wrong_numbers_of_operands(void **state)
{
    static const struct cn_command pair = {
        .name = "pair", .operands = "SRC DST", .operand_min = 2, .operand_max = 2};
    static const struct cn_example examples[] = {{"pair old new", "pair them"}, {0}};
    static const struct cn_command shown = {.name = "pair",
                                            .operands = "SRC DST",
                                            .operand_min = 2,
                                            .operand_max = 2,
                                            .examples = examples};
    static const struct cn_command alone = {.name = "alone"};

    (void)state;
    assert_refused(&shown, WORDS(NULL),
                   "missing operand: expected SRC DST; for example: pair old new");
    assert_refused(&shown, WORDS("a"),
                   "too few operands, 1: expected SRC DST; for example: pair old new");
    assert_refused(&view, WORDS(NULL), "missing operand: expected SRC DST");
    assert_refused(&pair, WORDS("a"), "too few operands, 1: expected SRC DST");
    assert_refused(&pair, WORDS("a", "b", "c"),
                   "unexpected operand 'c': expected SRC DST");
    assert_refused(&alone, WORDS("a"), "unexpected operand 'a': expected no operand");
}

static void reads_whole_numbers_in_their_range(void **state)
{
    struct cn_error err = {0};
    struct cn_args args;
    uint64_t out = 0;

    (void)state;
    assert_true(parse(&args, &view, WORDS("db", "-d12"), &err));
    assert_true(cn_args_u64(&args, "depth", 1, 12, 5, &out, &err));
    assert_int_equal(out, 12);
    assert_true(cn_args_u64(&args, "columns", 1, 12, 5, &out, &err));
    assert_int_equal(out, 5);
    cn_args_done(&args);
}

static void assert_number_refused(const char *value, uint64_t min, uint64_t max,
                                  const char *message)
{
    struct cn_error err = {0};
    struct cn_args args;
    uint64_t out = 77;

    assert_true(parse(&args, &view, WORDS("db", "--depth", value), &err));
    assert_false(cn_args_u64(&args, "depth", min, max, 5, &out, &err));
    assert_int_equal(err.kind, CN_ERR_USAGE);
    assert_string_equal(err.text, message);
    assert_int_equal(out, 77);
    cn_args_done(&args);
}

static void refuses_other_whole_numbers(void **state)
{
    (void)state;
    assert_number_refused("13", 1, 12, "--depth: 13 is not between 1 and 12");
    assert_number_refused("0", 1, 12, "--depth: 0 is not between 1 and 12");
    assert_number_refused("0", 1, UINT64_MAX, "--depth: 0 is less than 1");
    assert_number_refused("99999999999999999999", 0, UINT64_MAX,
                          "--depth: 99999999999999999999 is not between 0 and "
                          "18446744073709551615");
    assert_number_refused("", 1, 12, "--depth: '' is not a whole number");
    assert_number_refused("-1", 0, 12, "--depth: '-1' is not a whole number");
    assert_number_refused("3x", 0, 12, "--depth: '3x' is not a whole number");
    assert_number_refused(" 3", 0, 12, "--depth: ' 3' is not a whole number");
}

static void assert_share_refused(const char *value, const char *message)
{
    struct cn_error err = {0};
    struct cn_args args;
    double out = 77;

    assert_true(parse(&args, &view, WORDS("db", "--min-share", value), &err));
    assert_false(cn_args_f64(&args, "min-share", 0, 100, 1, &out, &err));
    assert_string_equal(err.text, message);
    assert_true(out == 77);
    cn_args_done(&args);
}

static void reads_numbers_in_their_range(void **state)
{
    struct cn_error err = {0};
    struct cn_args args;
    double out = 0;

    (void)state;
    assert_true(parse(&args, &view, WORDS("db", "--min-share=2.5"), &err));
    assert_true(cn_args_f64(&args, "min-share", 0, 100, 1, &out, &err));
    assert_true(out == 2.5);
    assert_true(cn_args_f64(&args, "columns", 0, 100, 1, &out, &err));
    assert_true(out == 1);
    cn_args_done(&args);
    assert_share_refused("100.5", "--min-share: 100.5 is not between 0 and 100");
    assert_share_refused("-1", "--min-share: -1 is not between 0 and 100");
    assert_share_refused("inf", "--min-share: inf is not between 0 and 100");
    assert_share_refused("nan", "--min-share: 'nan' is not a number");
    assert_share_refused("5%", "--min-share: '5%' is not a number");
    assert_share_refused("", "--min-share: '' is not a number");
    assert_share_refused(" 5", "--min-share: ' 5' is not a number");
}

static void tells_what_placeholders_stand_for(void **state)
{
    (void)state;
    assert_int_equal(cn_placeholder_kind("FILE"), CN_PLACEHOLDER_FILE);
    assert_int_equal(cn_placeholder_kind("PATH...]"), CN_PLACEHOLDER_FILE);
    assert_int_equal(cn_placeholder_kind("DB"), CN_PLACEHOLDER_DIR);
    assert_int_equal(cn_placeholder_kind("COMMAND]"), CN_PLACEHOLDER_COMMAND);
    assert_int_equal(cn_placeholder_kind("a|b"), CN_PLACEHOLDER_CHOICE);
    assert_int_equal(cn_placeholder_kind("N|all"), CN_PLACEHOLDER_OTHER);
    assert_int_equal(cn_placeholder_kind("all|N"), CN_PLACEHOLDER_OTHER);
    assert_int_equal(cn_placeholder_kind("N"), CN_PLACEHOLDER_OTHER);
    assert_null(cn_operand_at(NULL, 0));
    assert_null(cn_operand_at("SRC DST", 2));
    assert_int_equal(strncmp(cn_operand_at("SRC [PATH]...", 9), "PATH", 4), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepts_every_way_to_write_a_value),
        cmocka_unit_test(knows_shared_options_and_bundles_flags),
        cmocka_unit_test(ends_options_at_two_dashes),
        cmocka_unit_test(leaves_the_options_of_a_program_to_it),
        cmocka_unit_test(takes_options_that_the_command_lacks_as_not_given),
        cmocka_unit_test(joins_the_options_of_two_lines),
        cmocka_unit_test(keeps_all_values_in_order_and_returns_the_last),
        cmocka_unit_test(refuses_options_that_exclude_each_other),
        cmocka_unit_test(takes_a_wrong_name_for_wrong_use),
        cmocka_unit_test(takes_an_option_as_value_when_one_is_due),
        cmocka_unit_test(needs_no_operands_beside_help),
        cmocka_unit_test(finds_help_after_any_word),
        cmocka_unit_test(refuses_unknown_options),
        cmocka_unit_test(refuses_ambiguous_prefixes),
        cmocka_unit_test(refuses_missing_and_unexpected_values),
        cmocka_unit_test(refuses_words_outside_a_choice),
        cmocka_unit_test(refuses_wrong_numbers_of_operands),
        cmocka_unit_test(reads_whole_numbers_in_their_range),
        cmocka_unit_test(refuses_other_whole_numbers),
        cmocka_unit_test(reads_numbers_in_their_range),
        cmocka_unit_test(tells_what_placeholders_stand_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
