#include "sampler/languages/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "sampler/languages/frame_walk.h"
#include "sampler/languages/languages.h"
#include "sampler/languages/memory.h"

/* What is looked for in this program itself. */
_Thread_local uint64_t cn_test_variable;
const char cn_test_constant[] = "cairn-test-constant 4711";
uint64_t cn_test_data = 1;
void cn_test_long(void);
void cn_test_caller(void);

/* Longer than any other that cn_test_caller() calls. */
__attribute__((noinline)) void cn_test_long(void)
{
    __asm__ volatile(".rept 3000\nnop\nnop\nnop\nnop\n.endr");
}

__attribute__((noinline)) void cn_test_caller(void)
{
    cn_test_long();
    cn_test_data++;
}

/* The mapping with the code of this program. */
static struct cn_language_mapping mapping_of(uintptr_t address)
{
    static char path[512];
    struct cn_language_mapping mapping = {.path = path};
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[1024];

    assert_non_null(maps);
    while (fgets(line, sizeof(line), maps)) {
        unsigned long begin, end, off;

        if (sscanf(line, "%lx-%lx %*s %lx %*s %*s %511s", &begin, &end, &off, path) ==
                4 &&
            address >= begin && address < end) {
            mapping.begin = begin;
            mapping.end = end;
            mapping.file_off = off;
            break;
        }
    }
    (void)fclose(maps);
    assert_true(mapping.begin > 0);
    return mapping;
}

static void finds_variables_of_threads(void **state)
{
    struct cn_language_mapping mapping = mapping_of((uintptr_t)cn_test_caller);
    struct cn_memory *memory = calloc(1, sizeof(*memory));
    struct cn_language_variable variable;
    struct cn_frame_table table = {0};

    (void)state;
    assert_non_null(memory);
    cn_memory_begin(memory, getpid(), 1 << 20);
    cn_test_variable = 1;
    assert_true(cn_language_variable_find(&mapping, "cn_test_variable", &variable));
    assert_true(cn_language_variable_locate(&variable, memory, &table));
    assert_int_equal(table.root_kind, CN_FRAME_AT_THREAD);
    assert_int_equal(table.root_module, 0);
    assert_int_equal((uintptr_t)__builtin_thread_pointer() + table.root,
                     (uintptr_t)&cn_test_variable);
    assert_false(cn_language_variable_find(&mapping, "cn_test_no_variable", &variable));
    assert_false(cn_language_variable_locate(&variable, memory, &table));
    free(memory);
}

/* What the loader has written for a variable of a library. */
static void follows_what_the_loader_wrote(void **state)
{
    uint64_t slots[4] = {3, 0x40, 0, 0};
    struct cn_language_variable variable = {CN_VARIABLE_MODULE, (uintptr_t)slots, 0};
    struct cn_memory *memory = calloc(1, sizeof(*memory));
    struct cn_frame_table table = {0};

    (void)state;
    assert_non_null(memory);
    cn_memory_begin(memory, getpid(), 1 << 20);
    assert_true(cn_language_variable_locate(&variable, memory, &table));
    assert_int_equal(table.root_module, 3);
    assert_int_equal(table.root, 0x40);
    slots[0] = 0;
    cn_memory_begin(memory, getpid(), 1 << 20);
    assert_false(cn_language_variable_locate(&variable, memory, &table));
    slots[0] = UINT64_MAX;
    cn_memory_begin(memory, getpid(), 1 << 20);
    assert_false(cn_language_variable_locate(&variable, memory, &table));
    /* A descriptor: an offset that fits, or where module and offset are. */
    variable.kind = CN_VARIABLE_DESCRIPTOR;
    slots[0] = 1;
    slots[1] = (uint64_t)-24;
    cn_memory_begin(memory, getpid(), 1 << 20);
    assert_true(cn_language_variable_locate(&variable, memory, &table));
    assert_int_equal(table.root_module, 0);
    assert_int_equal(table.root, (uint64_t)-24);
    slots[1] = (uintptr_t)(slots + 2);
    slots[2] = 2;
    slots[3] = 0x10;
    cn_memory_begin(memory, getpid(), 1 << 20);
    assert_true(cn_language_variable_locate(&variable, memory, &table));
    assert_int_equal(table.root_module, 2);
    assert_int_equal(table.root, 0x10);
    variable.kind = CN_VARIABLE_OFFSET;
    slots[0] = (uint64_t)-8;
    cn_memory_begin(memory, getpid(), 1 << 20);
    assert_true(cn_language_variable_locate(&variable, memory, &table));
    assert_int_equal(table.root, (uint64_t)-8);
    free(memory);
}

static void reads_constants_texts_and_sections(void **state)
{
    static const char *const name = "cn_test_constant";
    struct cn_language_mapping mapping = mapping_of((uintptr_t)cn_test_caller);
    uint64_t address, begin, end;
    char text[64] = {0}, ident[4], prefix[32];

    (void)state;
    cn_language_symbols(&mapping, &name, 1, &address);
    assert_int_equal(address, (uintptr_t)cn_test_constant);
    assert_true(cn_language_constant(&mapping, address, text, sizeof(cn_test_constant)));
    assert_string_equal(text, cn_test_constant);
    assert_false(cn_language_constant(&mapping, 1, text, 8));
    /* What is looked for must not be in the file itself. */
    (void)snprintf(prefix, sizeof(prefix), "%s-%s", "cairn", "test");
    assert_true(cn_language_text_find(&mapping, prefix, text, sizeof(text)));
    assert_string_equal(text, cn_test_constant);
    assert_false(cn_language_text_find(&mapping, prefix, text, 8));
    assert_false(cn_language_text_find(&mapping, prefix + 1, text, sizeof(text)));
    assert_true(cn_language_section(&mapping, ".shstrtab", ident, sizeof(ident)));
    assert_false(cn_language_section(&mapping, ".nothing", ident, sizeof(ident)));
    assert_true(cn_language_data(&mapping, &begin, &end));
    assert_true(begin <= (uintptr_t)&cn_test_data && (uintptr_t)&cn_test_data < end);
}

static void finds_the_largest_function_that_is_called(void **state)
{
    static const char *const name = "cn_test_caller";
    struct cn_language_mapping mapping = mapping_of((uintptr_t)cn_test_caller);
    uint64_t address, len, begin = 0, end = 0;

    (void)state;
    cn_test_caller();
    cn_language_symbols_sized(&mapping, &name, 1, &address, &len);
    assert_true(cn_language_callee(&mapping, address, address + len, &begin, &end));
    assert_int_equal(begin, (uintptr_t)cn_test_long);
    assert_true(end > begin + 12000 && end < begin + 100000);
    assert_false(cn_language_callee(&mapping, address, address, &begin, &end));
    assert_false(cn_language_callee(&mapping, address, address + 1, &begin, &end));
}

static void finds_nothing_in_files_that_are_none(void **state)
{
    struct cn_language_mapping mapping = mapping_of((uintptr_t)cn_test_caller);
    struct cn_language_variable variable;
    uint64_t begin, end;
    char text[64];

    (void)state;
    static const char *const paths[] = {"/proc/self/status", "/nonexistent", "/"};
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        mapping.path = paths[i];
        assert_false(cn_language_variable_find(&mapping, "x", &variable));
        assert_false(cn_language_constant(&mapping, mapping.begin, text, 1));
        assert_false(cn_language_text_find(&mapping, "a", text, sizeof(text)));
        assert_false(cn_language_section(&mapping, ".text", text, 1));
        assert_false(cn_language_data(&mapping, &begin, &end));
        assert_false(cn_language_callee(&mapping, mapping.begin, mapping.begin + 16,
                                        &begin, &end));
        assert_int_equal(cn_language_last_variable(&mapping), (uint64_t)-8);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_variables_of_threads),
        cmocka_unit_test(follows_what_the_loader_wrote),
        cmocka_unit_test(reads_constants_texts_and_sections),
        cmocka_unit_test(finds_the_largest_function_that_is_called),
        cmocka_unit_test(finds_nothing_in_files_that_are_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
