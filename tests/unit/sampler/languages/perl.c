#include "sampler/languages/perl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes/record.h"
#include "support/interpreted.h"

static void shows_frames_of_each_version(void **state)
{
    (void)state;
    cn_test_shows_frames(&cn_test_perl);
}

static void knows_what_was_read_after_the_end_of_the_process(void **state)
{
    (void)state;
    cn_test_knows_what_was_read(&cn_test_perl);
}

static void changes_no_stack_that_contradicts_the_frames(void **state)
{
    (void)state;
    cn_test_changes_no_stack_that_contradicts(&cn_test_perl);
}

static void survives_any_memory(void **state)
{
    (void)state;
    cn_test_survives_any_memory(&cn_test_perl);
}

static void trusts_no_late_frames(void **state)
{
    struct cn_test_interpreted *t =
        cn_test_interpreted_new(&cn_test_perl, cn_test_perl.versions[0]);

    (void)state;
    cn_test_interpreted_see(t, CN_IMAGE_LOOP + 64, CN_IMAGE_BASE);
    cn_test_interpreted_see(t, CN_IMAGE_LOOP + 128, CN_IMAGE_BASE);
    cn_test_interpreted_finish(t, true, true);
    for (size_t i = 0; i < t->count; i++)
        assert_int_equal(t->chain[i], cn_test_perl.chain[i]);
    cn_test_interpreted_free(t);
}

/* A file that is complete frees the value with its name, and another may take its place before that
 * is read. */
static void names_what_is_required_as_long_as_it_is_there(void **state)
{
    static const char *const named[] = {"main::key:3",
                                        "",
                                        "require JSON/PP.pm:12",
                                        "main::work:12",
                                        "main::RUNTIME:20",
                                        "",
                                        NULL};
    static const char *const freed[] = {
        "main::key:3", "", "(require):12", "main::work:12", "main::RUNTIME:20", "", NULL};
    enum { CONTEXTS = 0x600, VALUE = 0xf00, CHARS = 0xf80, EVAL = 11 };
    struct cn_test_interpreted *t =
        cn_test_interpreted_new(&cn_test_perl, cn_test_perl.versions[0]);
    const struct cn_perl_layout *l =
        cn_perl_layout_find((uint8_t)cn_test_perl.versions[0]);
    uint8_t *image = (uint8_t *)t->image.chars,
            *context = image + CONTEXTS + l->context_len;

    (void)state;
    *context = EVAL;
    cn_u64_put(context + l->required, CN_IMAGE_BASE + VALUE);
    cn_u64_put(image + VALUE + 16, CN_IMAGE_BASE + CHARS);
    memcpy(image + CHARS, "JSON/PP.pm", sizeof("JSON/PP.pm"));
    assert_true(cn_test_interpreted_read(t));
    cn_test_interpreted_finish(t, false, true);
    cn_test_interpreted_expect(t, named);
    memcpy(image + CHARS, "M_NUM", sizeof("M_NUM"));
    cn_memory_begin(&t->memory, CN_IMAGE_TID, 1 << 16);
    cn_test_interpreted_finish(t, false, true);
    cn_test_interpreted_expect(t, freed);
    cn_test_interpreted_free(t);
}

/* A block that C calls ends with no operation to return to, and so does the last call in it. */
static void shows_the_last_call_of_a_block_below_it(void **state)
{
    static const char *const sorted[] = {
        "main::key:3", "(sort block):12", "", "main::work:12", "main::RUNTIME:20", "",
        NULL};
    static const char *const matched[] = {
        "main::key:3", "(regexp block):12", "", "main::work:12", "main::RUNTIME:20", "",
        NULL};
    enum { ARRAYS = 0x400, CONTEXTS = 0x500, LAST = 32, SUB_OF_REGEXP = 9 | 0x40 };

    (void)state;
    for (int is_match = 0; is_match < 2; is_match++) {
        struct cn_test_interpreted *t =
            cn_test_interpreted_new(&cn_test_perl, cn_test_perl.versions[0]);
        size_t len = cn_perl_layout_find((uint8_t)cn_test_perl.versions[0])->context_len;
        uint8_t *image = (uint8_t *)t->image.chars, *block = image + CONTEXTS;

        cn_u32_put(image + ARRAYS + LAST, 1);
        memcpy(block + len, block, len);
        *block = is_match ? SUB_OF_REGEXP : 0;
        assert_true(cn_test_interpreted_read(t));
        cn_test_interpreted_finish(t, false, true);
        cn_test_interpreted_expect(t, is_match ? matched : sorted);
        cn_test_interpreted_free(t);
    }
}

/* The file of the first frame: a new one is the last that was added. */
static const char *file_of_first(struct cn_test_interpreted *t)
{
    const char *file = NULL;

    cn_memory_begin(&t->memory, CN_IMAGE_TID, 1 << 16);
    cn_test_interpreted_finish(t, false, true);
    for (size_t i = 0; i < t->names.count; i++)
        if (strcmp(t->names.frames[i].function, "main::key") == 0)
            file = t->names.frames[i].file;
    assert_non_null(file);
    return file;
}

/* The path of a string is freed with what eval made of it. */
static void shows_no_file_that_has_changed(void **state)
{
    static const char *const texts[] = {"/srv/app.pl", "(eval 12)"};
    static const char *const files[] = {"/srv/app.pl", "(eval)"};
    enum { FILE = 0xe80 };

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        for (int is_known = 0; is_known < 2; is_known++) {
            struct cn_test_interpreted *t =
                cn_test_interpreted_new(&cn_test_perl, cn_test_perl.versions[0]);
            char *file = t->image.chars + FILE;

            memcpy(file, texts[i], strlen(texts[i]) + 1);
            assert_true(cn_test_interpreted_read(t));
            if (is_known)
                assert_string_equal(file_of_first(t), files[i]);
            memcpy(file, "(\xb4Y\xe4", 5);
            assert_string_equal(file_of_first(t), i == 0 && !is_known ? "" : files[i]);
            cn_test_interpreted_free(t);
        }
    }
}

static void says_what_would_show_frames_that_are_missing(void **state)
{
    struct cn_test_interpreted *t =
        cn_test_interpreted_new(&cn_test_perl, cn_test_perl.versions[0]);
    char *hint;

    (void)state;
    cn_test_interpreted_finish(t, true, true);
    assert_null(cn_language_perl.hint(t->state));
    for (int i = 0; i < 10; i++)
        cn_test_interpreted_finish(t, true, true);
    hint = cn_language_perl.hint(t->state);
    assert_string_equal(hint,
                        "Perl: samples lack functions that copies of stacks cannot "
                        "prove; they are read at the sample where BPF is allowed, or "
                        "with --call-graph signals");
    free(hint);
    cn_test_interpreted_free(t);
}

static void names_versions_that_are_not_known(void **state)
{
    struct cn_frame_table table;
    struct cn_perl_place place = cn_image_perl_place(8);
    char *hint;

    (void)state;
    struct cn_perl *perl = cn_perl_open(&(struct cn_memory){0}, &place, NULL);
    assert_int_equal(cn_perl_describe(perl, &table), CN_LANGUAGE_NO_TABLE);
    hint = cn_language_perl.hint(perl);
    assert_string_equal(hint,
                        "Perl 5.8.1 is not known (5.28 to 5.40 are): the subs of its "
                        "programs are not shown");
    free(hint);
    cn_perl_close(perl);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shows_frames_of_each_version),
        cmocka_unit_test(knows_what_was_read_after_the_end_of_the_process),
        cmocka_unit_test(changes_no_stack_that_contradicts_the_frames),
        cmocka_unit_test(survives_any_memory),
        cmocka_unit_test(trusts_no_late_frames),
        cmocka_unit_test(names_what_is_required_as_long_as_it_is_there),
        cmocka_unit_test(shows_the_last_call_of_a_block_below_it),
        cmocka_unit_test(shows_no_file_that_has_changed),
        cmocka_unit_test(says_what_would_show_frames_that_are_missing),
        cmocka_unit_test(names_versions_that_are_not_known),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
