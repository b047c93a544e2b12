/* The ring of a thread: records are added to it, and drained from it to the file of the
 * track (track.h).
 *
 * Assembly adds the usual records itself, up to a limit; these functions add the others, and
 * make room when the limit is reached. A signal handler that interrupts the thread while it
 * stores a record steps over the slot of that record, which is completed later.
 * Threads: only the thread adds records, its signal handlers included.
 */
#ifndef CN_RECORD_STATE_RING_H
#define CN_RECORD_STATE_RING_H

#include <stdint.h>

struct cn_rec_frame;
struct cn_rec_thread;

/* Add a record with the time `time_ns`; 0: now. The payload is a multiple of 8 bytes.
 * Records that cannot be added are counted as lost. */
void cn_rec_add(struct cn_rec_thread *self, uint64_t time_ns, uint64_t word,
                const uint64_t *payload, uint32_t payload_len);

/* Fast path for a record without payload, with the time `time_ns`, or the current time. */
void cn_rec_record_at(struct cn_rec_thread *self, uint64_t time_ns, uint64_t word);
void cn_rec_record(struct cn_rec_thread *self, uint64_t word);

/* The same for the entry of `frame`, which is pending; nothing if a signal handler records it
 * in the meantime. */
void cn_rec_record_pending(struct cn_rec_thread *self, struct cn_rec_frame *frame,
                           uint64_t time_ns, uint64_t word);

/* In a signal handler: an entry that the interrupted code is recording is no longer pending. */
void cn_rec_settle(struct cn_rec_thread *self);

/* Complete the record `word` at `at`, which a signal handler stepped over while assembly
 * stored it; it has the time of the next record. */
void cn_rec_finish_slot(uint64_t word, uint64_t at);

/* Complete `len` bytes at `at`, which a signal handler stepped over: the entries of the innermost
 * calls, which were pending, and the exit of the last one at `time_ns`. */
void cn_rec_finish_settled(uint64_t at, uint64_t time_ns, uint64_t len);

/* Make room for a record before a frame is pushed or popped, so that no signal handler
 * runs in between. */
void cn_rec_thread_reserve(struct cn_rec_thread *self);

#endif
