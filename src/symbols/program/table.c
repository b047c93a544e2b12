#include "symbols/program/debug_info.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/search.h"
#include "base/sort.h"

enum { NESTED_MAX = 16 }; /* symbols that begin inside another and end before it */

static bool is_code(Elf *elf, GElf_Word section)
{
    Elf_Scn *found = elf ? elf_getscn(elf, section) : NULL;
    GElf_Shdr header;

    return found && gelf_getshdr(found, &header) && header.sh_flags & SHF_EXECINSTR;
}

/* "$x", "$d.12" of aarch64 say what the bytes after them are: code or data. */
static bool is_mapping_symbol(const char *name)
{
    return name[0] == '$' && name[1] != '\0' && strchr("adtx", name[1]) &&
           (name[2] == '\0' || name[2] == '.');
}

static bool is_variable(const GElf_Sym *symbol, const char *name)
{
    return name && name[0] != '\0' && GELF_ST_TYPE(symbol->st_info) == STT_OBJECT &&
           symbol->st_size > 0;
}

/* Functions, and labels of assembler code. */
static bool is_function(const GElf_Sym *symbol, const char *name, Elf *elf,
                        GElf_Word section)
{
    unsigned type = GELF_ST_TYPE(symbol->st_info);

    if (!name || name[0] == '\0' || section == SHN_UNDEF || section == SHN_ABS)
        return false;
    return type == STT_FUNC || type == STT_GNU_IFUNC ||
           (type == STT_NOTYPE && !is_mapping_symbol(name) && is_code(elf, section));
}

static size_t underscores(const char *name)
{
    return strspn(name, "_");
}

/* Of several names of an address, the one that people know. */
static bool is_better(const struct cn_table_symbol *a, const struct cn_table_symbol *b)
{
    size_t a_len, b_len;

    if (a->has_size != b->has_size)
        return a->has_size;
    if ((a->binding == STB_WEAK) != (b->binding == STB_WEAK))
        return b->binding == STB_WEAK;
    if ((a->binding == STB_GLOBAL) != (b->binding == STB_GLOBAL))
        return a->binding == STB_GLOBAL;
    a_len = underscores(a->name);
    b_len = underscores(b->name);
    if (a_len != b_len)
        return a_len < b_len;
    a_len = strlen(a->name);
    b_len = strlen(b->name);
    if (a_len != b_len)
        return a_len > b_len;
    return strcmp(a->name, b->name) < 0;
}

void cn_symbol_table_read(struct cn_symbol_table *table, Dwfl_Module *module,
                          bool is_of_data)
{
    int count = dwfl_module_getsymtab(module);
    size_t kept = 0;

    for (int i = 1; i < count; i++) {
        GElf_Sym symbol;
        GElf_Addr address;
        GElf_Word section;
        Elf *elf;
        Dwarf_Addr bias;
        const char *name =
            dwfl_module_getsym_info(module, i, &symbol, &address, &section, &elf, &bias);

        if (is_of_data ? !is_variable(&symbol, name)
                       : !is_function(&symbol, name, elf, section))
            continue;
        CN_PUSH(table->list, table->count, table->capacity,
                (struct cn_table_symbol){
                    .begin = address,
                    .end = symbol.st_size <= UINT64_MAX - address
                               ? address + symbol.st_size
                               : UINT64_MAX,
                    .name = name,
                    .binding = GELF_ST_BIND(symbol.st_info),
                    .has_size = symbol.st_size > 0,
                });
    }
    /* Large libraries have a million. */
    CN_SORT(table->list, table->count, CN_UP(struct cn_table_symbol, begin));
    for (size_t i = 0; i < table->count; i++) {
        struct cn_table_symbol symbol = table->list[i];

        if (kept == 0 || table->list[kept - 1].begin != symbol.begin)
            table->list[kept++] = symbol;
        else if (is_better(&symbol, &table->list[kept - 1]))
            table->list[kept - 1] = symbol;
    }
    table->count = kept;
    for (size_t i = 0; i < kept; i++)
        if (!table->list[i].has_size)
            table->list[i].end = i + 1 < kept ? table->list[i + 1].begin : UINT64_MAX;
}

const struct cn_table_symbol *cn_symbol_table_find(const struct cn_symbol_table *table,
                                                   uint64_t address)
{
    size_t at = table->count == 0 ? 0
                                  : cn_search_u64(&table->list[0].begin, table->count,
                                                  sizeof(*table->list), address);

    for (size_t i = 0; at > 0 && i < NESTED_MAX; i++)
        if (address < table->list[--at].end)
            return &table->list[at];
    return NULL;
}

void cn_symbol_table_done(struct cn_symbol_table *table)
{
    free(table->list);
    *table = (struct cn_symbol_table){0};
}
