/* Sections of an ELF file that is open.
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
    uint64_t base; /* what the first segment's addresses are counted from */
};

/* False when it is no ELF file or cannot be opened; to be closed all the same. */
bool cn_elf_reader_open(struct cn_elf_reader *reader, const char *path);
void cn_elf_reader_close(struct cn_elf_reader *reader);

/* Visit the relocations of a section that name a symbol. */
typedef void (*cn_elf_relocation_fn)(void *arg, const GElf_Rela *relocation,
                                     const char *symbol);
void cn_elf_relocations_walk(const struct cn_elf_reader *reader, Elf_Scn *section,
                             cn_elf_relocation_fn visit, void *arg);

#endif
