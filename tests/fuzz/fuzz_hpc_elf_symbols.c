/* Any bytes as an ELF file: its functions do not overlap, and each has a name. */

#include <assert.h>
#include <string.h>

#include "formats/hpctoolkit/meas/code/elf_symbols.h"
#include "formats/hpctoolkit/meas/elf_format.h"
#include "support/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct cn_hpc_ranges functions = {0};
    struct cn_hpc_tables tables = {0};
    struct cn_error err = {0};

    if (!cn_hpc_elf_symbols_read(&functions, (struct cn_bytes){data, len}, 0, &tables,
                                 &err))
        assert(err.text[0] != '\0');
    for (size_t i = 0; i < functions.count; i++) {
        const struct cn_hpc_range *range = &functions.list[i];

        assert(range->begin < range->end && range->value < tables.function_count);
        assert(i == 0 || range[-1].end <= range->begin);
        assert(cn_hpc_ranges_find(&functions, range->end - 1) == range);
        assert(tables.functions[range->value].name);
    }
    cn_hpc_ranges_done(&functions);
    cn_hpc_tables_done(&tables);
    return 0;
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    static const char strings[] = "\0main\0_ZN2ns4workIiEEvT_";
    enum {
        SYMBOLS = 3,
        SECTIONS = 3,
        SYMBOLS_OFF = cn_elf_header_size,
        STRINGS_OFF = SYMBOLS_OFF + SYMBOLS * cn_elf_symbol_size,
        SECTIONS_OFF = STRINGS_OFF + sizeof(strings),
    };
    uint8_t file[SECTIONS_OFF + SECTIONS * cn_elf_section_size] = {0};

    cn_elf_header_encode(&(struct cn_elf_header){.sections_off = SECTIONS_OFF,
                                                 .section_len = cn_elf_section_size,
                                                 .section_count = SECTIONS},
                         file);
    memcpy(file, "\x7f\x45LF\x02\x01", 6);
    for (uint32_t i = 1; i < SYMBOLS; i++)
        cn_elf_symbol_encode(&(struct cn_elf_symbol){.name = i == 1 ? 1 : 6,
                                                     .info = 2,
                                                     .section = 1,
                                                     .value = 0x100 * i,
                                                     .size = 0x80},
                             file + SYMBOLS_OFF + i * cn_elf_symbol_size);
    memcpy(file + STRINGS_OFF, strings, sizeof(strings));
    cn_elf_section_encode(&(struct cn_elf_section){.type = 2,
                                                   .off = SYMBOLS_OFF,
                                                   .len = SYMBOLS * cn_elf_symbol_size,
                                                   .link = 2},
                          file + SECTIONS_OFF + cn_elf_section_size);
    cn_elf_section_encode(
        &(struct cn_elf_section){.type = 3, .off = STRINGS_OFF, .len = sizeof(strings)},
        file + SECTIONS_OFF + 2 * cn_elf_section_size);
    emit(file, sizeof(file));
}
