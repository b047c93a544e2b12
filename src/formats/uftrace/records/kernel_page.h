/* kernel-cpuN.dat: pages of the kernel's ring buffer, as read from trace_pipe_raw.
 *
 *   page: time of its first event (u64), length of its data (long), data
 *   data: events: a 32-bit head (5 bits type_len, 27 bits time since the last event),
 *         and a body of type_len words, 1 to 28; for type_len 0, the first word of the
 *         body is its length; 29 is padding, 30 adds to the time, 31 sets it
 *
 * Threads: any thread.
 */
#ifndef CN_FORMATS_UFTRACE_RECORDS_KERNEL_PAGE_H
#define CN_FORMATS_UFTRACE_RECORDS_KERNEL_PAGE_H

#include "formats/uftrace/records/kernel_format.h"
#include "model/step.h"

/* Position in a file of pages. */
struct cn_uft_kernel_cursor {
    const struct cn_uft_kernel_format *format;
    struct cn_bytes file;
    uint64_t next_page;   /* offset */
    struct cn_bytes data; /* the unread data of the page */
    uint64_t data_off;    /* its offset in the file */
    uint64_t time_ns;
};

void cn_uft_kernel_cursor_init(struct cn_uft_kernel_cursor *cursor,
                               const struct cn_uft_kernel_format *format,
                               struct cn_bytes file);

/* The next event: its bytes, its time, and the offset of the bytes in the file. */
CN_CHECK enum cn_step cn_uft_kernel_next(struct cn_uft_kernel_cursor *cursor,
                                         struct cn_bytes *event, uint64_t *time_ns,
                                         uint64_t *off, struct cn_error *err);

#endif
