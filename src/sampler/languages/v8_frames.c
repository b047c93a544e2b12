#include <string.h>

#include "base/bytes/record.h"
#include "base/search.h"
#include "formats/exchange/perf/stored_names.h"
#include "sampler/languages/v8.h"

/* Frames of V8 begin with the caller's frame pointer and the return address. Below are a context
 * and a function, or a number for the kind of frame. A built-in, and code at its beginning and
 * end, may have no frame of its own: then the frame pointer is the caller's. */

enum {
    MARKER_MAX = 128, /* kinds of frames, doubled; contexts have higher addresses */
    FRAMES_MAX = sizeof(((struct cn_unwind_step *)0)->frames) / sizeof(uint64_t),
    HIDDEN_MAX = 4,    /* frames of handlers in a row */
    PROLOGUE_MAX = 64, /* bytes */
    EPILOGUE_MAX = 32,
    ENTERING_MAX =
        192, /* bytes of what enters an interpreted function, with its prologue */
    ARM_ENTRY_LEN = 160, /* what JSEntry saves: 10 pairs of registers */
    ARM_FIRST_SAVED = 19,
    ARM_SAVED_COUNT = 10,
    X86_SAVED_OFF = 24, /* r12 to r15 and rbx, downwards */
};

/* Where a register of V8's numbers is in DWARF's. */
static unsigned register_at(enum cn_unwind_machine machine, int32_t number)
{
    /* rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi. */
    static const uint8_t x86[] = {0, 2, 1, 3, 7, 6, 4, 5};

    if (number < 0 || number > 28)
        return CN_UNWIND_REGISTER_MAX;
    return machine == CN_UNWIND_X86_64 && number < 8 ? x86[number] : (unsigned)number;
}

/* One frame while it is undone. */
struct frame {
    struct cn_v8 *v8;
    struct cn_unwind_step *step;
    bool is_arm;
    unsigned sp_at, fp_at, pc_at;
    uint64_t sp, fp, pc;
    bool is_innermost;
    uint64_t lowest; /* of the memory that the code is in */
    uint64_t shift;  /* to the built-in that the code is a copy of */
};

static bool is_known(const struct cn_unwind_registers *registers, unsigned at)
{
    return at < CN_UNWIND_REGISTER_MAX && registers->known >> at & 1;
}

static const struct cn_v8_range *find_range(const struct cn_v8 *v8, uint64_t address)
{
    for (size_t i = 0; i < v8->range_count; i++)
        if (address >= v8->ranges[i].begin && address < v8->ranges[i].end)
            return &v8->ranges[i];
    return NULL;
}

static const struct cn_v8_builtin *find_builtin(const struct cn_v8 *v8, uint64_t address)
{
    size_t count = v8->builtin_count == 0
                       ? 0
                       : cn_search_u64(&v8->builtins[0].begin, v8->builtin_count,
                                       sizeof(*v8->builtins), address);

    return count > 0 ? &v8->builtins[count - 1] : NULL;
}

/* What the code at the program counter is, where its memory or built-in begins, and how far it is
 * from what it is a copy of. */
static enum cn_v8_kind locate(const struct cn_v8 *v8, uint64_t address, uint64_t *begin,
                              uint64_t *shift)
{
    const struct cn_v8_range *range;
    const struct cn_v8_builtin *builtin;

    *shift = 0;
    if (address < v8->builtins_begin || address >= v8->builtins_end) {
        range = find_range(v8, address);
        if (!range || range->kind != CN_V8_BUILTIN) {
            *begin = range ? range->begin : 0;
            return range ? range->kind : CN_V8_NATIVE;
        }
        *shift = range->shift;
    }
    builtin = find_builtin(v8, address + *shift);
    if (!builtin)
        return CN_V8_NATIVE;
    *begin = builtin->begin - *shift;
    return builtin->kind;
}

static enum cn_v8_kind locate_frame(struct frame *f)
{
    return locate(f->v8, f->pc - !f->is_innermost, &f->lowest, &f->shift);
}

static bool read_stack(const struct frame *f, uint64_t address, uint64_t *out)
{
    return cn_language_stack(f->step, address, out);
}

static void push(struct frame *f, uint64_t address)
{
    if (f->step->frame_count < FRAMES_MAX)
        f->step->frames[f->step->frame_count++] = address;
}

static void push_named(struct frame *f, const char *name, const char *file, uint32_t line,
                       uint32_t first_line)
{
    struct cn_stored_frame frame = {.function = name,
                                    .file = file,
                                    .line = line ? line : first_line,
                                    .language = CN_LANGUAGE_JAVASCRIPT,
                                    .first_line = first_line};

    push(f, cn_stored_names_address(f->v8->names, &frame));
}

static void push_function(struct frame *f, uint32_t number, int32_t source)
{
    const struct cn_v8_function *function = &f->v8->functions[number];
    const char *file = function->script < f->v8->script_count
                           ? f->v8->scripts[function->script].file
                           : "";

    push_named(f, function->name, file, cn_v8_line(f->v8, function, source),
               function->line);
}

/* A function that is interpreted, with the line of the bytecode, whose offset is in a register
 * while a handler runs. */
static void push_interpreted(struct frame *f, uint32_t number, bool is_handler)
{
    struct cn_v8 *v8 = f->v8;
    struct cn_v8_function *function = &v8->functions[number];
    const struct cn_v8_layout *l = &v8->layout;
    unsigned at = register_at(f->step->registers.machine, l->offset_register);
    uint64_t bytecodes, word, table;
    const struct cn_v8_position *position = NULL;
    int32_t type;

    if (!read_stack(f, f->fp + (uint64_t)l->frame_bytecodes, &bytecodes) ||
        !cn_v8_type(v8, bytecodes, &type) || type != l->type_bytecodes ||
        !read_stack(f, f->fp + (uint64_t)l->frame_offset, &word)) {
        push_function(f, number, -1);
        return;
    }
    if (function->bytecodes != bytecodes) {
        cn_v8_positions_free(v8, &function->positions);
        function->bytecodes = bytecodes;
        /* It has its positions before the other tables since these are trusted. */
        if (cn_v8_field(v8, bytecodes, l->bytecodes_wrapper == CN_V8_UNKNOWN ? 32 : 24,
                        &table))
            cn_v8_positions_read(v8, table, &function->positions);
    }
    uint64_t off = word & UINT32_MAX ? 0 : word >> 32;
    if (is_handler && f->is_innermost && is_known(&f->step->registers, at))
        off = f->step->registers.value[at];
    if (off >= (uint64_t)l->bytecodes_data - 1)
        position = cn_v8_position_at(&function->positions,
                                     off - ((uint64_t)l->bytecodes_data - 1));
    push_function(f, number, position ? position->source : -1);
}

/* What optimised code was made of, the innermost first. False if that is not known. */
static bool push_positions(struct frame *f, const struct cn_v8_code *code, uint64_t pc)
{
    const struct cn_v8_position *position =
        cn_v8_position_at(&code->positions, pc - code->begin);
    int32_t source, inlined;

    if (code->function == UINT32_MAX || !position)
        return false;
    source = position->source;
    inlined = position->inlined;
    for (size_t depth = 0; inlined >= 0 && (size_t)inlined < code->inlined_count;
         depth++) {
        const struct cn_v8_inlined *in = &code->inlined[inlined];

        if (depth == code->inlined_count || in->function == UINT32_MAX)
            break;
        push_function(f, in->function, source);
        source = in->source;
        inlined = in->inlined;
    }
    push_function(f, code->function, inlined < 0 ? source : -1);
    return true;
}

/* How a frame is that is being made or removed. */
enum leaf {
    FRAMED,
    BARE,   /* nothing of it is on the stack */
    PUSHED, /* the caller's frame pointer is */
};

/* Instructions of aarch64. */
#define ARM_PAIR_MASK   0xffc07fffU
#define ARM_PUSH        0xa9807bfdU /* stp x29, x30, [sp, #-n]! */
#define ARM_POP         0xa8c07bfdU /* ldp x29, x30, [sp], #n */
#define ARM_SET_MASK    0xffc003ffU
#define ARM_SET         0x910003fdU /* add x29, sp, #n */
#define ARM_RETURN      0xd65f03c0U
#define ARM_BRANCH_MASK 0x1c000000U
#define ARM_BRANCH      0x14000000U

static enum leaf find_arm_leaf(const uint8_t *code, size_t len, uint64_t at, uint64_t off)
{
    /* The code begins at `off` before the instruction, if that is not more than `at`. */
    for (uint64_t i = at - off; off <= at && i + 8 <= len; i += 4) {
        if ((cn_u32_get(code + i) & ARM_PAIR_MASK) != ARM_PUSH)
            continue;
        if (at <= i)
            return BARE;
        if (at == i + 4 && (cn_u32_get(code + i + 4) & ARM_SET_MASK) == ARM_SET)
            return PUSHED;
        break;
    }
    for (uint64_t i = at; i < at + EPILOGUE_MAX && i + 4 <= len; i += 4) {
        uint32_t instruction = cn_u32_get(code + i);

        if (instruction == ARM_RETURN)
            return BARE;
        if ((instruction & ARM_PAIR_MASK) == ARM_POP ||
            (instruction & ARM_BRANCH_MASK) == ARM_BRANCH)
            break;
    }
    return FRAMED;
}

static enum leaf find_x86_leaf(const uint8_t *code, size_t len, uint64_t at, uint64_t off)
{
    static const uint8_t push[] = {0x55, 0x48, 0x89, 0xe5}; /* push rbp; mov rbp, rsp */
    enum { RETURN = 0xc3, RETURN_MORE = 0xc2 };

    for (uint64_t i = at - off; off <= at && i + sizeof(push) <= len; i++) {
        if (memcmp(code + i, push, sizeof(push)) != 0)
            continue;
        if (at <= i)
            return BARE;
        if (at == i + 1)
            return PUSHED;
        break;
    }
    return at < len && (code[at] == RETURN || code[at] == RETURN_MORE) ? BARE : FRAMED;
}

/* Whether the innermost frame is there. `begin` is where its code begins. */
static enum leaf find_leaf(struct frame *f, uint64_t begin)
{
    uint8_t code[2 * PROLOGUE_MAX];
    uint64_t before = f->pc - begin < PROLOGUE_MAX ? f->pc - begin : PROLOGUE_MAX;

    if (!cn_memory_read(f->v8->memory, f->pc - before, code, sizeof(code)))
        return FRAMED;
    uint64_t off = before < PROLOGUE_MAX ? before : UINT64_MAX;
    return f->is_arm ? find_arm_leaf(code, before + PROLOGUE_MAX, before, off)
                     : find_x86_leaf(code, before + PROLOGUE_MAX, before, off);
}

static bool leave(struct frame *f, uint64_t pc, uint64_t fp, uint64_t sp)
{
    struct cn_unwind_registers *registers = &f->step->registers;

    registers->value[f->pc_at] = pc;
    registers->value[f->fp_at] = fp;
    registers->value[f->sp_at] = sp;
    registers->known =
        UINT64_C(1) << f->pc_at | UINT64_C(1) << f->fp_at | UINT64_C(1) << f->sp_at;
    return true;
}

/* The caller of code without a frame. */
static bool find_bare(const struct frame *f, enum leaf leaf, uint64_t *pc, uint64_t *fp,
                      uint64_t *sp)
{
    uint64_t begin, shift;

    *fp = f->fp;
    *sp = f->sp;
    if (leaf == PUSHED) {
        if (!read_stack(f, *sp, fp) || !read_stack(f, *sp + 8, pc))
            return false;
        *sp += 16;
    } else if (f->is_arm) {
        if (!is_known(&f->step->registers, CN_UNWIND_ARM_LR))
            return false;
        *pc = f->step->registers.value[CN_UNWIND_ARM_LR];
    } else {
        if (!read_stack(f, *sp, pc))
            return false;
        *sp += 8;
    }
    return locate(f->v8, *pc - 1, &begin, &shift) != CN_V8_NATIVE;
}

/* The function of the frame at the frame pointer; UINT32_MAX if it has none. Frames of other kinds
 * have other things there: that of the entry from C++, the function that is called. */
static uint32_t find_function(const struct frame *f)
{
    const struct cn_v8_layout *l = &f->v8->layout;
    uint64_t at = f->fp + (uint64_t)l->frame_function, object, marker;

    if ((f->is_innermost && at < f->sp) || !read_stack(f, at, &object) ||
        !read_stack(f, f->fp + (uint64_t)l->frame_marker, &marker) ||
        (marker > 0 && marker < MARKER_MAX))
        return UINT32_MAX;
    return cn_v8_function_of(f->v8, object);
}

static bool is_written(const struct cn_v8 *v8, uint32_t function)
{
    return function != UINT32_MAX && v8->functions[function].script != UINT32_MAX;
}

/* Code whose function cannot be told. When the process has ended, the address stays: what node
 * wrote with --perf-basic-prof or --perf-prof may name it. */
static void push_unknown(struct frame *f, const struct cn_v8_code *code)
{
    uint8_t byte;

    if (code && code->is_regexp)
        push_named(f, "(regexp)", "", 0, 0);
    else if (cn_memory_u8(f->v8->memory, f->pc, &byte))
        push_named(f, "(JavaScript)", "", 0, 0);
}

/* Compiled code that is the innermost and has no frame. */
static bool undo_compiled_leaf(struct frame *f, struct cn_v8_code *code)
{
    enum leaf leaf = find_leaf(f, code->begin);
    uint64_t pc, fp, sp;
    uint32_t function = code->function;
    unsigned at =
        register_at(f->step->registers.machine, f->v8->layout.function_register);

    if (leaf == FRAMED || !find_bare(f, leaf, &pc, &fp, &sp))
        return false;
    /* It is called with its function in a register. */
    if (function == UINT32_MAX && f->pc - code->begin < PROLOGUE_MAX &&
        is_known(&f->step->registers, at))
        function = cn_v8_function_of(f->v8, f->step->registers.value[at]);
    if (!push_positions(f, code, f->pc)) {
        if (function != UINT32_MAX)
            push_function(f, function, -1);
        else
            push_unknown(f, code);
    }
    return leave(f, pc, fp, sp);
}

static void push_compiled(struct frame *f, struct cn_v8_code *code)
{
    if (code && push_positions(f, code, f->pc - !f->is_innermost))
        return;
    uint32_t function = find_function(f);
    if (function != UINT32_MAX) {
        /* Code belongs to one function; it is known from here on where there is no frame. */
        if (code && !code->is_regexp)
            code->function = function;
        push_function(f, function, -1);
    } else {
        push_unknown(f, code);
    }
}

/* From the frame pointer to the caller. */
static bool leave_frame(struct frame *f)
{
    const struct cn_v8_layout *l = &f->v8->layout;
    struct cn_unwind_registers *registers = &f->step->registers;
    uint64_t fp, pc, marker, value;

    if (!read_stack(f, f->fp, &fp) || !read_stack(f, f->fp + 8, &pc))
        return false;
    bool is_entry = read_stack(f, f->fp + (uint64_t)l->frame_marker, &marker) &&
                    (marker == (uint64_t)l->entry_frame << 1 ||
                     marker == (uint64_t)l->construct_entry_frame << 1);
    (void)leave(f, pc, fp, f->fp + (is_entry && f->is_arm ? ARM_ENTRY_LEN : 16));
    if (!is_entry) {
        uint64_t begin, shift;

        /* On aarch64 the two are at the lower end of the frame, whose size is unknown; V8's own
         * frames are undone without it. */
        if (f->is_arm && locate(f->v8, pc - 1, &begin, &shift) == CN_V8_NATIVE)
            registers->known &= ~(UINT64_C(1) << f->sp_at);
        return true;
    }
    for (unsigned i = 0; f->is_arm && i < ARM_SAVED_COUNT; i++)
        if (read_stack(f, f->fp + 16 + 8 * (uint64_t)i, &value)) {
            registers->value[ARM_FIRST_SAVED + i] = value;
            registers->known |= UINT64_C(1) << (ARM_FIRST_SAVED + i);
        }
    for (unsigned i = 0; !f->is_arm && i < 5; i++)
        if (read_stack(f, f->fp - X86_SAVED_OFF - 8 * (uint64_t)i, &value)) {
            unsigned at = i < 4 ? 12 + i : 3;

            registers->value[at] = value;
            registers->known |= UINT64_C(1) << at;
        }
    return true;
}

/* A built-in that is the innermost: it may have no frame. */
static bool undo_builtin_leaf(struct frame *f)
{
    enum leaf leaf = find_leaf(f, f->lowest);
    uint64_t pc, fp, sp;

    if (leaf == FRAMED || !find_bare(f, leaf, &pc, &fp, &sp))
        return false;
    push(f, f->pc + f->shift);
    return leave(f, pc, fp, sp);
}

/* An interpreted function that is entered: what makes its frame has it in a register. */
static bool undo_entering(struct frame *f)
{
    uint8_t code[ENTERING_MAX];
    uint64_t off = f->pc - f->lowest, pc, fp, sp, begin, shift;
    unsigned at =
        register_at(f->step->registers.machine, f->v8->layout.function_register);

    if (off >= sizeof(code) || !is_known(&f->step->registers, at) ||
        !cn_memory_read(f->v8->memory, f->lowest, code, sizeof(code)))
        return false;
    enum leaf leaf = f->is_arm ? find_arm_leaf(code, sizeof(code), off, off)
                               : find_x86_leaf(code, sizeof(code), off, off);
    /* With a frame, as long as the function is not on the stack. */
    if (leaf == FRAMED ? f->fp + (uint64_t)f->v8->layout.frame_function >= f->sp ||
                             !read_stack(f, f->fp + 8, &pc)
                       : !find_bare(f, leaf, &pc, &fp, &sp))
        return false;
    /* Handlers are called by what entered the function. */
    if (locate(f->v8, pc - 1, &begin, &shift) == CN_V8_HANDLER)
        return false;
    uint32_t function = cn_v8_function_of(f->v8, f->step->registers.value[at]);
    if (!is_written(f->v8, function))
        return false;
    push_function(f, function, -1);
    return leaf == FRAMED ? leave_frame(f) : leave(f, pc, fp, sp);
}

/* Handlers of bytecodes are a part of the interpreted function below them. */
static void skip_handlers(struct frame *f, enum cn_v8_kind *kind)
{
    struct frame start = *f;

    for (unsigned i = 0; *kind == CN_V8_HANDLER && i < HIDDEN_MAX; i++) {
        uint64_t pc, fp;

        if (is_written(f->v8, find_function(f)))
            return;
        if (!read_stack(f, f->fp, &fp) || !read_stack(f, f->fp + 8, &pc) || fp <= f->fp)
            break;
        f->pc = pc;
        f->fp = fp;
        f->is_innermost = false;
        *kind = locate_frame(f);
    }
    if (!is_written(f->v8, find_function(f)) || *kind == CN_V8_NATIVE) {
        *f = start;
        *kind = CN_V8_BUILTIN;
    }
}

/* The function that called a built-in without a frame, if that is optimised. */
static bool push_caller(struct frame *f, uint32_t function)
{
    uint64_t pc, fp, sp, lowest, shift;

    if (!find_bare(f, BARE, &pc, &fp, &sp) ||
        locate(f->v8, pc - 1, &lowest, &shift) != CN_V8_COMPILED)
        return false;
    struct cn_v8_code *code = cn_v8_code_at(f->v8, lowest, pc - 1);
    return code && code->function == function && push_positions(f, code, pc - 1);
}

bool cn_v8_undo(struct cn_v8 *v8, struct cn_unwind_step *step)
{
    bool is_arm = step->registers.machine == CN_UNWIND_AARCH64;
    struct frame f = {
        .v8 = v8,
        .step = step,
        .is_arm = is_arm,
        .sp_at = is_arm ? CN_UNWIND_ARM_SP : CN_UNWIND_X86_RSP,
        .fp_at = is_arm ? CN_UNWIND_ARM_FP : CN_UNWIND_X86_RBP,
        .pc_at = is_arm ? CN_UNWIND_ARM_PC : CN_UNWIND_X86_RIP,
        .is_innermost = step->is_innermost,
    };

    f.sp = step->registers.value[f.sp_at];
    f.fp = step->registers.value[f.fp_at];
    f.pc = step->registers.value[f.pc_at];
    enum cn_v8_kind kind = locate_frame(&f);
    if (kind == CN_V8_NATIVE || !is_known(&step->registers, f.fp_at))
        return false;
    if (kind == CN_V8_COMPILED) {
        struct cn_v8_code *code = cn_v8_code_at(v8, f.lowest, f.pc - !f.is_innermost);

        if (code && f.is_innermost && undo_compiled_leaf(&f, code))
            return true;
        push_compiled(&f, code);
        return leave_frame(&f);
    }
    if ((kind == CN_V8_BUILTIN && f.is_innermost && undo_builtin_leaf(&f)) ||
        (kind == CN_V8_HANDLER && f.is_innermost && undo_entering(&f)))
        return true;
    skip_handlers(&f, &kind);
    uint32_t function = find_function(&f);
    if (!is_written(v8, function)) {
        push(&f, f.pc + f.shift);
    } else {
        if (kind == CN_V8_BUILTIN && f.is_innermost)
            push(&f, f.pc + f.shift);
        if (kind != CN_V8_BUILTIN || !f.is_innermost || !push_caller(&f, function))
            push_interpreted(&f, function, kind == CN_V8_HANDLER);
    }
    return leave_frame(&f);
}
