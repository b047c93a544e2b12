/* Any bytes as a Go program: its functions are listed and located, and stacks are unwound with
 * their frames. */

#include <assert.h>
#include <string.h>

#include "support/fuzz.h"
#include "support/fuzz_unwind.h"
#include "support/tiny_go.h"
#include "unwind/go_table.h"

enum { FUNCTIONS_MAX = 64, STEP = 16 };

static void locate_all(const struct cn_go_table *table)
{
    struct cn_go_location at[8];
    struct cn_go_function function;

    for (uint32_t i = 0; i < table->function_count && i < FUNCTIONS_MAX; i++) {
        if (!cn_go_table_function(table, i, &function))
            continue;
        for (uint64_t k = 0; k < FUNCTIONS_MAX; k++) {
            size_t count =
                cn_go_table_locations(table, &function, function.begin + k * STEP, at, 8);

            assert(count >= 1 && count <= 8);
            assert(strlen(at[0].function) + strlen(at[count - 1].file) <
                   2 * table->bytes.len);
        }
        (void)!cn_go_table_find(table, function.begin, &function);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct cn_bytes file = {data, len};
    struct cn_unwind_table table;
    struct cn_unwind_elf elf;
    struct cn_go_table go;

    if (cn_go_table_open(&go, file)) {
        cn_go_table_find_inlined(&go, file);
        locate_all(&go);
    }
    if (!cn_unwind_elf_open(&elf, file))
        return 0;
    cn_unwind_table_build(&table, &elf);
    cn_fuzz_unwind(&table);
    return 0;
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    for (unsigned i = 0; i < 4; i++) {
        struct cn_text text =
            cn_test_go(i < 2 ? CN_UNWIND_X86_64 : CN_UNWIND_AARCH64, i % 2);

        emit((const uint8_t *)text.chars, text.len);
        cn_text_done(&text);
    }
}
