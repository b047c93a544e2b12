#include "symbols/program/debug_info.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/record.h"
#include "base/map.h"
#include "base/search.h"

enum {
    X86_PUSH = 0x68, /* push $index */
    X86_INDIRECT = 0xff,
    X86_JUMP_RIP = 0x25, /* jmp *distance(%rip) */
    X86_JUMP_LEN = 6,
    X86_PUSH_LEN = 5,
};

#define ARM_ADRP_MASK UINT32_C(0x9f00001f)
#define ARM_ADRP_X16  UINT32_C(0x90000010)
#define ARM_LDR_MASK  UINT32_C(0xffc003ff)
#define ARM_LDR_X17   UINT32_C(0xf9400211) /* ldr x17, [x16, #distance] */
#define ARM_BTI_C     UINT32_C(0xd503245f)

/* Names of the functions whose addresses are in slots of the global offset table. */
struct slots {
    struct cn_map by_address; /* in `names` */
    struct cn_names names;
    const char **by_index; /* of the relocations of the table; NULL: unnamed */
    size_t index_count, index_capacity;
};

static bool is_slot(bool is_x86, uint64_t type)
{
    return is_x86 ? type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT
                  : type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT;
}

static void read_relocations(Elf *elf, Elf_Scn *section, const GElf_Shdr *header,
                             bool is_x86, bool is_of_table, struct slots *slots)
{
    Elf_Data *data = elf_getdata(section, NULL);
    Elf_Scn *symbols = elf_getscn(elf, header->sh_link);
    Elf_Data *symbol_data = symbols ? elf_getdata(symbols, NULL) : NULL;
    GElf_Shdr symbol_header;
    size_t count = header->sh_entsize ? header->sh_size / header->sh_entsize : 0;

    if (!data || !symbol_data || !gelf_getshdr(symbols, &symbol_header))
        return;
    for (size_t i = 0; i < count && i < INT32_MAX; i++) {
        const char *name = NULL;
        GElf_Rela rela;
        GElf_Sym symbol;

        if (!gelf_getrela(data, (int)i, &rela))
            break;
        if (is_slot(is_x86, GELF_R_TYPE(rela.r_info)) &&
            gelf_getsym(symbol_data, (int)GELF_R_SYM(rela.r_info), &symbol))
            name = elf_strptr(elf, symbol_header.sh_link, symbol.st_name);
        if (name && name[0]) {
            uint32_t at = cn_names_add(&slots->names, name);

            name = slots->names.list[at];
            *cn_map_at(&slots->by_address, rela.r_offset, 0) = at;
        } else {
            name = NULL;
        }
        if (!is_of_table)
            continue;
        CN_PUSH(slots->by_index, slots->index_count, slots->index_capacity, name);
    }
}

static void add(struct cn_plt *plt, uint64_t begin, const char *name)
{
    CN_PUSH(plt->list, plt->count, plt->capacity,
            (struct cn_plt_entry){
                begin, name ? cn_arena_printf(&plt->arena, "%s@plt", name) : NULL});
}

static const char *name_of_slot(const struct slots *slots, uint64_t address)
{
    uint32_t at = cn_map_find(&slots->by_address, address, UINT32_MAX);

    return at < slots->names.count ? slots->names.list[at] : NULL;
}

/* An entry jumps to an address in a slot, or pushes the index of its relocation. */
static const char *name_of_x86(const struct slots *slots, struct cn_bytes entry,
                               uint64_t address)
{
    for (size_t i = 0; i + X86_PUSH_LEN <= entry.len; i++) {
        const uint8_t *at = entry.ptr + i;

        if (i + X86_JUMP_LEN <= entry.len && at[0] == X86_INDIRECT &&
            at[1] == X86_JUMP_RIP)
            return name_of_slot(slots,
                                address + i + X86_JUMP_LEN +
                                    (uint64_t)(int64_t)(int32_t)cn_u32_get(at + 2));
        if (at[0] == X86_PUSH)
            return cn_u32_get(at + 1) < slots->index_count
                       ? slots->by_index[cn_u32_get(at + 1)]
                       : NULL;
    }
    return NULL;
}

static void read_x86(struct cn_plt *plt, const struct slots *slots, struct cn_bytes code,
                     uint64_t address, uint64_t entry_len)
{
    if (entry_len != 8 && entry_len != 16)
        entry_len = 16;
    for (size_t off = 0; off < code.len; off += (size_t)entry_len) {
        size_t len = code.len - off < entry_len ? code.len - off : (size_t)entry_len;

        add(plt, address + off,
            name_of_x86(slots, (struct cn_bytes){code.ptr + off, len}, address + off));
    }
}

/* adrp x16, page; ldr x17, [x16, #distance]. */
static void read_arm(struct cn_plt *plt, const struct slots *slots, struct cn_bytes code,
                     uint64_t address)
{
    add(plt, address, NULL);
    for (size_t off = 0; off + 8 <= code.len; off += 4) {
        uint32_t adrp = cn_u32_get(code.ptr + off), ldr = cn_u32_get(code.ptr + off + 4);
        bool has_bti = off >= 4 && cn_u32_get(code.ptr + off - 4) == ARM_BTI_C;
        uint64_t pages, slot;

        if ((adrp & ARM_ADRP_MASK) != ARM_ADRP_X16 || (ldr & ARM_LDR_MASK) != ARM_LDR_X17)
            continue;
        pages = (uint64_t)(adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3);
        if (pages >> 20 & 1)
            pages |= ~UINT64_C(0x1fffff);
        slot = ((address + off) & ~UINT64_C(0xfff)) + (pages << 12) +
               8 * (uint64_t)(ldr >> 10 & 0xfff);
        add(plt, address + off - (has_bti ? 4 : 0), name_of_slot(slots, slot));
    }
}

static int by_address(const void *left, const void *right)
{
    const struct cn_plt_entry *a = left, *b = right;

    return (a->begin > b->begin) - (a->begin < b->begin);
}

static void read_slots(const struct cn_plt *plt, struct slots *slots)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;

    while ((section = elf_nextscn(plt->elf, section))) {
        const char *name = gelf_getshdr(section, &header) && header.sh_type == SHT_RELA &&
                                   header.sh_flags & SHF_ALLOC
                               ? elf_strptr(plt->elf, plt->names, header.sh_name)
                               : NULL;

        if (name)
            read_relocations(plt->elf, section, &header, plt->is_x86,
                             strcmp(name, ".rela.plt") == 0, slots);
    }
}

static void read_entries(struct cn_plt *plt)
{
    struct slots slots = {0};

    read_slots(plt, &slots);
    for (size_t i = 0; i < plt->table_count; i++) {
        const struct cn_plt_table *table = &plt->tables[i];
        Elf_Data *data = elf_rawdata(table->section, NULL);

        if (!data || !data->d_buf) /* a debug file: names are those of the program */
            continue;
        struct cn_bytes code = {data->d_buf, data->d_size};
        if (plt->is_x86)
            read_x86(plt, &slots, code, table->begin, table->entry_len);
        else
            read_arm(plt, &slots, code, table->begin);
    }
    if (plt->count > 0)
        qsort(plt->list, plt->count, sizeof(*plt->list), by_address);
    cn_map_done(&slots.by_address);
    cn_names_done(&slots.names);
    free(slots.by_index);
    plt->is_read = true;
}

void cn_plt_init(struct cn_plt *plt, Elf *elf)
{
    Elf_Scn *section = NULL;
    GElf_Ehdr head;
    GElf_Shdr header;

    *plt = (struct cn_plt){.elf = elf};
    if (!gelf_getehdr(elf, &head) || elf_getshdrstrndx(elf, &plt->names) != 0 ||
        (head.e_machine != EM_X86_64 && head.e_machine != EM_AARCH64))
        return;
    plt->is_x86 = head.e_machine == EM_X86_64;
    while (plt->table_count < CN_PLT_TABLE_MAX && (section = elf_nextscn(elf, section))) {
        const char *name =
            gelf_getshdr(section, &header) &&
                    (header.sh_type == SHT_PROGBITS || header.sh_type == SHT_NOBITS) &&
                    header.sh_flags & SHF_EXECINSTR
                ? elf_strptr(elf, plt->names, header.sh_name)
                : NULL;

        if (name && strncmp(name, ".plt", 4) == 0 &&
            header.sh_size <= UINT64_MAX - header.sh_addr)
            plt->tables[plt->table_count++] =
                (struct cn_plt_table){section, header.sh_addr,
                                      header.sh_addr + header.sh_size, header.sh_entsize};
    }
}

static bool is_in_table(const struct cn_plt *plt, uint64_t address)
{
    for (size_t i = 0; i < plt->table_count; i++)
        if (address >= plt->tables[i].begin && address < plt->tables[i].end)
            return true;
    return false;
}

bool cn_plt_find(struct cn_plt *plt, uint64_t address, struct cn_plt_entry *out)
{
    if (!is_in_table(plt, address))
        return false;
    if (!plt->is_read)
        read_entries(plt);
    size_t at = plt->count == 0 ? 0
                                : cn_search_u64(&plt->list[0].begin, plt->count,
                                                sizeof(*plt->list), address);
    *out = at > 0 ? plt->list[at - 1] : (struct cn_plt_entry){address, NULL};
    return true;
}

void cn_plt_done(struct cn_plt *plt)
{
    free(plt->list);
    cn_arena_done(&plt->arena);
    *plt = (struct cn_plt){0};
}
