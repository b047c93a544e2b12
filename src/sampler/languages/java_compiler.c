#include <string.h>

#include "formats/exchange/perf/stored_names.h"
#include "sampler/languages/frame_walk.h"
#include "sampler/languages/java.h"

/* Words of the state of a thread that are read. A thread that is no compiler has others at the first
 * one, which are no address of its stack. */
enum { AT_COMPILATION, AT_METHOD, AT_STACK_END, AT_STACK_LEN, HEAD_LEN };

void cn_java_compilers_find(struct cn_java_compilers *compilers,
                            const struct cn_language_mapping *mapping)
{
    /* Thread::_thr_current, which the library does not export. */
    (void)cn_language_variable_find(mapping, "_ZN6Thread12_thr_currentE",
                                    &compilers->thread);
    /* No library is where a program has its variables. */
    if (compilers->thread.kind == CN_VARIABLE_FIXED)
        compilers->thread.kind = CN_VARIABLE_NONE;
}

enum cn_language_table
cn_java_compilers_describe(const struct cn_java_compilers *compilers,
                           const struct cn_java_vm *vm, struct cn_frame_table *out)
{
    enum { COMPILATION = CN_FRAME_FOUND, TASK };

    if (vm->state != CN_JAVA_READY)
        return CN_LANGUAGE_LATER;
    for (int i = CN_JAVA_THREAD_COMPILATION; i <= CN_JAVA_TASK_METHOD; i++)
        if (!cn_java_has(vm, (enum cn_java_field)i))
            return CN_LANGUAGE_LATER;
    struct cn_frame_table table = {
        .language = CN_LANGUAGE_JAVA,
        .order = CN_FRAME_NONE,
        .head_len = HEAD_LEN,
        .head_read_count = 5,
        .head_reads =
            {
                {CN_FRAME_STATE, AT_COMPILATION, 0,
                 (int32_t)vm->at[CN_JAVA_THREAD_COMPILATION]},
                {COMPILATION, CN_FRAME_NOWHERE, 0,
                 (int32_t)vm->at[CN_JAVA_COMPILATION_TASK]},
                {TASK, AT_METHOD, 0, (int32_t)vm->at[CN_JAVA_TASK_METHOD]},
                {CN_FRAME_STATE, AT_STACK_END, 0,
                 (int32_t)vm->at[CN_JAVA_THREAD_STACK_END]},
                {CN_FRAME_STATE, AT_STACK_LEN, 0,
                 (int32_t)vm->at[CN_JAVA_THREAD_STACK_LEN]},
            },
    };
    if (!cn_language_variable_locate(&compilers->thread, vm->memory, &table))
        return CN_LANGUAGE_LATER;
    *out = table;
    return CN_LANGUAGE_TABLE_BESIDE_COPIES;
}

void cn_java_compilers_see(struct cn_java_compilers *compilers,
                           const struct cn_unwind_step *step)
{
    const struct cn_unwind_registers *registers = &step->registers;

    if (step->is_innermost)
        compilers->count = 0;
    if (compilers->count < CN_JAVA_STACK_MAX)
        compilers->sps[compilers->count++] =
            registers->value[registers->machine == CN_UNWIND_AARCH64 ? CN_UNWIND_ARM_SP
                                                                     : CN_UNWIND_X86_RSP];
}

bool cn_java_compiled_find(const struct cn_java_compilers *compilers,
                           const struct cn_language_sample *sample, const uint64_t *chain,
                           size_t count, uint64_t *method, size_t *at)
{
    const struct cn_frames_found *found = sample->found;
    size_t i = 0;

    if (!found || found->language != CN_LANGUAGE_JAVA || found->word_count < HEAD_LEN ||
        compilers->count != count)
        return false;
    uint64_t compilation = sample->words[AT_COMPILATION];
    uint64_t end = sample->words[AT_STACK_END], len = sample->words[AT_STACK_LEN];
    if (compilation == 0 || compilation >= end || end - compilation > len)
        return false;
    /* The last frame that begins before it has it, if the stack goes on after that. */
    for (; i < count && compilers->sps[i] <= compilation; i++)
        if (cn_stored_is_frame(chain[i]))
            return false;
    if (i < 2 || i == count)
        return false;
    *method = sample->words[AT_METHOD];
    *at = i - 1;
    return true;
}
