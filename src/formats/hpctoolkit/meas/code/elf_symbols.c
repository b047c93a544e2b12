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

static const uint8_t magic[] = {0x7f, 'E', 'L', 'F', 2, 1}; /* 64 bits, little endian */

static bool section_at(struct cn_bytes headers, const struct cn_elf_header *header,
                       uint32_t index, struct cn_elf_section *out)
{
    return index < header->section_count &&
           cn_elf_section_decode(cn_bytes_element(headers, index, header->section_len),
                                 out);
}

static bool find_table(struct cn_bytes headers, const struct cn_elf_header *header,
                       uint32_t type, struct cn_elf_section *out)
{
    for (uint32_t i = 0; i < header->section_count; i++)
        if (section_at(headers, header, i, out) && out->type == type)
            return true;
    return false;
}

static void add_symbol(struct cn_hpc_elf_symbols *symbols,
                       const struct cn_elf_symbol *symbol, const char *name,
                       uint32_t module, struct cn_hpc_tables *tables)
{
    struct cn_text demangled = {0};
    struct cn_function function = {
        .module = module, .offset = symbol->value, .file = CN_NONE};
    struct cn_hpc_range range = {.begin = symbol->value};

    if (!cn_u64_add(symbol->value, symbol->size, &range.end))
        return;
    if (!cn_demangle(name, CN_DEMANGLE_FULL, &demangled))
        cn_text_str_add(&demangled, name);
    function.name = cn_text_str(&demangled);
    range.value = cn_hpc_tables_add_function(tables, function);
    cn_hpc_ranges_add(&symbols->ranges, range);
    cn_text_done(&demangled);
}

/* A limit on names keeps the work linear when many symbols share one endless
 * string. */
static const char *name_at(struct cn_bytes strings, uint32_t off)
{
    struct cn_bytes rest;

    if (!cn_bytes_from(strings, off, &rest))
        return NULL;
    if (rest.len > NAME_LEN_MAX)
        rest.len = NAME_LEN_MAX;
    return cn_bytes_string(rest, 0);
}

static bool read_table(struct cn_hpc_elf_symbols *symbols, struct cn_bytes file,
                       struct cn_bytes strings, const struct cn_elf_section *table,
                       uint32_t module, struct cn_hpc_tables *tables,
                       struct cn_error *err)
{
    uint64_t count = table->len / cn_elf_symbol_size;
    struct cn_bytes records;

    if (!cn_bytes_array(file, table->off, count, cn_elf_symbol_size, &records) ||
        count > SYMBOL_COUNT_MAX)
        return cn_fail(err, CN_ERR_FORMAT, "%" PRIu64 " symbols at 0x%" PRIx64, count,
                       table->off);
    for (uint64_t i = 0; i < count; i++) {
        struct cn_elf_symbol symbol;
        unsigned type;
        const char *name;

        (void)cn_elf_symbol_decode(cn_bytes_element(records, i, cn_elf_symbol_size),
                                   &symbol);
        type = symbol.info & 0xf;
        name = name_at(strings, symbol.name);
        if ((type == TYPE_FUNCTION || type == TYPE_INDIRECT_FUNCTION) && name &&
            symbol.size > 0 && symbol.section != 0)
            add_symbol(symbols, &symbol, name, module, tables);
    }
    cn_hpc_ranges_settle(&symbols->ranges);
    return true;
}

bool cn_hpc_elf_symbols_read(struct cn_hpc_elf_symbols *symbols, struct cn_bytes file,
                             uint32_t module, struct cn_hpc_tables *tables,
                             struct cn_error *err)
{
    struct cn_elf_section table, strings_section;
    struct cn_bytes headers, strings;
    struct cn_elf_header header;

    if (!cn_elf_header_decode(file, &header) ||
        memcmp(file.ptr, magic, sizeof(magic)) != 0)
        return cn_fail(err, CN_ERR_VERSION, "not a 64-bit little-endian ELF file");
    if (header.section_len < cn_elf_section_size ||
        !cn_bytes_array(file, header.sections_off, header.section_count,
                        header.section_len, &headers))
        return cn_fail(err, CN_ERR_FORMAT,
                       "%u section headers at 0x%" PRIx64 " do not fit the file",
                       header.section_count, header.sections_off);
    if (!find_table(headers, &header, SECTION_SYMBOLS, &table) &&
        !find_table(headers, &header, SECTION_DYNAMIC_SYMBOLS, &table))
        return true;
    if (!section_at(headers, &header, table.link, &strings_section) ||
        !cn_bytes_slice(file, strings_section.off, strings_section.len, &strings))
        return cn_fail(err, CN_ERR_FORMAT, "section %" PRIu32 " holds no strings",
                       table.link);
    return read_table(symbols, file, strings, &table, module, tables, err);
}

void cn_hpc_elf_symbols_done(struct cn_hpc_elf_symbols *symbols)
{
    cn_hpc_ranges_done(&symbols->ranges);
}
