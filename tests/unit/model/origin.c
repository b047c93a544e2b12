/* Where data comes from survives being stored, and damaged lines say nothing. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/bytes/wire.h"
#include "base/text.h"
#include "model/origin.h"

static const struct cn_origin whole = {
    .program = "./app \"a b\"",
    .command = "cairn sample -- ./app \"a b\"",
    .writer = "cairn 0.9.0",
    .host = "host",
    .kernel = "6.1",
    .machine = "x86_64",
    .processor = "A = B",
    .processor_count = 16,
    .memory_bytes = UINT64_C(1) << 40,
    .start_ns = 1794964667906891057,
    .stacks = "unwound in the kernel",
    .refusal = "no root",
    .stack_count = 100,
    .whole_count = 99,
    .kernel_count = 98,
    .lost_count = 7,
};

static struct cn_origin decoded(const char *lines, struct cn_arena *arena)
{
    struct cn_origin origin = {0};

    cn_origin_decode(&origin, (struct cn_bytes){(const uint8_t *)lines, strlen(lines)},
                     arena);
    return origin;
}

static void stores_every_member(void **state)
{
    struct cn_text text = {0}, again = {0};
    struct cn_arena arena = {0};

    (void)state;
    cn_origin_encode(&whole, &text);
    struct cn_origin origin = decoded(cn_text_str(&text), &arena);
    struct cn_origin copy = cn_origin_copy(&origin, &arena);
    assert_string_equal(copy.program, whole.program);
    assert_string_equal(copy.processor, whole.processor);
    assert_int_equal(copy.start_ns, whole.start_ns);
    cn_origin_encode(&copy, &again);
    assert_string_equal(cn_text_str(&again), cn_text_str(&text));
    cn_text_done(&text);
    cn_text_done(&again);
    cn_arena_done(&arena);
}

static void what_is_unknown_has_no_line(void **state)
{
    struct cn_origin none = {0};
    struct cn_text text = {0};

    (void)state;
    cn_origin_encode(&none, &text);
    assert_int_equal(text.len, 0);
    assert_false(cn_origin_is_known(&none));
    assert_true(cn_origin_is_known(&whole));
}

static void a_value_stays_on_its_line(void **state)
{
    struct cn_origin two = {.program = "a\nhost=b"};
    struct cn_arena arena = {0};
    struct cn_text text = {0};

    (void)state;
    cn_origin_encode(&two, &text);
    struct cn_origin origin = decoded(cn_text_str(&text), &arena);
    assert_string_equal(origin.program, "a host=b");
    assert_null(origin.host);
    cn_text_done(&text);
    cn_arena_done(&arena);
}

static void damaged_lines_say_nothing(void **state)
{
    struct cn_arena arena = {0};
    struct cn_text text = {0};

    (void)state;
    struct cn_origin origin =
        decoded("\n=\nprogram\nkey=1\nstack_count=x\nwhole_count=9", &arena);
    assert_false(cn_origin_is_known(&origin));
    /* There are no more whole stacks than stacks. */
    origin = decoded("stack_count=5\nwhole_count=9\nkernel_count=6\n", &arena);
    assert_int_equal(origin.whole_count, 5);
    assert_int_equal(origin.kernel_count, 5);
    cn_origin_encode(&whole, &text);
    for (size_t i = 0; i < text.len; i++) {
        struct cn_origin any = {0};

        cn_origin_decode(&any, (struct cn_bytes){(const uint8_t *)text.chars, i}, &arena);
        assert_int_equal(any.program != NULL, i >= strlen("program="));
    }
    cn_text_done(&text);
    cn_arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stores_every_member),
        cmocka_unit_test(what_is_unknown_has_no_line),
        cmocka_unit_test(a_value_stays_on_its_line),
        cmocka_unit_test(damaged_lines_say_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
