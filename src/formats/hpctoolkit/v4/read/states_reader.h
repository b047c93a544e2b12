/* Read states.db: what each thread does over time, on which processors, which woke which, what was
 * allocated over time, system calls, and what started operations of GPUs.
 * Threads: any thread, each with its own arena.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_V4_READ_STATES_READER_H
#define CN_FORMATS_HPCTOOLKIT_V4_READ_STATES_READER_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/bytes/bytes.h"
#include "base/error.h"
#include "base/files/blocks.h"
#include "model/contexts/database.h"
#include "model/heap_history.h"
#include "model/locks.h"
#include "model/thread_runs.h"
#include "model/thread_states.h"

struct cn_io_calls;

/* The sections of a file, as parts of it, with sound checksums; what the file lacks is empty. */
struct cn_hpc_states_file {
    struct cn_block_file blocks;
    bool is_mapped; /* pages may be given back */
    struct cn_bytes profiles, changes, run_profiles, runs, wakeups, contexts, wakers;
    struct cn_bytes locks, lock_waits, lock_names;
    struct cn_bytes heap_processes, heap_changes, heap_tick;
    struct cn_bytes io_calls, io_names;
    struct cn_bytes launches, gpu_memories, gpu_changes, gpu_tick;
};

/* What it contains, in an arena; states, runs and wake-ups borrow the bytes of the file. */
struct cn_hpc_states {
    const struct cn_thread_states *states; /* by profile; NULL: none is known */
    const struct cn_thread_runs *runs;     /* the same */
    struct cn_wakeups wakeups;
    const struct cn_locks *locks;             /* NULL: unknown */
    const struct cn_heap_history *heap;       /* NULL: none is known */
    const struct cn_heap_history *gpu_memory; /* the same */
    const struct cn_io_calls *io;             /* the same */
    const struct cn_launch *launches;
    size_t launch_count;
};

/* Whether a file begins like one. */
bool cn_hpc_states_is(struct cn_bytes file);

/* The caller closes out->blocks, if it does not fail. */
CN_CHECK bool cn_hpc_states_open(struct cn_hpc_states_file *out, struct cn_bytes file,
                                 bool is_mapped, struct cn_error *err);

/* The states of `profile_count` profiles. Fails if the file has other ones, or if times, states,
 * processors or profiles are wrong. Pages of a mapped file are given back; it must live as long as the result. */
CN_CHECK bool cn_hpc_states_read(struct cn_bytes file, uint32_t profile_count,
                                 bool is_mapped, struct cn_arena *arena,
                                 struct cn_hpc_states *out, struct cn_error *err);

#endif
