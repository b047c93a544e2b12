/* The kernel's part of a recording: functions and tracepoints of kernel-cpuN.dat,
 * described by kernel_header and named by kallsyms.
 *
 * The records of each task are found once, when the directory is opened.
 * Threads: one thread builds it; immutable afterwards.
 */
#ifndef CN_FORMATS_UFTRACE_DIRECTORY_KERNEL_H
#define CN_FORMATS_UFTRACE_DIRECTORY_KERNEL_H

#include "formats/uftrace/directory/directory.h"
#include "formats/uftrace/directory/stream.h"

/* Where one record is. */
struct cn_uft_kernel_record {
    uint64_t time_ns;
    uint64_t off; /* of the event's bytes */
    uint32_t len;
    uint16_t file;
};

/* Read what there is; what cannot be used becomes a warning. */
void cn_uft_kernel_build(struct cn_uft_directory *dir);
void cn_uft_kernel_free(struct cn_uft_kernel *kernel); /* NULL is fine */

/* The records of a task in the order of time, as a range; empty when there are none. */
void cn_uft_kernel_task(const struct cn_uft_directory *dir, uint32_t task,
                        const struct cn_uft_kernel_record **begin,
                        const struct cn_uft_kernel_record **end);

/* A record as a call. The result borrows its data from the file. */
void cn_uft_kernel_decode(const struct cn_uft_directory *dir,
                          const struct cn_uft_kernel_record *record, struct cn_call *call,
                          struct cn_bytes *data);

/* kernel-cpuN.dat, the i-th of the directory, in file order. */
struct cn_uft_stream *cn_uft_kernel_stream_new(const struct cn_uft_directory *dir,
                                               const char *name, size_t i);

/* The text of a tracepoint's data, as the recording's print_tracepoint. */
bool cn_uft_kernel_print(const struct cn_recording *rec, const struct cn_call *call,
                         struct cn_bytes data, struct cn_text *text);

#endif
