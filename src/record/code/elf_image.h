/* A mapped ELF file: its segments and its dynamic section.
 * Threads: immutable once read.
 */
#ifndef CN_RECORD_CODE_ELF_IMAGE_H
#define CN_RECORD_CODE_ELF_IMAGE_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

enum { CN_REC_CODES_MAX = 8 };

struct cn_rec_image {
    uintptr_t bias;                  /* load address minus link address */
    uintptr_t low, high;             /* of the whole file */
    uintptr_t code_low, code_high;   /* of the executable segment */
    uintptr_t relro_low, relro_high; /* made read-only after relocation; whole pages */
    const Elf64_Rela *relas, *slots; /* DT_RELA, and DT_JMPREL */
    size_t rela_count, slot_count;
    const Elf64_Sym *symbols; /* NULL when there are none */
    const char *names;
    uintptr_t got;     /* DT_PLTGOT; 0: none */
    size_t code_count; /* executable segments; code_low and code_high are of the last */
    struct cn_rec_code {
        uintptr_t low, high;
    } codes[CN_REC_CODES_MAX]; /* of all, up to a limit */
};

/* Read the program headers and the dynamic section. */
void cn_rec_image_read(struct cn_rec_image *image, uintptr_t bias,
                       const Elf64_Phdr *segments, size_t count);

#endif
