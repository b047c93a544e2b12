#include "formats/hpctoolkit/meas/code/elf_symbols.h"

#include <inttypes.h>

#include "base/text.h"
#include "formats/hpctoolkit/meas/elf_format.h"
#include "symbols/demangle.h"

enum {
    SECTION_SYMBOLS = 2,
    SECTION_DYNAMIC_SYMBOLS = 11,
    TYPE_FUNCTION = 2,
    TYPE_INDIRECT_FUNCTION = 10,
    SYMBOL_COUNT_MAX = 1 << 26,
    NAME_LEN_MAX = 4096,
};

struct elf {
    struct cn_bytes file, sections, strings;
    struct cn_elf_header header;
};

static bool section_at(const struct elf *elf, uint32_t index, struct cn_elf_section *out)
{
    return index < elf->header.section_count &&
           cn_elf_section_decode(
               cn_bytes_element(elf->sections, index, elf->header.section_len), out);
}

static bool find_section(const struct elf *elf, uint32_t type, struct cn_elf_section *out)
{
    for (uint32_t i = 0; i < elf->header.section_count; i++)
        if (section_at(elf, i, out) && out->type == type)
            return true;
    return false;
}

static bool open_elf(struct elf *elf, struct cn_bytes file, struct cn_error *err)
{
    static const uint8_t magic[] = {0x7f, 'E', 'L', 'F', 2, 1}; /* 64-bit little-endian */

    elf->file = file;
    if (!cn_elf_header_decode(file, &elf->header) ||
        memcmp(file.ptr, magic, sizeof(magic)) != 0)
        return cn_fail(err, CN_ERR_VERSION, "not a 64-bit little-endian ELF file");
    if (elf->header.section_len < cn_elf_section_size ||
        !cn_bytes_array(file, elf->header.sections_off, elf->header.section_count,
                        elf->header.section_len, &elf->sections))
        return cn_fail(err, CN_ERR_FORMAT,
                       "%u section headers at 0x%" PRIx64 " do not fit the file",
                       elf->header.section_count, elf->header.sections_off);
    return true;
}

/* A limit on names keeps the work linear when many symbols share one endless string. */
static const char *name_at(struct cn_bytes strings, uint32_t off)
{
    struct cn_bytes rest;

    if (!cn_bytes_from(strings, off, &rest))
        return NULL;
    if (rest.len > NAME_LEN_MAX)
        rest.len = NAME_LEN_MAX;
    return cn_bytes_string(rest, 0);
}

static void add_symbol(struct cn_hpc_ranges *functions, const struct elf *elf,
                       const struct cn_elf_symbol *symbol, uint32_t module,
                       struct cn_hpc_tables *tables)
{
    const char *name = name_at(elf->strings, symbol->name);
    struct cn_hpc_range range = {.begin = symbol->value};
    unsigned type = symbol->info & 0xf;
    struct cn_text demangled = {0};

    if ((type != TYPE_FUNCTION && type != TYPE_INDIRECT_FUNCTION) || !name ||
        symbol->size == 0 || symbol->section == 0 ||
        !cn_u64_add(symbol->value, symbol->size, &range.end))
        return;
    if (!cn_demangle(name, CN_DEMANGLE_FULL, &demangled))
        cn_text_str_add(&demangled, name);
    range.value = cn_hpc_tables_add_function(
        tables, (struct cn_function){.name = cn_text_str(&demangled),
                                     .module = module,
                                     .offset = symbol->value,
                                     .file = CN_NONE});
    cn_hpc_ranges_add(functions, range);
    cn_text_done(&demangled);
}

bool cn_hpc_elf_symbols_read(struct cn_hpc_ranges *functions, struct cn_bytes file,
                             uint32_t module, struct cn_hpc_tables *tables,
                             struct cn_error *err)
{
    struct cn_elf_section table, strings;
    struct cn_bytes records;
    struct elf elf;

    if (!open_elf(&elf, file, err))
        return false;
    if (!find_section(&elf, SECTION_SYMBOLS, &table) &&
        !find_section(&elf, SECTION_DYNAMIC_SYMBOLS, &table))
        return true;
    if (!section_at(&elf, table.link, &strings) ||
        !cn_bytes_slice(file, strings.off, strings.len, &elf.strings))
        return cn_fail(err, CN_ERR_FORMAT, "section %" PRIu32 " contains no strings",
                       table.link);
    uint64_t count = table.len / cn_elf_symbol_size;
    if (!cn_bytes_array(file, table.off, count, cn_elf_symbol_size, &records) ||
        count > SYMBOL_COUNT_MAX)
        return cn_fail(err, CN_ERR_FORMAT,
                       "%" PRIu64 " symbols at 0x%" PRIx64 " do not fit the file", count,
                       table.off);
    for (uint64_t i = 0; i < count; i++) {
        struct cn_elf_symbol symbol;

        (void)cn_elf_symbol_decode(cn_bytes_element(records, i, cn_elf_symbol_size),
                                   &symbol);
        add_symbol(functions, &elf, &symbol, module, tables);
    }
    cn_hpc_ranges_settle(functions);
    return true;
}
