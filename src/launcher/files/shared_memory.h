/* The launcher's side of the memory shared with recorded programs.
 *
 * It is a sparse file in /dev/shm; in memory without a name if /dev/shm has little room,
 * as in containers; or in the recording. Programs find its path in their environment. The
 * launcher owns it, and allocates its pages before anyone touches them.
 * Threads: one thread at a time.
 */
#ifndef CN_LAUNCHER_FILES_SHARED_MEMORY_H
#define CN_LAUNCHER_FILES_SHARED_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "launcher/files/event_clock.h"
#include "record/shared.h"

struct cn_shared_memory {
    char *path; /* of its file; NULL without a name */
    int fd;
    char
        *dir_link; /* symbolic link to the recording if its path is too long; else NULL */
    struct cn_rec_shared *head;
    struct cn_rec_rule *rules;
    struct cn_rec_value *values;
    struct cn_rec_patch *patches;
    struct cn_rec_track *tracks;
    bool has_rings; /* false in a limited address space: they are mapped one by one */
    uint8_t *ring;  /* the one that is mapped then, and its track */
    uint64_t ring_at;
    size_t len;
    uint64_t clock_start, clock_start_ns; /* counter and time, to calibrate the clock */
};

/* The length of the ring of a track. The program may have overwritten it. */
uint64_t cn_shared_memory_ring_len(const struct cn_shared_memory *memory,
                                   const struct cn_rec_track *track);

/* The ring of a track; NULL when it cannot be mapped. Valid until the next call. */
const uint8_t *cn_shared_memory_ring(struct cn_shared_memory *memory,
                                     const struct cn_rec_track *track,
                                     struct cn_error *err);

/* Create and map it. ring_len is the longest, a power of two from CN_REC_RING_MIN to
 * CN_REC_RING_MAX. */
CN_CHECK bool cn_shared_memory_open(struct cn_shared_memory *memory, const char *dir,
                                    uint64_t ring_len, struct cn_error *err);

/* Allocate the memory of a rule set, of rules, of values, of patches, and of tracks for more
 * threads than there are.
 * False if there is not enough memory. */
bool cn_shared_memory_reserve_set(struct cn_shared_memory *memory, uint32_t version);
bool cn_shared_memory_reserve_rules(struct cn_shared_memory *memory, uint64_t first,
                                    uint64_t count);
bool cn_shared_memory_reserve_values(struct cn_shared_memory *memory, uint64_t first,
                                     uint64_t count);
bool cn_shared_memory_reserve_patches(struct cn_shared_memory *memory, uint64_t first,
                                      uint64_t count);
void cn_shared_memory_reserve_tracks(struct cn_shared_memory *memory);

/* The path by which a program opens it, to be released with free(). `pid` is a process
 * that has it open as long as programs are recorded. */
char *cn_shared_memory_path(const struct cn_shared_memory *memory, pid_t pid);

/* Set the path of the recording; a path longer than CN_REC_DIR_MAX by a symbolic link
 * beside the memory. */
CN_CHECK bool cn_shared_memory_set_dir(struct cn_shared_memory *memory, const char *dir,
                                       struct cn_error *err);

/* Calibrate the processor's counter against CLOCK_MONOTONIC, over the time between the
 * two calls, at least a few milliseconds. */
void cn_shared_memory_clock_begin(struct cn_shared_memory *memory);
void cn_shared_memory_clock_end(struct cn_shared_memory *memory);

/* Read both clocks; false if the recorder uses the kernel's. */
bool cn_shared_memory_clock_pair(const struct cn_shared_memory *memory,
                                 struct cn_clock_pair *out);

/* Unmap it and remove its files; safe when it never opened. */
void cn_shared_memory_close(struct cn_shared_memory *memory);

#endif
