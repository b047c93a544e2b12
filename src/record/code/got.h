/* The slots of a GOT that code calls through without a PLT (-fno-plt).
 *
 * Such a slot is also read to take the address of its function. A changed address would
 * differ from that of other files, so a slot is only changed if all code of the file that
 * reads it calls or jumps through it. Of other slots, the calls are changed, where the
 * machine has such calls.
 * Threads: one thread at a time.
 */
#ifndef CN_RECORD_CODE_GOT_H
#define CN_RECORD_CODE_GOT_H

#include <stdint.h>

#include "record/code/machine.h"

struct cn_rec_image;

struct cn_rec_got {
    uint32_t *relas; /* indices of the relocations of these slots */
    uint32_t count;
    uint32_t mixed_count; /* more of them, after these: slots that are also used else */
    uint32_t
        other_count; /* more of them, if the file was built without a PLT: slots whose
                             functions may be called by their addresses */
    struct cn_rec_slots slots; /* from the first to the last */
    uintptr_t *targets;        /* of calls through each of them; 0: no change */
    void *mapped;
    uint64_t mapped_len;
};

/* Find the slots of a file. Does not use the C library. Without memory there are none. */
void cn_rec_got_begin(struct cn_rec_got *got, const struct cn_rec_image *image);
void cn_rec_got_done(struct cn_rec_got *got);

#endif
