/* The kernel's part of a recording: kernel_header, kallsyms and kernel-cpuN.dat.
 * Threads: one thread builds it; immutable afterwards.
 */
#ifndef CN_FORMATS_UFTRACE_KERNEL_H
#define CN_FORMATS_UFTRACE_KERNEL_H

#include "formats/uftrace/directory.h"
#include "formats/uftrace/stream.h"

/* Read what there is; what cannot be used becomes a warning. */
void cn_uft_kernel_build(struct cn_uft_directory *dir);
void cn_uft_kernel_free(struct cn_uft_kernel *kernel); /* NULL is fine */

/* kernel-cpuN.dat, the i-th of the directory, in file order. */
struct cn_uft_stream *cn_uft_kernel_stream_new(const struct cn_uft_directory *dir,
                                               const char *name, size_t i);

/* The text of a tracepoint's data, as the recording's print_tracepoint. */
bool cn_uft_kernel_print(const struct cn_recording *rec, const struct cn_call *call,
                         struct cn_bytes data, struct cn_text *text);

#endif
