/* The program's side of the tracks: take one, make room in its ring, give it back.
 * Threads: a track belongs to the thread that took it.
 */
#ifndef CN_RECORD_TRACK_H
#define CN_RECORD_TRACK_H

#include <stdbool.h>
#include <stdint.h>

struct cn_rec_track;

/* A free track for this task; NULL when there is none. What an earlier program left
 * under the same number, before an exec, is written out first. */
struct cn_rec_track *cn_rec_track_take(uint32_t tid);

/* The ring is full: write it out, or wait for the launcher to do so. */
bool cn_rec_track_make_room(struct cn_rec_track *track, const uint8_t *ring);

/* No more records will come. */
void cn_rec_track_close(struct cn_rec_track *track, const uint8_t *ring);

/* Tell the launcher that there is something to write. */
void cn_rec_track_ring_bell(void);

#endif
