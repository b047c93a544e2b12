#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "cli/shell/command.h"
#include "cli/shell/help.h"

static const struct cn_option options[] = {
    {.name = "top-down", .letter = 't', .value = "a|b", .help = "it's a \\ test"},
    CN_OPTION_FOR(CN_FOR_STORES, "query", 0, "QUERY", "only these"),
    {0},
};

static const struct cn_example examples[] = {
    {"cairn view ~/run.db", "look at it"},
    {0},
};

static const struct cn_command view = {
    .name = "view",
    .operands = "DB...",
    .scope = CN_FOR_STORES | CN_FOR_DATABASES,
    .summary = "show something",
    .description = ".start with a dot\n'and a quote\n\n  $ kept\n  .so\n\nend",
    .examples = examples,
    .options = options,
};

static void assert_escaped(const char *str, const char *expected)
{
    struct cn_text text = {0};

    cn_man_add_escaped(&text, str);
    assert_string_equal(cn_text_str(&text), expected);
    cn_text_done(&text);
}

static void escapes_what_groff_would_act_on(void **state)
{
    (void)state;
    assert_escaped("plain", "plain");
    assert_escaped("--name", "\\-\\-name");
    assert_escaped("a\\b", "a\\eb");
    assert_escaped(".so /etc/passwd", "\\&.so /etc/passwd");
    assert_escaped("a\n.b\n'c", "a\n\\&.b\n\\&\\(aqc");
    assert_escaped("a.b it's", "a.b it\\(aqs");
    assert_escaped("`~^", "\\(ga\\(ti\\(ha");
}

static void has_every_section_in_order(void **state)
{
    static const char *const sections[] = {
        ".TH CAIRN\\-VIEW 1 ",
        ".SH NAME\ncairn\\-view \\- show something\n",
        ".SH SYNOPSIS\n\\fBcairn\\fR \\fBview\\fR [\\fIOPTION\\fR]... \\fIDB...\\fR\n",
        ".SH DESCRIPTION\n\\&.start with a dot\n\\&\\(aqand a quote\n"
        ".PP\n.RS 4\n.nf\n$ kept\n\\&.so\n.fi\n.RE\n.PP\nend\n",
        ".SH OPTIONS\n.TP\n\\fB\\-t\\fR, \\fB\\-\\-top\\-down\\fR=\\fIa|b\\fR\n"
        "it\\(aqs a \\e test\n.SS For stores\n.TP\n\\fB\\-\\-query",
        ".SS Of every command\n",
        "\\fB\\-\\-no\\-pager\\fR\n",
        ".SH EXAMPLES\n.TP\n\\fBcairn view \\(ti/run.db\\fR\nlook at it\n",
        ".SH \"EXIT STATUS\"\n",
        ".SH ENVIRONMENT\n",
        ".SH \"SEE ALSO\"\n\\fBcairn\\fR(1)",
    };
    struct cn_text text = {0};
    const char *at;

    (void)state;
    cn_man_print(&text, &view);
    at = cn_text_str(&text);
    for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
        at = strstr(at, sections[i]);
        assert_non_null(at);
    }
    cn_text_done(&text);
}

/* A text line that begins with a control character would be taken for a request. */
static void begins_lines_with_text_or_known_requests(void **state)
{
    static const char *const requests[] = {".TH ", ".SH ",  ".SS ",  ".TP\n", ".PP\n",
                                           ".RS ", ".RE\n", ".nf\n", ".fi\n"};
    enum { REQUESTS = sizeof(requests) / sizeof(requests[0]) };

    (void)state;
    for (size_t i = 0; cn_command_at(i); i++) {
        struct cn_text text = {0};
        const char *line;

        cn_man_print(&text, cn_command_at(i));
        for (line = cn_text_str(&text); *line; line += strcspn(line, "\n") + 1) {
            size_t known = 0;

            assert_int_not_equal(*line, '\'');
            while (*line == '.' && known < REQUESTS &&
                   strncmp(line, requests[known], strlen(requests[known])) != 0)
                known++;
            assert_true(known < REQUESTS);
        }
        cn_text_done(&text);
    }
}

static void lists_the_commands_on_the_page_of_the_program(void **state)
{
    struct cn_text text = {0};

    (void)state;
    cn_man_print(&text, &cn_program);
    assert_non_null(strstr(cn_text_str(&text), ".TH CAIRN 1 "));
    assert_non_null(strstr(cn_text_str(&text), ".SH COMMANDS\n"));
    assert_non_null(strstr(cn_text_str(&text), "\\fBcairn\\-help\\fR(1)\n"));
    assert_non_null(strstr(cn_text_str(&text), "\\-\\-version"));
    cn_text_done(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(escapes_what_groff_would_act_on),
        cmocka_unit_test(has_every_section_in_order),
        cmocka_unit_test(begins_lines_with_text_or_known_requests),
        cmocka_unit_test(lists_the_commands_on_the_page_of_the_program),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
