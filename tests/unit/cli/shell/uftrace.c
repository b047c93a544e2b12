#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/text.h"
#include "cli/shell/command.h"
#include "cli/shell/uftrace.h"

enum { WORDS_MAX = 12 };

static bool translate(struct cn_uftrace_line *line, const char *typed,
                      struct cn_error *err)
{
    const char *words[WORDS_MAX];
    static char text[256];
    size_t count = 0;
    char *save = NULL;

    (void)snprintf(text, sizeof(text), "%s", typed);
    for (char *word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save))
        words[count++] = word;
    return cn_uftrace_parse(line, count, words, err);
}

/* `cairn` with `becomes` is run for `typed`. */
static void assert_becomes(const char *typed, const char *becomes)
{
    struct cn_uftrace_line line;
    struct cn_error err = {0};
    struct cn_text text = {0};
    const char *option, *value;

    if (!translate(&line, typed, &err))
        fail_msg("%s: %s", typed, err.text);
    cn_text_str_add(&text, line.args.command->name);
    for (size_t i = 0; (option = cn_args_at(&line.args, i, &value)); i++)
        cn_text_printf(&text, " --%s%s%s", option, value ? "=" : "", value ? value : "");
    for (size_t i = 0; i < cn_args_count(&line.args); i++)
        cn_text_printf(&text, "%s %s", i == 0 ? " --" : "",
                       cn_args_operand(&line.args, i));
    assert_string_equal(cn_text_str(&text), becomes);
    cn_text_done(&text);
    cn_uftrace_done(&line);
}

static void assert_refused(const char *typed, const char *message)
{
    struct cn_uftrace_line line;
    struct cn_error err = {0};

    assert_false(translate(&line, typed, &err));
    assert_int_equal(err.kind, CN_ERR_USAGE);
    assert_string_equal(err.text, message);
    cn_uftrace_done(&line);
}

static void knows_its_names(void **state)
{
    (void)state;
    assert_true(cn_uftrace_is_name("/opt/libexec/cairn/uftrace"));
    assert_true(cn_uftrace_is_name("cairn-uftrace"));
    assert_false(cn_uftrace_is_name("/uftrace/cairn"));
}

static void shows_calls_of_a_program_without_a_command(void **state)
{
    (void)state;
    assert_becomes("no-such-program -F x",
                   "live --replay --no-throw --bare-jumps --raw -- no-such-program -F x");
    assert_becomes(
        "-D 2 live no-such-program",
        "live --depth=2 --replay --no-throw --bare-jumps --raw -- no-such-program");
    assert_becomes(
        "live --record prog",
        "live --data=uftrace.data --replay --no-throw --bare-jumps --raw -- prog");
}

static void runs_live_without_a_command(void **state)
{
    (void)state;
    assert_becomes("-p 12 -F x",
                   "live --pid=12 --filter=x --replay --no-throw --bare-jumps --raw");
    assert_becomes("-h", "uftrace --help");
    assert_becomes("", "uftrace");
}

static void passes_words_to_scripts(void **state)
{
    (void)state;
    assert_becomes("script -S a.py -P . one -x",
                   "script --script=a.py --data=uftrace.data -- one -x");
    assert_becomes("script -S a.py -A f@arg1 --record no-such-program -x",
                   "script --script=a.py --argument=f@arg1 --record --no-throw "
                   "--bare-jumps --data=uftrace.data -- no-such-program -x");
    assert_becomes("recv --port 1234 -N memcpy", "recv --port=1234");
}

static void keeps_the_order_of_options(void **state)
{
    (void)state;
    assert_becomes("record -Fa -N b --filter=c prog",
                   "record --filter=a --notrace=b --filter=c --data=uftrace.data "
                   "--calls --no-throw --bare-jumps -- prog");
}

static void drops_options_of_other_commands(void **state)
{
    (void)state;
    assert_becomes("replay --libmcount-path=/x -P . -A f@arg1 --avg-self -la prog -D3",
                   "replay --depth=3 --data=uftrace.data");
    assert_becomes("record -d x --sort=self -f none prog",
                   "record --data=x --calls --no-throw --bare-jumps -- prog");
}

static void takes_a_function_of_graph_and_a_folder_of_the_others(void **state)
{
    (void)state;
    assert_becomes("graph main --task", "graph --task --raw --data=uftrace.data -- main");
    assert_becomes("replay /", "replay --data=/");
    assert_becomes("replay -d x /", "replay --data=x");
    assert_becomes("script -S f.py a -D2 b",
                   "script --script=f.py --data=uftrace.data -- a -D2 b");
    assert_becomes(
        "script -S f.py --record no-such-program -D2",
        "script --script=f.py --record --no-throw --bare-jumps --data=uftrace.data -- "
        "no-such-program -D2");
}

static void translates_words_of_uftrace(void **state)
{
    (void)state;
    assert_becomes("dump --chrome", "dump --format=chrome --raw --data=uftrace.data");
    assert_becomes("replay --chrome --color=yes",
                   "replay --color=yes --data=uftrace.data");
    assert_becomes("graph --chrome", "graph --raw --data=uftrace.data");
    assert_becomes("replay --format=html", "replay --format=html --data=uftrace.data");
    assert_becomes("replay --format=normal", "replay --format=text --data=uftrace.data");
    assert_becomes(
        "record --disable p",
        "record --trace=off --data=uftrace.data --calls --no-throw --bare-jumps -- p");
    assert_becomes("replay --usage", "replay --help --data=uftrace.data");
    assert_becomes("replay --no-event -E linux:schedule", "replay --data=uftrace.data");
    assert_becomes("replay --no-event -E sdt:probe", "replay --data=uftrace.data");
    assert_becomes(
        "record --max-stack=5 -D 9 p",
        "record --depth=5 --data=uftrace.data --calls --no-throw --bare-jumps -- p");
    assert_becomes(
        "record --max-stack=9 -D 5 p",
        "record --depth=5 --data=uftrace.data --calls --no-throw --bare-jumps -- p");
    assert_becomes("replay --max-stack=9", "replay --data=uftrace.data");
    assert_becomes("record --version p", "uftrace --version");
}

static void finds_a_program_of_this_folder(void **state)
{
    char folder[] = "/tmp/cairn-uftrace-XXXXXX";
    FILE *file;

    (void)state;
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    file = fopen("prog", "w");
    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
    assert_becomes("record -d x prog prog",
                   "record --data=x --calls --no-throw --bare-jumps -- prog prog");
    assert_int_equal(chmod("prog", 0755), 0);
    assert_becomes("record -d x prog prog",
                   "record --data=x --calls --no-throw --bare-jumps -- ./prog prog");
    assert_int_equal(unlink("prog"), 0);
    assert_int_equal(chdir("/"), 0);
    assert_int_equal(rmdir(folder), 0);
}

static void inserts_the_words_of_a_file(void **state)
{
    char path[] = "/tmp/cairn-uftrace-XXXXXX";
    char typed[128];
    int fd = mkstemp(path);
    FILE *file = fdopen(fd, "w");

    (void)state;
    assert_non_null(file);
    (void)fputs("-F main\n  # -F not\n\n-D\t3\n", file);
    assert_int_equal(fclose(file), 0);
    (void)snprintf(typed, sizeof(typed), "replay -N a --opt-file=%s -N b", path);
    assert_becomes(typed, "replay --notrace=a --filter=main --depth=3 --notrace=b "
                          "--data=uftrace.data");
    file = fopen(path, "w"); /* a file that reads itself ends */
    assert_non_null(file);
    (void)fprintf(file, "--opt-file=%s", path);
    assert_int_equal(fclose(file), 0);
    assert_refused(typed, "--opt-file: more than 8 files");
    assert_int_equal(unlink(path), 0);
}

static void refuses_what_no_command_has(void **state)
{
    (void)state;
    assert_refused("replay --nosuch", "unknown option --nosuch");
    assert_refused("-! prog", "unknown option -!");
    assert_refused("replay --flat=yes", "option --flat takes no value, got 'yes'");
    assert_refused("replay -F", "option --filter needs a value: FUNC");
    assert_refused("replay --av", "option --av is ambiguous: --avg-total, --avg-self");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_its_names),
        cmocka_unit_test(shows_calls_of_a_program_without_a_command),
        cmocka_unit_test(runs_live_without_a_command),
        cmocka_unit_test(passes_words_to_scripts),
        cmocka_unit_test(keeps_the_order_of_options),
        cmocka_unit_test(drops_options_of_other_commands),
        cmocka_unit_test(takes_a_function_of_graph_and_a_folder_of_the_others),
        cmocka_unit_test(translates_words_of_uftrace),
        cmocka_unit_test(finds_a_program_of_this_folder),
        cmocka_unit_test(inserts_the_words_of_a_file),
        cmocka_unit_test(refuses_what_no_command_has),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
