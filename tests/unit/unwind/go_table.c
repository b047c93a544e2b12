/* Functions, lines, inlined calls and frames of Go programs, of both layouts. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bytes/wire.h"
#include "support/tiny_go.h"
#include "unwind/go_table.h"
#include "unwind/table.h"

static void names_lines_and_inlined_calls(void **state)
{
    for (unsigned i = 0; i < 4; i++) {
        struct cn_text file =
            cn_test_go(i < 2 ? CN_UNWIND_X86_64 : CN_UNWIND_AARCH64, i % 2);
        struct cn_go_location at[4];
        struct cn_go_function function;
        struct cn_go_table table;

        assert_true(cn_go_table_open(&table, cn_wire_view(&file)));
        cn_go_table_find_inlined(&table, cn_wire_view(&file));
        assert_int_equal(table.function_count, 2);
        assert_true(cn_go_table_find(&table, CN_TEST_GO_CODE + 0x14, &function));
        assert_string_equal(function.name, "main.main");
        assert_int_equal(function.end, CN_TEST_GO_CODE + 0x40);
        assert_int_equal(function.first_line, i % 2 ? 9 : 0);
        assert_int_equal(cn_go_table_locations(&table, &function, CN_TEST_GO_CODE, at, 4),
                         1);
        assert_string_equal(at[0].file, "/src/main.go");
        assert_int_equal(at[0].line, 10);
        assert_int_equal(
            cn_go_table_locations(&table, &function, CN_TEST_GO_CODE + 0x14, at, 4), 2);
        assert_string_equal(at[0].function, "main.main");
        assert_string_equal(at[0].file, "/src/main.go");
        assert_int_equal(at[0].line, 12);
        assert_string_equal(at[1].function, "main.add");
        assert_string_equal(at[1].file, "/src/add.go");
        assert_int_equal(at[1].line, 20);
        assert_true(cn_go_table_find(&table, CN_TEST_GO_CODE + 0x40, &function));
        assert_string_equal(function.name, "runtime.goexit");
        assert_int_equal(function.flags, CN_GO_IS_OUTERMOST);
        assert_false(cn_go_table_find(&table, CN_TEST_GO_CODE + 0x50, &function));
        assert_false(cn_go_table_find(&table, CN_TEST_GO_CODE - 1, &function));
        cn_text_done(&file);
    }
    (void)state;
}

/* The offset of the CFA from the stack pointer. */
static uint32_t frame_at(const struct cn_unwind_table *table, uint64_t off)
{
    const uint32_t *rule = cn_unwind_table_find(table, CN_TEST_GO_CODE + off);

    assert_non_null(rule);
    return rule[1];
}

static void frames_are_those_of_the_table(void **state)
{
    for (unsigned i = 0; i < 2; i++) {
        enum cn_unwind_machine machine = i ? CN_UNWIND_AARCH64 : CN_UNWIND_X86_64;
        uint32_t pushed = i ? 0 : 8;
        struct cn_text file = cn_test_go(machine, true);
        struct cn_unwind_table table;
        struct cn_unwind_elf elf;

        assert_true(cn_unwind_elf_open(&elf, cn_wire_view(&file)));
        cn_unwind_table_build(&table, &elf);
        assert_int_equal(frame_at(&table, 0), pushed);
        assert_int_equal(frame_at(&table, 7), pushed);
        assert_int_equal(frame_at(&table, 8), pushed + CN_TEST_GO_FRAME);
        assert_int_equal(frame_at(&table, 0x37), pushed + CN_TEST_GO_FRAME);
        assert_int_equal(frame_at(&table, 0x38), pushed);
        /* The outermost function has no caller. */
        const uint32_t *rule = cn_unwind_table_find(&table, CN_TEST_GO_CODE + 0x44);
        assert_non_null(rule);
        assert_int_equal(rule[2] >> 8, CN_UNWIND_UNDEFINED);
        assert_null(cn_unwind_table_find(&table, CN_TEST_GO_CODE + 0x50));
        cn_unwind_table_done(&table);
        cn_text_done(&file);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_lines_and_inlined_calls),
        cmocka_unit_test(frames_are_those_of_the_table),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
