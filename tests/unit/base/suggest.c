#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/suggest.h"
#include "cli/shell/command.h"

static void counts_insertions_deletions_changes_and_swaps(void **state)
{
    (void)state;
    assert_int_equal(cn_edit_distance("", ""), 0);
    assert_int_equal(cn_edit_distance("tree", "tree"), 0);
    assert_int_equal(cn_edit_distance("", "tree"), 4);
    assert_int_equal(cn_edit_distance("tre", "tree"), 1);
    assert_int_equal(cn_edit_distance("treee", "tree"), 1);
    assert_int_equal(cn_edit_distance("trae", "tree"), 1);
    assert_int_equal(cn_edit_distance("rtee", "tree"), 1);
    assert_int_equal(cn_edit_distance("dpeth", "depth"), 1);
    assert_int_equal(cn_edit_distance("kitten", "sitting"), 3);
}

static void is_the_same_in_both_directions(void **state)
{
    static const char *const words[] = {"tree",     "flat", "callers",
                                        "timeline", "dump", ""};
    enum { COUNT = sizeof(words) / sizeof(words[0]) };

    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        for (size_t k = 0; k < COUNT; k++)
            assert_int_equal(cn_edit_distance(words[i], words[k]),
                             cn_edit_distance(words[k], words[i]));
    }
}

static void survives_words_of_any_length(void **state)
{
    char word[200];
    struct cn_suggestion near = {.typed = word};

    (void)state;
    memset(word, 'x', sizeof(word));
    word[63] = '\0';
    assert_int_equal(cn_edit_distance(word, word), 0);
    word[63] = 'x';
    word[64] = '\0';
    assert_true(cn_edit_distance(word, word) == SIZE_MAX);
    word[64] = 'x';
    word[199] = '\0';
    cn_suggestion_offer(&near, "tree");
    assert_null(near.best);
}

static void prefers_the_nearest_and_then_the_first(void **state)
{
    struct cn_suggestion near = {.typed = "dupm"};

    (void)state;
    cn_suggestion_offer(&near, "verify");
    assert_null(near.best);
    cn_suggestion_offer(&near, "dump");
    cn_suggestion_offer(&near, "dupe");
    assert_string_equal(near.best, "dump");
}

static void chooses_commands_by_their_exact_name(void **state)
{
    struct cn_error err = {0};
    const struct cn_command *command = NULL;

    (void)state;
    assert_true(cn_command_choose(cn_commands, "help", &command, &err));
    assert_string_equal(command->name, "help");
    command = NULL;
    assert_false(cn_command_choose(cn_commands, "hepl", &command, &err));
    assert_null(command);
    assert_int_equal(err.kind, CN_ERR_USAGE);
    assert_string_equal(err.text, "unknown command 'hepl', did you mean 'help'?");
    assert_false(cn_command_choose(cn_commands, "xylophone", &command, &err));
    assert_string_equal(err.text, "unknown command 'xylophone'");
    assert_false(cn_command_choose(cn_commands, "", &command, &err));
    assert_string_equal(err.text, "unknown command ''");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_insertions_deletions_changes_and_swaps),
        cmocka_unit_test(is_the_same_in_both_directions),
        cmocka_unit_test(survives_words_of_any_length),
        cmocka_unit_test(prefers_the_nearest_and_then_the_first),
        cmocka_unit_test(chooses_commands_by_their_exact_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
