/* An open ELF file: its header, its base address and its relocations.
 * Threads: one thread at a time.
 */
#ifndef CN_LAUNCHER_ELF_READER_H
#define CN_LAUNCHER_ELF_READER_H

#include <gelf.h>
#include <stdbool.h>
#include <stdint.h>

struct cn_elf_reader {
    int fd; /* -1 when the file could not be opened */
    Elf *elf;
    GElf_Ehdr head;
    uint64_t base; /* address at which offset 0 of the file is linked */
};

/* False when it cannot be opened or is not an ELF file. Close it in either case. */
bool cn_elf_reader_open(struct cn_elf_reader *reader, const char *path);
void cn_elf_reader_close(struct cn_elf_reader *reader);

/* Visit the relocations of a section that name a symbol. */
typedef void (*cn_elf_relocation_fn)(void *arg, const GElf_Rela *relocation,
                                     const GElf_Sym *symbol, const char *name);
void cn_elf_relocations_walk(const struct cn_elf_reader *reader, Elf_Scn *section,
                             cn_elf_relocation_fn visit, void *arg);

#endif
