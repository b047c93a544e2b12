#include "launcher/elf/reader.h"

#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

bool cn_elf_reader_open(struct cn_elf_reader *reader, const char *path)
{
    size_t count = 0;

    *reader = (struct cn_elf_reader){.fd = open(path, O_RDONLY | O_CLOEXEC)};
    if (reader->fd < 0)
        return false;
    (void)elf_version(EV_CURRENT);
    reader->elf = elf_begin(reader->fd, ELF_C_READ_MMAP, NULL);
    if (!reader->elf || elf_kind(reader->elf) != ELF_K_ELF ||
        !gelf_getehdr(reader->elf, &reader->head))
        return false;
    (void)elf_getphdrnum(reader->elf, &count);
    for (size_t i = 0; i < count && i <= INT_MAX; i++) {
        GElf_Phdr segment;

        if (gelf_getphdr(reader->elf, (int)i, &segment) && segment.p_type == PT_LOAD) {
            reader->base = segment.p_vaddr - segment.p_offset;
            break;
        }
    }
    return true;
}

void cn_elf_reader_close(struct cn_elf_reader *reader)
{
    (void)elf_end(reader->elf);
    if (reader->fd >= 0)
        (void)close(reader->fd);
    *reader = (struct cn_elf_reader){.fd = -1};
}

void cn_elf_relocations_walk(const struct cn_elf_reader *reader, Elf_Scn *section,
                             cn_elf_relocation_fn visit, void *arg)
{
    Elf_Data *data = elf_getdata(section, NULL), *symbol_data;
    GElf_Shdr head, symbol_head;

    if (!data || !gelf_getshdr(section, &head) || head.sh_entsize == 0)
        return;
    Elf_Scn *symbols = elf_getscn(reader->elf, head.sh_link);
    symbol_data = symbols ? elf_getdata(symbols, NULL) : NULL;
    if (!symbol_data || !gelf_getshdr(symbols, &symbol_head))
        return;
    size_t count = head.sh_size / head.sh_entsize;
    for (size_t i = 0; i < count && i <= INT_MAX; i++) {
        GElf_Rela relocation;
        GElf_Sym symbol;

        if (!gelf_getrela(data, (int)i, &relocation) ||
            GELF_R_SYM(relocation.r_info) == 0 ||
            !gelf_getsym(symbol_data, (int)GELF_R_SYM(relocation.r_info), &symbol))
            continue;
        const char *name = elf_strptr(reader->elf, symbol_head.sh_link, symbol.st_name);
        if (name)
            visit(arg, &relocation, &symbol, name);
    }
}
