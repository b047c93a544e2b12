/* Values of a database that knows its cells: the index of each value in the plane of its
 * context follows from the cells, so values are put where they belong as they are read.
 */
#include <inttypes.h>

#include "base/alloc.h"
#include "model/contexts/transpose_internal.h"

bool cn_transpose_lay_out(struct cn_transposition *t, struct cn_error *err)
{
    const struct cn_cells *cells = t->cells;
    size_t at = 0;

    t->counts = cn_alloc(t->db->context_limit, sizeof(*t->counts));
    t->cell_starts = cn_alloc((size_t)t->db->context_limit + 1, sizeof(*t->cell_starts));
    for (uint32_t i = 0; i < t->db->context_limit; i++) {
        t->cell_starts[i] = at;
        for (; at < cells->count && cells->list[at].context == i; at++) {
            t->counts[i] += cells->list[at].count;
            if (t->counts[i] < cells->list[at].count)
                return cn_fail(err, CN_ERR_LIMIT,
                               "context %" PRIu32 " has more than %u values", i,
                               UINT32_MAX);
        }
    }
    t->cell_starts[t->db->context_limit] = at;
    if (at < cells->count)
        return cn_fail(err, CN_ERR_FORMAT,
                       "value for context %" PRIu32 ", but ids end at %" PRIu32,
                       cells->list[at].context, t->db->context_limit);
    return t->sink->layout(t->sink->arg, cells, err);
}

/* The first cell of the range, and their number. */
static size_t first_cell(const struct cn_transposition *t,
                         const struct cn_context_range *range, size_t *count)
{
    size_t first = t->cell_starts[range->first];

    *count = t->cell_starts[(size_t)range->last + 1] - first;
    return first;
}

void cn_transpose_place_begin(const struct cn_transposition *t,
                              const struct cn_context_range *range,
                              struct cn_transpose_worker *self)
{
    size_t count, first = first_cell(t, range, &count);
    const struct cn_cell *cells = t->cells->list + first;
    uint32_t at = 0;

    self->placed_count = 0;
    CN_RENEW(self->spans, count, self->span_capacity);
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && cells[i].context != cells[i - 1].context)
            at = 0;
        self->spans[i] = (struct cn_cell_span){at, at + cells[i].count};
        at += cells[i].count;
    }
}

static bool has_changed(struct cn_error *err)
{
    return cn_fail(err, CN_ERR_FORMAT, "changed while it was being read");
}

static void put_some(const struct cn_transposition *t, unsigned worker)
{
    struct cn_transpose_worker *self = &t->workers[worker];

    t->sink->put(t->sink->arg, worker, self->placed, self->placed_count);
    self->placed_count = 0;
}

/* The cell of a value among those of its context, which are few. */
static inline const struct cn_cell *find_cell(const struct cn_transposition *t,
                                              uint32_t context, uint16_t metric)
{
    enum { FEW = 8 };
    const struct cn_cell *at = t->cells->list + t->cell_starts[context];
    const struct cn_cell *end = t->cells->list + t->cell_starts[(size_t)context + 1];

    while (end - at > FEW) {
        const struct cn_cell *middle = at + (end - at) / 2;

        if (middle->metric <= metric)
            at = middle;
        else
            end = middle;
    }
    while (at < end && at->metric < metric)
        at++;
    return at < end && at->metric == metric ? at : NULL;
}

/* `context` is in the range. */
static inline bool place(const struct cn_transposition *t,
                         const struct cn_context_range *range, unsigned worker,
                         uint32_t context, struct cn_value value)
{
    struct cn_transpose_worker *self = &t->workers[worker];
    const struct cn_cell *cell = find_cell(t, context, value.metric);

    if (!cell)
        return false;
    struct cn_cell_span *span =
        &self->spans[(size_t)(cell - t->cells->list) - t->cell_starts[range->first]];
    if (span->next == span->end)
        return false;
    self->placed[self->placed_count++] =
        (struct cn_placed_value){value.value, value.key, context, span->next++};
    if (self->placed_count == CN_PLACED_BATCH)
        put_some(t, worker);
    return true;
}

bool cn_transpose_place_slice(const struct cn_transposition *t,
                              const struct cn_context_range *range, unsigned worker,
                              uint32_t profile, struct cn_value_batch batch,
                              struct cn_error *err)
{
    for (size_t i = 0; i < batch.count; i++) {
        const struct cn_value *value = &batch.values[i];

        if (cn_value_is_void(value, &t->zero_ids))
            continue;
        if (value->key < range->first || value->key > range->last ||
            !place(t, range, worker, value->key,
                   (struct cn_value){value->value, profile, value->metric}))
            return has_changed(err);
    }
    return true;
}

bool cn_transpose_place_spilled(const struct cn_transposition *t,
                                const struct cn_context_range *range, unsigned worker,
                                size_t count, size_t first_thread, struct cn_error *err)
{
    const struct cn_spilled_value *spilled = t->workers[worker].spilled;

    for (size_t i = 0; i < count; i++) {
        const struct cn_spilled_value *value = &spilled[i];

        if (value->context < range->first || value->context > range->last ||
            first_thread + value->thread >= t->thread_count)
            return cn_fail(err, CN_ERR_FORMAT, "damaged values of another process");
        if (!place(t, range, worker, value->context,
                   (struct cn_value){value->value,
                                     t->threads[first_thread + value->thread],
                                     value->metric}))
            return has_changed(err);
    }
    return true;
}

bool cn_transpose_place_end(const struct cn_transposition *t,
                            const struct cn_context_range *range, unsigned worker,
                            struct cn_error *err)
{
    const struct cn_cell_span *spans = t->workers[worker].spans;
    size_t count;

    (void)first_cell(t, range, &count);
    for (size_t i = 0; i < count; i++)
        if (spans[i].next != spans[i].end)
            return has_changed(err);
    put_some(t, worker);
    return true;
}
