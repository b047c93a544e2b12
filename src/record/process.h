/* State of the recorder in this process, set up when the library is loaded.
 * Threads: constant once `shared` is set, except for `pid`.
 */
#ifndef CN_RECORD_PROCESS_H
#define CN_RECORD_PROCESS_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "record/shared.h"

struct cn_rec_process {
    struct cn_rec_shared *shared; /* NULL: do not record */
    const struct cn_rec_rule *rules;
    const struct cn_rec_value *values;
    const struct cn_rec_patch *patches;
    struct cn_rec_track *tracks;
    _Atomic uint32_t pid;
    _Atomic uint32_t *image; /* number of this memory; fork clears it (state/lock.h) */
    uintptr_t program_low, program_high; /* addresses of the program itself */
    bool is_earlier_finished;            /* records from before an exec were written */
    uint64_t page_kb;
    bool is_running;                        /* the set-up is complete */
    bool has_libcalls, has_nested_libcalls; /* of this process */
    bool has_filters;                       /* all calls are filtered */
    bool has_quick_filters;                 /* assembly filters calls of most functions */
    bool has_patched_calls;                 /* some calls of __fentry__ became jumps */
};

extern struct cn_rec_process cn_rec_process;

/* What a system call that writes returned: a full disk, or one that fails, ends the recording in
 * all processes. */
static inline void cn_rec_process_check_disk(long result)
{
    uint32_t running = CN_REC_RUNNING;

    if (result == -ENOSPC || result == -EDQUOT || result == -EIO)
        (void)atomic_compare_exchange_strong(&cn_rec_process.shared->stop, &running,
                                             CN_REC_STOP_DISK);
}

#endif
