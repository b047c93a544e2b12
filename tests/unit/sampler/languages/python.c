#include "sampler/languages/python.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes/record.h"
#include "base/bytes/wire.h"
#include "formats/exchange/perf/stored_names.h"
#include "sampler/languages/frame_walk.h"
#include "sampler/languages/python_tasks.h"
#include "sampler/languages/runtimes.h"
#include "support/python_image.h"
#include "unwind/unwind.h"

static const uint16_t versions[] = {0x309, 0x30a, 0x30b, 0x30c, 0x30d, 0x30e, 0x30f};
enum { VERSION_COUNT = sizeof(versions) / sizeof(versions[0]), BYTES = 1 << 18 };

/* What is read of an image. */
struct reading {
    struct cn_text image;
    struct cn_bytes bytes;
    struct cn_memory memory;
    struct cn_stored_names names;
    struct cn_python *python;
    struct cn_python_frame frames[CN_PYTHON_FRAMES_MAX];
    size_t count;
};

static struct reading *reading_new(uint16_t version)
{
    struct reading *r = calloc(1, sizeof(*r));
    struct cn_python_place place = cn_image_place();

    assert_non_null(r);
    r->image = cn_image_python(version);
    r->bytes = cn_wire_view(&r->image);
    r->memory.copy = cn_image_copy;
    r->memory.arg = &r->bytes;
    r->python = cn_python_open(&r->memory, &place, &r->names);
    return r;
}

static void reading_free(struct reading *r)
{
    cn_python_close(r->python);
    cn_stored_names_done(&r->names);
    cn_text_done(&r->image);
    free(r);
}

static void walk(struct reading *r)
{
    cn_memory_begin(&r->memory, 1, BYTES);
    r->count = cn_python_walk(r->python, CN_IMAGE_TID, r->frames, CN_PYTHON_FRAMES_MAX);
}

/* The stack of the image: key() was called by C. */
enum { IN_C = 0x900001, BELOW = 0x900101, CHAIN_LEN = 5, ROOM = 64 };

static void make_chain(uint64_t *chain)
{
    const uint64_t made[CHAIN_LEN] = {CN_IMAGE_EVAL + 64, IN_C, IN_C + 8,
                                      CN_IMAGE_EVAL + 128, BELOW};

    memcpy(chain, made, sizeof(made));
}

/* The same for a version: to 3.10 each frame has a call of its own. Returns its length. */
static size_t make_chain_of(uint16_t version, uint64_t *chain)
{
    make_chain(chain);
    if (version >= 0x30b)
        return CHAIN_LEN;
    chain[CHAIN_LEN - 1] = CN_IMAGE_EVAL + 128;
    chain[CHAIN_LEN] = BELOW;
    return CHAIN_LEN + 1;
}

static const struct cn_stored_frame *frame_at(struct reading *r, uint64_t address)
{
    /* A table that is added to has no lookup by address: addresses follow each other. */
    assert_int_equal(cn_stored_language(address), CN_LANGUAGE_PYTHON);
    for (size_t i = 0; i < r->names.count; i++)
        if (cn_stored_names_address(&r->names, &r->names.frames[i]) == address)
            return &r->names.frames[i];
    return NULL;
}

static void expect(struct reading *r, uint64_t address, const char *name, uint32_t line)
{
    const struct cn_stored_frame *frame = frame_at(r, address);

    assert_non_null(frame);
    assert_string_equal(frame->function, name);
    assert_string_equal(frame->file, "/srv/app.py");
    assert_int_equal(frame->line, line);
}

static void shows_frames_of_each_version_in_place_of_the_interpreter(void **state)
{
    (void)state;
    for (size_t i = 0; i < VERSION_COUNT; i++) {
        struct reading *r = reading_new(versions[i]);
        uint64_t chain[ROOM];

        walk(r);
        size_t len = make_chain_of(versions[i], chain);
        assert_int_equal(r->count, 3);
        assert_int_equal(cn_python_merge(r->python, r->frames, r->count, chain, len, ROOM,
                                         true, false),
                         CHAIN_LEN + 1);
        expect(r, chain[0], "key", CN_IMAGE_KEY_LINE);
        assert_int_equal(chain[1], IN_C);
        assert_int_equal(chain[2], IN_C + 8);
        expect(r, chain[3], "main", CN_IMAGE_MAIN_LINE);
        expect(r, chain[4], "<module> app.py", 21);
        assert_int_equal(chain[5], BELOW);
        assert_null(cn_python_problem(r->python));
        reading_free(r);
    }
}

static void shows_tasks_of_asyncio_above_their_coroutines(void **state)
{
    static const char *const given[] = {"job", "Task-12", "Task-12b", ""};
    static const char *const shown[] = {"task job", "task key", "task Task-12b",
                                        "task key"};

    (void)state;
    for (uint16_t version = 0x309; version <= 0x30d; version++)
        for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++) {
            struct reading *r = reading_new(version);
            uint64_t chain[ROOM] = {CN_IMAGE_EVAL + 64, BELOW};
            struct cn_frame_table table;

            cn_image_name_task(&r->image, version, given[i]);
            walk(r);
            assert_int_equal(r->count, 3);
            assert_true(cn_language_python.is_stale(r->python));
            assert_int_equal(cn_language_python.describe(r->python, &table),
                             CN_LANGUAGE_TABLE);
            assert_false(cn_language_python.is_stale(r->python));
            walk(r);
            assert_int_equal(r->count, 4);
            assert_false(r->frames[0].is_first);
            assert_int_equal(cn_python_merge(r->python, r->frames, r->count, chain, 2,
                                             ROOM, false, false),
                             3);
            expect(r, chain[0], "key", CN_IMAGE_KEY_LINE);
            expect(r, chain[1], shown[i], 0);
            assert_int_equal(chain[2], BELOW);
            reading_free(r);
        }
}

/* Another one has its address, and those of its coroutine and its name, when names are read. */
static void names_tasks_as_they_were_at_the_sample(void **state)
{
    static const struct {
        const char *before, *after, *shown;
    } cases[] = {
        {"job", "bus", "task job"},
        {"a longer job, 12", "a longer job, 13", "task a longer job, 12"},
        {"a much longer job, 1", "a much longer job, 1", "task a much longer job, 1"},
        {"a much longer job, 1", "a much longer job, 2", "task key"},
        {"1 much longer job", "2 much longer job", "task key"},
        {"a much longer job", "a much much longer job", "task key"},
        {"\xe9t\xe9", "job", "task key"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct reading *r = reading_new(0x30b);
        uint64_t chain[ROOM] = {CN_IMAGE_EVAL + 64, BELOW};
        struct cn_frame_table table;

        walk(r);
        (void)cn_language_python.describe(r->python, &table);
        cn_image_name_task(&r->image, 0x30b, cases[i].before);
        walk(r);
        assert_int_equal(r->count, 4);
        cn_image_name_task(&r->image, 0x30b, cases[i].after);
        cn_memory_begin(&r->memory, 1, BYTES);
        assert_int_equal(
            cn_python_merge(r->python, r->frames, r->count, chain, 2, ROOM, false, false),
            3);
        expect(r, chain[1], cases[i].shown, 0);
        reading_free(r);
    }
}

/* A task whose coroutine is not among the frames is not shown. */
static void believes_no_task_without_its_coroutine(void **state)
{
    struct reading *r = reading_new(0x30c);
    struct cn_frame_table table;

    (void)state;
    walk(r);
    (void)cn_language_python.describe(r->python, &table);
    cn_u64_put((uint8_t *)r->image.chars + 0x4c00 + 136, CN_IMAGE_BASE + 8);
    walk(r);
    assert_int_equal(r->count, 3);
    reading_free(r);
}

/* A function that is of no coroutine, beside a task that has ended and has none. */
static void believes_no_task_without_a_coroutine(void **state)
{
    static const uint64_t words[CN_PYTHON_TASK_WORDS] = {CN_IMAGE_BASE + 8};
    struct cn_python_task task;

    (void)state;
    assert_false(cn_python_tasks_match(words, 0, &task));
}

/* As a thread of C that calls Python again and again: its state was freed, and has its number still. */
static void finds_a_thread_that_has_another_state(void **state)
{
    enum { INTERPRETER = 0x4000, THREAD = 0x1200, OTHER = 0x5600, LEN = 0x200 };
    struct reading *r = reading_new(0x30b);
    const struct cn_python_layout *l = cn_python_layout_find(0x30b);
    uint8_t *bytes = (uint8_t *)r->image.chars;

    (void)state;
    walk(r);
    assert_int_equal(r->count, 3);
    memcpy(bytes + OTHER, bytes + THREAD, LEN);
    cn_u64_put(bytes + INTERPRETER + l->interpreter_threads, CN_IMAGE_BASE + OTHER);
    cn_u64_put(bytes + THREAD + l->thread_frame, 0);
    walk(r);
    assert_int_equal(r->count, 3);
    reading_free(r);
}

static void leaves_a_call_that_begins_without_frames(void **state)
{
    struct reading *r = reading_new(0x30b);
    uint64_t chain[ROOM] = {CN_IMAGE_EVAL + 8};

    (void)state;
    walk(r);
    make_chain(chain + 1);
    assert_int_equal(cn_python_merge(r->python, r->frames, r->count, chain, CHAIN_LEN + 1,
                                     ROOM, true, false),
                     CHAIN_LEN + 2);
    assert_int_equal(chain[0], CN_IMAGE_EVAL + 8);
    expect(r, chain[1], "key", CN_IMAGE_KEY_LINE);
    reading_free(r);
}

static void changes_nothing_where_stack_and_frames_contradict(void **state)
{
    struct reading *r = reading_new(0x30c);
    uint64_t chain[ROOM] = {CN_IMAGE_EVAL + 8, CN_IMAGE_EVAL + 16};
    uint64_t shorter[] = {CN_IMAGE_EVAL + 8, BELOW};

    (void)state;
    walk(r);
    make_chain(chain + 2);
    assert_int_equal(cn_python_merge(r->python, r->frames, r->count, chain, CHAIN_LEN + 2,
                                     ROOM, true, false),
                     CHAIN_LEN + 2);
    assert_int_equal(chain[2], CN_IMAGE_EVAL + 64);
    assert_int_equal(
        cn_python_merge(r->python, r->frames, r->count, shorter, 2, 2, true, false), 2);
    assert_int_equal(shorter[0], CN_IMAGE_EVAL + 8);
    /* A stack that was cut has its innermost calls. */
    assert_int_equal(
        cn_python_merge(r->python, r->frames, r->count, shorter, 2, 2, false, false), 2);
    expect(r, shorter[0], "key", CN_IMAGE_KEY_LINE);
    reading_free(r);
}

/* Frames that are read after the stack was copied. */
static void see(struct reading *r, uint64_t pc, uint64_t sp, uint64_t held)
{
    static const uint8_t stack[256];
    struct cn_unwind_step step = {.stack = {stack, sizeof(stack)}};
    bool is_arm = cn_unwind_machine_here() == CN_UNWIND_AARCH64;

    step.registers.machine = cn_unwind_machine_here();
    step.registers.value[is_arm ? CN_UNWIND_ARM_PC : CN_UNWIND_X86_RIP] = pc;
    step.registers.value[is_arm ? CN_UNWIND_ARM_SP : CN_UNWIND_X86_RSP] = sp;
    step.registers.value[3] = held;
    step.registers.known = 1 << 3;
    cn_python_see(r->python, &step);
}

static void trusts_late_frames_only_with_an_instruction_in_the_copy(void **state)
{
    struct reading *r = reading_new(0x30b);
    uint64_t chain[ROOM];

    (void)state;
    walk(r);
    uint64_t in_key = r->frames[0].code + 184 + 2, in_main = r->frames[1].code + 184 + 22;
    /* The inner call holds nothing of key(); then both hold what they ran; then the outer one ran
     * something else, and what the inner one was called for is not known. */
    for (unsigned round = 0; round < 3; round++) {
        cn_memory_begin(&r->memory, 1, BYTES);
        see(r, CN_IMAGE_EVAL + 64, 0, round == 0 ? in_main : in_key);
        see(r, IN_C, 64, 0);
        see(r, CN_IMAGE_EVAL + 128, 128, round == 2 ? in_key : in_main);
        see(r, BELOW, 192, 0);
        r->count =
            cn_python_walk(r->python, CN_IMAGE_TID, r->frames, CN_PYTHON_FRAMES_MAX);
        make_chain(chain);
        assert_int_equal(cn_python_merge(r->python, r->frames, r->count, chain, CHAIN_LEN,
                                         ROOM, true, true),
                         round == 2 ? CHAIN_LEN : CHAIN_LEN + 1);
        /* The line is that of the copy, not of the memory. */
        if (round == 1)
            expect(r, chain[0], "key", 2);
        else
            assert_int_equal(chain[0], CN_IMAGE_EVAL + 64);
        if (round < 2)
            expect(r, chain[3], "main", CN_IMAGE_MAIN_LINE);
    }
    reading_free(r);
}

static void names_no_code_that_has_become_another(void **state)
{
    struct reading *r = reading_new(0x30c);
    uint64_t chain[ROOM];

    (void)state;
    walk(r);
    /* As the kernel has read them: the first has been freed since then. */
    r->frames[0].sum = 1;
    make_chain(chain);
    assert_int_equal(cn_python_merge(r->python, r->frames, r->count, chain, CHAIN_LEN,
                                     ROOM, true, false),
                     CHAIN_LEN + 1);
    const struct cn_stored_frame *frame = frame_at(r, chain[0]);
    assert_non_null(frame);
    assert_string_equal(frame->function, "");
    expect(r, chain[3], "main", CN_IMAGE_MAIN_LINE);
    /* What was read before is known after the end of the process. */
    for (size_t i = 0; i < r->count; i++) {
        uint64_t off = r->frames[i].code - CN_IMAGE_BASE;

        const uint8_t *object = (const uint8_t *)r->image.chars + off;

        r->frames[i].sum = cn_u64_get(object + 112) + cn_u64_get(object + 128) +
                           cn_u64_get(object + 136);
    }
    make_chain(chain);
    (void)cn_python_merge(r->python, r->frames, r->count, chain, CHAIN_LEN, ROOM, true,
                          false);
    r->bytes.len = 0;
    cn_memory_begin(&r->memory, 1, BYTES);
    make_chain(chain);
    assert_int_equal(cn_python_merge(r->python, r->frames, r->count, chain, CHAIN_LEN,
                                     ROOM, true, false),
                     CHAIN_LEN + 1);
    expect(r, chain[0], "key", CN_IMAGE_KEY_LINE);
    reading_free(r);
}

static void names_code_that_was_freed_by_copies_of_the_sample(void **state)
{
    (void)state;
    for (size_t i = 0; i < VERSION_COUNT; i++) {
        struct reading *r = reading_new(versions[i]);
        struct cn_text copies = {0};
        struct cn_frame_table table;
        uint64_t chain[ROOM];

        walk(r);
        assert_int_equal(cn_language_python.describe(r->python, &table),
                         CN_LANGUAGE_TABLE);
        assert_in_range(table.object.len, 8, CN_FRAME_OBJECT_MAX);
        cn_wire_u64(&copies, CN_IMAGE_BASE);
        cn_wire_bytes(&copies, r->image.chars, r->image.len);
        while (copies.len % 8 != 0)
            cn_text_char(&copies, '\0');
        cn_memory_begin_copies(&r->memory, 1, cn_wire_view(&copies));
        for (size_t k = 0; k < r->count; k++) {
            uint64_t sum = 0, address;

            if (r->frames[k].code == 0)
                continue;
            for (size_t part = 0; part < 3; part++) {
                assert_true(cn_memory_u64(
                    &r->memory, r->frames[k].code + table.object.parts[part].pointer,
                    &address));
                sum += address;
            }
            r->frames[k].sum = sum;
            cn_language_python.learn(r->python, r->frames[k].code);
        }
        r->bytes.len = 0;
        cn_memory_begin(&r->memory, 1, BYTES);
        size_t len = make_chain_of(versions[i], chain);
        (void)cn_python_merge(r->python, r->frames, r->count, chain, len, ROOM, true,
                              false);
        expect(r, chain[0], "key", CN_IMAGE_KEY_LINE);
        expect(r, chain[4], "<module> app.py", 21);
        cn_text_done(&copies);
        reading_free(r);
    }
}

static void finds_no_frames_of_other_threads_and_names_unknown_versions(void **state)
{
    struct reading *r = reading_new(0x30b);

    (void)state;
    cn_memory_begin(&r->memory, 1, BYTES);
    assert_int_equal(cn_python_walk(r->python, 99, r->frames, CN_PYTHON_FRAMES_MAX), 0);
    reading_free(r);
    r = reading_new(0x30b);
    cn_u64_put((uint8_t *)r->image.chars + 0xf00, 0x03080af0);
    walk(r);
    assert_int_equal(r->count, 0);
    assert_string_equal(cn_python_problem(r->python), "3.8");
    reading_free(r);
}

/* As a free-threaded interpreter has it, whose threads run copies of instructions. */
static void says_what_was_not_tried_and_guesses_no_line(void **state)
{
    enum { FREE_THREADED = 2, CODE_INSTRUCTIONS = 43 };
    struct reading *r = reading_new(0x30d);
    uint8_t *runtime = memmem(r->image.chars, r->image.len, "xdebugpy", 8);
    uint64_t chain[ROOM];

    (void)state;
    assert_non_null(runtime);
    cn_u64_put(runtime + (size_t)8 * FREE_THREADED, 1);
    cn_u64_put(runtime + (size_t)8 * CODE_INSTRUCTIONS, 0x10000);
    walk(r);
    make_chain(chain);
    assert_int_equal(r->count, 3);
    assert_int_equal(cn_python_merge(r->python, r->frames, r->count, chain, CHAIN_LEN,
                                     ROOM, true, false),
                     CHAIN_LEN + 1);
    expect(r, chain[0], "key", 0);
    expect(r, chain[3], "main", 0);
    char *hint = cn_language_python.hint(r->python);
    assert_non_null(hint);
    assert_non_null(strstr(hint, "Python 3.13 without its global lock was not tried"));
    free(hint);
    reading_free(r);
}

static void a_process_that_runs_another_program_has_no_version(void **state)
{
    struct reading *r = reading_new(0x30b);

    (void)state;
    cn_u64_put((uint8_t *)r->image.chars + 0xf00, 0xc7490af0);
    walk(r);
    assert_int_equal(r->count, 0);
    assert_null(cn_python_problem(r->python));
    cn_u64_put((uint8_t *)r->image.chars + 0xf00, 0x030b07f0);
    walk(r);
    assert_true(r->count > 0);
    reading_free(r);
}

static void ends_in_lists_that_are_rings(void **state)
{
    (void)state;
    for (size_t i = 0; i < VERSION_COUNT; i++) {
        struct reading *r = reading_new(versions[i]);
        uint64_t chain[ROOM], *words = (uint64_t *)(void *)r->image.chars;

        /* Every pointer to 0 points to itself instead. */
        for (size_t k = 0; k < CN_IMAGE_LEN / 8; k++)
            words[k] = words[k] == 0 ? CN_IMAGE_BASE + 8 * k : words[k];
        walk(r);
        make_chain(chain);
        (void)cn_python_merge(r->python, r->frames, r->count, chain, CHAIN_LEN, ROOM,
                              false, false);
        reading_free(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shows_frames_of_each_version_in_place_of_the_interpreter),
        cmocka_unit_test(shows_tasks_of_asyncio_above_their_coroutines),
        cmocka_unit_test(names_tasks_as_they_were_at_the_sample),
        cmocka_unit_test(believes_no_task_without_its_coroutine),
        cmocka_unit_test(believes_no_task_without_a_coroutine),
        cmocka_unit_test(finds_a_thread_that_has_another_state),
        cmocka_unit_test(leaves_a_call_that_begins_without_frames),
        cmocka_unit_test(changes_nothing_where_stack_and_frames_contradict),
        cmocka_unit_test(trusts_late_frames_only_with_an_instruction_in_the_copy),
        cmocka_unit_test(names_no_code_that_has_become_another),
        cmocka_unit_test(names_code_that_was_freed_by_copies_of_the_sample),
        cmocka_unit_test(finds_no_frames_of_other_threads_and_names_unknown_versions),
        cmocka_unit_test(says_what_was_not_tried_and_guesses_no_line),
        cmocka_unit_test(a_process_that_runs_another_program_has_no_version),
        cmocka_unit_test(ends_in_lists_that_are_rings),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
