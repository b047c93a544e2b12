/* From the kernel's records to those of the file: stacks become addresses, and identifiers
 * the numbers of events.
 * Threads: one thread at a time.
 */
#ifndef CN_SAMPLER_COLLECT_H
#define CN_SAMPLER_COLLECT_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes/bytes.h"
#include "base/error.h"
#include "base/map.h"
#include "formats/exchange/perf/stored_names.h"
#include "formats/exchange/perf/writer.h"
#include "sampler/rings.h"
#include "sampler/sampler.h"
#include "sampler/setup.h"
#include "unwind/unwind.h"

struct cn_frames_found;
struct cn_inside_release;
struct cn_inside_slot;
struct cn_kernel;
struct cn_memory;
struct cn_perf_memory;
struct cn_sample_gpu;
struct cn_stored_names;
struct cn_timers;

/* Whole stacks of the sampled processes, unwound while they are sampled.
 *
 * cn_unwound_take() follows the mappings of processes by the kernel's records, in the order of
 * time; cn_unwound_unwind() makes addresses of registers and a copy of the stack. */

struct cn_unwound {
    struct cn_unwinder *unwinder;
    struct cn_map process_of; /* by pid */
    struct cn_unwound_process *processes;
    size_t count, capacity;
    uint64_t ends[CN_UNWIND_BAD + 1]; /* stacks by how they ended */
    struct cn_memory *memory;         /* of the process whose stack is unwound */
    struct cn_stored_names *names;    /* of frames of languages; borrowed */
    struct cn_kernel *kernel;  /* that unwinds in the kernel what is known; NULL: none */
    struct cn_timers *timers;  /* samples inside the program; NULL: not */
    struct cn_sample_gpu *gpu; /* takes stacks inside the program; NULL: not */
    uint64_t last_epoch;
    uint64_t exec_ns;                 /* when a new program was met last */
    uint64_t copied_count;            /* stacks that were unwound here */
    bool has_goroutines;              /* tell goroutines of Go apart */
    struct cn_unwound_frames *frames; /* that wait for their samples */
    uint8_t *longer;                  /* room for a stack that is read on */
    struct cn_names hints;            /* of run-times of processes that have ended */
};

void cn_unwound_begin(struct cn_unwound *stacks, struct cn_stored_names *names);
void cn_unwound_done(struct cn_unwound *stacks);

/* Add the hints of processes that still run, as the sampling ends. */
void cn_unwound_hint(struct cn_unwound *stacks);

/* Follow a record with its head: mappings, forks, exec, ends of tasks. */
void cn_unwound_take(struct cn_unwound *stacks, struct cn_bytes record);

/* Whose sample it is. */
struct cn_unwound_task {
    uint32_t pid, tid;
    uint64_t time_ns;
};

/* The stack of a sample, the innermost address first. Returns the number of addresses. */
size_t cn_unwound_unwind(struct cn_unwound *stacks, const struct cn_unwound_task *task,
                         const struct cn_unwind_registers *registers,
                         struct cn_bytes stack, uint64_t *out, size_t most);

/* Put frames of languages in the place of addresses of a stack that was unwound in the kernel.
 * Returns the number of addresses. */
size_t cn_unwound_finish(struct cn_unwound *stacks, const struct cn_unwound_task *task,
                         bool is_whole, uint64_t *chain, size_t count, size_t most);

/* The same for a stack that was unwound inside the program, with frames that were read there. */
size_t cn_unwound_name(struct cn_unwound *stacks, const struct cn_unwound_task *task,
                       const struct cn_frames_found *found, const uint64_t *words,
                       uint64_t *chain, size_t count, size_t most);

/* Keep what was found in the kernel, or inside, for the sample that follows: a record of
 * kernel/shared.h. */
void cn_unwound_take_frames(struct cn_unwound *stacks, struct cn_bytes record);

/* Take struct cn_frame_copies of an object that frames refer to. */
void cn_unwound_take_object(struct cn_unwound *stacks, uint32_t pid,
                            struct cn_bytes copies);

/* Tell the kernel the mappings of processes whose stacks were copied. */
void cn_unwound_publish(struct cn_unwound *stacks);

/* True if a stack that was unwound in the kernel used the mappings that the process now has. */
bool cn_unwound_is_epoch(const struct cn_unwound *stacks, uint32_t pid, uint64_t epoch);

/* Count a stack that was not unwound here. */
void cn_unwound_count(struct cn_unwound *stacks, enum cn_unwind_end end);

/* The mappings of a process; NULL if it is unknown. */
const struct cn_unwind_space *cn_unwound_space(const struct cn_unwound *stacks,
                                               uint32_t pid);

enum {
    CN_COLLECT_CHAIN_MAX = 2048,
    CN_COLLECT_SLOT =
        1 << 17, /* a record of what was left inside: no type of perf or of the kernel */
};

struct cn_sample_collector {
    const struct cn_sample_options *options;
    const struct cn_sample_setup *setup;
    const struct cn_rings *rings;
    struct cn_perf_writer *writer;
    struct cn_sample_io *io; /* for --io; NULL: there are no system calls */
    struct cn_unwound stacks;
    struct cn_stored_names stored; /* frames of interpreters */
    struct cn_map
        stored_mappings_of; /* by pid: one bit for each language, and KNOWS_PROBES */
    struct cn_map in_exec;  /* by pid: 1 from exec until it runs its own code */
    struct cn_map ours;     /* by tid: it is sampled, or was until it ended */
    struct cn_map woken;    /* by tid: it was woken, and has not run since */
    uint64_t words[CN_COLLECT_CHAIN_MAX + 64]; /* the sample that is written */
    uint64_t lost_count;
    uint64_t kernel_count;    /* stacks that were unwound in the kernel */
    uint64_t alloc_count;     /* sampled allocations of attached processes */
    uint32_t kernel_switches; /* the event of switches, if their stacks are unwound in the
                               * kernel as those of the first event are; 0: they are not */
    uint32_t kernel_waking;   /* the same of wake-ups */
    uint64_t
        address; /* that the sample which is written is about; if its event has one */
    uint64_t argument;  /* of the system call in which the sample that is written was
                               * taken; 0: unknown */
    uint64_t looked_ns; /* when mappings were last looked up */
    bool has_round;     /* records since the last end of a round */
    struct cn_inside_slot *slot; /* that came through rings; NULL: none yet */
};

void cn_collector_done(struct cn_sample_collector *collector);

/* A record of a ring, or one that was synthesised. */
CN_CHECK bool cn_collector_take(void *collector, const uint8_t *record, size_t len,
                                uint64_t time_ns, struct cn_error *err);

/* What a program left that samples itself. */
CN_CHECK bool cn_collector_take_inside(void *collector, struct cn_inside_slot *slot,
                                       struct cn_error *err);

/* The same of a record of cn_collector_add_inside(), and of one of a probe at an allocator. */
CN_CHECK bool cn_collector_take_slot(struct cn_sample_collector *collector,
                                     struct cn_bytes record, struct cn_error *err);
CN_CHECK bool cn_collector_take_attached(struct cn_sample_collector *collector,
                                         struct cn_bytes record, struct cn_error *err);

/* Write a sample of the first event: the addresses of its stack, the innermost first. */
CN_CHECK bool cn_collector_add_sample(struct cn_sample_collector *collector,
                                      const struct cn_unwound_task *task, uint64_t period,
                                      const uint64_t *chain, size_t count,
                                      struct cn_error *err);

/* What was left beside perf events: a sample of an allocation is added to the rings, which deliver it to
 * cn_collector_take() in the order of time. */
void cn_collector_add_inside(struct cn_rings *rings, const struct cn_inside_slot *slot);

/* A block that was sampled is freed. */
CN_CHECK bool cn_collector_take_release(void *collector,
                                        const struct cn_inside_release *release,
                                        struct cn_error *err);

/* A record of memory that has no stack. */
CN_CHECK bool cn_collector_add_memory(void *collector,
                                      const struct cn_perf_memory *record,
                                      struct cn_error *err);

/* At the end: how many samples of allocations were lost, and notes of inside/shared.h. */
CN_CHECK bool cn_collector_write_memory(struct cn_sample_collector *collector,
                                        uint64_t lost_count, uint32_t notes,
                                        struct cn_error *err);

/* Write the names that addresses of a stack need, before what contains the stack. */
CN_CHECK bool cn_collector_write_names(struct cn_sample_collector *collector,
                                       const struct cn_unwound_task *task,
                                       const uint64_t *chain, size_t count,
                                       struct cn_error *err);

/* All records that were taken are older than those that follow. */
CN_CHECK bool cn_collector_end_round(struct cn_sample_collector *collector,
                                     struct cn_error *err);

#endif
