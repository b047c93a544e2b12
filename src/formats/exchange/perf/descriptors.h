/* What the descriptors of processes are, followed through the calls that make, copy and close them.
 *
 * An opening is what one call opened: a file, a socket or a pipe. Descriptors that are copied, also by a fork,
 * are of the same one. Its name may be found later than its first use, but never from what the descriptor was
 * before or after it. After too much work, of a damaged file, nothing is known any more.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_EXCHANGE_PERF_DESCRIPTORS_H
#define CN_FORMATS_EXCHANGE_PERF_DESCRIPTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

struct cn_perf_opening {
    uint32_t name; /* CN_NONE: unknown */
    uint64_t since_ns;
};

struct cn_perf_descriptors {
    struct cn_perf_opening *openings; /* numbered from 1 */
    size_t opening_count, opening_capacity;
    struct cn_perf_open_process *processes;
    size_t process_count, process_capacity;
    struct cn_map process_of; /* by pid */
    struct cn_map entry_of;   /* by process and descriptor: 1 + its index */
    uint64_t walked_count;    /* entries that forks and the like have visited */
    struct cn_names names;
};

void cn_perf_descriptors_done(struct cn_perf_descriptors *all);

/* Nothing is known of descriptors any more: records were lost. */
void cn_perf_descriptors_forget(struct cn_perf_descriptors *all);

/* A process has those of its parent; exec closes some. */
void cn_perf_descriptors_fork(struct cn_perf_descriptors *all, uint32_t parent,
                              uint32_t child);
void cn_perf_descriptors_exec(struct cn_perf_descriptors *all, uint32_t pid);

/* A descriptor as it becomes known. */
struct cn_perf_opened {
    uint32_t pid;
    int32_t descriptor;
    uint32_t name; /* CN_NONE: unknown */
    bool is_closed_by_exec;
    uint64_t time_ns;
};

/* It was opened. Returns the opening. */
uint32_t cn_perf_descriptors_open(struct cn_perf_descriptors *all,
                                  const struct cn_perf_opened *opened);

/* It is a copy of another one of the process. */
void cn_perf_descriptors_copy(struct cn_perf_descriptors *all, int32_t from,
                              const struct cn_perf_opened *to);

/* Whether exec closes it. */
void cn_perf_descriptors_set_closed(struct cn_perf_descriptors *all, uint32_t pid,
                                    int32_t descriptor, bool is_closed_by_exec);

/* It has another peer. Returns the opening. */
uint32_t cn_perf_descriptors_connect(struct cn_perf_descriptors *all,
                                     const struct cn_perf_opened *peer);

/* It was found to be this from `since_ns` to `time_ns`. */
void cn_perf_descriptors_found(struct cn_perf_descriptors *all,
                               const struct cn_perf_opened *found, uint64_t since_ns);

/* Name an opening, if its name is unknown. */
void cn_perf_descriptors_call(struct cn_perf_descriptors *all, uint32_t opening,
                              uint32_t name);

void cn_perf_descriptors_close(struct cn_perf_descriptors *all, uint32_t pid,
                               uint64_t first, uint64_t last);

/* The opening that is used; a new one if it is not known. */
uint32_t cn_perf_descriptors_use(struct cn_perf_descriptors *all, uint32_t pid,
                                 int32_t descriptor, uint64_t time_ns);

/* The name of an opening; CN_NONE: unknown. */
uint32_t cn_perf_descriptors_name(const struct cn_perf_descriptors *all,
                                  uint32_t opening);

/* The working directory of a process. */
void cn_perf_descriptors_enter(struct cn_perf_descriptors *all, uint32_t pid,
                               uint32_t name);

/* The name of a path that begins at a directory: NULL is that of the process. A path whose directory is
 * unknown stays as it is. */
uint32_t cn_perf_descriptors_path(struct cn_perf_descriptors *all, uint32_t pid,
                                  const int32_t *directory, const char *path);

#endif
