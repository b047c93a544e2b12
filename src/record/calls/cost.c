#include "record/calls/cost.h"

#include <stddef.h>

#include "record/calls/hooks.h"
#include "record/code/libcalls.h"
#include "record/layout.h"
#include "record/process.h"
#include "record/state/thread.h"
#include "record/stubs.h"

enum { ROUNDS = 31, CALLS = 32, RECORD_LEN = 16, SITE_LEN = 32, PS_PER_NS = 1000 };

struct round {
    uint64_t all_ns, inner_ns; /* for CALLS calls */
};

static uint64_t word_at(const struct cn_rec_thread *self, uint64_t at)
{
    return *(const uint64_t *)(self->ring + (at & self->ring_mask));
}

/* Add up the time between entry and exit of each call. */
static uint64_t add_inner(const struct cn_rec_thread *self, uint64_t at, uint64_t end)
{
    uint64_t entry_ns = 0, inner_ns = 0;

    while (at + RECORD_LEN <= end) {
        uint64_t time_ns = word_at(self, at), word = word_at(self, at + 8);

        if (word == CN_REC_SITE_WORD) {
            at += SITE_LEN;
            continue;
        }
        if ((word & CN_REC_TYPE_MASK) == (CN_REC_EXIT_WORD & CN_REC_TYPE_MASK))
            inner_ns += time_ns - entry_ns;
        entry_ns = time_ns;
        at += RECORD_LEN;
    }
    return inner_ns;
}

/* The median, so that disturbed measurements do not count. */
static uint64_t median(uint64_t *values, int count)
{
    for (int i = 1; i < count; i++) {
        uint64_t value = values[i];
        int at = i;

        for (; at > 0 && values[at - 1] > value; at--)
            values[at] = values[at - 1];
        values[at] = value;
    }
    return values[count / 2];
}

_Static_assert(CN_REC_RING_MIN / 4 / ((2 * RECORD_LEN + SITE_LEN) * CALLS) > 1,
               "a quarter of the smallest ring has room for a round");

/* Measure in the first quarter of the ring, with the cache misses that the program will
 * have. */
static struct round measure(struct cn_rec_thread *self, void (*function)(void))
{
    uint64_t start = atomic_load(&self->track->recorded), all[ROUNDS], inner[ROUNDS];
    const struct cn_rec_shared *shared = cn_rec_process.shared;
    uint64_t call_len = 2 * RECORD_LEN + (shared->has_sites ? SITE_LEN : 0);
    uint64_t room = self->track->ring_len / 4 / (call_len * CALLS);
    int rounds = room - 1 < ROUNDS ? (int)room - 1 : ROUNDS;

    for (int i = 0; i < rounds; i++) {
        uint64_t at = atomic_load(&self->track->recorded), from_ns = cn_rec_now(self);

        for (int call = 0; call < CALLS; call++)
            function();
        all[i] = cn_rec_now(self) - from_ns;
        inner[i] = add_inner(self, at, atomic_load(&self->track->recorded));
    }
    atomic_store(&self->track->recorded, start);
    self->slot = UINT64_MAX;
    return (struct round){median(all, rounds), median(inner, rounds)};
}

static void store(struct cn_rec_cost *cost, struct round recorded, struct round plain)
{
    uint64_t all_ns = recorded.all_ns > plain.all_ns ? recorded.all_ns - plain.all_ns : 0;
    uint64_t inner_ns = recorded.inner_ns < all_ns ? recorded.inner_ns : all_ns;

    cost->call_ps = all_ns * PS_PER_NS / CALLS;
    cost->inner_ps = inner_ns * PS_PER_NS / CALLS;
}

static void measure_all(struct cn_rec_thread *self)
{
    struct cn_rec_shared *shared = cn_rec_process.shared;
    struct round plain = measure(self, cn_rec_probe_plain);

    store(&shared->costs[CN_REC_COST_HOOK],
          measure(self,
                  cn_rec_process.has_patched_calls ? cn_rec_probe_patched : cn_rec_probe),
          plain);
    store(&shared->costs[CN_REC_COST_PATCHED], measure(self, cn_rec_probe_patched),
          plain);
    store(&shared->costs[CN_REC_COST_INSTRUMENT], measure(self, cn_rec_probe_instrument),
          plain);
    if (cn_rec_libcall_probe)
        store(&shared->costs[CN_REC_COST_LIBCALL], measure(self, cn_rec_libcall_probe),
              plain);
    if (!cn_rec_process.has_filters)
        return;
    self->filter.out = 1;
    self->filter.shown_limit = 0;
    store(&shared->costs[CN_REC_COST_LEFT_OUT], measure(self, cn_rec_probe), plain);
}

/* Filters are set to let the calls through, so that they cost as much as later calls: also a
 * time limit, which they all exceed. */
void cn_rec_cost_measure(struct cn_rec_thread *self)
{
    struct cn_rec_shared *shared = cn_rec_process.shared;
    struct cn_rec_filter_state filter = self->filter;
    uint64_t extra_len = atomic_load(&self->track->extra_len);
    uint32_t is_on, none = 0;

    if (shared->costs[CN_REC_COST_HOOK].call_ps > 0 ||
        !atomic_compare_exchange_strong(&self->track->writer, &none, self->tid))
        return;
    is_on = atomic_exchange(&shared->is_on, 1);
    self->filter.in = 1;
    self->filter.shown_limit = UINT32_MAX;
    self->filter.time_limit_ns = filter.time_limit_ns > 0;
    self->filter.needs_match = 0;
    measure_all(self);
    self->filter = filter;
    self->has_watched = false;
    atomic_store(&shared->is_on, is_on);
    atomic_store(&self->track->extra_len, extra_len);
    atomic_store(&self->track->writer, 0);
}
