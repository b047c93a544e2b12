/* Any bytes as a cached table, with a checksum that is right: refused, or stacks are unwound
 * with it. */

#include <stdlib.h>

#include "base/alloc.h"
#include "base/files/crc32c.h"
#include "support/fuzz.h"
#include "support/fuzz_unwind.h"
#include "support/tiny_elf.h"

enum { CRC_OFF = 8, CRC_END = 12 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    uint8_t *copy = cn_alloc(len + 1, 1);
    struct cn_unwind_table table;
    struct cn_error err = {0};

    if (len > 0)
        memcpy(copy, data, len);
    if (len > CRC_END)
        cn_u32_put(copy + CRC_OFF,
                   cn_crc32c((struct cn_bytes){copy + CRC_END, len - CRC_END}));
    if (cn_unwind_table_decode(&table, (struct cn_bytes){copy, len}, &err))
        cn_fuzz_unwind(&table);
    free(copy);
    return 0;
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    for (unsigned i = 0; i < 2; i++) {
        struct cn_text file = cn_test_elf(i ? CN_UNWIND_X86_64 : CN_UNWIND_AARCH64, true);
        struct cn_unwind_table table;
        struct cn_unwind_elf elf;
        struct cn_text text = {0};

        if (cn_unwind_elf_open(
                &elf, (struct cn_bytes){(const uint8_t *)file.chars, file.len})) {
            cn_unwind_table_build(&table, &elf);
            cn_unwind_table_encode(&table, &text);
            emit((const uint8_t *)text.chars, text.len);
            cn_unwind_table_done(&table);
        }
        cn_text_done(&text);
        cn_text_done(&file);
    }
}
