/* Any bytes as the stack, the registers and the heap of a process that runs V8: its frames are
 * undone, and no bytes of others are read. */

#include <string.h>

#include "base/bytes/record.h"
#include "support/fuzz.h"
#include "support/v8_image.h"

enum {
    REGISTERS_LEN = 5 * 8, /* program counter, frame and stack pointer, lr, function */
    HEAD_LEN = REGISTERS_LEN + CN_V8_IMAGE_STACK_LEN,
    STEPS_MAX = 64,
};

static void undo_all(struct cn_v8 *v8, const uint8_t *head,
                     enum cn_unwind_machine machine)
{
    bool is_arm = machine == CN_UNWIND_AARCH64;
    unsigned pc = is_arm ? CN_UNWIND_ARM_PC : CN_UNWIND_X86_RIP;
    struct cn_unwind_step step = {
        .registers = {.machine = machine, .known = UINT64_MAX >> 1},
        .stack_begin = CN_V8_IMAGE_STACK,
        .stack = {head + REGISTERS_LEN, CN_V8_IMAGE_STACK_LEN},
        .is_innermost = true,
    };

    step.registers.value[pc] = cn_u64_get(head);
    step.registers.value[is_arm ? CN_UNWIND_ARM_FP : CN_UNWIND_X86_RBP] =
        cn_u64_get(head + 8);
    step.registers.value[is_arm ? CN_UNWIND_ARM_SP : CN_UNWIND_X86_RSP] =
        cn_u64_get(head + 16);
    if (is_arm)
        step.registers.value[CN_UNWIND_ARM_LR] = cn_u64_get(head + 24);
    step.registers.value[1] = cn_u64_get(head + 32);
    for (unsigned i = 0; i < STEPS_MAX; i++) {
        step.frame_count = 0;
        if (!cn_v8_undo(v8, &step))
            break;
        if (step.frame_count > sizeof(step.frames) / sizeof(*step.frames))
            __builtin_trap();
        step.is_innermost = false;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static struct cn_v8_image image;
    static struct cn_memory memory;

    if (len < HEAD_LEN || len - HEAD_LEN > CN_V8_IMAGE_LEN)
        return 0;
    for (unsigned i = 0; i < 2; i++) {
        struct cn_stored_names names = {0};
        struct cn_v8 v8;

        image = (struct cn_v8_image){.len = len - HEAD_LEN};
        memcpy(image.bytes, data + HEAD_LEN, image.len);
        memory = (struct cn_memory){0};
        cn_v8_image_open(&image, &v8, &memory, &names);
        if (cn_v8_layout_end(&v8.layout))
            undo_all(&v8, data, i ? CN_UNWIND_X86_64 : CN_UNWIND_AARCH64);
        cn_v8_done(&v8);
        cn_stored_names_done(&names);
    }
    return 0;
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    static const uint64_t pcs[] = {CN_V8_IMAGE_CODE + 20, CN_V8_IMAGE_BUILTINS + 8,
                                   CN_V8_IMAGE_BUILTINS + 264};
    static struct cn_v8_image image;
    static uint8_t bytes[HEAD_LEN + CN_V8_IMAGE_LEN];
    uint8_t *stack = bytes + REGISTERS_LEN;

    cn_v8_image_fill(&image);
    memcpy(bytes + HEAD_LEN, image.bytes, sizeof(image.bytes));
    cn_u64_put(bytes + 8, CN_V8_IMAGE_STACK + 128);
    cn_u64_put(bytes + 16, CN_V8_IMAGE_STACK);
    cn_u64_put(bytes + 24, CN_V8_IMAGE_CODE + 24);
    cn_u64_put(bytes + 32, image.function);
    for (unsigned fp = 128; fp < CN_V8_IMAGE_STACK_LEN - 64; fp += 64) {
        cn_u64_put(stack + fp, CN_V8_IMAGE_STACK + fp + 64);
        cn_u64_put(stack + fp + 8, fp % 128 ? CN_V8_IMAGE_CODE + 20 : pcs[1]);
        cn_u64_put(stack + fp - 16, image.function);
        cn_u64_put(stack + fp - 32, image.bytecodes);
        cn_u64_put(stack + fp - 40, UINT64_C(57) << 32);
    }
    for (unsigned i = 0; i < sizeof(pcs) / sizeof(*pcs); i++) {
        cn_u64_put(bytes, pcs[i]);
        emit(bytes, sizeof(bytes));
    }
}
