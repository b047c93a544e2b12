/* Frames of Java on the stack, with the stack pointer after the call:
 *
 *   compiled      [stack pointer] ... [caller's frame pointer] [return address]
 *                 of a length that the code has
 *   interpreted   ... [bytecode] ... [method] ... [caller's stack pointer]
 *                 [frame pointer: caller's frame pointer] [return address]
 *   entry         call_stub, from C: a frame with a frame pointer
 *
 * Before a compiled method has made its frame, and after it has removed it, the return address
 * is in a register (aarch64) or near the stack pointer (x86_64): its instructions tell.
 */

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/record.h"
#include "base/run/clock.h"
#include "base/text.h"
#include "formats/exchange/perf/stored_names.h"
#include "sampler/languages/java.h"
#include "sampler/languages/runtimes.h"

enum {
    HEAPS_NS = 100000000, /* heaps grow */
    ARM_BCP = 22,         /* registers of the interpreter: the bytecode */
    X86_BCP = 13,
    PLACES_MAX = 1 << 17,
    STUB_FRAME_MAX = 1024,
    LOOK_AHEAD = 16, /* instructions of aarch64 */
    ADDRESS_BITS = 48,
};

/* Frames of a place in compiled code, or of a bytecode. */
struct java_place {
    uint64_t key; /* of what it was found: the number of the code, or the method */
    uint32_t first, count;
};

struct java {
    struct cn_java_vm vm;
    struct cn_java_codes codes;
    struct cn_java_methods methods;
    struct cn_java_compilers compilers;
    struct cn_stored_names *names;
    struct cn_map place_of; /* by program counter or bytecode */
    struct java_place *places;
    size_t place_count, place_capacity;
    uint64_t *frames; /* of all places */
    size_t frame_count, frame_capacity;
    uint64_t round, now_ns, heaps_ns;
    uint64_t library, library_end; /* the code of libjvm.so */
};

/* One frame while it is undone. */
struct java_frame {
    struct java *java;
    struct cn_unwind_step *step;
    bool is_arm;
    unsigned sp_number, fp_number, pc_number;
    uint64_t sp, fp, pc;
};

static bool is_libjvm(const char *path)
{
    const char *name = strrchr(path, '/');

    return name && strcmp(name, "/libjvm.so") == 0;
}

static void *open_java(struct cn_memory *memory,
                       const struct cn_language_mapping *mapping,
                       struct cn_stored_names *names)
{
    struct java *java = cn_alloc(1, sizeof(*java));

    java->vm.memory = memory;
    java->names = names;
    java->library = mapping->begin;
    java->library_end = mapping->end;
    cn_java_vm_find(&java->vm, mapping);
    cn_java_compilers_find(&java->compilers, mapping);
    return java;
}

static void forget_places(struct java *java)
{
    free(java->places);
    free(java->frames);
    cn_map_done(&java->place_of);
    java->places = NULL;
    java->frames = NULL;
    java->place_count = java->place_capacity = 0;
    java->frame_count = java->frame_capacity = 0;
}

static void close_java(void *state)
{
    struct java *java = state;

    cn_java_codes_done(&java->codes);
    cn_java_methods_done(&java->methods);
    forget_places(java);
    free(java);
}

/* Names. */

static uint64_t name_stub(struct java *java, const char *name)
{
    char text[128] = "[";

    (void)strncat(text, name, sizeof(text) - 3);
    (void)strcat(text, "]");
    return cn_stored_names_address(
        java->names,
        &(struct cn_stored_frame){.function = text, .language = CN_LANGUAGE_JAVA});
}

static uint64_t name_method(struct java *java, uint64_t address, int32_t bci)
{
    const struct cn_java_method *method =
        cn_java_method_find(&java->methods, &java->vm, address);

    if (!method)
        return name_stub(java, "unknown method");
    return cn_stored_names_address(
        java->names, &(struct cn_stored_frame){
                         .function = method->function,
                         .file = method->file,
                         .line = cn_java_method_line(&java->vm, method, bci),
                         .language = CN_LANGUAGE_JAVA,
                         .first_line = method->first_line,
                     });
}

static const struct java_place *find_place(const struct java *java, uint64_t at,
                                           uint64_t key)
{
    uint32_t number = cn_map_find(&java->place_of, at, UINT32_MAX);

    return number < java->place_count && java->places[number].key == key
               ? &java->places[number]
               : NULL;
}

static const struct java_place *add_place(struct java *java, uint64_t at, uint64_t key,
                                          const struct cn_java_scope *scopes,
                                          size_t count)
{
    struct java_place place = {.key = key, .count = (uint32_t)count};

    if (java->place_count == PLACES_MAX)
        forget_places(java);
    place.first = (uint32_t)java->frame_count;
    for (size_t i = 0; i < count; i++)
        CN_PUSH(java->frames, java->frame_count, java->frame_capacity,
                name_method(java, scopes[i].method, scopes[i].bci));
    *cn_map_at(&java->place_of, at, 0) = (uint32_t)java->place_count;
    CN_PUSH(java->places, java->place_count, java->place_capacity, place);
    return &java->places[java->place_count - 1];
}

static void put_place(struct java_frame *f, const struct java_place *place)
{
    memcpy(f->step->frames, f->java->frames + place->first,
           place->count * sizeof(*f->step->frames));
    f->step->frame_count = place->count;
}

static void name_code(struct java_frame *f, const struct cn_java_code *code)
{
    struct cn_java_scope scopes[CN_JAVA_FRAMES_MAX];
    const struct java_place *place = find_place(f->java, f->pc, code->number);

    if (!place)
        place = add_place(f->java, f->pc, code->number, scopes,
                          cn_java_code_scopes(&f->java->vm, code, f->pc, scopes));
    put_place(f, place);
}

static void put_stub(struct java_frame *f, const char *name)
{
    f->step->frames[0] = name_stub(f->java, name);
    f->step->frame_count = 1;
}

/* Registers of the caller. */

static bool stack_at(const struct java_frame *f, uint64_t address, uint64_t *out)
{
    return cn_language_stack(f->step, address, out);
}

static bool leave(struct java_frame *f, uint64_t sp, uint64_t fp, uint64_t pc)
{
    struct cn_unwind_registers *to = &f->step->registers;

    to->value[f->sp_number] = sp;
    to->value[f->fp_number] = fp;
    to->value[f->pc_number] = pc;
    to->known |= UINT64_C(1) << f->sp_number | UINT64_C(1) << f->fp_number |
                 UINT64_C(1) << f->pc_number;
    return true;
}

/* Its code, but nothing is known; or the copy of the stack ends before `sp`. */
static bool give_up(struct java_frame *f, uint64_t sp)
{
    f->step->registers.value[f->sp_number] = sp;
    f->step->registers.known &= ~(UINT64_C(1) << f->pc_number);
    return true;
}

/* The frame pointer and the return address are at the upper end of the frame. */
static bool leave_frame(struct java_frame *f, uint64_t caller_sp)
{
    uint64_t fp, pc;

    if (caller_sp < 16 || !stack_at(f, caller_sp - 16, &fp) ||
        !stack_at(f, caller_sp - 8, &pc))
        return give_up(f, caller_sp);
    return leave(f, caller_sp, fp, pc);
}

static bool leave_by_frame_pointer(struct java_frame *f)
{
    if (f->fp < f->sp || f->fp % 8 != 0)
        return give_up(f, f->sp);
    return leave_frame(f, f->fp + 16);
}

/* Could code return there? The virtual machine itself calls stubs that copy. */
static bool is_target(const struct java_frame *f, uint64_t pc)
{
    const struct java *java = f->java;

    return (pc >= java->vm.low && pc < java->vm.high) ||
           (pc >= java->library && pc < java->library_end);
}

/* Instructions of code, from the image. */
static struct cn_bytes code_from(const struct cn_java_code *code, uint64_t pc)
{
    struct cn_bytes bytes;

    if (!cn_bytes_slice(code->image, pc - code->address, code->end - pc, &bytes))
        return (struct cn_bytes){0};
    return bytes;
}

/* What the instructions before an address have done to the stack. */
struct arm_prologue {
    uint64_t lowered; /* bytes */
    bool is_pushed;   /* the frame pointer and the return address are on the stack */
    bool is_unknown;  /* how far it was lowered */
};

static void arm_follow(struct arm_prologue *prologue, uint32_t word)
{
    if ((word & 0xff8003ff) == 0xd10003ff) { /* sub sp, sp, #N */
        prologue->lowered += (uint64_t)(word >> 10 & 0xfff) << (word >> 22 & 1 ? 12 : 0);
    } else if ((word & 0xffe0ffff) == 0xcb2063ff) { /* sub sp, sp, xN */
        prologue->is_unknown = true;
    } else if ((word & 0xffc07fff) == 0xa9007bfd) { /* stp x29, x30, [sp, #N] */
        prologue->is_pushed = true;
    } else if (word == 0xa9bf7bfd) { /* stp x29, x30, [sp, #-16]! */
        prologue->is_pushed = true;
        prologue->lowered += 16;
    }
}

/* What follows the end of a frame: a look whether to stop here, and the return. */
static bool arm_is_after_frame(uint32_t word)
{
    return (word & 0xffc003e0) == 0xf9400380 || /* ldr xN, [x28, #N]: the thread */
           word == 0xeb2863ff ||                /* cmp sp, x8 */
           word == 0xb940011f ||                /* ldr wzr, [x8] */
           (word & 0xff00001f) == 0x54000008;   /* b.hi */
}

static bool undo_arm_edges(struct java_frame *f, const struct cn_java_code *code)
{
    const uint32_t return_word = 0xd65f03c0;
    uint64_t lr =
        f->step->registers.value[CN_UNWIND_ARM_LR] & ((UINT64_C(1) << ADDRESS_BITS) - 1);
    struct cn_bytes bytes = code_from(code, code->begin);
    uint64_t off = f->pc - code->begin;
    struct arm_prologue prologue = {0};

    if (off < (code->complete_len > 0 ? (uint64_t)code->complete_len : 4 * LOOK_AHEAD)) {
        for (uint64_t at = 0; at < off && at + 4 <= bytes.len; at += 4)
            arm_follow(&prologue, cn_u32_get(bytes.ptr + at));
        if (!prologue.is_pushed)
            return leave(f, f->sp + prologue.lowered, f->fp, lr);
        if (!prologue.is_unknown)
            return leave_frame(f, f->sp + prologue.lowered);
    }
    bytes = code_from(code, f->pc);
    for (size_t i = 0; i < LOOK_AHEAD && 4 * i + 4 <= bytes.len; i++) {
        uint32_t word = cn_u32_get(bytes.ptr + 4 * i);

        if (word == return_word)
            return leave(f, f->sp, f->fp, lr);
        if (!arm_is_after_frame(word))
            break;
    }
    return false;
}

/* The length of an instruction that begins a method, and by how much it lowers the stack
 * pointer; 0 if it is another one. */
static size_t x86_prologue_len(struct cn_bytes at, uint64_t *lowered)
{
    *lowered = 0;
    if (at.len < 8)
        return 0;
    const uint8_t *p = at.ptr;
    if (p[0] == 0x55) { /* push rbp */
        *lowered = 8;
        return 1;
    }
    if (p[0] == 0x48 && p[1] == 0x83 && p[2] == 0xec) { /* sub rsp, N */
        *lowered = p[3];
        return 4;
    }
    if (p[0] == 0x48 && p[1] == 0x81 && p[2] == 0xec) {
        *lowered = cn_u32_get(p + 3);
        return 7;
    }
    if (p[0] == 0x89 && p[1] == 0x84 && p[2] == 0x24) /* mov [rsp - N], eax */
        return 7;
    if (p[0] == 0x48 && p[1] == 0x89 && p[2] == 0x6c &&
        p[3] == 0x24) /* mov [rsp+N], rbp */
        return 5;
    if (p[0] == 0x48 && p[1] == 0x89 && p[2] == 0xac && p[3] == 0x24)
        return 8;
    if (p[0] == 0x48 && p[1] == 0x8b && p[2] == 0xec) /* mov rbp, rsp */
        return 3;
    if (p[0] == 0x0f && p[1] == 0x1f && p[2] == 0x44) /* nop */
        return 5;
    if (p[0] == 0x66 && p[1] == 0x66 && p[2] == 0x90)
        return 3;
    if (p[0] == 0x66 && p[1] == 0x90)
        return 2;
    return p[0] == 0x90;
}

/* Bytes from the stack pointer to the return address, where only the rest of a method follows
 * that has removed its frame. */
static bool x86_epilogue(struct cn_bytes at, uint64_t *out)
{
    *out = 0;
    for (unsigned i = 0; i < 4 && at.len >= 8; i++) {
        const uint8_t *p = at.ptr;
        size_t len;

        if (p[0] == 0xc3)
            return true;
        if (p[0] == 0x5d && i == 0) { /* pop rbp */
            *out = 8;
            len = 1;
        } else if (p[0] == 0x49 && p[1] == 0x3b && p[2] == 0xa7) {
            len = 7; /* cmp rsp, [r15 + N] */
        } else if (p[0] == 0x0f && p[1] == 0x87) {
            len = 6; /* ja */
        } else if (p[0] == 0x85 && p[1] == 0x05) {
            len = 6; /* test [rip + N], eax */
        } else if (p[0] == 0x41 && p[1] == 0x85) {
            len = 3; /* test [rN], eax */
        } else if (p[0] == 0xc5 && p[1] == 0xf8 && p[2] == 0x77) {
            len = 3; /* vzeroupper */
        } else {
            return false;
        }
        (void)cn_bytes_from(at, len, &at);
    }
    return at.len > 0 && at.ptr[0] == 0xc3;
}

static bool undo_x86_edges(struct java_frame *f, const struct cn_java_code *code)
{
    uint64_t entry =
        code->entry >= code->begin && code->entry < code->end ? code->entry : code->begin;
    uint64_t lowered = 0, more, pc, fp = f->fp, off;
    struct cn_bytes bytes = code_from(code, entry);

    if (f->pc < entry) {
        lowered = 0;
    } else if (code->complete_len > 0 &&
               f->pc < code->begin + (uint64_t)code->complete_len) {
        for (uint64_t at = entry; at < f->pc;) {
            size_t len = x86_prologue_len(bytes, &more);

            if (len == 0 || !cn_bytes_from(bytes, len, &bytes)) {
                /* Code that only jumps on has no frame: is it such code? */
                if (!stack_at(f, f->sp + lowered, &pc) || !is_target(f, pc))
                    return false;
                break;
            }
            at += len;
            lowered += more;
        }
    } else if (x86_epilogue(code_from(code, f->pc), &off)) {
        if (off > 0 && !stack_at(f, f->sp, &fp))
            return false;
        lowered = off;
    } else {
        return false;
    }
    if (!stack_at(f, f->sp + lowered, &pc))
        return give_up(f, f->sp + lowered + 8);
    return leave(f, f->sp + lowered + 8, fp, pc);
}

/* Code that runs may have more on the stack than its frame: compareTo() of strings pushes a
 * register. A stub may still make its frame, and has a frame pointer then. */
static bool undo_running(struct java_frame *f, const struct cn_java_code *code)
{
    enum { PUSHED_MAX = 32 };
    uint64_t pc;

    for (uint64_t pushed = 0; pushed <= PUSHED_MAX; pushed += 8) {
        uint64_t caller_sp = f->sp + code->frame_len + pushed;

        if (stack_at(f, caller_sp - 8, &pc) && is_target(f, pc))
            return leave_frame(f, caller_sp);
    }
    if (f->fp >= f->sp && f->fp - f->sp <= code->frame_len && f->fp % 8 == 0 &&
        stack_at(f, f->fp + 8, &pc) && is_target(f, pc))
        return leave_frame(f, f->fp + 16);
    return leave_frame(f, f->sp + code->frame_len);
}

static bool undo_compiled(struct java_frame *f, const struct cn_java_code *code)
{
    if (!f->step->is_innermost)
        return leave_frame(f, f->sp + code->frame_len);
    return (f->is_arm ? undo_arm_edges(f, code) : undo_x86_edges(f, code)) ||
           undo_running(f, code);
}

/* A stub without a frame of its own, or with one that begins as those of C. */
static bool undo_stub(struct java_frame *f)
{
    uint64_t fp, pc,
        lr = f->step->registers.value[CN_UNWIND_ARM_LR] &
             ((UINT64_C(1) << ADDRESS_BITS) - 1);
    bool has_frame = f->fp >= f->sp && f->fp - f->sp < STUB_FRAME_MAX && f->fp % 8 == 0 &&
                     stack_at(f, f->fp, &fp) && stack_at(f, f->fp + 8, &pc);

    if (f->step->is_innermost && f->is_arm) {
        if (has_frame && pc == lr)
            return leave(f, f->fp + 16, fp, pc);
        if (stack_at(f, f->sp + 8, &pc) && pc == lr)
            return leave_frame(f, f->sp + 16);
        /* Stubs with a frame also use the register of the return address. */
        return is_target(f, lr) ? leave(f, f->sp, f->fp, lr) : leave_by_frame_pointer(f);
    }
    if (f->step->is_innermost) {
        if (stack_at(f, f->sp, &pc) && is_target(f, pc))
            return leave(f, f->sp + 8, f->fp, pc);
        if (!has_frame && stack_at(f, f->sp + 8, &pc) && is_target(f, pc) &&
            stack_at(f, f->sp, &fp))
            return leave(f, f->sp + 16, fp, pc);
    }
    return leave_by_frame_pointer(f);
}

/* The slots of method and bytecode in a frame of the interpreter, in words below the frame
 * pointer, by version and machine. A method is taken only if the bytecode is its own. */
static const struct java_slots {
    int method, bytecode;
} slots[] = {{3, 9}, {3, 8}, {3, 7}, {4, 9}, {4, 10}};

static bool name_interpreted(struct java_frame *f)
{
    const struct cn_unwind_registers *registers = &f->step->registers;
    unsigned number = f->is_arm ? ARM_BCP : X86_BCP;

    for (size_t i = 0; i < sizeof(slots) / sizeof(*slots); i++) {
        uint64_t address, candidates[2] = {0};
        const struct cn_java_method *method;

        if (!stack_at(f, f->fp - 8 * (uint64_t)slots[i].method, &address) ||
            !stack_at(f, f->fp - 8 * (uint64_t)slots[i].bytecode, &candidates[1]) ||
            !(method = cn_java_method_find(&f->java->methods, &f->java->vm, address)))
            continue;
        if (f->step->is_innermost && registers->known >> number & 1)
            candidates[0] = registers->value[number];
        for (size_t k = 0; k < 2; k++) {
            uint64_t bcp = candidates[k];
            const struct java_place *place;

            /* A method in C has no bytecode. */
            if (method->code_len == 0
                    ? bcp != 0 && k == 0
                    : bcp < method->code || bcp - method->code >= method->code_len)
                continue;
            uint64_t at = method->code_len == 0 ? address : bcp;
            struct cn_java_scope scope = {
                address, method->code_len == 0 ? -1 : (int32_t)(bcp - method->code)};
            place = find_place(f->java, at, address);
            put_place(f, place ? place : add_place(f->java, at, address, &scope, 1));
            return true;
        }
    }
    return false;
}

static bool undo_interpreted(struct java_frame *f)
{
    uint64_t caller_sp, fp, pc;

    if (f->fp < f->sp || f->fp % 8 != 0 || !stack_at(f, f->fp - 8, &caller_sp) ||
        !stack_at(f, f->fp, &fp) || !stack_at(f, f->fp + 8, &pc)) {
        put_stub(f, "interpreter");
        return f->step->is_innermost ? undo_stub(f) : give_up(f, f->fp);
    }
    if (!name_interpreted(f)) {
        put_stub(f, "interpreter");
        /* A method that has not made its frame yet, or has removed it. */
        if (f->step->is_innermost)
            return undo_stub(f);
    }
    return leave(f, caller_sp > f->fp ? caller_sp : f->fp + 16, fp, pc);
}

static bool prepare(struct java *java)
{
    struct cn_java_vm *vm = &java->vm;

    if (vm->memory->round == java->round)
        return vm->state == CN_JAVA_READY;
    java->round = vm->memory->round;
    java->now_ns = cn_clock_ns();
    if (vm->state == CN_JAVA_NOT_READY) {
        cn_java_vm_read(vm);
    } else if (vm->state == CN_JAVA_READY && java->now_ns - java->heaps_ns > HEAPS_NS) {
        struct cn_java_vm now = *vm;

        /* A process that has ended tells nothing any more. */
        if (cn_java_vm_read_heaps(&now))
            *vm = now;
        java->heaps_ns = java->now_ns;
    }
    return vm->state == CN_JAVA_READY;
}

static bool undo(void *state, struct cn_unwind_step *step)
{
    struct java *java = state;
    bool is_arm = step->registers.machine == CN_UNWIND_AARCH64;
    struct java_frame f = {
        .java = java,
        .step = step,
        .is_arm = is_arm,
        .sp_number = is_arm ? CN_UNWIND_ARM_SP : CN_UNWIND_X86_RSP,
        .fp_number = is_arm ? CN_UNWIND_ARM_FP : CN_UNWIND_X86_RBP,
        .pc_number = is_arm ? CN_UNWIND_ARM_PC : CN_UNWIND_X86_RIP,
    };
    uint64_t known = UINT64_C(1) << f.sp_number | UINT64_C(1) << f.fp_number;

    cn_java_compilers_see(&java->compilers, step);
    f.sp = step->registers.value[f.sp_number];
    f.fp = step->registers.value[f.fp_number];
    f.pc = step->registers.value[f.pc_number];
    if (!prepare(java) || f.pc < java->vm.low || f.pc >= java->vm.high ||
        (step->registers.known & known) != known)
        return false;
    if (f.pc >= java->vm.interpreter && f.pc < java->vm.interpreter_end)
        return undo_interpreted(&f);
    if (f.pc == java->vm.call_stub_return) {
        put_stub(&f, "call_stub");
        return leave_by_frame_pointer(&f);
    }
    const struct cn_java_code *code =
        cn_java_code_find(&java->codes, &java->vm, f.pc, java->now_ns);
    if (!code)
        return give_up(&f, f.sp);
    if (code->deopt != 0 && f.pc == code->deopt && !step->is_innermost &&
        stack_at(&f, f.sp + code->original_off, &known) && known >= code->begin &&
        known < code->end)
        f.pc = known;
    if (code->kind == CN_JAVA_STUB) {
        put_stub(&f, code->stub_name);
        return code->frame_len > 0 ? undo_compiled(&f, code) : undo_stub(&f);
    }
    name_code(&f, code);
    return undo_compiled(&f, code);
}

static enum cn_language_table describe(void *state, struct cn_frame_table *out)
{
    struct java *java = state;

    (void)prepare(java);
    return cn_java_compilers_describe(&java->compilers, &java->vm, out);
}

/* Put what a compiler compiles below the function that asked for it. */
static size_t finish(void *state, const struct cn_language_sample *sample,
                     uint64_t *chain, size_t count, size_t most)
{
    struct java *java = state;
    const struct cn_java_method *method;
    uint64_t address;
    size_t at;

    if (count == most ||
        !cn_java_compiled_find(&java->compilers, sample, chain, count, &address, &at) ||
        !prepare(java) ||
        !(method = cn_java_method_find(&java->methods, &java->vm, address)))
        return count;
    char *name = cn_strprintf("[compile %s]", method->function);
    memmove(chain + at + 1, chain + at, (count - at) * sizeof(*chain));
    chain[at] = cn_stored_names_address(
        java->names, &(struct cn_stored_frame){.function = name,
                                               .file = method->file,
                                               .line = method->first_line,
                                               .language = CN_LANGUAGE_JAVA,
                                               .first_line = method->first_line});
    free(name);
    return count + 1;
}

static char *hint(const void *state)
{
    const struct java *java = state;
    const char *release = java->vm.release;

    if (java->vm.state == CN_JAVA_NOT_READY && java->vm.memory->is_refused)
        return cn_strdup(
            "methods of Java have no names: the memory of the process may not "
            "be read; sample as root, or set kernel.yama.ptrace_scope to 0");
    if (java->vm.state != CN_JAVA_UNKNOWN)
        return NULL;
    return cn_strprintf("Java%s%s is not known to this version of cairn: its methods are "
                        "not shown; a newer cairn may know it",
                        release[0] ? " " : "", release);
}

const struct cn_language_runtime cn_language_java = {
    .is_runtime = is_libjvm,
    .open = open_java,
    .undo = undo,
    .finish = finish,
    .describe = describe,
    .hint = hint,
    .close = close_java,
};
