/* The system calls of states.db.
 * Threads: any thread, each with its own arena.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_V4_READ_STATES_IO_H
#define CN_FORMATS_HPCTOOLKIT_V4_READ_STATES_IO_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"

struct cn_hpc_states_file;
struct cn_io_calls;

/* *out is NULL if the file has none. Fails if a call is of an unknown profile or name, or if times run
 * backwards. */
CN_CHECK bool cn_hpc_states_read_io(const struct cn_hpc_states_file *file,
                                    uint32_t profile_count, struct cn_arena *arena,
                                    const struct cn_io_calls **out, struct cn_error *err);

#endif
