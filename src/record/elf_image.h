/* A file as the loader has mapped it: its segments, and its dynamic section.
 * Threads: immutable once read.
 */
#ifndef CN_RECORD_ELF_IMAGE_H
#define CN_RECORD_ELF_IMAGE_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

struct cn_rec_image {
    uintptr_t bias;                  /* what is added to the addresses in the file */
    uintptr_t low, high;             /* all of it */
    uintptr_t code_low, code_high;   /* what can be run */
    uintptr_t relro_low, relro_high; /* read-only once it was bound; whole pages */
    const Elf64_Rela *relas, *slots; /* all relocations, and those of library calls */
    size_t rela_count, slot_count;
    const Elf64_Sym *symbols; /* NULL when there are none */
    const char *names;
};

/* Read what the headers say. */
void cn_rec_image_read(struct cn_rec_image *image, uintptr_t bias,
                       const Elf64_Phdr *segments, size_t count);

#endif
