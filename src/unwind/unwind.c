#include "base/bytes/record.h"
#include "unwind/space.h"

/* One stack while it is unwound. */
struct walk {
    struct cn_unwind_space *space;
    struct cn_bytes stack;
    uint64_t stack_begin;
    unsigned sp, fp, pc; /* numbers of these registers */
    struct cn_unwind_registers at;
};

static bool read_stack(const struct walk *w, uint64_t address, uint64_t *out)
{
    struct cn_bytes word;

    if (address < w->stack_begin ||
        !cn_bytes_slice(w->stack, address - w->stack_begin, sizeof(*out), &word))
        return false;
    *out = cn_u64_get(word.ptr);
    return true;
}

/* A frame that begins with the caller's frame pointer and the return address. */
static bool step_by_frame_pointer(struct walk *w, enum cn_unwind_end *end)
{
    uint64_t fp = w->at.value[w->fp], next_fp, pc;

    *end = CN_UNWIND_UNKNOWN;
    if (fp < w->at.value[w->sp] || fp % 8 != 0)
        return false;
    if (!read_stack(w, fp, &next_fp) || !read_stack(w, fp + 8, &pc)) {
        *end = CN_UNWIND_CUT;
        return false;
    }
    if (pc == 0) {
        *end = CN_UNWIND_WHOLE;
        return false;
    }
    if (!cn_unwind_space_find(w->space, pc - 1))
        return false;
    w->at.value[w->fp] = next_fp;
    w->at.value[w->pc] = pc;
    w->at.value[w->sp] = fp + 16;
    return true;
}

size_t cn_unwind(struct cn_unwind_space *space,
                 const struct cn_unwind_registers *registers, uint64_t stack_begin,
                 struct cn_bytes stack, uint64_t *out, size_t most,
                 enum cn_unwind_end *end)
{
    bool is_arm = registers->machine == CN_UNWIND_AARCH64;
    struct walk w = {
        .space = space,
        .stack = stack,
        .stack_begin = stack_begin,
        .sp = is_arm ? CN_UNWIND_ARM_SP : CN_UNWIND_X86_RSP,
        .fp = is_arm ? CN_UNWIND_ARM_FP : CN_UNWIND_X86_RBP,
        .pc = is_arm ? CN_UNWIND_ARM_PC : CN_UNWIND_X86_RIP,
        .at = *registers,
    };
    size_t count = 0;

    *end = CN_UNWIND_CUT;
    while (count < most) {
        out[count++] = w.at.value[w.pc];
        if (!step_by_frame_pointer(&w, end))
            break;
        *end = CN_UNWIND_CUT;
    }
    return count;
}
