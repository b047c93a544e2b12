/* Sections of the files that the program was loaded from.
 * Threads: any thread.
 */
#ifndef CN_RECORD_ELF_SECTIONS_H
#define CN_RECORD_ELF_SECTIONS_H

#include <stdbool.h>
#include <stdint.h>

struct cn_rec_section {
    uint64_t address, offset, len;
    uint32_t link;
};

/* The section of this name; false when there is none or the file is no good. */
bool cn_rec_section_find(const char *path, const char *name, struct cn_rec_section *out);

#endif
