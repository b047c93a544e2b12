#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/text.h"
#include "cli/shell/command.h"
#include "cli/shell/help.h"

static const struct {
    const char *shell;
    void (*print)(struct cn_text *text);
} scripts[] = {
    {"bash", cn_completion_print_bash},
    {"zsh", cn_completion_print_zsh},
    {"fish", cn_completion_print_fish},
};
enum { SCRIPTS = sizeof(scripts) / sizeof(scripts[0]) };

static void mentions_every_command_and_option(void **state)
{
    (void)state;
    for (size_t i = 0; i < SCRIPTS; i++) {
        struct cn_text text = {0};

        scripts[i].print(&text);
        for (size_t k = 0; cn_commands[k]; k++) {
            const struct cn_option *option;

            assert_non_null(strstr(cn_text_str(&text), cn_commands[k]->name));
            for (size_t m = 0; (option = cn_command_option(cn_commands[k], m)); m++)
                assert_non_null(strstr(cn_text_str(&text), option->name));
        }
        cn_text_done(&text);
    }
}

/* The shell itself reads the script without running it. */
static void is_read_by_its_shell(void **state)
{
    (void)state;
    for (size_t i = 0; i < SCRIPTS; i++) {
        struct cn_text text = {0};
        char command[100];
        FILE *shell;

        (void)snprintf(command, sizeof(command), "command -v %s >/dev/null",
                       scripts[i].shell);
        if (system(command) != 0) {
            print_message("skipped: %s is not installed\n", scripts[i].shell);
            continue;
        }
        (void)snprintf(command, sizeof(command), "%s -n /dev/stdin", scripts[i].shell);
        shell = popen(command, "w");
        assert_non_null(shell);
        scripts[i].print(&text);
        assert_int_equal(fwrite(text.chars, 1, text.len, shell), text.len);
        assert_int_equal(pclose(shell), 0);
        cn_text_done(&text);
    }
}

/* Complete the last of `words` in bash; what it offers, joined by blanks, goes to `out`. */
static void complete(const char *words, const char *script_path, char out[1024])
{
    char command[2048];
    FILE *bash;

    (void)snprintf(command, sizeof(command),
                   "bash -c 'source %s; COMP_WORDS=(%s); "
                   "COMP_CWORD=$((${#COMP_WORDS[@]}-1)); _cairn; "
                   "printf %%s \"${COMPREPLY[*]}\"'",
                   script_path, words);
    bash = popen(command, "r");
    assert_non_null(bash);
    out[fread(out, 1, 1023, bash)] = '\0';
    assert_int_equal(pclose(bash), 0);
}

static void completes_in_bash(void **state)
{
    static const struct {
        const char *words, *offered;
    } cases[] = {
        {"cairn compl", "completion"},
        {"cairn --vers", "--version"},
        {"cairn completion \"\"", "bash zsh fish"},
        {"cairn completion z", "zsh"},
        {"cairn completion --no", "--no-pager"},
        {"cairn completion --col", "--color="},
        {"cairn completion --color = a", "auto always"},
        {"cairn completion --color =", "auto always never"},
        {"cairn completion --color n", "never"},
        {"cairn help compl", "completion"},
        {"cairn help --li", "--list"},
        {"cairn completion -- --co", ""},
        {"cairn no-such-command x", ""},
        {"cairn store sear", "search"},
        {"cairn store search --offs", "--offset="},
        {"cairn store search --sort = d", "duration"},
    };
    char path[] = "/tmp/cairn-completion-XXXXXX";
    struct cn_text text = {0};
    int fd = mkstemp(path);

    (void)state;
    assert_true(fd >= 0);
    cn_completion_print_bash(&text);
    assert_int_equal(write(fd, text.chars, text.len), text.len);
    assert_int_equal(close(fd), 0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char offered[1024];

        complete(cases[i].words, path, offered);
        assert_string_equal(offered, cases[i].offered);
    }
    assert_int_equal(unlink(path), 0);
    cn_text_done(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mentions_every_command_and_option),
        cmocka_unit_test(is_read_by_its_shell),
        cmocka_unit_test(completes_in_bash),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
