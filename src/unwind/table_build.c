/* Call frame programs are run once: each row of the table is a state between two
 * instructions that advance the location. */

#include <stdlib.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "unwind/frames.h"
#include "unwind/go_table.h"
#include "unwind/space.h"
#include "unwind/table.h"

struct saved {
    enum cn_unwind_kind kind;
    int64_t value;
};

struct row_state {
    enum cn_unwind_cfa cfa; /* 0: not defined */
    uint64_t cfa_register;
    int64_t cfa_offset; /* or of the expression */
    bool is_signed;
    uint64_t changed; /* a bit for each register that has not the same value */
    struct saved registers[CN_UNWIND_REGISTER_MAX];
};

/* A CIE with the state after its program. */
struct initial {
    bool is_run, is_valid;
    struct row_state state;
};

struct table_build {
    struct cn_unwind_table *table;
    const struct cn_unwind_frames *frames;
    struct initial *initials;             /* by CIE */
    struct cn_map rule_of, expression_of; /* by hash */
    uint64_t covered_to;                  /* where the last function ends */
};

/* One program while it runs. */
struct row_run {
    struct table_build *build;
    const struct cn_unwind_cie *cie;
    const struct row_state *initial; /* NULL for the program of a CIE */
    struct row_state now, remembered[CN_UNWIND_REMEMBER_MAX];
    unsigned remembered_count;
    uint64_t address, end;
    uint64_t program_address; /* of the end of the program */
    struct cn_bytes rest;
};

static bool is_same_expression(const struct cn_unwind_table *table, uint32_t off,
                               struct cn_bytes expression)
{
    struct cn_bytes found = cn_unwind_table_expression(table, off);

    return found.len == expression.len &&
           memcmp(found.ptr, expression.ptr, found.len) == 0;
}

/* Where the table has an expression; added if it is new. */
static bool add_expression(struct table_build *b, struct cn_bytes expression,
                           int64_t *out)
{
    struct cn_unwind_table *table = b->table;
    uint64_t hash = XXH3_64bits(expression.ptr, expression.len);
    uint32_t at = cn_map_find(&b->expression_of, hash, UINT32_MAX);
    size_t len = table->expression_len;

    if (at != UINT32_MAX && is_same_expression(table, at, expression)) {
        *out = at;
        return true;
    }
    if (expression.len > UINT16_MAX ||
        expression.len + 2 > CN_UNWIND_EXPRESSION_MAX - len)
        return false;
    table->expressions = cn_grow_to(table->expressions, len + 2 + expression.len,
                                    &table->expression_capacity, 1);
    cn_u16_put(table->expressions + len, (uint16_t)expression.len);
    memcpy(table->expressions + len + 2, expression.ptr, expression.len);
    table->expression_len += 2 + expression.len;
    *cn_map_at(&b->expression_of, hash, 0) = (uint32_t)len;
    *out = (int64_t)len;
    return true;
}

static bool fits(int64_t value)
{
    return value >= INT32_MIN && value <= INT32_MAX;
}

/* The words of a state; 0 of them if it can not be expressed. */
static size_t rule_words(const struct row_state *state, const struct cn_unwind_cie *cie,
                         uint32_t words[CN_UNWIND_RULE_WORDS_MAX])
{
    uint32_t flags = (cie->is_signal ? CN_UNWIND_IS_SIGNAL : 0) |
                     (state->is_signed ? CN_UNWIND_IS_SIGNED : 0);
    uint32_t count = 0;

    if (state->cfa == 0 || state->cfa_register >= CN_UNWIND_REGISTER_MAX ||
        !fits(state->cfa_offset))
        return 0;
    for (uint64_t left = state->changed; left; left &= left - 1) {
        unsigned number = (unsigned)__builtin_ctzll(left);
        const struct saved *saved = &state->registers[number];

        if (!fits(saved->value))
            return 0;
        words[2 + 2 * count] = number | (uint32_t)saved->kind << 8;
        words[3 + 2 * count] = (uint32_t)(int32_t)saved->value;
        count++;
    }
    words[0] = (uint32_t)state->cfa | (uint32_t)state->cfa_register << 8 |
               (uint32_t)cie->return_register << 16 | (flags | count) << 24;
    words[1] = (uint32_t)(int32_t)state->cfa_offset;
    return 2 + 2 * (size_t)count;
}

/* Where the table has the rule of a state; added if it is new. */
static uint32_t add_rule(struct table_build *b, const struct row_state *state,
                         const struct cn_unwind_cie *cie)
{
    struct cn_unwind_table *table = b->table;
    uint32_t words[CN_UNWIND_RULE_WORDS_MAX], at;
    size_t count = rule_words(state, cie, words);

    if (count == 0)
        return 0;
    uint64_t hash = XXH3_64bits(words, count * sizeof(*words));
    at = cn_map_find(&b->rule_of, hash, 0);
    if (at > 0 && count <= table->word_count - at &&
        memcmp(&table->words[at], words, count * sizeof(*words)) == 0)
        return at;
    if (count > CN_UNWIND_WORD_MAX - table->word_count)
        return 0;
    at = (uint32_t)table->word_count;
    CN_GROW_TO(table->words, table->word_count + count, table->word_capacity);
    memcpy(&table->words[at], words, count * sizeof(*words));
    table->word_count += count;
    *cn_map_at(&b->rule_of, hash, 0) = at;
    return at;
}

/* From `address` on a rule applies. Functions come in order; of two that overlap, the
 * second replaces the rest of the first. */
static void add_row(struct cn_unwind_table *table, uint64_t address, uint32_t rule)
{
    uint32_t begin = (uint32_t)(address - table->base);

    while (table->row_count > 0 && table->begins[table->row_count - 1] >= begin)
        table->row_count--;
    if (table->row_count == CN_UNWIND_ROW_MAX ||
        (table->row_count > 0 ? table->rules[table->row_count - 1] : 0) == rule)
        return;
    CN_GROW(table->begins, table->row_count, table->row_capacity);
    CN_GROW(table->rules, table->row_count, table->rule_capacity);
    table->begins[table->row_count] = begin;
    table->rules[table->row_count++] = rule;
}

static void advance(struct row_run *run, uint64_t count)
{
    uint64_t to;

    if (run->initial)
        add_row(run->build->table, run->address,
                add_rule(run->build, &run->now, run->cie));
    if (!cn_u64_mul(count, run->cie->code_align, &to) ||
        !cn_u64_add(to, run->address, &run->address))
        run->address = UINT64_MAX;
}

static void set(struct row_run *run, uint64_t number, enum cn_unwind_kind kind,
                int64_t value)
{
    /* Others are vector registers. */
    if (number >= CN_UNWIND_REGISTER_MAX)
        return;
    run->now.registers[number] = (struct saved){kind, value};
    if (kind == CN_UNWIND_SAME_VALUE)
        run->now.changed &= ~(UINT64_C(1) << number);
    else
        run->now.changed |= UINT64_C(1) << number;
}

static void restore(struct row_run *run, uint64_t number)
{
    const struct saved same = {CN_UNWIND_SAME_VALUE, 0};

    if (number >= CN_UNWIND_REGISTER_MAX)
        return;
    const struct saved *to = run->initial && run->initial->changed >> number & 1
                                 ? &run->initial->registers[number]
                                 : &same;
    set(run, number, to->kind, to->value);
}

/* Offsets wrap around instead of overflowing; what does not fit becomes no rule. */
static int64_t factored(const struct row_run *run, uint64_t value)
{
    return (int64_t)(value * (uint64_t)run->cie->data_align);
}

static bool take_block(struct row_run *run, int64_t *out)
{
    struct cn_bytes expression;
    uint64_t len;

    return cn_unwind_uleb_take(&run->rest, &len) && len <= run->rest.len &&
           cn_bytes_take(&run->rest, (size_t)len, &expression) &&
           add_expression(run->build, expression, out);
}

/* Instructions that define where the CFA is. */
static bool run_cfa(struct row_run *run, uint8_t code)
{
    struct row_state *now = &run->now;
    uint64_t number, value;
    int64_t signed_value;

    switch (code) {
    case CN_CFA_DEF_CFA:
    case CN_CFA_DEF_CFA_SF:
        if (!cn_unwind_uleb_take(&run->rest, &number))
            return false;
        now->cfa = CN_UNWIND_CFA_REGISTER;
        now->cfa_register = number;
        break;
    case CN_CFA_DEF_CFA_REGISTER:
        if (now->cfa != CN_UNWIND_CFA_REGISTER)
            return false;
        return cn_unwind_uleb_take(&run->rest, &now->cfa_register);
    case CN_CFA_DEF_CFA_EXPRESSION:
        now->cfa = CN_UNWIND_CFA_EXPRESSION;
        now->cfa_register = 0;
        return take_block(run, &now->cfa_offset);
    default: /* DEF_CFA_OFFSET */
        if (now->cfa != CN_UNWIND_CFA_REGISTER)
            return false;
        break;
    }
    if (code == CN_CFA_DEF_CFA_SF || code == CN_CFA_DEF_CFA_OFFSET_SF) {
        if (!cn_unwind_sleb_take(&run->rest, &signed_value))
            return false;
        now->cfa_offset = factored(run, (uint64_t)signed_value);
        return true;
    }
    if (!cn_unwind_uleb_take(&run->rest, &value))
        return false;
    now->cfa_offset = (int64_t)value;
    return true;
}

/* Instructions that begin with a register. */
static bool run_register(struct row_run *run, uint8_t code)
{
    uint64_t number, value;
    int64_t signed_value;

    if (!cn_unwind_uleb_take(&run->rest, &number))
        return false;
    switch (code) {
    case CN_CFA_RESTORE_EXTENDED:
        restore(run, number);
        return true;
    case CN_CFA_UNDEFINED:
        set(run, number, CN_UNWIND_UNDEFINED, 0);
        return true;
    case CN_CFA_SAME_VALUE:
        set(run, number, CN_UNWIND_SAME_VALUE, 0);
        return true;
    case CN_CFA_EXPRESSION:
    case CN_CFA_VAL_EXPRESSION:
        if (!take_block(run, &signed_value))
            return false;
        set(run, number,
            code == CN_CFA_EXPRESSION ? CN_UNWIND_AT_EXPRESSION
                                      : CN_UNWIND_VALUE_EXPRESSION,
            signed_value);
        return true;
    case CN_CFA_OFFSET_EXTENDED_SF:
    case CN_CFA_VAL_OFFSET_SF:
        if (!cn_unwind_sleb_take(&run->rest, &signed_value))
            return false;
        set(run, number,
            code == CN_CFA_VAL_OFFSET_SF ? CN_UNWIND_CFA_PLUS : CN_UNWIND_AT_CFA,
            factored(run, (uint64_t)signed_value));
        return true;
    default:
        break;
    }
    if (!cn_unwind_uleb_take(&run->rest, &value))
        return false;
    if (code == CN_CFA_REGISTER)
        set(run, number, CN_UNWIND_IN_REGISTER,
            value < CN_UNWIND_REGISTER_MAX ? (int64_t)value : INT64_MAX);
    else if (code == CN_CFA_NEGATIVE_OFFSET)
        set(run, number, CN_UNWIND_AT_CFA, factored(run, 0 - value));
    else
        set(run, number,
            code == CN_CFA_VAL_OFFSET ? CN_UNWIND_CFA_PLUS : CN_UNWIND_AT_CFA,
            factored(run, value));
    return true;
}

static bool run_advance(struct row_run *run, uint8_t code)
{
    uint64_t count;

    if (code == CN_CFA_SET_LOC) {
        uint64_t at = run->program_address - run->rest.len, to;

        if (!cn_unwind_pointer_take(&run->rest, run->cie->encoding, at, 0, &to) ||
            to < run->address)
            return false;
        advance(run, 0);
        run->address = to;
        return true;
    }
    if (!cn_unwind_int_take(&run->rest, 1U << (code - CN_CFA_ADVANCE1), false, &count))
        return false;
    advance(run, count);
    return true;
}

static bool run_instruction(struct row_run *run, uint8_t code)
{
    uint64_t value;

    switch (code) {
    case CN_CFA_NOP:
        return true;
    case CN_CFA_SET_LOC:
    case CN_CFA_ADVANCE1:
    case CN_CFA_ADVANCE2:
    case CN_CFA_ADVANCE4:
        return run_advance(run, code);
    case CN_CFA_OFFSET_EXTENDED:
    case CN_CFA_RESTORE_EXTENDED:
    case CN_CFA_UNDEFINED:
    case CN_CFA_SAME_VALUE:
    case CN_CFA_REGISTER:
    case CN_CFA_EXPRESSION:
    case CN_CFA_VAL_EXPRESSION:
    case CN_CFA_OFFSET_EXTENDED_SF:
    case CN_CFA_VAL_OFFSET:
    case CN_CFA_VAL_OFFSET_SF:
    case CN_CFA_NEGATIVE_OFFSET:
        return run_register(run, code);
    case CN_CFA_DEF_CFA:
    case CN_CFA_DEF_CFA_REGISTER:
    case CN_CFA_DEF_CFA_OFFSET:
    case CN_CFA_DEF_CFA_EXPRESSION:
    case CN_CFA_DEF_CFA_SF:
    case CN_CFA_DEF_CFA_OFFSET_SF:
        return run_cfa(run, code);
    case CN_CFA_REMEMBER_STATE:
        if (run->remembered_count == CN_UNWIND_REMEMBER_MAX)
            return false;
        run->remembered[run->remembered_count++] = run->now;
        return true;
    case CN_CFA_RESTORE_STATE:
        if (run->remembered_count == 0)
            return false;
        run->now = run->remembered[--run->remembered_count];
        return true;
    case CN_CFA_NEGATE_RA_STATE:
    case CN_CFA_NEGATE_RA_STATE_WITH_PC:
        run->now.is_signed = !run->now.is_signed;
        return true;
    case CN_CFA_ARGS_SIZE:
        return cn_unwind_uleb_take(&run->rest, &value);
    default:
        return false;
    }
}

/* False at an instruction that is unknown or does not fit. */
static bool run_program(struct row_run *run)
{
    struct cn_bytes byte;
    uint64_t value;

    while (run->address < run->end && cn_bytes_take(&run->rest, 1, &byte)) {
        uint8_t code = byte.ptr[0], low = code & 0x3f;

        switch (code & 0xc0) {
        case CN_CFA_ADVANCE:
            advance(run, low);
            break;
        case CN_CFA_OFFSET:
            if (!cn_unwind_uleb_take(&run->rest, &value))
                return false;
            set(run, low, CN_UNWIND_AT_CFA, factored(run, value));
            break;
        case CN_CFA_RESTORE:
            restore(run, low);
            break;
        default:
            if (!run_instruction(run, code))
                return false;
            break;
        }
    }
    return true;
}

static const struct row_state *initial_state(struct table_build *b, struct row_run *run,
                                             uint32_t cie)
{
    struct initial *initial = &b->initials[cie];

    if (!initial->is_run) {
        run->build = b;
        run->cie = &b->frames->cies[cie];
        run->initial = NULL;
        run->now = (struct row_state){0};
        run->remembered_count = 0;
        run->address = 0;
        run->end = UINT64_MAX;
        run->program_address = 0;
        run->rest = run->cie->program;
        initial->is_run = true;
        initial->is_valid = run_program(run);
        initial->state = run->now;
    }
    return initial->is_valid ? &initial->state : NULL;
}

static bool is_code(const struct cn_unwind_table *table, uint64_t begin, uint64_t end)
{
    for (uint32_t i = 0; i < table->segment_count; i++) {
        const struct cn_unwind_segment *segment = &table->segments[i];

        if (begin >= segment->address && begin - segment->address < segment->len &&
            end - segment->address <= segment->len)
            return end - table->base <= UINT32_MAX;
    }
    return false;
}

static void add_function(struct table_build *b, struct row_run *run,
                         const struct cn_unwind_fde *fde)
{
    /* Functions that the linker removed have addresses near 0. */
    if (!is_code(b->table, fde->begin, fde->end))
        return;
    const struct row_state *initial = initial_state(b, run, fde->cie);
    if (!initial)
        return;
    if (b->covered_to < fde->begin)
        add_row(b->table, b->covered_to, 0);
    run->build = b;
    run->cie = &b->frames->cies[fde->cie];
    run->initial = initial;
    run->now = *initial;
    run->remembered_count = 0;
    run->address = fde->begin;
    run->end = fde->end;
    run->rest = fde->program;
    run->program_address = fde->program_address + fde->program.len;
    if (run_program(run) && run->address < run->end)
        advance(run, 0);
    else if (run->address < run->end)
        add_row(b->table, run->address, 0);
    b->covered_to = fde->end;
}

static void add_frames(struct cn_unwind_table *table, struct cn_unwind_part part,
                       bool is_debug)
{
    struct cn_unwind_frames frames;
    struct table_build b = {.table = table, .frames = &frames, .covered_to = table->base};
    struct row_run *run = cn_alloc(1, sizeof(*run));

    cn_unwind_frames_read(&frames, part, is_debug);
    b.initials = cn_alloc(frames.cie_count, sizeof(*b.initials));
    for (size_t i = 0; i < frames.fde_count; i++)
        add_function(&b, run, &frames.fdes[i]);
    if (frames.fde_count > 0)
        add_row(table, b.covered_to, 0);
    free(b.initials);
    free(run);
    cn_map_done(&b.rule_of);
    cn_map_done(&b.expression_of);
    cn_unwind_frames_done(&frames);
}

/* The state of Go's code where it has moved the stack pointer by `moved`. */
static struct row_state go_state(enum cn_unwind_machine machine, int64_t moved)
{
    bool is_arm = machine == CN_UNWIND_AARCH64;
    struct row_state state = {
        .cfa = CN_UNWIND_CFA_REGISTER,
        .cfa_register = is_arm ? CN_UNWIND_ARM_SP : CN_UNWIND_X86_RSP,
        .cfa_offset = is_arm ? moved : moved + 8,
    };

    if (!is_arm) {
        state.changed = UINT64_C(1) << CN_UNWIND_X86_RIP;
        state.registers[CN_UNWIND_X86_RIP] = (struct saved){CN_UNWIND_AT_CFA, -8};
    } else if (moved > 0) {
        /* The return address is at the stack pointer, the frame pointer below it. */
        state.changed = UINT64_C(1) << CN_UNWIND_ARM_LR | UINT64_C(1) << CN_UNWIND_ARM_FP;
        state.registers[CN_UNWIND_ARM_LR] = (struct saved){CN_UNWIND_AT_CFA, -moved};
        state.registers[CN_UNWIND_ARM_FP] = (struct saved){CN_UNWIND_AT_CFA, -moved - 8};
    }
    return state;
}

/* True if the caller of a function is not found by the size of its frame. runtime.cgocallback changes
 * stacks, but has the same frame on both, and the goroutine's is followed by what called C. */
static bool is_go_end(const struct cn_go_function *function)
{
    return function->flags & CN_GO_IS_OUTERMOST ||
           (function->flags & CN_GO_MOVES_STACK &&
            strcmp(function->name, "runtime.cgocallback") != 0);
}

static void add_go_function(struct table_build *b, const struct cn_go_table *go,
                            const struct cn_go_function *function)
{
    bool is_arm = b->table->machine == CN_UNWIND_AARCH64;
    const struct cn_unwind_cie cie = {.return_register =
                                          is_arm ? CN_UNWIND_ARM_LR : CN_UNWIND_X86_RIP};
    uint64_t begin = function->begin;
    struct cn_go_values values;

    if (!is_code(b->table, function->begin, function->end) || begin < b->covered_to)
        return;
    if (b->covered_to < begin)
        add_row(b->table, b->covered_to, 0);
    /* The run-time takes its first instruction for a return address, which is looked up a byte before:
     * padding of the function before. */
    if (strcmp(function->name, "runtime.systemstack_switch") == 0 &&
        begin > b->table->base)
        begin--;
    cn_go_values_begin(&values, go, function, function->frame_off);
    while (begin < function->end && cn_go_values_next(&values)) {
        struct row_state state = go_state(b->table->machine, values.value);

        if (is_go_end(function)) {
            state.changed = UINT64_C(1) << cie.return_register;
            state.registers[cie.return_register] = (struct saved){CN_UNWIND_UNDEFINED, 0};
        }
        add_row(b->table, begin, values.value >= 0 ? add_rule(b, &state, &cie) : 0);
        begin = values.end;
    }
    if (begin < function->end)
        add_row(b->table, begin, 0);
    b->covered_to = function->end;
}

/* Go describes its frames in a table of its own, also where it has been stripped; the rows of other
 * code, as of C, stay. */
static void add_go(struct cn_unwind_table *table, struct cn_bytes file)
{
    struct cn_unwind_table others = *table;
    struct table_build b = {.table = table, .covered_to = table->base};
    struct cn_go_function function;
    struct cn_go_table go;
    size_t at = 0;
    uint32_t last = 0;

    if (!cn_go_table_open(&go, file) || go.function_count == 0 ||
        !cn_go_table_function(&go, 0, &function) ||
        !is_code(table, function.begin, function.end))
        return;
    table->begins = table->rules = NULL;
    table->row_count = table->row_capacity = table->rule_capacity = 0;
    for (; at < others.row_count && others.begins[at] < function.begin - table->base;
         at++)
        add_row(table, table->base + others.begins[at], others.rules[at]);
    b.covered_to = function.begin;
    for (uint32_t i = 0; i < go.function_count; i++)
        if (cn_go_table_function(&go, i, &function))
            add_go_function(&b, &go, &function);
    for (; at < others.row_count && others.begins[at] < b.covered_to - table->base; at++)
        last = others.rules[at];
    add_row(table, b.covered_to, last);
    for (; at < others.row_count; at++)
        add_row(table, table->base + others.begins[at], others.rules[at]);
    free(others.begins);
    free(others.rules);
    cn_map_done(&b.rule_of);
}

void cn_unwind_table_build(struct cn_unwind_table *table, const struct cn_unwind_elf *elf)
{
    *table = (struct cn_unwind_table){.machine = elf->machine,
                                      .entry = elf->entry,
                                      .segment_count = elf->segment_count};
    memcpy(table->segments, elf->segments, sizeof(table->segments));
    table->base = elf->segment_count > 0 ? UINT64_MAX : 0;
    for (uint32_t i = 0; i < elf->segment_count; i++)
        if (elf->segments[i].address < table->base)
            table->base = elf->segments[i].address;
    /* A rule at 0 would be none. */
    table->words = cn_grow_to(NULL, 1, &table->word_capacity, sizeof(*table->words));
    table->words[0] = 0;
    table->word_count = 1;
    add_frames(table, elf->eh_frame, false);
    if (table->row_count == 0)
        add_frames(table, elf->debug_frame, true);
    add_go(table, elf->file);
}

void cn_unwind_table_add_code(struct cn_unwind_table *table,
                              const struct cn_unwind_elf *elf)
{
    const struct cn_unwind_cie cie = {.return_register = CN_UNWIND_ARM_LR};
    struct table_build b = {.table = table};

    for (uint32_t i = 0; table->machine == CN_UNWIND_AARCH64 && i < table->segment_count;
         i++) {
        const struct cn_unwind_segment *segment = &table->segments[i];
        struct cn_bytes code;

        if (!cn_bytes_slice(elf->file, segment->file_off, segment->len, &code))
            continue;
        for (size_t at = 0; at + 4 <= code.len; at += 4) {
            struct row_state state = {.cfa = CN_UNWIND_CFA_REGISTER,
                                      .cfa_register = CN_UNWIND_ARM_SP};
            uint64_t len;
            bool is_known = cn_unwind_arm_frame_in(code, at, &len);

            if (is_known && len > 0) {
                state.cfa_offset = (int64_t)len;
                state.changed = UINT64_C(1) << CN_UNWIND_ARM_FP | UINT64_C(1)
                                                                      << CN_UNWIND_ARM_LR;
                state.registers[CN_UNWIND_ARM_FP] =
                    (struct saved){CN_UNWIND_AT_CFA, -(int64_t)len};
                state.registers[CN_UNWIND_ARM_LR] =
                    (struct saved){CN_UNWIND_AT_CFA, 8 - (int64_t)len};
            }
            add_row(table, segment->address + at,
                    is_known ? add_rule(&b, &state, &cie) : 0);
        }
    }
    cn_map_done(&b.rule_of);
}
