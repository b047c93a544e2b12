/* The mappings of each process, from records of mappings, forks and execs.
 *
 * They are those of the unwinder; a forked process shares them with its parent.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_EXCHANGE_PERF_ADDRESS_SPACE_H
#define CN_FORMATS_EXCHANGE_PERF_ADDRESS_SPACE_H

#include "base/arena.h"
#include "base/map.h"
#include "formats/exchange/perf/file.h"
#include "unwind/unwind.h"

struct cn_perf_process {
    struct cn_unwind_space *space;
    struct cn_unwind_space
        *memory; /* all mappings, also those without code; NULL: they are not wanted */
    const char *jitdump; /* the file that it maps to name its code; NULL: none */
    uint32_t generation; /* changes with the mappings; unique over all processes */
};

struct cn_perf_spaces {
    struct cn_map process_of; /* by pid */
    struct cn_perf_process *processes;
    size_t count, capacity;
    struct cn_unwinder *unwinder; /* made for the first process */
    struct cn_unwind_space *kernel;
    uint32_t next_generation;
    bool
        has_memory; /* set it before the first record: mappings without code are wanted as well */
    struct cn_arena arena;
};

/* Apply a record of a mapping, a fork or an exec; others are ignored. */
void cn_perf_spaces_take(struct cn_perf_spaces *spaces, const struct cn_perf_file *file,
                         const struct cn_perf_record *record);

/* The process, added if it is new. Valid until the next call. */
struct cn_perf_process *cn_perf_process_at(struct cn_perf_spaces *spaces, uint32_t pid);

/* mremap(): what is mapped at `from` is at `to` as well. The kernel has no record of that. */
void cn_perf_spaces_remap(struct cn_perf_spaces *spaces, uint32_t pid, uint64_t from,
                          uint64_t to, uint64_t len);

/* What is mapped at an address of a process: a file, "[anonymous]" or the like. Valid until `spaces` is done. */
const char *cn_perf_mapped_at(const struct cn_perf_spaces *spaces, uint32_t pid,
                              uint64_t address);

/* NULL if nothing was said about it. */
const struct cn_perf_process *cn_perf_process_find(const struct cn_perf_spaces *spaces,
                                                   uint32_t pid);

void cn_perf_spaces_done(struct cn_perf_spaces *spaces);

#endif
