/* Regular expressions that PCRE2 has compiled to machine code, which has no tables.
 *
 * The library calls such code through a register and in few places. The code keeps the return
 * address in its frame, at an offset that is not known: it is the first word of the stack that is
 * such a place. On aarch64 the frame pointer of the caller lies before it. Its stack pointer is
 * not known: the code saves some registers after the two, and the caller may have its own two
 * anywhere in its frame.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "formats/exchange/perf/stored_names.h"
#include "sampler/languages/languages.h"
#include "sampler/languages/runtimes.h"

enum { WORDS_MAX = 1024 /* of a frame */ };

struct pcre {
    struct cn_memory *memory;
    struct cn_stored_names *names;
    uint64_t begin, end; /* of the code of the library */
};

static bool is_pcre(const char *path)
{
    const char *name = strrchr(path, '/');

    return strncmp(name ? name + 1 : path, "libpcre2-", strlen("libpcre2-")) == 0;
}

static void *open_pcre(struct cn_memory *memory,
                       const struct cn_language_mapping *mapping,
                       struct cn_stored_names *names)
{
    struct pcre *pcre = cn_alloc(1, sizeof(*pcre));

    *pcre = (struct pcre){memory, names, mapping->begin, mapping->end};
    return pcre;
}

/* Is an address of the library after a call through a register? */
static bool is_after_call(struct pcre *pcre, uint64_t address, bool is_arm)
{
    enum { X86_CALL_LEN = 2, ARM_CALL_LEN = 4 };
    uint32_t blr;
    uint8_t call[X86_CALL_LEN];

    if (address < pcre->begin + ARM_CALL_LEN || address > pcre->end)
        return false;
    if (is_arm)
        return cn_memory_u32(pcre->memory, address - ARM_CALL_LEN, &blr) &&
               (blr & 0xfffffc1f) == 0xd63f0000;
    return cn_memory_read(pcre->memory, address - sizeof(call), call, sizeof(call)) &&
           call[0] == 0xff && (call[1] & 0xf8) == 0xd0;
}

static bool undo(void *state, struct cn_unwind_step *step)
{
    struct pcre *pcre = state;
    bool is_arm = step->registers.machine == CN_UNWIND_AARCH64;
    unsigned pc = is_arm ? CN_UNWIND_ARM_PC : CN_UNWIND_X86_RIP;
    unsigned sp = is_arm ? CN_UNWIND_ARM_SP : CN_UNWIND_X86_RSP;
    uint64_t at = step->registers.value[sp], word, before = 0;

    if (step->has_rule || !(step->registers.known >> sp & 1))
        return false;
    for (size_t i = 0; i < WORDS_MAX && cn_language_stack(step, at, &word); i++) {
        at += sizeof(word);
        if (is_after_call(pcre, word, is_arm) && (!is_arm || before > at)) {
            step->registers = (struct cn_unwind_registers){
                .machine = step->registers.machine,
                .known = UINT64_C(1) << pc | UINT64_C(1)
                                                 << (is_arm ? CN_UNWIND_ARM_FP : sp),
            };
            step->registers.value[pc] = word;
            step->registers.value[is_arm ? CN_UNWIND_ARM_FP : sp] = is_arm ? before : at;
            step->frames[0] = cn_stored_names_address(
                pcre->names, &(struct cn_stored_frame){.function = "(regexp)"});
            step->frame_count = 1;
            return true;
        }
        before = word;
    }
    return false;
}

static void close_pcre(void *state)
{
    free(state);
}

const struct cn_language_runtime cn_language_pcre = {
    .is_runtime = is_pcre,
    .open = open_pcre,
    .undo = undo,
    .has_code_only = true,
    .close = close_pcre,
};
