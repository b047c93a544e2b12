/* The sections of states.db with system calls.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_V4_WRITE_STATES_IO_H
#define CN_FORMATS_HPCTOOLKIT_V4_WRITE_STATES_IO_H

#include <stdbool.h>

#include "base/error.h"

struct cn_block_writer;
struct cn_io_calls;

CN_CHECK bool cn_hpc_states_write_io(const struct cn_io_calls *calls,
                                     struct cn_block_writer *out, struct cn_error *err);

#endif
