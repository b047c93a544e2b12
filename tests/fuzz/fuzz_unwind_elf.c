/* Any bytes as an ELF file with call frame information: a table is built from what is
 * readable, is stored and read back, and stacks are unwound with it. */

#include <assert.h>

#include "support/fuzz.h"
#include "support/fuzz_unwind.h"
#include "support/tiny_elf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct cn_unwind_table table, decoded;
    struct cn_unwind_elf elf;
    struct cn_text text = {0};
    struct cn_error err = {0};

    if (!cn_unwind_elf_open(&elf, (struct cn_bytes){data, len}))
        return 0;
    cn_unwind_table_build(&table, &elf);
    cn_unwind_table_add_code(&table, &elf);
    cn_unwind_table_encode(&table, &text);
    assert(cn_unwind_table_decode(
        &decoded, (struct cn_bytes){(const uint8_t *)text.chars, text.len}, &err));
    assert(decoded.row_count == table.row_count);
    cn_text_done(&text);
    cn_unwind_table_done(&table);
    cn_fuzz_unwind(&decoded);
    return 0;
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    for (unsigned i = 0; i < 4; i++) {
        struct cn_text text =
            cn_test_elf(i < 2 ? CN_UNWIND_X86_64 : CN_UNWIND_AARCH64, i % 2);

        emit((const uint8_t *)text.chars, text.len);
        cn_text_done(&text);
    }
}
