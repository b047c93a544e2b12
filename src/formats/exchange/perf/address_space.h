/* The mappings of each process, from records of mappings, forks and execs.
 *
 * Mappings form a list, newest first, and never change: a forked process shares those of
 * its parent.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_EXCHANGE_PERF_ADDRESS_SPACE_H
#define CN_FORMATS_EXCHANGE_PERF_ADDRESS_SPACE_H

#include "base/arena.h"
#include "base/map.h"
#include "formats/exchange/perf/perf_file.h"

struct cn_perf_mapping {
    const struct cn_perf_mapping *older;
    uint64_t begin, end;
    uint64_t file_off; /* of `begin` */
    const char *path, *build_id;
};

struct cn_perf_process {
    const struct cn_perf_mapping *mappings;
    const char *jitdump; /* the file that it maps to name its code; NULL: none */
    uint32_t generation; /* changes with the mappings; unique over all processes */
};

struct cn_perf_spaces {
    struct cn_map process_of; /* by pid */
    struct cn_perf_process *processes;
    size_t count, capacity;
    struct cn_perf_process kernel;
    struct cn_names strings;
    uint32_t next_generation;
    struct cn_arena arena;
};

/* Apply a record of a mapping, a fork or an exec; others are ignored. */
void cn_perf_spaces_take(struct cn_perf_spaces *spaces, const struct cn_perf_file *file,
                         const struct cn_perf_record *record);

/* The process, added if it is new. Valid until the next call. */
struct cn_perf_process *cn_perf_process_at(struct cn_perf_spaces *spaces, uint32_t pid);

/* The mapping that contains an address, or NULL. */
const struct cn_perf_mapping *cn_perf_find_mapping(const struct cn_perf_process *process,
                                                   uint64_t address);

void cn_perf_spaces_done(struct cn_perf_spaces *spaces);

#endif
