/* states.db, byte by byte: what each thread does over time, and where. HPCToolkit has no such file; its
 * readers ignore it.
 *
 * A file of checksummed blocks (base/files/blocks.h) with two sections: a record for each
 * profile of profile.db, and the changes of the profiles one after the other, in the order of time.
 * A state lasts until the next change of its profile; the last one is "no data". Where threads ran on
 * known processors, two further sections have that in the same way; where it is known which thread woke
 * which, another one. Where it is known in which contexts threads wait and are woken, two more have that.
 * Where allocations were recorded or sampled, three have what was live over time. Where system calls were
 * recorded, two have the calls and the names of their files. Where it is known which lock threads wait for,
 * three have the locks, these waits and the names of variables, which end with 0. Of GPUs, one has the
 * launches of their operations, and three have what was live of their memory.
 * Readers of version 1 ignore sections that they do not know.
 * Threads: immutable.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_V4_STATES_FORMAT_H
#define CN_FORMATS_HPCTOOLKIT_V4_STATES_FORMAT_H

#include "base/bytes/record.h"

#define CN_HPC_STATES_NAME  "states.db"
#define CN_HPC_STATES_MAGIC UINT64_C(0x7365746174736e63) /* "cnstates" */

enum { CN_HPC_STATES_VERSION = 1 };

enum cn_hpc_states_section {
    CN_HPC_STATES_PROFILES = 1,
    CN_HPC_STATES_CHANGES,
    CN_HPC_STATES_RUN_PROFILES, /* as CN_HPC_STATES_PROFILES, of runs */
    CN_HPC_STATES_RUNS,
    CN_HPC_STATES_WAKEUPS,
    CN_HPC_STATES_CONTEXTS, /* of each change of CN_HPC_STATES_CHANGES */
    CN_HPC_STATES_WAKERS,   /* of each wake-up */
    CN_HPC_STATES_HEAP_PROCESSES,
    CN_HPC_STATES_HEAP_CHANGES, /* in the order of time */
    CN_HPC_STATES_HEAP_TICK,
    CN_HPC_STATES_IO_CALLS, /* in the order of their beginnings */
    CN_HPC_STATES_IO_NAMES, /* strings, each with a NUL */
    CN_HPC_STATES_LOCKS,
    CN_HPC_STATES_LOCK_WAITS, /* in any order */
    CN_HPC_STATES_LOCK_NAMES,
    CN_HPC_STATES_LAUNCHES,
    CN_HPC_STATES_GPU_MEMORIES, /* these three as those of the heap; a GPU is a process */
    CN_HPC_STATES_GPU_CHANGES,
    CN_HPC_STATES_GPU_TICK,
};

#define CN_HPC_STATES_PROFILE(F) \
    F(0x00, u64, end,            \
      "index after its last change; its first is where the one before ends")
CN_RECORD(cn_hpc_states_profile, CN_HPC_STATES_PROFILE, 0x08);

#define CN_HPC_STATES_CHANGE(F)              \
    F(0x00, u64, time_ns, "since the epoch") \
    F(0x08, u8, state, "0 running, 1 blocked, 2 pre-empted, 3 no data")
CN_RECORD(cn_hpc_states_change, CN_HPC_STATES_CHANGE, 0x09);

#define CN_HPC_STATES_RUN(F)                           \
    F(0x00, u64, begin_ns, "since the epoch")          \
    F(0x08, u64, end_ns, "when it left the processor") \
    F(0x10, u32, processor, "its number, less than 8192")
CN_RECORD(cn_hpc_states_run, CN_HPC_STATES_RUN, 0x14);

#define CN_HPC_STATES_WAKEUP(F)                                       \
    F(0x00, u64, time_ns, "since the epoch")                          \
    F(0x08, u32, from, "profile of the thread that woke it; 0: none") \
    F(0x0c, u32, to, "profile of the woken thread")
CN_RECORD(cn_hpc_states_wakeup, CN_HPC_STATES_WAKEUP, 0x10);

#define CN_HPC_STATES_CONTEXT(F) \
    F(0x00, u32, context, "in which the thread waits; 0: unknown, or it does not wait")
CN_RECORD(cn_hpc_states_context, CN_HPC_STATES_CONTEXT, 0x04);

#define CN_HPC_STATES_WAKER(F)                                         \
    F(0x00, u32, context, "in which the thread was woken; 0: unknown") \
    F(0x04, u8, source,                                                \
      "0 a thread, 1 a soft interrupt, 2 an interrupt, 3 another thread, 4 its creator")
CN_RECORD(cn_hpc_states_waker, CN_HPC_STATES_WAKER, 0x05);

#define CN_HPC_STATES_HEAP_PROCESS(F)                                \
    F(0x00, u64, peak_ns, "since the epoch: when it had most bytes") \
    F(0x08, u64, peak_len, "how many")                               \
    F(0x10, u32, profile, "of its first thread that allocated")
CN_RECORD(cn_hpc_states_heap_process, CN_HPC_STATES_HEAP_PROCESS, 0x14);

#define CN_HPC_STATES_HEAP_CHANGE(F)                                          \
    F(0x00, u64, time_ns, "since the epoch")                                  \
    F(0x08, u64, len, "bytes that became live; two's complement: were freed") \
    F(0x10, u32, process, "index in the section of processes")                \
    F(0x14, u32, profile, "of the thread that allocated them")                \
    F(0x18, u32, context, "in which they were allocated")
CN_RECORD(cn_hpc_states_heap_change, CN_HPC_STATES_HEAP_CHANGE, 0x1c);

#define CN_HPC_STATES_HEAP_TICK_FIELDS(F) \
    F(0x00, u64, resolution_ns, "changes of a context within this time are one")
CN_RECORD(cn_hpc_states_heap_tick, CN_HPC_STATES_HEAP_TICK_FIELDS, 0x08);

#define CN_HPC_STATES_IO_CALL(F)                                                        \
    F(0x00, u64, begin_ns, "since the epoch")                                           \
    F(0x08, u64, end_ns, "likewise; 0: unknown")                                        \
    F(0x10, u64, result, "two's complement; of a call whose end is known")              \
    F(0x18, u32, profile, "of the thread")                                              \
    F(0x1c, u32, caller, "context that made the call")                                  \
    F(0x20, u32, context, "of the call and its file, below the caller")                 \
    F(0x24, u32, name, "of the system call: number of a string")                        \
    F(0x28, u32, target, "name of the file or peer, likewise; 0xffffffff: it has none") \
    F(0x2c, u32, descriptor, "0xffffffff: none")
CN_RECORD(cn_hpc_states_io_call, CN_HPC_STATES_IO_CALL, 0x30);

#define CN_HPC_STATES_LOCK(F)                                       \
    F(0x00, u64, address, "of the word that threads wait on")       \
    F(0x08, u64, process, "its number")                             \
    F(0x10, u64, offset, "of the word in the variable that has it") \
    F(0x18, u32, name, "offset of the name of the variable, empty: it is in none")
CN_RECORD(cn_hpc_states_lock, CN_HPC_STATES_LOCK, 0x1c);

#define CN_HPC_STATES_LOCK_WAIT(F)                                     \
    F(0x00, u64, time_ns, "since the epoch: of the change to blocked") \
    F(0x08, u32, profile, "of the thread that waits")                  \
    F(0x0c, u32, lock, "index in the section of locks")
CN_RECORD(cn_hpc_states_lock_wait, CN_HPC_STATES_LOCK_WAIT, 0x10);

#define CN_HPC_STATES_LAUNCH(F)                                  \
    F(0x00, u64, from_ns, "since the epoch: the call")           \
    F(0x08, u64, to_ns, "since the epoch: the operation begins") \
    F(0x10, u32, from_profile, "of the thread that launched it") \
    F(0x14, u32, to_profile, "of the stream")
CN_RECORD(cn_hpc_states_launch, CN_HPC_STATES_LAUNCH, 0x18);

#define CN_HPC_STATES_GPU_MEMORY(F)                                  \
    F(0x00, u64, peak_ns, "since the epoch: when it had most bytes") \
    F(0x08, u64, peak_len, "how many")                               \
    F(0x10, u32, profile, "of the first thread that allocated")      \
    F(0x14, u32, device, "its number")
CN_RECORD(cn_hpc_states_gpu_memory, CN_HPC_STATES_GPU_MEMORY, 0x18);

#endif
