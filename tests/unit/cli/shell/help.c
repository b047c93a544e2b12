#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "cli/shell/command.h"
#include "cli/shell/help.h"

static const struct cn_option options[] = {
    {.name = "depth", .letter = 'd', .value = "N", .help = "show at most N levels"},
    {
        .name = "metric",
        .value = "NAME",
        .help = "show this metric instead of the first one of the database",
        .is_repeatable = true,
    },
    CN_OPTION_FOR(CN_FOR_RECORDINGS, "raw", 0, NULL, "show recorded times"),
    CN_OPTION_FORMAT,
    {0},
};

static const struct cn_example examples[] = {
    {"cairn view run.db", "show the whole of it"},
    {"cairn view -d1 run.db", "show the first level"},
    {"cairn view run.db --format json", "show it to a program"},
    {0},
};

static const struct cn_command view = {
    .name = "view",
    .operands = "DB",
    .operand_min = 1,
    .operand_max = 1,
    .scope = CN_FOR_RECORDINGS | CN_FOR_DATABASES,
    .summary = "show something",
    .description = "First paragraph.\n\n  kept   as it is\n\nLast paragraph.",
    .examples = examples,
    .options = options,
};

static void assert_wrapped(const char *str, size_t used, size_t indent, size_t columns,
                           const char *expected)
{
    struct cn_text text = {0};

    cn_wrap_add(&text, str, used, indent, columns);
    assert_string_equal(cn_text_str(&text), expected);
    cn_text_done(&text);
}

static void wraps_at_the_last_column(void **state)
{
    (void)state;
    assert_wrapped("aaa bbb ccc", 0, 0, 7, "aaa bbb\nccc\n");
    assert_wrapped("aaa bbb ccc", 0, 0, 6, "aaa\nbbb\nccc\n");
    assert_wrapped("aaa bbb", 0, 2, 80, "  aaa bbb\n");
    assert_wrapped("aaa bbb", 1, 4, 8, "   aaa\n    bbb\n");
    assert_wrapped("a-word-that-is-too-long b", 0, 2, 8,
                   "  a-word-that-is-too-long\n  b\n");
    assert_wrapped("  spaces \n and\nlines ", 0, 0, 80, "spaces and lines\n");
    assert_wrapped("", 0, 0, 80, "\n");
    assert_wrapped("\xc3\xa9\xc3\xa9 \xc3\xa9", 0, 0, 4, "\xc3\xa9\xc3\xa9 \xc3\xa9\n");
}

static void keeps_indented_paragraphs(void **state)
{
    struct cn_text text = {0};

    (void)state;
    cn_wrap_add_paragraphs(&text, "one two three\n\n  a  b\n  c\n\nend", 7);
    assert_string_equal(cn_text_str(&text), "one two\nthree\n\n  a  b\n  c\n\nend\n\n");
    cn_text_done(&text);
}

static void shows_all_a_command_has(void **state)
{
    const struct cn_help_style style = {.columns = 60};
    struct cn_text text = {0};

    (void)state;
    cn_help_print(&text, &view, &style);
    assert_string_equal(cn_text_str(&text),
                        "Examples:\n"
                        "  cairn view run.db\n"
                        "      show the whole of it\n"
                        "  cairn view -d1 run.db\n"
                        "      show the first level\n\n"
                        "Usage: cairn view [OPTION]... DB\n\n"
                        "Show something.\n\n"
                        "First paragraph.\n\n"
                        "  kept   as it is\n\n"
                        "Last paragraph.\n\n"
                        "Options:\n"
                        "  -d, --depth=N             show at most N levels\n"
                        "      --metric=NAME         show this metric instead of the\n"
                        "                            first one of the database (may\n"
                        "                            be repeated)\n"
                        "      --format=text|json|csv\n"
                        "                            print as aligned text (the\n"
                        "                            default), as JSON or as CSV\n\n"
                        "Options for recordings:\n"
                        "      --raw                 show recorded times\n\n"
                        "Options of every command:\n"
                        "  -h, --help                describe the command and its\n"
                        "                            options\n"
                        "  -q, --quiet               print warnings and errors only\n"
                        "  -v, --verbose             print details of the work\n"
                        "      --color=auto|always|never\n"
                        "                            use colour: on a terminal (the\n"
                        "                            default), always or never\n"
                        "      --logfile=FILE        append messages to FILE instead\n"
                        "                            of printing them on standard\n"
                        "                            error\n"
                        "      --no-pager            do not show the output in a\n"
                        "                            pager\n\n"
                        "More examples:\n"
                        "  cairn view run.db --format json\n"
                        "      show it to a program\n\n"
                        "The manual page is cairn-view(1).\n");
    cn_text_done(&text);
}

/* Every command is described completely. */
static void finds_every_command_complete(void **state)
{
    (void)state;
    for (size_t i = 0; cn_command_at(i); i++) {
        const struct cn_command *command = cn_command_at(i);
        const struct cn_option *option;

        assert_non_null(cn_command_task(command));
        assert_non_null(command->description);
        assert_non_null(command->examples);
        assert_non_null(command->examples[0].command);
        assert_non_null(command->examples[1].command);
        assert_non_null(command->run);
        assert_true(command->operand_min <= command->operand_max);
        assert_true((command->operand_max > 0) == (command->operands != NULL));
        assert_int_not_equal(command->summary[strlen(command->summary) - 1], '.');
        for (size_t k = 0; (option = cn_command_option(command, k)); k++)
            assert_non_null(option->help);
    }
}

/* An option named twice would hide the second one. */
static void finds_no_option_twice(void **state)
{
    (void)state;
    for (size_t i = 0; cn_command_at(i); i++) {
        const struct cn_option *a, *b;

        for (size_t k = 0; (a = cn_command_option(cn_command_at(i), k)); k++) {
            for (size_t m = 0; m < k; m++) {
                b = cn_command_option(cn_command_at(i), m);
                assert_string_not_equal(a->name, b->name);
                assert_false(a->letter && a->letter == b->letter);
            }
        }
    }
}

static void lists_every_command_in_the_overview(void **state)
{
    const struct cn_help_style style = {.columns = 80};
    struct cn_text text = {0};

    (void)state;
    cn_help_print_overview(&text, &style);
    for (size_t i = 0; cn_commands[i]; i++) {
        char name[64];

        (void)snprintf(name, sizeof(name), "\n  %s ", cn_commands[i]->name);
        assert_non_null(strstr(cn_text_str(&text), name));
    }
    assert_null(strchr(cn_text_str(&text), '\x1b'));
    cn_text_done(&text);
}

/* Newcomers see six commands, each by an example that begins with its name. */
static void begins_with_six_commands(void **state)
{
    const struct cn_help_style style = {.columns = 80};
    const struct cn_example *example = cn_program.examples;
    struct cn_text text = {0};
    size_t count = 0;

    (void)state;
    cn_help_print_start(&text, &style);
    for (; example->command; example++, count++) {
        const struct cn_command *command;
        struct cn_error err;
        char name[16];

        assert_int_equal(sscanf(example->command, "cairn %15s", name), 1);
        assert_true(cn_command_choose(cn_commands, name, &command, &err));
        assert_non_null(strstr(cn_text_str(&text), example->command));
        assert_non_null(strstr(cn_text_str(&text), example->meaning));
    }
    assert_int_equal(count, 6);
    assert_non_null(strstr(cn_text_str(&text), "cairn help lists all commands"));
    cn_text_done(&text);
}

static void keeps_lines_within_the_terminal(void **state)
{
    const struct cn_help_style style = {.columns = 80};

    (void)state;
    for (size_t i = 0; cn_command_at(i); i++) {
        struct cn_text text = {0};
        const char *line;

        cn_help_print(&text, cn_command_at(i), &style);
        for (line = cn_text_str(&text); *line; line += strcspn(line, "\n") + 1)
            assert_in_range(strcspn(line, "\n"), 0, 80);
        cn_text_done(&text);
    }
}

static void paints_headings(void **state)
{
    const struct cn_help_style style = {.columns = 80, .has_color = true};
    struct cn_text text = {0};

    (void)state;
    cn_help_print(&text, &view, &style);
    assert_non_null(strstr(cn_text_str(&text), "\x1b[1mOptions:\x1b[0m\n"));
    cn_text_done(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wraps_at_the_last_column),
        cmocka_unit_test(keeps_indented_paragraphs),
        cmocka_unit_test(shows_all_a_command_has),
        cmocka_unit_test(finds_every_command_complete),
        cmocka_unit_test(finds_no_option_twice),
        cmocka_unit_test(lists_every_command_in_the_overview),
        cmocka_unit_test(begins_with_six_commands),
        cmocka_unit_test(keeps_lines_within_the_terminal),
        cmocka_unit_test(paints_headings),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
