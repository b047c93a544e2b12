/* Any bytes as the memory of a process that runs Erlang, and as its stack: modules are listed, their functions
 * named and callers found, within bounds of memory and time. */

#include <string.h>

#include "formats/exchange/perf/stored_names.h"
#include "sampler/languages/erlang.h"
#include "sampler/languages/runtimes.h"
#include "support/erlang_image.h"
#include "support/fuzz.h"

static bool copy_bytes(void *arg, uint64_t address, void *out, size_t len)
{
    const struct cn_bytes *bytes = arg;
    struct cn_bytes part;

    if (address < CN_ERLANG_BASE ||
        !cn_bytes_slice(*bytes, address - CN_ERLANG_BASE, len, &part))
        return false;
    memcpy(out, part.ptr, len);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct cn_bytes bytes = {data, len};
    struct cn_memory memory = {.copy = copy_bytes, .arg = &bytes};
    struct cn_stored_names names = {0};
    void *erlang = cn_erlang_open(&memory, CN_ERLANG_DESCRIPTOR, &names);

    for (uint64_t i = 0; i < 32; i++) {
        struct cn_unwind_step step = {
            .is_innermost = i % 2, .stack_begin = CN_ERLANG_BASE, .stack = bytes};
        uint64_t pc = (i % 4 == 3 ? CN_ERLANG_SHARED : CN_ERLANG_CODE) + 8 * i;
        bool is_arm = i % 8 == 1;

        step.registers.machine = is_arm ? CN_UNWIND_AARCH64 : CN_UNWIND_X86_64;
        step.registers.value[is_arm ? CN_UNWIND_ARM_PC : CN_UNWIND_X86_RIP] = pc;
        if (!is_arm)
            step.registers.value[CN_UNWIND_X86_RSP] = CN_ERLANG_BASE + 8 * i;
        cn_memory_begin(&memory, 1, 1 << 18);
        (void)cn_language_erlang.undo(erlang, &step);
    }
    cn_language_erlang.close(erlang);
    cn_stored_names_done(&names);
    return 0;
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    struct cn_text image = cn_erlang_image();

    emit((const uint8_t *)image.chars, image.len);
    cn_text_done(&image);
}
