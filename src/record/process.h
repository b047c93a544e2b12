/* What the recorder knows about the process: the memory shared with the launcher and what
 * was set up when the library was loaded.
 * Threads: constant once `shared` is set, but for `pid`.
 */
#ifndef CN_RECORD_PROCESS_H
#define CN_RECORD_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "record/shared.h"

struct cn_rec_process {
    struct cn_rec_shared *shared; /* NULL: do not record */
    const struct cn_rec_rule *rules;
    const struct cn_rec_value *values;
    struct cn_rec_track *tracks;
    uint8_t *rings;
    _Atomic uint32_t pid;
    uintptr_t program_low, program_high; /* where the program itself lies */
    const char *path;                    /* of the shared memory */
    bool is_earlier_finished;            /* what an exec left was written out */
    uint64_t page_kb;
    bool is_running;  /* set-up is over */
    bool has_filters; /* every call goes through cn_rec_filter_enter() */
};

extern struct cn_rec_process cn_rec_process;

#endif
