#include "record/state/ring.h"

#include <stddef.h>

#include "record/process.h"
#include "record/state/thread.h"
#include "record/state/track.h"
#include "record/syscalls.h"

static bool has_room(const struct cn_rec_track *track, uint32_t len)
{
    uint64_t used = atomic_load(&track->recorded) - atomic_load(&track->drained);

    return track->ring_len - used >= len;
}

static bool write_ring(struct cn_rec_thread *self, uint32_t len)
{
    if (!cn_rec_track_make_room(self->track, self->ring))
        return false;
    if (has_room(self->track, len))
        return true;
    /* A record that is still unfinished was most likely left by a jump. */
    atomic_store(&self->track->unfinished, UINT64_MAX);
    return cn_rec_track_make_room(self->track, self->ring);
}

/* Make room for a record of `len` bytes. */
static bool make_room_blocked(struct cn_rec_thread *self, uint32_t len)
{
    struct cn_rec_shared *shared = cn_rec_process.shared;

    if (!cn_rec_wiped(self)->is_mine && !cn_rec_thread_adopt(self))
        return false;
    if (atomic_load(&shared->stop)) {
        cn_rec_thread_stop(self);
        return false;
    }
    if (!has_room(self->track, len) && !write_ring(self, len))
        return false;
    uint64_t ring_len = self->track->ring_len;
    uint64_t recorded = atomic_load(&self->track->recorded);
    cn_rec_track_ring_bell();
    /* Assembly stores 16 bytes at any position below the limit, which may be an odd
     * multiple of 8 after a payload. */
    uint64_t end = atomic_load(&self->track->drained) + ring_len - 8;
    uint64_t bell = recorded + ring_len / 4;
    cn_rec_wiped(self)->limit = bell < end ? bell : end;
    return true;
}

static bool make_room(struct cn_rec_thread *self, uint32_t len)
{
    uint64_t before;

    if (cn_rec_is_sandboxed)
        cn_rec_thread_stop(self);
    if (self->is_off ||
        (cn_rec_wiped(self)->is_mine && cn_rec_track_is_stuck(self->track)))
        return false;
    cn_rec_block_signals(&before);
    bool ok = make_room_blocked(self, len);
    cn_rec_restore_signals(&before);
    return ok;
}

struct ring_record {
    uint64_t time_ns, word;
    const uint64_t *payload;
    uint32_t len;                 /* including the payload */
    struct cn_rec_frame *pending; /* whose pending entry it is, or NULL */
};

static void put(const struct cn_rec_thread *self, uint64_t at, uint64_t value)
{
    *(volatile uint64_t *)(self->ring + (at & self->ring_mask)) = value;
}

/* Only signal handlers of this thread compete, so no bus lock is needed. */
static bool advance(struct cn_rec_track *track, uint64_t from, uint64_t to)
{
#if defined(__x86_64__)
    uint64_t seen = from;

    __asm__ volatile("cmpxchgq %2, %1"
                     : "+a"(seen), "+m"(track->recorded)
                     : "r"(to)
                     : "cc", "memory");
    return seen == from;
#else
    return atomic_compare_exchange_strong(&track->recorded, &from, to);
#endif
}

/* A signal handler interrupted the thread while it stored a record at `at`: step over its
 * slot. The thread completes the record later; if it never does, one record is lost. */
static void leave_slot(struct cn_rec_thread *self, uint64_t at)
{
    uint64_t len = self->slot_len, none = UINT64_MAX;

    (void)atomic_compare_exchange_strong(&self->track->unfinished, &none, at);
    /* Fill the slot with valid records: a payload that is not stored yet must not look
     * like records. */
    for (uint64_t i = 0; i + 16 <= len; i += 16) {
        put(self, at + i, cn_rec_now(self));
        put(self, at + i + 8, CN_REC_LOST_WORD | 1 << 16);
    }
    if (len % 16 != 0) {
        put(self, at + len - 16, CN_REC_FILL_WORD);
        put(self, at + len - 8, CN_REC_FILL_PAYLOAD);
    }
    self->stepped = at;
    (void)advance(self->track, at, at + len);
}

/* What was stepped over at `at` is complete. */
static void end_slot(struct cn_rec_thread *self, uint64_t at)
{
    uint64_t unfinished = at;

    (void)atomic_compare_exchange_strong(&self->track->unfinished, &unfinished,
                                         UINT64_MAX);
    /* The interrupted code may be about to claim a slot: this one is done. */
    if (self->stepped == at)
        self->stepped = UINT64_MAX;
}

/* Complete the record at `at` that a signal handler has stepped over. Without a time
 * of its own it gets that of the next record: the records of the handler must not be
 * older. */
static void finish_slot(struct cn_rec_thread *self, uint64_t at,
                        const struct ring_record *record)
{
    volatile uint64_t *after_ns =
        (volatile uint64_t *)(self->ring + ((at + record->len) & self->ring_mask));

    put(self, at, record->time_ns ? record->time_ns : *after_ns);
    put(self, at + 8, record->word);
    for (uint32_t i = 16; i < record->len; i += 8)
        put(self, at + i, record->payload[(i - 16) / 8]);
    end_slot(self, at);
}

void cn_rec_finish_settled(uint64_t at, uint64_t time_ns, uint64_t len)
{
    struct cn_rec_thread *self = cn_rec_self;
    struct cn_rec_frame *last = self->top;
    uint64_t to = at + len - 16;

    put(self, to, time_ns);
    put(self, to + 8, cn_rec_frame_shown_word(last) | CN_REC_EXIT_WORD);
    for (const struct cn_rec_frame *frame = last; to > at; frame--) {
        to -= 16;
        put(self, to, frame->entry_ns);
        put(self, to + 8, cn_rec_frame_shown_word(frame) | CN_REC_ENTRY_WORD);
    }
    end_slot(self, at);
}

void cn_rec_finish_slot(uint64_t word, uint64_t at)
{
    struct ring_record record = {.word = word, .len = 16};

    finish_slot(cn_rec_self, at, &record);
}

/* Store a record at `at`, where the ring has room. */
static void store(struct cn_rec_thread *self, uint64_t at,
                  const struct ring_record *record)
{
    put(self, at, record->time_ns ? record->time_ns : cn_rec_now(self));
    put(self, at + 8, record->word);
    for (uint32_t i = 16; i < record->len; i += 8)
        put(self, at + i, record->payload[(i - 16) / 8]);
    if (!advance(self->track, at, at + record->len))
        finish_slot(self, at, record);
}

void cn_rec_settle(struct cn_rec_thread *self)
{
    struct cn_rec_frame *frame = self->settling, *last = self->settling_end;

    if (self->slot != self->settling_at)
        return;
    for (; frame && frame <= last; frame++)
        frame->flags &= ~(uint64_t)CN_REC_FRAME_PENDING;
}

/* A pending entry that a signal handler records in the meantime is not added. */
static bool add(struct cn_rec_thread *self, const struct ring_record *record)
{
    for (;;) {
        uint64_t recorded =
            atomic_load_explicit(&self->track->recorded, memory_order_relaxed);
        bool is_taken = recorded == self->slot;

        if (record->pending && !(record->pending->flags & CN_REC_FRAME_PENDING))
            return true;
        cn_rec_settle(self);
        uint32_t len = record->len + (is_taken ? (uint32_t)self->slot_len : 0);

        /* The room up to the limit may be too small for this record. */
        if (recorded + len > cn_rec_wiped(self)->limit + 8) {
            if (!make_room(self, len))
                return false;
            continue;
        }
        if (is_taken) {
            leave_slot(self, recorded);
            continue;
        }
        self->slot_len = record->len;
        if (record->pending) {
            self->settling_at = recorded;
            self->settling_end = record->pending;
            self->settling = record->pending;
        }
        self->slot = recorded;
        /* A handler that ran before the slot was claimed has used it; one that ran later
         * has stepped over it. */
        if (atomic_load_explicit(&self->track->recorded, memory_order_relaxed) !=
                recorded &&
            self->stepped != recorded)
            continue;
        store(self, recorded, record);
        self->slot_len = 16;
        return true;
    }
}

static void record_lost(struct cn_rec_thread *self)
{
    uint64_t lost = atomic_load(&self->track->lost);
    struct ring_record record = {
        .word = CN_REC_LOST_WORD | (lost - self->lost_recorded) << 16,
        .len = 16,
    };

    if (lost != self->lost_recorded && cn_rec_wiped(self)->is_mine && add(self, &record))
        self->lost_recorded = lost;
}

/* Add a record, or count it as lost. */
static bool add_or_lose(struct cn_rec_thread *self, const struct ring_record *record)
{
    record_lost(self);
    if (add(self, record))
        return true;
    if (cn_rec_wiped(self)->is_mine && !self->is_off)
        atomic_fetch_add(&self->track->lost, 1);
    return false;
}

void cn_rec_add(struct cn_rec_thread *self, uint64_t time_ns, uint64_t word,
                const uint64_t *payload, uint32_t payload_len)
{
    struct ring_record record = {time_ns, word, payload, 16 + payload_len, NULL};
    uint64_t extra_len = payload_len;

    if (!add_or_lose(self, &record))
        return;
    if ((word & CN_REC_TYPE_MASK) == CN_REC_EVENT_TYPE)
        extra_len += 16;
    /* Only this thread writes it; a signal handler in between costs at most one count. */
    atomic_store_explicit(
        &self->track->extra_len,
        atomic_load_explicit(&self->track->extra_len, memory_order_relaxed) + extra_len,
        memory_order_relaxed);
}

void cn_rec_record_at(struct cn_rec_thread *self, uint64_t time_ns, uint64_t word)
{
    struct ring_record record = {.time_ns = time_ns, .word = word, .len = 16};

    if (atomic_load_explicit(&self->track->lost, memory_order_relaxed) !=
            self->lost_recorded ||
        !add(self, &record))
        cn_rec_add(self, time_ns, word, NULL, 0);
}

void cn_rec_record(struct cn_rec_thread *self, uint64_t word)
{
    cn_rec_record_at(self, 0, word);
}

void cn_rec_record_pending(struct cn_rec_thread *self, struct cn_rec_frame *frame,
                           uint64_t time_ns, uint64_t word)
{
    struct ring_record record = {
        .time_ns = time_ns, .word = word, .len = 16, .pending = frame};

    (void)add_or_lose(self, &record);
}

void cn_rec_thread_reserve(struct cn_rec_thread *self)
{
    if (atomic_load(&self->track->recorded) >= cn_rec_wiped(self)->limit)
        (void)make_room(self, 16);
}
