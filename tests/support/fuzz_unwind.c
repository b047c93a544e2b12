#include "support/fuzz_unwind.h"

#include <assert.h>

#include "unwind/space.h"

enum { WORDS = 64, STACK = 0x7000, LOADED = 0x10000000, ROWS_MAX = 64, MOST = 100 };

/* Words that are addresses of the code, of the stack, or small. */
static void fill(uint8_t *stack, uint64_t seed)
{
    for (size_t i = 0; i < WORDS; i++) {
        uint64_t number = (seed + i) * UINT64_C(0x9e3779b97f4a7c15) >> 40;
        uint64_t word = number % 3 == 0   ? LOADED + number % 0x800
                        : number % 3 == 1 ? STACK + number % (8 * WORDS)
                                          : number % 16;

        cn_u64_put(stack + 8 * i, word);
    }
}

void cn_fuzz_unwind(struct cn_unwind_table *table)
{
    struct cn_unwinder *unwinder = cn_unwinder_new();
    struct cn_unwind_space *space = cn_unwind_space_new(unwinder);
    struct cn_unwind_module *module;
    uint8_t stack[8 * WORDS];

    cn_unwinder_set_no_cache(unwinder);
    /* Mapped by file offset, so that offset 0 is at LOADED. */
    cn_unwind_space_map(space, LOADED, UINT64_C(0x7fffffff), 0, "table", "");
    module = cn_unwind_module_at(&unwinder->modules, "table", "");
    module->is_loaded = module->has_table = true;
    module->table = *table;
    for (size_t i = 0; i < table->row_count && i < ROWS_MAX; i++) {
        struct cn_unwind_registers registers = {.machine = table->machine,
                                                .known = UINT64_MAX};
        uint64_t found[MOST], address = table->base + table->begins[i];
        enum cn_unwind_end end;
        size_t count;

        fill(stack, i);
        for (size_t k = 0; k < CN_UNWIND_REGISTER_MAX; k++)
            registers.value[k] = STACK + 8 * (k % 16);
        for (uint32_t k = 0; k < table->segment_count; k++)
            if (address >= table->segments[k].address)
                registers.value[table->machine == CN_UNWIND_AARCH64 ? CN_UNWIND_ARM_PC
                                                                    : CN_UNWIND_X86_RIP] =
                    LOADED + (address - table->segments[k].address) +
                    table->segments[k].file_off;
        count = cn_unwind(space, &registers, STACK,
                          (struct cn_bytes){stack, sizeof(stack)}, found, MOST, &end);
        assert(count >= 1 && count <= MOST && end <= CN_UNWIND_BAD);
    }
    cn_unwind_space_free(space);
    cn_unwinder_free(unwinder);
}
