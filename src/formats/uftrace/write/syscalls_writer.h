/* Writes the system calls of a recording to its syscalls.dat.
 * Threads: any thread.
 */
#ifndef CN_FORMATS_UFTRACE_WRITE_SYSCALLS_WRITER_H
#define CN_FORMATS_UFTRACE_WRITE_SYSCALLS_WRITER_H

#include <stdint.h>

#include "base/error.h"

struct cn_io_calls;

/* `tids` is by profile of the calls; 0: leave its calls out. A failure leaves no file. */
CN_CHECK bool cn_uft_syscalls_write(const char *dir, const struct cn_io_calls *calls,
                                    const uint32_t *tids, struct cn_error *err);

#endif
