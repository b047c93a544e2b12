/* Any bytes as the memory of a Java virtual machine and as a stack: frames are undone or not,
 * within limits. */

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/bytes/record.h"
#include "sampler/languages/frame_walk.h"
#include "sampler/languages/runtimes.h"
#include "support/fuzz.h"
#include "support/java_image.h"

enum { STACK = 0x70000000, STACK_LEN = 256, FRAMES = 16 };

static void undo(struct cn_test_java *java, enum cn_unwind_machine machine, uint64_t pc,
                 struct cn_bytes stack, bool is_innermost)
{
    struct cn_unwind_step step = {
        .registers = {.machine = machine, .known = UINT64_MAX},
        .stack_begin = STACK,
        .stack = stack,
        .is_innermost = is_innermost,
    };
    unsigned sp = machine == CN_UNWIND_AARCH64 ? CN_UNWIND_ARM_SP : CN_UNWIND_X86_RSP;
    unsigned at = machine == CN_UNWIND_AARCH64 ? CN_UNWIND_ARM_PC : CN_UNWIND_X86_RIP;

    for (size_t i = 0; i < CN_UNWIND_REGISTER_MAX; i++)
        step.registers.value[i] = STACK + 8 * i;
    step.registers.value[sp] = STACK;
    step.registers.value[at] = pc;
    for (unsigned i = 0; i < FRAMES; i++) {
        if (!cn_test_java_undo(java, &step))
            break;
        assert(step.frame_count <= sizeof(step.frames) / sizeof(*step.frames));
        if (!(step.registers.known >> at & 1))
            break;
        step.is_innermost = false;
    }
}

/* What a thread compiles, by words that are the last bytes. */
static void finish(struct cn_test_java *java, struct cn_bytes stack)
{
    struct cn_frames_found found = {
        .language = CN_LANGUAGE_JAVA, .head_len = 4, .word_count = 4};
    uint64_t words[4], chain[3] = {1, 2};
    struct cn_language_sample sample = {.found = &found, .words = words};

    if (stack.len < sizeof(words))
        return;
    memcpy(words, stack.ptr + stack.len - sizeof(words), sizeof(words));
    for (uint64_t i = 0; i < 2; i++) {
        struct cn_unwind_step step = {
            .registers = {.machine = CN_UNWIND_AARCH64, .known = UINT64_MAX},
            .is_innermost = i == 0};

        step.registers.value[CN_UNWIND_ARM_SP] = STACK + 8 * i;
        (void)cn_test_java_undo(java, &step);
    }
    assert(cn_language_java.finish(java->state, &sample, chain, 2, 3) <= 3);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    uint8_t *image = cn_alloc(len + 1, 1);
    struct cn_bytes stack = {image, len < STACK_LEN ? len : STACK_LEN};
    struct cn_test_java java;

    if (len > 0)
        memcpy(image, data, len);
    /* The end of the image is also the stack. */
    stack.ptr += len - stack.len;
    cn_test_java_open(&java, image, len);
    for (int i = 0; i < 4; i++) {
        enum cn_unwind_machine machine = i % 2 ? CN_UNWIND_X86_64 : CN_UNWIND_AARCH64;

        undo(&java, machine, CN_TEST_JAVA_CALL, stack, i < 2);
        undo(&java, machine, CN_TEST_JAVA_CODE + 8, stack, true);
        undo(&java, machine, CN_TEST_JAVA_STUB, stack, i < 2);
        undo(&java, machine, CN_TEST_JAVA_INTERPRETER, stack, i < 2);
    }
    finish(&java, stack);
    cn_test_java_close(&java);
    free(image);
    return 0;
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    static uint8_t image[CN_TEST_JAVA_LEN];

    for (int i = 0; i < 4; i++) {
        uint8_t *stack = image + CN_TEST_JAVA_LEN - STACK_LEN;

        cn_test_java_image(i % 2 ? CN_UNWIND_X86_64 : CN_UNWIND_AARCH64,
                           i < 2 ? CN_TEST_JAVA_17 : CN_TEST_JAVA_25, image);
        for (uint64_t k = 0; k < STACK_LEN / 8; k++)
            cn_u64_put(stack + 8 * k, k % 3 == 0   ? CN_TEST_JAVA_CALL
                                      : k % 3 == 1 ? CN_TEST_JAVA_METHOD
                                                   : CN_TEST_JAVA_BYTECODE);
        emit(image, sizeof(image));
    }
}
