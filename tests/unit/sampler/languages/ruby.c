#include "sampler/languages/ruby.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/interpreted.h"

static void shows_frames_of_each_version(void **state)
{
    (void)state;
    cn_test_shows_frames(&cn_test_ruby);
}

static void knows_what_was_read_after_the_end_of_the_process(void **state)
{
    (void)state;
    cn_test_knows_what_was_read(&cn_test_ruby);
}

static void changes_no_stack_that_contradicts_the_frames(void **state)
{
    (void)state;
    cn_test_changes_no_stack_that_contradicts(&cn_test_ruby);
}

static void survives_any_memory(void **state)
{
    (void)state;
    cn_test_survives_any_memory(&cn_test_ruby);
}

static void trusts_late_frames_only_if_the_stack_holds_their_instructions(void **state)
{
    static const char *const outer[] = {
        "", "", "Array#each:0", "Text#words:11", "<main>:12", "", NULL};
    struct cn_test_interpreted *t =
        cn_test_interpreted_new(&cn_test_ruby, cn_test_ruby.versions[0]);

    (void)state;
    for (unsigned round = 0; round < 2; round++) {
        cn_memory_begin(&t->memory, CN_IMAGE_TID, 1 << 18);
        cn_test_interpreted_see(t, CN_IMAGE_LOOP + 64,
                                round == 0 ? 1 : CN_IMAGE_KEY_ADDRESS + 16);
        cn_test_interpreted_see(t, CN_IMAGE_LOOP + 128, CN_IMAGE_MAIN_ADDRESS + 16);
        cn_test_interpreted_finish(t, true, true);
        cn_test_interpreted_expect(t, round == 0 ? outer : cn_test_ruby.merged);
    }
    cn_test_interpreted_free(t);
}

static void names_versions_that_are_not_known(void **state)
{
    struct cn_frame_table table;
    struct cn_ruby_place place = cn_image_ruby_place(0x109);
    char *hint;

    (void)state;
    struct cn_ruby *ruby = cn_ruby_open(&(struct cn_memory){0}, &place, NULL);
    assert_int_equal(cn_ruby_describe(ruby, &table), CN_LANGUAGE_NO_TABLE);
    hint = cn_language_ruby.hint(ruby);
    assert_non_null(strstr(hint, "Ruby 1.9.1 is not known"));
    free(hint);
    cn_ruby_close(ruby);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shows_frames_of_each_version),
        cmocka_unit_test(knows_what_was_read_after_the_end_of_the_process),
        cmocka_unit_test(changes_no_stack_that_contradicts_the_frames),
        cmocka_unit_test(survives_any_memory),
        cmocka_unit_test(trusts_late_frames_only_if_the_stack_holds_their_instructions),
        cmocka_unit_test(names_versions_that_are_not_known),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
