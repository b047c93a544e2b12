/* The parts of an ELF file that unwinding needs.
 *
 * Borrows the bytes of the file.
 * Threads: immutable after open.
 */
#ifndef CN_UNWIND_ELF_H
#define CN_UNWIND_ELF_H

#include "unwind/format.h"
#include "unwind/unwind.h"

/* Bytes that the program has at an address. */
struct cn_unwind_part {
    struct cn_bytes bytes;
    uint64_t address;
};

struct cn_unwind_elf {
    enum cn_unwind_machine machine;
    uint64_t entry;
    struct cn_unwind_segment segments[CN_UNWIND_SEGMENT_MAX]; /* with code */
    uint32_t segment_count;
    struct cn_unwind_part eh_frame, debug_frame; /* of 0 bytes if there is none */
    struct cn_bytes file;
    char build_id[2 * CN_UNWIND_BUILD_ID_MAX + 1];
};

/* False if it is not a little-endian ELF file of 64 bits for a known machine. Parts that
 * do not fit the file are missing. */
CN_CHECK bool cn_unwind_elf_open(struct cn_unwind_elf *elf, struct cn_bytes file);

/* A section that the file contains. */
struct cn_unwind_named_section {
    const char *name;
    struct cn_unwind_part part;
    bool is_writable; /* in the memory of the program */
};

/* Visit the sections of a file with bytes that are not compressed, until `visit` is false. */
typedef bool (*cn_unwind_visit_section)(void *arg,
                                        const struct cn_unwind_named_section *section);
void cn_unwind_elf_sections(struct cn_bytes file, cn_unwind_visit_section visit,
                            void *arg);

/* A pointer at the beginning of `rest`, whose first byte has the address `at`; `base` is
 * what pointers relative to data count from. */
CN_CHECK bool cn_unwind_pointer_take(struct cn_bytes *rest, uint8_t encoding, uint64_t at,
                                     uint64_t base, uint64_t *out);

/* Numbers of 1 to 10 bytes (LEB128). */
CN_CHECK bool cn_unwind_uleb_take(struct cn_bytes *rest, uint64_t *out);
CN_CHECK bool cn_unwind_sleb_take(struct cn_bytes *rest, int64_t *out);

/* An integer of 1, 2, 4 or 8 bytes. */
CN_CHECK bool cn_unwind_int_take(struct cn_bytes *rest, unsigned len, bool is_signed,
                                 uint64_t *out);

#endif
