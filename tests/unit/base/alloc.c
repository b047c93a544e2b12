#include <setjmp.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/arena.h"

static void fresh_memory_is_zeroed(void **state)
{
    static const uint8_t zeros[64];
    uint8_t *memory = cn_alloc(8, 8);

    (void)state;
    assert_memory_equal(memory, zeros, sizeof(zeros));
    free(memory);
    assert_null(cn_alloc(0, 8));
}

static void resizing_to_nothing_releases(void **state)
{
    int *list = cn_realloc(NULL, 3, sizeof(*list));

    (void)state;
    list[2] = 9;
    list = cn_realloc(list, 100, sizeof(*list));
    assert_int_equal(list[2], 9);
    assert_null(cn_realloc(list, 0, sizeof(*list)));
}

static void arrays_double_as_they_fill(void **state)
{
    size_t *list = NULL;
    size_t capacity = 0, moves = 0;

    (void)state;
    for (size_t count = 0; count < 10000; count++) {
        size_t before = capacity;

        list = cn_grow(list, count, &capacity, sizeof(*list));
        assert_true(capacity > count);
        moves += capacity != before;
        list[count] = count;
    }
    for (size_t i = 0; i < 10000; i++)
        assert_int_equal(list[i], i);
    assert_true(moves < 15);
    free(list);
}

static void strings_are_copied(void **state)
{
    char text[] = "name";
    char *copy = cn_strdup(text);

    (void)state;
    text[0] = 'g';
    assert_string_equal(copy, "name");
    free(copy);
}

/* Sizes around a block's: pieces are zeroed, aligned and do not overlap. */
static void pieces_are_apart_and_aligned(void **state)
{
    static const size_t sizes[] = {0, 1, 15, 16, 17, 4096, 65519, 65520, 65536, 70000, 3};
    enum { COUNT = sizeof(sizes) / sizeof(sizes[0]), ROUNDS = 4 };
    struct cn_arena arena = {0};
    uint8_t *pieces[COUNT * ROUNDS];

    (void)state;
    for (size_t i = 0; i < COUNT * ROUNDS; i++) {
        size_t size = sizes[i % COUNT];

        pieces[i] = cn_arena_alloc(&arena, size, 1);
        assert_int_equal((uintptr_t)pieces[i] % alignof(max_align_t), 0);
        for (size_t at = 0; at < size; at++)
            assert_int_equal(pieces[i][at], 0);
        memset(pieces[i], (int)i + 1, size);
    }
    for (size_t i = 0; i < COUNT * ROUNDS; i++)
        for (size_t at = 0; at < sizes[i % COUNT]; at++)
            assert_int_equal(pieces[i][at], i + 1);
    cn_arena_done(&arena);
}

static void an_arena_keeps_text(void **state)
{
    struct cn_arena arena = {0};
    char *copy = cn_arena_copy(&arena, "abcdef", 3);
    char *whole = cn_arena_strdup(&arena, "whole");
    char *printed = cn_arena_printf(&arena, "%d-%s", 12, "x");
    char *empty = cn_arena_copy(&arena, NULL, 0);

    (void)state;
    assert_string_equal(copy, "abc");
    assert_string_equal(whole, "whole");
    assert_string_equal(printed, "12-x");
    assert_string_equal(empty, "");
    cn_arena_done(&arena);
}

static void an_arena_is_usable_after_done(void **state)
{
    struct cn_arena arena = {0};

    (void)state;
    cn_arena_done(&arena);
    assert_non_null(cn_arena_strdup(&arena, "a"));
    cn_arena_done(&arena);
    assert_string_equal(cn_arena_strdup(&arena, "b"), "b");
    cn_arena_done(&arena);
    assert_null(arena.blocks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fresh_memory_is_zeroed),
        cmocka_unit_test(resizing_to_nothing_releases),
        cmocka_unit_test(arrays_double_as_they_fill),
        cmocka_unit_test(strings_are_copied),
        cmocka_unit_test(pieces_are_apart_and_aligned),
        cmocka_unit_test(an_arena_keeps_text),
        cmocka_unit_test(an_arena_is_usable_after_done),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
