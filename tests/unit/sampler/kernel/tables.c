/* Tables for the kernel: trees of rows, and rules. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"
#include "sampler/kernel/tables.h"
#include "support/tiny_elf.h"
#include "unwind/table.h"

enum { ROWS = 600000, RULE_WORDS = 4 };

static void build_tiny(struct cn_unwind_table *table, enum cn_unwind_machine machine)
{
    struct cn_text text = cn_test_elf(machine, true);
    struct cn_unwind_elf elf;

    assert_true(cn_unwind_elf_open(
        &elf, (struct cn_bytes){(const uint8_t *)text.chars, text.len}));
    cn_unwind_table_build(table, &elf);
    cn_text_done(&text);
}

static const struct cn_kernel_rule *rule_at(const struct cn_kernel_tree *tree,
                                            const struct cn_kernel_rules *rules,
                                            const struct cn_unwind_table *table,
                                            uint64_t address)
{
    return &rules->list[cn_kernel_tree_find(tree, (uint32_t)(address - table->base))];
}

static void rules_are_those_of_the_table(void **state)
{
    struct cn_unwind_table table;
    struct cn_kernel_rules rules = {0};
    struct cn_kernel_tree tree;

    (void)state;
    build_tiny(&table, CN_UNWIND_X86_64);
    cn_kernel_tree_build(&tree, &rules, &table, 0);
    assert_int_equal(tree.depth, 1);
    const struct cn_kernel_rule *rule = rule_at(&tree, &rules, &table, CN_TEST_ELF_CODE);
    assert_int_equal(rule->kind, CN_KERNEL_BY_SP);
    assert_int_equal(rule->cfa, 8);
    assert_int_equal(rule->flags, CN_KERNEL_SAVED_PC);
    assert_int_equal(rule->pc, -8);
    rule = rule_at(&tree, &rules, &table, CN_TEST_ELF_CODE + 1);
    assert_int_equal(rule->cfa, 16);
    /* Return addresses of the recorder are in its memory, which the kernel does not read. */
    rule = rule_at(&tree, &rules, &table, CN_TEST_ELF_REPLACED);
    assert_int_equal(rule->kind, CN_KERNEL_UNKNOWN);
    rule = rule_at(&tree, &rules, &table, CN_TEST_ELF_CODE + 0x7fffff);
    assert_int_equal(rule->kind, CN_KERNEL_UNKNOWN);
    cn_kernel_tree_done(&tree);
    cn_kernel_rules_done(&rules);
    cn_unwind_table_done(&table);
}

static void a_trampoline_is_known_without_a_rule(void **state)
{
    struct cn_unwind_table table;
    struct cn_kernel_rules rules = {0};
    struct cn_kernel_tree tree;

    (void)state;
    build_tiny(&table, CN_UNWIND_AARCH64);
    cn_kernel_tree_build(&tree, &rules, &table, CN_TEST_ELF_RETURN);
    for (int i = -1; i < 8; i++)
        assert_int_equal(
            rule_at(&tree, &rules, &table, CN_TEST_ELF_RETURN + (uint64_t)(int64_t)i)
                ->kind,
            CN_KERNEL_BY_SIGNAL);
    assert_int_not_equal(rule_at(&tree, &rules, &table, CN_TEST_ELF_RETURN - 2)->kind,
                         CN_KERNEL_BY_SIGNAL);
    assert_int_not_equal(rule_at(&tree, &rules, &table, CN_TEST_ELF_RETURN + 8)->kind,
                         CN_KERNEL_BY_SIGNAL);
    cn_kernel_tree_done(&tree);
    cn_kernel_rules_done(&rules);
    cn_unwind_table_done(&table);
}

/* A rule of x86_64: the CFA is the stack pointer plus `cfa`. */
static void put_rule(uint32_t *words, uint32_t cfa)
{
    words[0] = CN_UNWIND_CFA_REGISTER | CN_UNWIND_X86_RSP << 8 | CN_UNWIND_X86_RIP << 16 |
               UINT32_C(1) << 24;
    words[1] = cfa;
    words[2] = CN_UNWIND_X86_RIP | CN_UNWIND_AT_CFA << 8;
    words[3] = (uint32_t)-8;
}

static void large_tables_are_deep_trees(void **state)
{
    static uint32_t begins[ROWS], rows[ROWS], words[1 + 3 * RULE_WORDS];
    struct cn_unwind_table table = {
        .machine = CN_UNWIND_X86_64,
        .base = 0x1000,
        .begins = begins,
        .rules = rows,
        .words = words,
        .row_count = ROWS,
        .word_count = sizeof(words) / sizeof(*words),
    };
    struct cn_kernel_rules rules = {0};
    struct cn_kernel_tree tree;

    (void)state;
    for (uint32_t i = 0; i < 3; i++)
        put_rule(words + 1 + i * RULE_WORDS, 8 + 8 * i);
    for (uint32_t i = 0; i < ROWS; i++) {
        begins[i] = 16 + 3 * i;
        rows[i] = i % 4 == 3 ? 0 : 1 + i % 4 * RULE_WORDS;
    }
    cn_kernel_tree_build(&tree, &rules, &table, 0);
    assert_int_equal(tree.depth, 3);
    assert_int_equal(cn_kernel_tree_find(&tree, 15), 0);
    for (uint32_t i = 0; i < ROWS; i++)
        for (uint32_t off = 0; off < 3; off++) {
            uint32_t found = cn_kernel_tree_find(&tree, begins[i] + off);

            if (i % 4 == 3)
                assert_int_equal(found, 0);
            else
                assert_int_equal(rules.list[found].cfa, 8 + 8 * (i % 4));
        }
    cn_kernel_tree_done(&tree);
    cn_kernel_rules_done(&rules);
}

static void equal_rules_are_one(void **state)
{
    uint32_t words[1 + 2 * RULE_WORDS], begins[] = {16, 32}, rows[] = {1, 1 + RULE_WORDS};
    struct cn_unwind_table table = {
        .machine = CN_UNWIND_X86_64,
        .begins = begins,
        .rules = rows,
        .words = words,
        .row_count = 2,
        .word_count = sizeof(words) / sizeof(*words),
    };
    struct cn_kernel_rules rules = {0};
    struct cn_kernel_tree tree;

    (void)state;
    put_rule(words + 1, 24);
    put_rule(words + 1 + RULE_WORDS, 24);
    cn_kernel_tree_build(&tree, &rules, &table, 0);
    assert_int_equal(cn_kernel_tree_find(&tree, 16), cn_kernel_tree_find(&tree, 40));
    assert_int_equal(tree.blocks[0].begins[3], UINT32_MAX);
    cn_kernel_tree_done(&tree);
    cn_kernel_rules_done(&rules);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_are_those_of_the_table),
        cmocka_unit_test(a_trampoline_is_known_without_a_rule),
        cmocka_unit_test(large_tables_are_deep_trees),
        cmocka_unit_test(equal_rules_are_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
