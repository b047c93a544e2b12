/* Source locations of this program itself, which is built with debug information. */

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/text.h"
#include "support/scratch.h"
#include "symbols/program/resolver.h"
#include "symbols/sources.h"

static char program[4096];

static uint64_t offset_of(uintptr_t address)
{
    Dl_info info;

    assert_true(dladdr((const void *)address, &info) != 0);
    return address - (uintptr_t)info.dli_fbase;
}

enum { SQUARE_LINE = __LINE__ + 1 };
static int square_of(int n)
{
    return n * n;
}
static int (*volatile square)(int) = square_of;

static void finds_where_a_function_is_defined(void **state)
{
    struct cn_resolver *resolver = cn_resolver_new();
    struct cn_source_location location;

    (void)state;
    assert_true(cn_resolver_function(resolver, program, "", offset_of((uintptr_t)square),
                                     &location));
    assert_non_null(strstr(location.file, "/tests/unit/symbols/program/resolver.c"));
    assert_int_equal(location.file[0], '/');
    assert_int_equal(location.line, SQUARE_LINE);
    cn_resolver_free(resolver);
}

/* The return address of the caller. */
static __attribute__((noinline)) uintptr_t return_address(void)
{
    return (uintptr_t)__builtin_return_address(0);
}

enum { INNER_LINE = __LINE__ + 3 };
static inline __attribute__((always_inline)) uintptr_t inner(volatile int *n)
{
    uintptr_t address = return_address();

    ++*n;
    return address;
}

enum { MIDDLE_LINE = __LINE__ + 3 };
static inline __attribute__((always_inline)) uintptr_t middle(volatile int *n)
{
    uintptr_t address = inner(n);

    ++*n;
    return address;
}

enum { OUTER_LINE = __LINE__ + 4 };
static __attribute__((noinline)) uintptr_t outer(void)
{
    volatile int n = 0;
    uintptr_t address = middle(&n);

    ++n;
    return address;
}

static void lists_inlined_functions(void **state)
{
    struct cn_resolver *resolver = cn_resolver_new();
    struct cn_source_location list[8];
    uint64_t offset = offset_of(outer() - 1);

    (void)state;
    assert_int_equal(cn_resolver_instruction(resolver, program, "", offset, list, 8), 3);
    assert_null(list[0].function);
    assert_int_equal(list[0].line, OUTER_LINE);
    assert_string_equal(list[1].function, "middle");
    assert_int_equal(list[1].line, MIDDLE_LINE);
    assert_string_equal(list[2].function, "inner");
    assert_int_equal(list[2].line, INNER_LINE);
    assert_int_equal(cn_resolver_instruction(resolver, program, "", offset, list, 1), 1);
    cn_resolver_free(resolver);
}

static void resolves_nothing_of_another_build(void **state)
{
    struct cn_resolver *resolver = cn_resolver_new();
    struct cn_source_location location;
    uint64_t offset = offset_of((uintptr_t)square);

    (void)state;
    assert_false(cn_resolver_function(resolver, program, "0123", offset, &location));
    assert_false(cn_resolver_function(resolver, "/nowhere", "", offset, &location));
    assert_false(cn_resolver_function(resolver, "[kernel]", "", offset, &location));
    assert_false(cn_resolver_function(resolver, program, "", UINT64_MAX / 2, &location));
    cn_resolver_free(resolver);
}

static void finds_sources_that_were_moved(void **state)
{
    struct cn_scratch *scratch = cn_scratch_enter();
    struct cn_sources sources = {0};
    struct cn_error err;

    (void)state;
    cn_scratch_write("main.c", "int main;", 9);
    assert_null(cn_sources_find(&sources, "/build/main.c"));
    assert_true(cn_sources_move(&sources, "/build/=.", &err));
    assert_string_equal(cn_sources_find(&sources, "/build/main.c"), "./main.c");
    assert_null(cn_sources_find(&sources, "/builder/main.c"));
    assert_null(cn_sources_find(&sources, "/build"));
    assert_false(cn_sources_move(&sources, "=x", &err));
    assert_false(cn_sources_move(&sources, "x", &err));
    cn_sources_done(&sources);
    cn_scratch_leave(scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_where_a_function_is_defined),
        cmocka_unit_test(lists_inlined_functions),
        cmocka_unit_test(resolves_nothing_of_another_build),
        cmocka_unit_test(finds_sources_that_were_moved),
    };
    ssize_t len = readlink("/proc/self/exe", program, sizeof(program) - 1);

    if (len < 0)
        return 1;
    program[len] = '\0';
    return cmocka_run_group_tests(tests, NULL, NULL);
}
