#include "sampler/kernel/tables.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "unwind/table.h"

enum {
    ENTRY_LEN = 128, /* of _start, at most */
    TRAMPOLINE_LEN = 8,
};

/* Rows in the order of addresses, neighbours with different rules. */
struct rows {
    uint32_t *begins, *to;
    size_t count, begin_capacity, to_capacity;
};

void cn_kernel_rules_done(struct cn_kernel_rules *rules)
{
    free(rules->list);
    cn_map_done(&rules->number_of);
    *rules = (struct cn_kernel_rules){0};
}

/* The number of a rule, 0 if there are too many. */
static uint32_t add_rule(struct cn_kernel_rules *rules, struct cn_kernel_rule rule)
{
    uint64_t key =
        (uint64_t)rule.kind | (uint64_t)rule.flags << 8 | (uint64_t)rule.push << 16;

    if (rule.kind == CN_KERNEL_UNKNOWN)
        return 0;
    if (rules->count == 0) {
        CN_PUSH(rules->list, rules->count, rules->capacity, (struct cn_kernel_rule){0});
    }
    key = (key * UINT64_C(0x9e3779b97f4a7c15) ^ (uint32_t)rule.cfa) *
          UINT64_C(0x9e3779b97f4a7c15);
    key = (key ^ (uint32_t)rule.fp) * UINT64_C(0x9e3779b97f4a7c15) ^ (uint32_t)rule.pc;
    for (;; key++) {
        uint32_t at = *cn_map_at(&rules->number_of, key, (uint32_t)rules->count);

        if (at == rules->count)
            break;
        if (memcmp(&rules->list[at], &rule, sizeof(rule)) == 0)
            return at;
    }
    if (rules->count == CN_KERNEL_RULES_MAX)
        return 0;
    CN_PUSH(rules->list, rules->count, rules->capacity, rule);
    return (uint32_t)rules->count - 1;
}

/* The expressions of x86_64 that are known by their bytes: that of a PLT, rsp + 8 + ((rip & 15
 * >= N) << 3), and that of the trampoline that returns from a signal, the rsp of its context. */
static void find_expression(const struct cn_unwind_table *table, uint32_t off,
                            struct cn_kernel_rule *rule)
{
    static const uint8_t before[] = {0x77, 0x08, 0x80, 0x00, 0x3f, 0x1a};
    static const uint8_t after[] = {0x2a, 0x33, 0x24, 0x22};
    static const uint8_t signal[] = {0x77, 0xa0, 0x01, 0x06};
    enum { LITERAL_0 = 0x30 };
    struct cn_bytes bytes = cn_unwind_table_expression(table, off);

    if (bytes.len == sizeof(signal) && memcmp(bytes.ptr, signal, sizeof(signal)) == 0) {
        rule->kind = CN_KERNEL_BY_SIGNAL;
    } else if (bytes.len == sizeof(before) + 1 + sizeof(after) &&
               memcmp(bytes.ptr, before, sizeof(before)) == 0 &&
               memcmp(bytes.ptr + sizeof(before) + 1, after, sizeof(after)) == 0 &&
               bytes.ptr[sizeof(before)] >= LITERAL_0 &&
               bytes.ptr[sizeof(before)] < LITERAL_0 + 16) {
        rule->kind = CN_KERNEL_BY_PLT;
        rule->push = (uint8_t)(bytes.ptr[sizeof(before)] - LITERAL_0);
    }
}

static void find_kind(const struct cn_unwind_table *table, const uint32_t *words,
                      struct cn_kernel_rule *rule)
{
    bool is_arm = table->machine == CN_UNWIND_AARCH64;
    bool is_signal = cn_unwind_rule_flags(words[0]) & CN_UNWIND_IS_SIGNAL;
    unsigned number = cn_unwind_rule_cfa_register(words[0]);

    if (cn_unwind_rule_cfa(words[0]) == CN_UNWIND_CFA_EXPRESSION) {
        if (!is_arm)
            find_expression(table, words[1], rule);
        if ((rule->kind == CN_KERNEL_BY_SIGNAL) != is_signal)
            rule->kind = CN_KERNEL_UNKNOWN;
        return;
    }
    /* On aarch64 the layout is known by the code, not by a table. */
    if (is_signal)
        return;
    rule->cfa = (int32_t)words[1];
    if (number == (is_arm ? CN_UNWIND_ARM_SP : CN_UNWIND_X86_RSP))
        rule->kind = CN_KERNEL_BY_SP;
    else if (number == (is_arm ? CN_UNWIND_ARM_FP : CN_UNWIND_X86_RBP))
        rule->kind = CN_KERNEL_BY_FP;
}

struct cn_kernel_rule cn_kernel_rule_of(const struct cn_unwind_table *table,
                                        const uint32_t *words)
{
    static const struct cn_kernel_rule unknown, end = {.kind = CN_KERNEL_END};
    bool is_arm = table->machine == CN_UNWIND_AARCH64;
    unsigned sp = is_arm ? CN_UNWIND_ARM_SP : CN_UNWIND_X86_RSP;
    unsigned fp = is_arm ? CN_UNWIND_ARM_FP : CN_UNWIND_X86_RBP;
    unsigned from = cn_unwind_rule_return(words[0]);
    unsigned count = cn_unwind_rule_flags(words[0]) & CN_UNWIND_COUNT_MASK;
    struct cn_kernel_rule rule = {0};

    find_kind(table, words, &rule);
    if (rule.kind == CN_KERNEL_BY_SIGNAL || rule.kind == CN_KERNEL_UNKNOWN)
        return (struct cn_kernel_rule){.kind = rule.kind};
    if (from != (is_arm ? CN_UNWIND_ARM_LR : CN_UNWIND_X86_RIP))
        return unknown;
    for (unsigned i = 0; i < count; i++) {
        unsigned number = words[2 + 2 * i] & 0xff;
        enum cn_unwind_kind kind = (enum cn_unwind_kind)(words[2 + 2 * i] >> 8);
        int32_t off = (int32_t)words[3 + 2 * i];

        if (number == sp)
            return unknown;
        if (number == fp && kind == CN_UNWIND_AT_CFA) {
            rule.flags |= CN_KERNEL_SAVED_FP;
            rule.fp = off;
        } else if (number == fp) {
            rule.flags |= CN_KERNEL_LOST_FP;
        } else if (number == from && kind == CN_UNWIND_AT_CFA) {
            rule.flags |= CN_KERNEL_SAVED_PC;
            rule.pc = off;
        } else if (number == from) {
            return kind == CN_UNWIND_UNDEFINED ? end : unknown;
        }
    }
    return is_arm || rule.flags & CN_KERNEL_SAVED_PC ? rule : unknown;
}

static void add_row(struct rows *rows, uint32_t begin, uint32_t to)
{
    size_t count = rows->count;

    if (count > 0 && rows->to[count - 1] == to)
        return;
    if (count > 0 && rows->begins[count - 1] == begin) {
        rows->to[count - 1] = to;
        return;
    }
    CN_PUSH(rows->begins, count, rows->begin_capacity, begin);
    CN_PUSH(rows->to, rows->count, rows->to_capacity, to);
}

/* Code that is known although no rule describes it. */
struct known_code {
    uint64_t begin, end;
    uint32_t to;
};

/* The part of a row without a rule that is known. */
static void add_known(struct rows *rows, const struct known_code *known, uint64_t begin,
                      uint64_t end)
{
    if (known->begin >= end || known->end <= begin)
        return;
    add_row(rows, (uint32_t)(begin > known->begin ? begin : known->begin), known->to);
    if (end > known->end)
        add_row(rows, (uint32_t)known->end, 0);
}

/* Addresses of the module that count from its base; nothing if it has no such code. */
static struct known_code known_at(const struct cn_unwind_table *table, uint64_t address,
                                  uint64_t before, uint64_t len, uint32_t to)
{
    uint64_t begin = address - table->base - before;

    if (address < table->base + before || begin > UINT32_MAX - len - before)
        return (struct known_code){0};
    return (struct known_code){begin, begin + before + len, to};
}

/* The rows of a table, from 0 on. */
static void list_rows(struct rows *rows, struct cn_kernel_rules *rules,
                      const struct cn_unwind_table *table, uint64_t trampoline)
{
    uint32_t *number_of = cn_alloc(table->word_count + 1, sizeof(*number_of));
    uint32_t end = add_rule(rules, (struct cn_kernel_rule){.kind = CN_KERNEL_END});
    uint32_t signal =
        add_rule(rules, (struct cn_kernel_rule){.kind = CN_KERNEL_BY_SIGNAL});
    struct known_code first = known_at(table, table->entry, 0, ENTRY_LEN, end),
                      second = {0};

    /* A handler returns to its first instruction, which is found by the byte before. */
    if (trampoline > 0)
        second = known_at(table, trampoline, 1, TRAMPOLINE_LEN, signal);
    if (second.begin < first.begin) {
        struct known_code other = first;

        first = second;
        second = other;
    }
    add_row(rows, 0, 0);
    for (size_t i = 0; i <= table->row_count; i++) {
        uint64_t begin = i == 0 ? 0 : table->begins[i - 1];
        uint64_t until = i == table->row_count ? UINT32_MAX : table->begins[i];
        uint32_t at = i == 0 ? 0 : table->rules[i - 1];

        if (at > 0 && number_of[at] == 0)
            number_of[at] =
                1 + add_rule(rules, cn_kernel_rule_of(table, &table->words[at]));
        add_row(rows, (uint32_t)begin, at > 0 ? number_of[at] - 1 : 0);
        if (at == 0) {
            add_known(rows, &first, begin, until);
            add_known(rows, &second, begin, until);
        }
    }
    free(number_of);
}

static void fill_block(struct cn_kernel_block *block, const struct rows *rows,
                       size_t from)
{
    for (size_t i = 0; i < CN_KERNEL_BLOCK_ROWS; i++) {
        bool is_used = from + i < rows->count;

        block->begins[i] = is_used ? rows->begins[from + i] : UINT32_MAX;
        block->to[i] = is_used ? rows->to[from + i] : 0;
    }
}

static void rows_done(struct rows *rows)
{
    free(rows->begins);
    free(rows->to);
    *rows = (struct rows){0};
}

void cn_kernel_tree_build(struct cn_kernel_tree *tree, struct cn_kernel_rules *rules,
                          const struct cn_unwind_table *table, uint64_t trampoline)
{
    struct rows rows = {0};
    size_t counts[CN_KERNEL_DEPTH_MAX], first;

    *tree = (struct cn_kernel_tree){0};
    list_rows(&rows, rules, table, trampoline);
    for (size_t count = rows.count; tree->depth == 0 || count > 1;) {
        count = (count + CN_KERNEL_BLOCK_ROWS - 1) / CN_KERNEL_BLOCK_ROWS;
        counts[tree->depth++] = count;
        tree->count += count;
    }
    tree->blocks = cn_alloc(tree->count, sizeof(*tree->blocks));
    first = tree->count;
    for (uint32_t level = 0; level < tree->depth; level++) {
        struct rows above = {0};

        first -= counts[level];
        for (size_t i = 0; i < counts[level]; i++) {
            fill_block(&tree->blocks[first + i], &rows, i * CN_KERNEL_BLOCK_ROWS);
            add_row(&above, rows.begins[i * CN_KERNEL_BLOCK_ROWS], (uint32_t)(first + i));
        }
        rows_done(&rows);
        rows = above;
    }
    rows_done(&rows);
}

void cn_kernel_tree_done(struct cn_kernel_tree *tree)
{
    free(tree->blocks);
    *tree = (struct cn_kernel_tree){0};
}

uint32_t cn_kernel_tree_find(const struct cn_kernel_tree *tree, uint32_t off)
{
    uint32_t at = 0;

    for (uint32_t level = 0; level < tree->depth; level++) {
        const struct cn_kernel_block *block = &tree->blocks[at];
        uint32_t low = 0;

        for (uint32_t step = CN_KERNEL_BLOCK_ROWS / 2; step > 0; step /= 2)
            if (block->begins[low + step] <= off)
                low += step;
        at = block->to[low];
    }
    return at;
}
