#include "unwind/expression.h"
#include "unwind/space.h"

enum {
    /* The frame of a signal: a ucontext at the stack pointer, on aarch64 after siginfo. */
    X86_GREGS_OFF = 40,
    ARM_REGS_OFF = 128 + 184,
    FRAME_LEN_MAX = 1 << 20, /* a frame pointer further away is another number */
};

/* Addresses of programs have at most 48 bits; the others of a return address may be an
 * authentication code. */
#define ARM_ADDRESS_MASK ((UINT64_C(1) << 48) - 1)

/* One stack while it is unwound. */
struct unwind_walk {
    struct cn_unwind_space *space;
    struct cn_bytes stack;
    uint64_t stack_begin;
    unsigned sp, fp, pc; /* numbers of these registers */
    bool is_arm;
    bool is_exact; /* the program counter is no return address */
    bool is_innermost;
    bool is_cut;      /* what was last read is after the copy of the stack */
    bool is_replaced; /* the frame that was left is no call */
    uint64_t lowest;  /* frames of callers begin here or above */
    struct cn_unwind_registers at;
};

static bool read_stack(struct unwind_walk *w, uint64_t address, uint64_t *out)
{
    struct cn_bytes word;

    if (address < w->stack_begin ||
        !cn_bytes_slice(w->stack, address - w->stack_begin, sizeof(*out), &word)) {
        w->is_cut = address >= w->stack_begin;
        return false;
    }
    *out = cn_u64_get(word.ptr);
    return true;
}

static bool read_for_expression(const void *arg, uint64_t address, uint64_t *out)
{
    const struct unwind_walk *w = arg;
    struct cn_bytes word;

    if (address >= w->stack_begin &&
        cn_bytes_slice(w->stack, address - w->stack_begin, sizeof(*out), &word)) {
        *out = cn_u64_get(word.ptr);
        return true;
    }
    return w->space->read_memory && w->space->read_memory(w->space->memory, address, out);
}

static bool is_known(const struct unwind_walk *w, unsigned number)
{
    return w->at.known >> number & 1;
}

static void set(struct unwind_walk *w, unsigned number, uint64_t value)
{
    w->at.value[number] = value;
    w->at.known |= UINT64_C(1) << number;
}

static bool evaluate(struct unwind_walk *w, const struct cn_unwind_table *table,
                     uint32_t off, const uint64_t *pushed, uint64_t *out)
{
    return cn_unwind_evaluate(cn_unwind_table_expression(table, off), &w->at, pushed,
                              read_for_expression, w, out);
}

/* The value that a register has in the caller. */
static bool recover(struct unwind_walk *w, const struct cn_unwind_table *table,
                    uint64_t cfa, uint32_t word, uint32_t value, uint64_t *out)
{
    uint64_t offset = (uint64_t)(int64_t)(int32_t)value, address;
    unsigned number = word & 0xff;

    switch ((enum cn_unwind_kind)(word >> 8)) {
    case CN_UNWIND_AT_CFA:
        /* What is below the stack pointer was restored: compilers do not say so between
         * the end of a frame and the return. */
        if (cfa + offset < w->stack_begin && is_known(w, number) && number != w->pc) {
            *out = w->at.value[number];
            return true;
        }
        return read_stack(w, cfa + offset, out);
    case CN_UNWIND_CFA_PLUS:
        *out = cfa + offset;
        return true;
    case CN_UNWIND_IN_REGISTER:
        *out = w->at.value[value];
        return is_known(w, value);
    case CN_UNWIND_AT_EXPRESSION:
        return evaluate(w, table, value, &cfa, &address) && read_stack(w, address, out);
    case CN_UNWIND_VALUE_EXPRESSION:
        return evaluate(w, table, value, &cfa, out);
    case CN_UNWIND_SAME_VALUE:
    case CN_UNWIND_UNDEFINED:
    case CN_UNWIND_KINDS:
    default:
        return false;
    }
}

/* A step failed: why? */
static bool stop(enum cn_unwind_end *end, enum cn_unwind_end why)
{
    *end = why;
    return false;
}

static bool find_cfa(struct unwind_walk *w, const struct cn_unwind_point *point,
                     uint64_t *out)
{
    uint32_t word = point->rule[0];
    unsigned number = cn_unwind_rule_cfa_register(word);

    if (cn_unwind_rule_cfa(word) == CN_UNWIND_CFA_EXPRESSION)
        return evaluate(w, point->table, point->rule[1], NULL, out);
    *out = w->at.value[number] + (uint64_t)(int64_t)(int32_t)point->rule[1];
    return is_known(w, number);
}

/* An address that may be one to return to, where no table says so. */
static bool is_return_address(struct unwind_walk *w, uint64_t pc)
{
    return pc > 0 &&
           cn_unwind_is_after_call(cn_unwind_point_at(w->space, pc - 1), w->at.machine);
}

/* The code that cairn's recorder returns to instead of the caller: an expression finds the
 * return address, less one, in the memory of the recorder. */
static bool step_by_recorder(struct unwind_walk *w, uint64_t cfa, uint64_t value,
                             enum cn_unwind_end *end)
{
    /* The program runs on: the function may have returned meanwhile. */
    if (!is_return_address(w, value + 1))
        return stop(end, CN_UNWIND_UNKNOWN);
    set(w, w->sp, cfa);
    set(w, w->pc, value + 1);
    w->is_replaced = true;
    w->is_exact = false;
    w->lowest = cfa;
    return true;
}

/* By the rule of the point. */
static bool step_by_rule(struct unwind_walk *w, const struct cn_unwind_point *point,
                         enum cn_unwind_end *end)
{
    const uint32_t *rule = point->rule;
    uint8_t flags = cn_unwind_rule_flags(rule[0]);
    unsigned count = flags & CN_UNWIND_COUNT_MASK, from = cn_unwind_rule_return(rule[0]);
    bool is_signal = flags & CN_UNWIND_IS_SIGNAL;
    uint64_t values[CN_UNWIND_COUNT_MASK], found = 0, cfa, pc = w->at.value[w->pc];

    w->is_cut = false;
    if (!find_cfa(w, point, &cfa))
        return stop(end, CN_UNWIND_UNKNOWN);
    if (!is_signal && cfa < w->lowest)
        return stop(end, CN_UNWIND_BAD);
    for (unsigned i = 0; i < count; i++) {
        uint32_t word = rule[2 + 2 * i];
        enum cn_unwind_kind kind = (enum cn_unwind_kind)(word >> 8);
        bool is_found = recover(w, point->table, cfa, word, rule[3 + 2 * i], &values[i]);

        if ((word & 0xff) == from && !is_found) {
            if (kind == CN_UNWIND_UNDEFINED)
                return stop(end, CN_UNWIND_WHOLE);
            return stop(end, w->is_cut ? CN_UNWIND_CUT : CN_UNWIND_BAD);
        }
        if ((word & 0xff) == from && is_signal && kind == CN_UNWIND_VALUE_EXPRESSION)
            return step_by_recorder(w, cfa, values[i], end);
        found |= (uint64_t)is_found << i;
    }
    set(w, w->sp, cfa);
    for (unsigned i = 0; i < count; i++) {
        unsigned number = rule[2 + 2 * i] & 0xff;

        if (found >> i & 1)
            set(w, number, values[i]);
        else
            w->at.known &= ~(UINT64_C(1) << number);
    }
    if (!is_known(w, from))
        return stop(end, CN_UNWIND_UNKNOWN);
    set(w, w->pc, w->at.value[from]);
    /* The same frame again: a leaf can be left only once. */
    if (!is_signal && cfa == w->lowest && w->at.value[w->pc] == pc)
        return stop(end, CN_UNWIND_BAD);
    w->lowest = is_signal ? 0 : cfa;
    w->is_exact = is_signal;
    return true;
}

/* Out of a signal handler, by the layout of the kernel. */
static bool step_by_signal_frame(struct unwind_walk *w, enum cn_unwind_end *end)
{
    /* r8 to r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip. */
    static const uint8_t x86_order[] = {8, 9, 10, 11, 12, 13, 14, 15, 5,
                                        4, 6, 3,  1,  0,  2,  7,  16};
    uint64_t at = w->at.value[w->sp] + (w->is_arm ? ARM_REGS_OFF : X86_GREGS_OFF);
    unsigned count = w->is_arm ? CN_UNWIND_ARM_PC + 1 : sizeof(x86_order);

    w->is_cut = false;
    if (!is_known(w, w->sp))
        return stop(end, CN_UNWIND_UNKNOWN);
    for (unsigned i = 0; i < count; i++) {
        uint64_t value;

        if (!read_stack(w, at + 8 * (uint64_t)i, &value))
            return stop(end, w->is_cut ? CN_UNWIND_CUT : CN_UNWIND_BAD);
        set(w, w->is_arm ? i : x86_order[i], value);
    }
    w->lowest = 0;
    w->is_exact = true;
    return true;
}

/* Where the return address is while a function has no frame; x86_64 alone. */
static bool step_by_code(struct unwind_walk *w, enum cn_unwind_code code)
{
    uint64_t sp = w->at.value[w->sp], pc, fp = 0;

    if (w->is_arm)
        return false;
    if (code == CN_UNWIND_CODE_AFTER_PUSH) {
        if (!read_stack(w, sp, &fp))
            return false;
        sp += 8;
    }
    if (!read_stack(w, sp, &pc) || !is_return_address(w, pc))
        return false;
    if (code == CN_UNWIND_CODE_AFTER_PUSH)
        set(w, w->fp, fp);
    set(w, w->sp, sp + 8);
    set(w, w->pc, pc);
    w->lowest = sp + 8;
    w->is_exact = false;
    return true;
}

/* Code without a table on aarch64, as in the vDSO and the PLT, that calls nothing. Right after the push, the
 * frame pointer is still the caller's. */
static bool step_by_arm_code(struct unwind_walk *w)
{
    uint64_t sp = w->at.value[w->sp], fp = w->at.value[w->fp], saved = fp;
    uint64_t pc = w->at.value[CN_UNWIND_ARM_LR], len;

    if (!w->is_arm || !w->is_innermost || !is_known(w, w->sp) ||
        !is_known(w, CN_UNWIND_ARM_LR) ||
        !cn_unwind_arm_frame(cn_unwind_point_at(w->space, w->at.value[w->pc]), &len) ||
        (len > 0 && (!is_known(w, w->fp) || !read_stack(w, sp, &saved) ||
                     !read_stack(w, sp + 8, &pc) || (fp != sp && fp != saved))))
        return false;
    pc &= ARM_ADDRESS_MASK;
    if (!is_return_address(w, pc))
        return false;
    set(w, w->fp, saved);
    set(w, w->sp, sp + len);
    set(w, w->pc, pc);
    w->lowest = sp + len;
    w->is_exact = false;
    return true;
}

/* Code that was made at run time and does nothing after its call but return: the trampolines
 * of Python. x86_64 alone, and only where the memory of the process could be read once. */
static bool step_by_epilogue(struct unwind_walk *w)
{
    enum { ADD_RSP = 0xc48348, RET = 0xc3, NEVER = 0xff };
    struct cn_unwind_point *point = cn_unwind_point_at(w->space, w->at.value[w->pc]);
    uint64_t sp = w->at.value[w->sp], code, pc;

    if (w->is_arm || w->is_exact || !is_known(w, w->sp))
        return false;
    if (point->returns == 0 && read_for_expression(w, w->at.value[w->pc], &code)) {
        bool has_frame = (code & 0xffffff) == ADD_RSP && (code >> 24 & 0x80) == 0;

        point->returns = (uint8_t)(1 + (has_frame ? code >> 24 & 0x7f : 0));
        if ((code >> (has_frame ? 32 : 0) & 0xff) != RET)
            point->returns = NEVER;
    }
    if (point->returns == 0 || point->returns == NEVER)
        return false;
    sp += point->returns - 1U;
    if (!read_stack(w, sp, &pc) || !is_return_address(w, pc))
        return false;
    set(w, w->sp, sp + 8);
    set(w, w->pc, pc);
    w->lowest = sp + 8;
    return true;
}

/* A frame that begins with the caller's frame pointer and the return address. */
static bool step_by_frame_pointer(struct unwind_walk *w, enum cn_unwind_end *end)
{
    uint64_t fp = w->at.value[w->fp], next, pc;

    w->is_cut = false;
    if (!is_known(w, w->fp))
        return stop(end, CN_UNWIND_UNKNOWN);
    /* By the ABI the frame pointer of the outermost frame is 0. */
    if (fp == 0 && !w->is_innermost)
        return stop(end, CN_UNWIND_WHOLE);
    if (fp < w->lowest || fp % 8 != 0)
        return stop(end, CN_UNWIND_UNKNOWN);
    if (!read_stack(w, fp, &next) || !read_stack(w, fp + 8, &pc))
        return stop(end, w->is_cut && fp - w->lowest < FRAME_LEN_MAX ? CN_UNWIND_CUT
                                                                     : CN_UNWIND_UNKNOWN);
    if (w->is_arm)
        pc &= ARM_ADDRESS_MASK;
    if (pc == 0)
        return stop(end, CN_UNWIND_WHOLE);
    if (!is_return_address(w, pc))
        return stop(end, CN_UNWIND_UNKNOWN);
    set(w, w->fp, next);
    set(w, w->pc, pc);
    /* On aarch64 the two are at the lower end of the frame, whose size is unknown. */
    if (w->is_arm)
        w->at.known &= ~(UINT64_C(1) << w->sp);
    else
        set(w, w->sp, fp + 16);
    w->lowest = fp + 16;
    w->is_exact = false;
    return true;
}

static enum cn_unwind_code code_at(struct unwind_walk *w)
{
    return cn_unwind_code_at(cn_unwind_point_at(w->space, w->at.value[w->pc]),
                             w->at.machine);
}

static bool step_without_rule(struct unwind_walk *w, enum cn_unwind_end *end)
{
    enum cn_unwind_code code = code_at(w);

    if (code == CN_UNWIND_CODE_TRAMPOLINE)
        return step_by_signal_frame(w, end);
    if (step_by_arm_code(w))
        return true;
    /* A thread that clone() has just made: 0 is returned on an empty stack. */
    if (w->is_innermost && code == CN_UNWIND_CODE_AFTER_SYSCALL && w->at.value[0] == 0 &&
        is_known(w, 0))
        return stop(end, CN_UNWIND_WHOLE);
    if (w->is_exact &&
        (code == CN_UNWIND_CODE_AT_ENTRY || code == CN_UNWIND_CODE_AFTER_PUSH ||
         code == CN_UNWIND_CODE_AFTER_SYSCALL) &&
        step_by_code(w, code))
        return true;
    if (code == CN_UNWIND_CODE_UNREADABLE && step_by_epilogue(w))
        return true;
    /* Without a plausible frame pointer it may be a function that calls none, and has no
     * frame. */
    return step_by_frame_pointer(w, end) ||
           (*end == CN_UNWIND_UNKNOWN && w->is_innermost && step_by_code(w, code));
}

/* Where the program counter is: a return address may be after the end of its function. Handlers
 * of signals return to the first instruction of a trampoline, before which may be nothing. */
static struct cn_unwind_point *find_point(struct unwind_walk *w)
{
    uint64_t pc = w->at.value[w->pc];
    struct cn_unwind_point *point =
        cn_unwind_point_at(w->space, w->is_exact ? pc : pc - 1);

    return point->module || w->is_exact ? point : cn_unwind_point_at(w->space, pc);
}

/* The caller was found: is it one? */
static bool arrive(struct unwind_walk *w, enum cn_unwind_end *end)
{
    if (w->is_arm)
        w->at.value[w->pc] &= ARM_ADDRESS_MASK;
    w->is_innermost = false;
    if (w->at.value[w->pc] == 0)
        return stop(end, CN_UNWIND_WHOLE);
    /* Run-times make memory executable that no record names. */
    return w->space->undo_foreign || find_point(w)->module ||
           stop(end, CN_UNWIND_UNKNOWN);
}

/* Ask what knows the code of a run-time. */
static bool undo_foreign(struct unwind_walk *w, struct cn_unwind_step *step)
{
    step->registers = w->at;
    step->stack_begin = w->stack_begin;
    step->stack = w->stack;
    step->is_innermost = w->is_exact;
    step->has_rule = find_point(w)->rule;
    step->frame_count = 0;
    return w->space->undo_foreign(w->space->foreign, step);
}

/* To the caller that it has found. */
static bool step_by_foreign(struct unwind_walk *w, const struct cn_unwind_step *step,
                            enum cn_unwind_end *end)
{
    uint64_t pc = w->at.value[w->pc], sp;
    bool has_sp;

    w->at = step->registers;
    has_sp = is_known(w, w->sp);
    /* On aarch64 a frame pointer can be all that is known. */
    sp = w->at.value[has_sp ? w->sp : w->fp];
    if (!is_known(w, w->pc))
        return stop(end,
                    has_sp && sp > w->stack_begin && sp - w->stack_begin >= w->stack.len
                        ? CN_UNWIND_CUT
                        : CN_UNWIND_UNKNOWN);
    /* A leaf can be left without a change of the stack pointer, but only once. */
    if ((!has_sp && !(w->is_arm && is_known(w, w->fp))) || sp < w->lowest ||
        (sp == w->lowest && (!w->is_exact || w->at.value[w->pc] == pc)))
        return stop(end, CN_UNWIND_BAD);
    w->lowest = sp;
    w->is_exact = false;
    return arrive(w, end);
}

/* To the caller. */
static bool step(struct unwind_walk *w, enum cn_unwind_end *end)
{
    /* A copy: looking at code may reuse the slot. */
    const struct cn_unwind_point point = *find_point(w);
    bool is_entry = point.is_entry, ok;
    bool has_rule = point.rule && point.table->machine == w->at.machine;

    if (has_rule && w->is_arm &&
        cn_unwind_rule_flags(point.rule[0]) & CN_UNWIND_IS_SIGNAL &&
        code_at(w) == CN_UNWIND_CODE_TRAMPOLINE) {
        /* Its table restores x29 and x30 alone. */
        ok = step_by_signal_frame(w, end);
    } else if (has_rule) {
        ok = step_by_rule(w, &point, end);
        /* After a frame pointer on aarch64 no stack pointer is known. */
        if (!ok && *end == CN_UNWIND_UNKNOWN && w->is_arm && !is_known(w, w->sp))
            ok = step_by_frame_pointer(w, end);
    } else {
        ok = step_without_rule(w, end);
    }
    if (!ok) {
        if (is_entry)
            *end = CN_UNWIND_WHOLE;
        return false;
    }
    return arrive(w, end);
}

size_t cn_unwind(struct cn_unwind_space *space,
                 const struct cn_unwind_registers *registers, uint64_t stack_begin,
                 struct cn_bytes stack, uint64_t *out, size_t most,
                 enum cn_unwind_end *end)
{
    bool is_arm = registers->machine == CN_UNWIND_AARCH64;
    struct unwind_walk w = {
        .space = space,
        .stack = stack,
        .stack_begin = stack_begin,
        .sp = is_arm ? CN_UNWIND_ARM_SP : CN_UNWIND_X86_RSP,
        .fp = is_arm ? CN_UNWIND_ARM_FP : CN_UNWIND_X86_RBP,
        .pc = is_arm ? CN_UNWIND_ARM_PC : CN_UNWIND_X86_RIP,
        .is_arm = is_arm,
        .is_exact = true,
        .is_innermost = true,
        .at = *registers,
    };
    struct cn_unwind_step foreign;
    size_t count = 0;

    foreign.frame_count = 0;
    w.lowest = w.at.value[w.sp];
    *end = CN_UNWIND_CUT;
    /* Frames that are replaced do not count, but a hostile table may replace each by itself. */
    for (size_t steps = 0; count < most && steps < 2 * most; steps++) {
        bool is_foreign = space->undo_foreign && undo_foreign(&w, &foreign);

        if (steps > 0 && !is_foreign && foreign.frame_count == 0 &&
            !find_point(&w)->module) {
            *end = CN_UNWIND_UNKNOWN;
            break;
        }
        if (foreign.frame_count == 0)
            out[count++] = w.at.value[w.pc];
        for (size_t i = 0; i < foreign.frame_count && count < most; i++)
            out[count++] = foreign.frames[i];
        if (is_foreign ? !step_by_foreign(&w, &foreign, end) : !step(&w, end))
            break;
        *end = CN_UNWIND_CUT;
        count -= w.is_replaced;
        w.is_replaced = false;
    }
    return count;
}
