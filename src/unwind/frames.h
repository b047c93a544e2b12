/* Entries of .eh_frame and .debug_frame: common information (CIE) and functions (FDE).
 *
 * Borrows the bytes.
 * Threads: one thread at a time.
 */
#ifndef CN_UNWIND_FRAMES_H
#define CN_UNWIND_FRAMES_H

#include "base/map.h"
#include "unwind/elf.h"

struct cn_unwind_cie {
    bool is_valid;
    bool has_augmentation, is_signal;
    uint8_t encoding; /* of addresses */
    uint8_t return_register;
    uint64_t code_align;
    int64_t data_align;
    struct cn_bytes program;
};

struct cn_unwind_fde {
    uint64_t begin, end;
    struct cn_bytes program;
    uint64_t program_address; /* of its first byte */
    uint32_t cie;
};

struct cn_unwind_frames {
    struct cn_unwind_part part;
    bool is_debug;        /* .debug_frame */
    struct cn_map cie_of; /* by offset */
    struct cn_unwind_cie *cies;
    struct cn_unwind_fde *fdes; /* by address after reading */
    size_t cie_count, cie_capacity, fde_count, fde_capacity;
};

/* Read all entries; what is after damage is missing. */
void cn_unwind_frames_read(struct cn_unwind_frames *frames, struct cn_unwind_part part,
                           bool is_debug);
void cn_unwind_frames_done(struct cn_unwind_frames *frames);

#endif
