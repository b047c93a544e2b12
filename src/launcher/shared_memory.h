/* The launcher's side of the memory shared with recorded programs.
 *
 * It is a file in memory (/dev/shm) or else in the recording, so that a program can be
 * told its name; it takes up what is used of it. The launcher owns it.
 * Threads: one thread at a time.
 */
#ifndef CN_LAUNCHER_SHARED_MEMORY_H
#define CN_LAUNCHER_SHARED_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "record/shared.h"

struct cn_shared_memory {
    char *path; /* NULL once removed */
    char
        *dir_link; /* leads to the recording, where its own path is too long; else NULL */
    struct cn_rec_shared *head;
    struct cn_rec_rule *rules;
    struct cn_rec_value *values;
    struct cn_rec_track *tracks;
    uint8_t *rings;
    size_t len;
};

/* Make and map it. ring_len is a power of two between CN_REC_RING_MIN and _MAX. */
CN_CHECK bool cn_shared_memory_open(struct cn_shared_memory *memory, const char *dir,
                                    uint64_t ring_len, struct cn_error *err);

/* Tell the program the path of the recording, by a link beside the memory where it is
 * longer than CN_REC_DIR_MAX. */
CN_CHECK bool cn_shared_memory_tell_dir(struct cn_shared_memory *memory, const char *dir,
                                        struct cn_error *err);

/* Relate the processor's counter to CLOCK_MONOTONIC. Begin early and end late: the time in
 * between is what the rate is measured over, a few milliseconds at least. */
void cn_shared_memory_clock_begin(struct cn_shared_memory *memory);
void cn_shared_memory_clock_end(struct cn_shared_memory *memory);

/* Unmap it and remove its files; safe when it never opened. */
void cn_shared_memory_close(struct cn_shared_memory *memory);

#endif
