/* Read states.db: what each thread does over time.
 * Threads: any thread, each with its own arena.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_V4_READ_STATES_READER_H
#define CN_FORMATS_HPCTOOLKIT_V4_READ_STATES_READER_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/bytes/bytes.h"
#include "base/error.h"
#include "model/thread_states.h"

struct cn_block_file;

/* Whether a file begins like one. */
bool cn_hpc_states_is(struct cn_bytes file);

/* Its two sections, as parts of `file`, with sound checksums. The caller closes `out`, if it does not
 * fail. */
CN_CHECK bool cn_hpc_states_open(struct cn_block_file *out, struct cn_bytes file,
                                 struct cn_bytes *profiles, struct cn_bytes *changes,
                                 struct cn_error *err);

/* The states of `profile_count` profiles, in the arena. Fails if the file has other ones, or if times
 * or states are wrong. */
CN_CHECK bool cn_hpc_states_read(struct cn_bytes file, uint32_t profile_count,
                                 struct cn_arena *arena,
                                 const struct cn_thread_states **out,
                                 struct cn_error *err);

#endif
