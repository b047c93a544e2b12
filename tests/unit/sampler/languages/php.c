#include "sampler/languages/php.h"

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
    cn_test_shows_frames(&cn_test_php);
}

static void knows_what_was_read_after_the_end_of_the_process(void **state)
{
    (void)state;
    cn_test_knows_what_was_read(&cn_test_php);
}

static void changes_no_stack_that_contradicts_the_frames(void **state)
{
    (void)state;
    cn_test_changes_no_stack_that_contradicts(&cn_test_php);
}

static void survives_any_memory(void **state)
{
    (void)state;
    cn_test_survives_any_memory(&cn_test_php);
}

static void trusts_late_frames_only_if_the_stack_holds_their_instructions(void **state)
{
    static const char *const outer[] = {"", "", "usort:0", "{main}:12", "", NULL};
    struct cn_test_interpreted *t =
        cn_test_interpreted_new(&cn_test_php, cn_test_php.versions[0]);

    (void)state;
    /* The inner call ran something else; then both hold what they ran. */
    for (unsigned round = 0; round < 2; round++) {
        cn_memory_begin(&t->memory, CN_IMAGE_TID, 1 << 18);
        cn_test_interpreted_see(t, CN_IMAGE_LOOP + 64,
                                round == 0 ? CN_IMAGE_MAIN_ADDRESS + 32
                                           : CN_IMAGE_KEY_ADDRESS + 32);
        cn_test_interpreted_see(t, CN_IMAGE_LOOP + 128, CN_IMAGE_MAIN_ADDRESS + 64);
        cn_test_interpreted_finish(t, true, true);
        /* The frame of C begins the outer call: it has no instructions. */
        cn_test_interpreted_expect(t, round == 0 ? outer : cn_test_php.merged);
    }
    cn_test_interpreted_free(t);
}

/* A frame that ends is after that of its caller, or after the last call that is prepared. */
static void shows_functions_whose_variables_are_freed(void **state)
{
    static const char *const freed[] = {
        "Shape::key:3", "Shape::key:3", "", "usort:0", "{main}:12", "", NULL};
    enum {
        CALLER = 0x400,
        PREPARED = 0x580,
        ENDING = 0x600,
        FUNCTION = 0x800,
        INTERNAL = 0xa00,
        VARIABLES = 20,
        TEMPORARIES = 6,
        MORE_ARGUMENTS = 1,
    };

    (void)state;
    for (size_t i = 0; cn_test_php.versions[i]; i++) {
        uint32_t version = cn_test_php.versions[i];
        const struct cn_php_layout *l = cn_php_layout_find(version);
        struct cn_test_interpreted *t = cn_test_interpreted_new(&cn_test_php, version);
        uint8_t *image = (uint8_t *)t->image.chars;
        uint64_t top = l->current - 32;

        cn_u32_put(image + FUNCTION + l->variables, VARIABLES);
        cn_u32_put(image + FUNCTION + l->temporaries, TEMPORARIES);
        cn_u32_put(image + CALLER + 44, MORE_ARGUMENTS);
        cn_u64_put(image + ENDING, CN_IMAGE_KEY_ADDRESS + 32);
        cn_u64_put(image + ENDING + 24, CN_IMAGE_BASE + FUNCTION);
        cn_u64_put(image + ENDING + 48, CN_IMAGE_BASE + CALLER);
        for (unsigned round = 0; round < 5; round++) {
            /* It has ended; it was one of another caller; then it is there. */
            cn_u64_put(image + top, CN_IMAGE_BASE + ENDING + (round == 0 ? 0 : 80));
            cn_u64_put(image + ENDING + 48, CN_IMAGE_BASE + CALLER + (round == 1));
            if (round == 3) {
                cn_u64_put(image + CALLER + 8, CN_IMAGE_BASE + PREPARED);
                cn_u64_put(image + PREPARED + 24, CN_IMAGE_BASE + INTERNAL);
                cn_u32_put(image + PREPARED + 44, 3);
            }
            if (round == 4)
                cn_u64_put(image + CALLER + 8, 0x10); /* no memory */
            assert_true(cn_test_interpreted_read(t));
            cn_test_interpreted_finish(t, false, true);
            cn_test_interpreted_expect(t, round == 2 || round == 3 ? freed
                                                                   : cn_test_php.merged);
        }
        cn_test_interpreted_free(t);
    }
}

enum { GENERATED = 0x1000, GENERATOR = 0x1100, GENERATOR_LEN = 0x200 };

/* A generator that delegates to the next, with the line where it does. */
static void add_generator(uint8_t *image, const struct cn_php_layout *l, unsigned number,
                          uint32_t line)
{
    uint8_t *frame = image + GENERATED + GENERATOR_LEN * number;
    uint8_t *generator = image + GENERATOR + GENERATOR_LEN * number;
    uint64_t opline = CN_IMAGE_KEY_ADDRESS + 64 + 32 * number;
    enum { FUNCTION = 0x800, TOP = 1 << 17 };

    cn_u64_put(frame, opline);
    cn_u32_put(image + opline - CN_IMAGE_BASE + 24, line);
    cn_u64_put(frame + 24, CN_IMAGE_BASE + FUNCTION);
    cn_u64_put(frame + 40, TOP);
    cn_u64_put(generator + l->generator_frame,
               CN_IMAGE_BASE + GENERATED + GENERATOR_LEN * number);
    cn_u64_put(generator + l->generator_frame + 96,
               CN_IMAGE_BASE + GENERATOR + GENERATOR_LEN * (number + 1));
}

/* The frame of the generator that runs points to a placeholder, which has the one that was resumed. */
static void shows_generators_that_delegate(void **state)
{
    static const char *const shown[] = {"Shape::key:3",
                                        "Shape::key:6",
                                        "Shape::key:5",
                                        "",
                                        "usort:0",
                                        "{main}:12",
                                        "",
                                        NULL};
    enum { RUNS = 0x400, CALLER = 0x480, PLACEHOLDER = 0x600, OBJECT = 8 };

    (void)state;
    for (size_t i = 0; cn_test_php.versions[i]; i++) {
        uint32_t version = cn_test_php.versions[i];
        const struct cn_php_layout *l = cn_php_layout_find(version);
        struct cn_test_interpreted *t = cn_test_interpreted_new(&cn_test_php, version);
        uint8_t *image = (uint8_t *)t->image.chars;

        add_generator(image, l, 0, 5);
        add_generator(image, l, 1, 6);
        cn_u64_put(image + RUNS + 48, CN_IMAGE_BASE + PLACEHOLDER);
        cn_u64_put(image + PLACEHOLDER + 32, CN_IMAGE_BASE + GENERATOR);
        cn_u64_put(image + PLACEHOLDER + 40, OBJECT);
        cn_u64_put(image + PLACEHOLDER + 48, CN_IMAGE_BASE + CALLER);
        assert_true(cn_test_interpreted_read(t));
        cn_test_interpreted_finish(t, false, true);
        cn_test_interpreted_expect(t, shown);
        /* One delegates to itself: that ends. */
        cn_u64_put(image + GENERATOR + l->generator_frame + 96,
                   CN_IMAGE_BASE + GENERATOR);
        (void)cn_test_interpreted_read(t);
        cn_test_interpreted_finish(t, false, true);
        cn_test_interpreted_free(t);
    }
}

static void names_versions_that_are_not_known(void **state)
{
    struct cn_frame_table table;
    struct cn_php_place place = cn_image_php_place(20990101);
    char *hint;

    (void)state;
    struct cn_php *php = cn_php_open(&(struct cn_memory){0}, &place, NULL);
    assert_int_equal(cn_php_describe(php, &table), CN_LANGUAGE_NO_TABLE);
    hint = cn_language_php.hint(php);
    assert_string_equal(hint, "PHP with the interface 20990101 is not known (7.4 to 8.5 "
                              "without threads are): the functions of its programs are "
                              "not shown");
    free(hint);
    cn_php_close(php);
    place = cn_image_php_place(20220829);
    place.has_threads = true;
    php = cn_php_open(&(struct cn_memory){0}, &place, NULL);
    assert_string_equal(cn_php_problem(php), "8.2 with threads (ZTS)");
    cn_php_close(php);
    /* A build for debugging. */
    place.has_threads = false;
    place.globals_len += 8;
    php = cn_php_open(&(struct cn_memory){0}, &place, NULL);
    assert_string_equal(cn_php_problem(php), "8.2 of this build");
    cn_php_close(php);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shows_frames_of_each_version),
        cmocka_unit_test(knows_what_was_read_after_the_end_of_the_process),
        cmocka_unit_test(changes_no_stack_that_contradicts_the_frames),
        cmocka_unit_test(survives_any_memory),
        cmocka_unit_test(trusts_late_frames_only_if_the_stack_holds_their_instructions),
        cmocka_unit_test(shows_functions_whose_variables_are_freed),
        cmocka_unit_test(shows_generators_that_delegate),
        cmocka_unit_test(names_versions_that_are_not_known),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
