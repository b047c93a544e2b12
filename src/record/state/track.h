/* The recorder's side of tracks: take one, make room in its ring, release it.
 * Threads: a track belongs to the thread that took it.
 */
#ifndef CN_RECORD_STATE_TRACK_H
#define CN_RECORD_STATE_TRACK_H

#include <stdbool.h>
#include <stdint.h>

struct cn_rec_track;

/* Take a free track for this task, for its calls or for its heap. Writes the records of the same task
 * from before an exec first. NULL when there is no memory for it. */
struct cn_rec_track *cn_rec_track_take(uint32_t tid, bool is_heap);

/* It has a ring now: the launcher may drain it. */
void cn_rec_track_open(struct cn_rec_track *track);

/* Let others take it. */
void cn_rec_track_release(struct cn_rec_track *track);

/* Append records to the file of a task that has no track. */
void cn_rec_track_append(uint32_t tid, const uint64_t *words, uint32_t count);

/* The ring is full: write it, or wait until the launcher has done so. */
bool cn_rec_track_make_room(struct cn_rec_track *track, const uint8_t *ring);

/* Write the remaining records, and release the track. */
void cn_rec_track_close(struct cn_rec_track *track, const uint8_t *ring);

/* Wake the launcher. */
void cn_rec_track_ring_bell(void);

#endif
