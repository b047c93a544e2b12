/* Level 0 has the smallest cells, each level above cells of twice the width. While samples
 * are read, every level adds up the time by place of the cell that is open; a cell that ends
 * hands its sums to the one above. Only the place that stands for a cell is kept, but for one
 * level in the middle, which keeps the time of all functions: sums over ranges come from there.
 * Where these are too many, the next level takes its place. */
#include "analyze/timeline/time_pyramid.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analyze/timeline/main_path.h"
#include "analyze/timeline/occupancy.h"
#include "analyze/timeline/tally.h"
#include "analyze/views/frames.h"
#include "base/alloc.h"
#include "model/contexts/database.h"

enum {
    CHUNK = 1024,        /* samples read at a time */
    SAMPLES_A_CELL = 16, /* of the smallest cells, on average and at least; */
    LONG = 128 << 10,    /* of a timeline with more samples twice as many */
    CELLS_MAX = 1 << 18, /* of the smallest: narrower frames hold few enough samples */
    LEVEL_MAX = 64,
    FORGET_EVERY = 1 << 20, /* samples: their pages are given back */
    SUMS_LEVEL = 4,         /* the first level that keeps all functions */
    SUMS_MIN = 4 << 10,     /* so many sums are kept in any case */
    SUMS_MAX = 48 << 10,    /* and no more than these, where the levels allow it */
};

/* Leaves room for the end of the last cell. */
static const uint64_t SPAN_MAX_NS = UINT64_C(1) << 62;

enum { WHOLE = 0xffff }; /* a share of 1 */

struct pyramid_cell {
    uint32_t place, sample_count;
    uint16_t share, busy; /* of WHOLE */
};

struct pyramid_level {
    uint64_t first; /* number of the first cell: its time / its width */
    size_t count;
    struct pyramid_cell *cells;
};

struct cn_time_pyramid {
    uint64_t origin_ns;
    unsigned shift; /* cells of level 0 are 1 << shift ns wide */
    unsigned level_count, sums_level;
    struct pyramid_level levels[LEVEL_MAX];

    /* Of the cells of sums_level: those of cell i begin at sum_start[i]. */
    size_t *sum_start;
    uint32_t *sum_function;
    uint64_t *sum_ns;
    size_t sum_count;
};

struct pyramid_builder {
    struct cn_time_pyramid *pyramid;
    const struct cn_cut *cut;
    uint32_t *slot_of_place; /* slots are numbered as places are met; CN_NONE: not yet */
    uint32_t *place_of_slot;
    size_t slot_count, slot_capacity, tally_capacity;
    struct cn_tally tallies[LEVEL_MAX]; /* by slot */
    struct cn_main_path path;           /* of stacks that are not cut */
    uint64_t at;                        /* the cell of level 0 that is open */
    size_t sum_capacity, sum_ns_capacity, sum_max;
    struct cn_tally functions; /* of the cell whose sums are appended; by function */
};

static unsigned choose_shift(uint64_t span_ns, uint64_t sample_count)
{
    uint64_t cell_max = sample_count / SAMPLES_A_CELL / (sample_count > LONG ? 2 : 1);
    unsigned shift = 0;

    if (cell_max > CELLS_MAX)
        cell_max = CELLS_MAX;
    while (shift < LEVEL_MAX - 1 && span_ns >> shift >= (cell_max ? cell_max : 1))
        shift++;
    return shift;
}

static void make_levels(struct cn_time_pyramid *p, uint64_t first_ns, uint64_t last_ns)
{
    uint64_t first = (first_ns - p->origin_ns) >> p->shift;
    uint64_t last = (last_ns - p->origin_ns) >> p->shift;

    for (;; first /= 2, last /= 2) {
        struct pyramid_level *level = &p->levels[p->level_count++];

        level->first = first;
        level->count = (size_t)(last - first + 1);
        level->cells = cn_alloc(level->count, sizeof(*level->cells));
        if (first == last || p->level_count == LEVEL_MAX)
            break;
    }
    p->sums_level = p->level_count > SUMS_LEVEL ? SUMS_LEVEL : p->level_count - 1;
    p->sum_start = cn_alloc(p->levels[p->sums_level].count + 1, sizeof(*p->sum_start));
}

/* Room for all slots in the tallies of all levels. */
static void grow_tallies(struct pyramid_builder *b, size_t count)
{
    size_t capacity = b->tally_capacity;

    if (count <= capacity)
        return;
    for (unsigned i = 0; i < b->pyramid->level_count; i++) {
        capacity = b->tally_capacity;
        cn_tally_reserve(&b->tallies[i], count, &capacity);
    }
    b->tally_capacity = capacity;
}

static uint32_t slot_of(struct pyramid_builder *b, uint32_t context)
{
    uint32_t place = cn_cut_find(b->cut, context), slot;

    if (b->path.frames) {
        slot = cn_main_path_slot(&b->path, place);
        grow_tallies(b, b->path.slot_count);
        return slot;
    }
    if (b->slot_of_place[place] == CN_NONE) {
        CN_GROW(b->place_of_slot, b->slot_count, b->slot_capacity);
        b->place_of_slot[b->slot_count] = place;
        b->slot_of_place[place] = (uint32_t)b->slot_count++;
        grow_tallies(b, b->slot_count);
    }
    return b->slot_of_place[place];
}

static uint32_t function_of(const struct pyramid_builder *b, uint32_t slot)
{
    return b->path.frames ? cn_frames_function(b->path.frames, CN_DEPTH_ALL,
                                               b->path.slots[slot].frame)
                          : b->place_of_slot[slot];
}

/* Append the sums of a cell, and forget them. */
static void append_sums(struct pyramid_builder *b)
{
    struct cn_time_pyramid *p = b->pyramid;
    struct cn_tally *tally = &b->functions;

    for (size_t i = 0; i < tally->used_count; i++) {
        CN_GROW(p->sum_function, p->sum_count, b->sum_capacity);
        CN_GROW(p->sum_ns, p->sum_count, b->sum_ns_capacity);
        p->sum_function[p->sum_count] = tally->used[i];
        p->sum_ns[p->sum_count++] = tally->ns[tally->used[i]];
    }
    cn_tally_clear(tally);
}

static void keep_sums(struct pyramid_builder *b, const struct cn_tally *tally,
                      size_t cell)
{
    for (size_t i = 0; i < tally->used_count; i++)
        cn_tally_add(&b->functions, function_of(b, tally->used[i]),
                     tally->ns[tally->used[i]]);
    append_sums(b);
    b->pyramid->sum_start[cell + 1] = b->pyramid->sum_count;
}

/* Keep the sums of the next level instead. The cell above `last`, the one that was closed just now,
 * is open: its sums follow when it is closed. */
static void raise_sums(struct pyramid_builder *b, uint64_t last)
{
    struct cn_time_pyramid *p = b->pyramid;
    uint64_t first = p->levels[p->sums_level].first;
    uint64_t above = p->levels[p->sums_level + 1].first;
    size_t begin = 0;

    p->sum_count = 0;
    for (uint64_t cell = above; cell < last / 2; cell++) {
        size_t end = p->sum_start[cell * 2 + 2 - first];

        for (; begin < end; begin++)
            cn_tally_add(&b->functions, p->sum_function[begin], p->sum_ns[begin]);
        append_sums(b);
        p->sum_start[cell + 1 - above] = p->sum_count;
    }
    p->sums_level++;
}

/* The place that stands for a cell, its time, and that in which the thread ran. */
static uint32_t choose_place(struct pyramid_builder *b, const struct cn_tally *tally,
                             uint64_t *ns, uint64_t *busy_ns)
{
    if (b->path.frames)
        return cn_main_path_choose(&b->path, tally, ns, busy_ns);
    uint32_t best = cn_tally_max(tally);
    *busy_ns = 0;
    for (size_t i = 0; i < tally->used_count; i++)
        if (b->place_of_slot[tally->used[i]] != b->cut->idle)
            *busy_ns += tally->ns[tally->used[i]];
    *ns = best == CN_NONE ? 0 : tally->ns[best];
    return best == CN_NONE ? CN_NONE : b->place_of_slot[best];
}

/* A part of a cell, as it is kept. Some of the time is never none of it. */
static uint16_t part_of(uint64_t ns, unsigned shift)
{
    double part = (double)ns / (double)(UINT64_C(1) << shift);

    return ns > 0 && part * WHOLE < 1 ? 1 : (uint16_t)(part * WHOLE);
}

static void close_cell(struct pyramid_builder *b, unsigned number)
{
    struct cn_time_pyramid *p = b->pyramid;
    struct pyramid_level *level = &p->levels[number];
    size_t index = (size_t)((b->at >> number) - level->first);
    struct pyramid_cell *cell = &level->cells[index];
    struct cn_tally *tally = &b->tallies[number];
    uint64_t ns, busy_ns;

    cell->place = choose_place(b, tally, &ns, &busy_ns);
    cell->share = part_of(ns, p->shift + number);
    cell->busy = part_of(busy_ns, p->shift + number);
    if (number == p->sums_level) {
        keep_sums(b, tally, index);
        if (p->sum_count > b->sum_max && number + 1 < p->level_count)
            raise_sums(b, b->at >> number);
    }
    if (number + 1 < p->level_count) {
        struct pyramid_level *above = &p->levels[number + 1];
        struct pyramid_cell *into = &above->cells[(b->at >> (number + 1)) - above->first];

        into->sample_count += cell->sample_count;
        for (size_t i = 0; i < tally->used_count; i++)
            cn_tally_add(&b->tallies[number + 1], tally->used[i],
                         tally->ns[tally->used[i]]);
    }
    cn_tally_clear(tally);
}

/* Close what ends before a cell of level 0 begins. */
static void advance(struct pyramid_builder *b, uint64_t to)
{
    for (unsigned i = 0; i < b->pyramid->level_count && b->at >> i != to >> i; i++)
        close_cell(b, i);
    b->at = to;
}

static void add_span(struct pyramid_builder *b, uint32_t context, uint64_t begin_ns,
                     uint64_t end_ns)
{
    unsigned shift = b->pyramid->shift;
    uint32_t slot = begin_ns < end_ns ? slot_of(b, context) : CN_NONE;

    begin_ns -= b->pyramid->origin_ns;
    end_ns -= b->pyramid->origin_ns;
    while (begin_ns < end_ns) {
        advance(b, begin_ns >> shift);
        uint64_t until_ns =
            ((b->at + 1) << shift) < end_ns ? (b->at + 1) << shift : end_ns;
        cn_tally_add(&b->tallies[0], slot, until_ns - begin_ns);
        begin_ns = until_ns;
    }
}

static bool add_chunk(struct pyramid_builder *b, const struct cn_sample *samples,
                      size_t count, uint64_t last_ns, struct cn_error *err)
{
    struct pyramid_level *level = &b->pyramid->levels[0];

    for (size_t i = 0; i < count; i++) {
        uint64_t time_ns = samples[i].time_ns;
        uint64_t next_ns = i + 1 < count ? samples[i + 1].time_ns : time_ns;

        /* A time past the last sample's means that they go back somewhere later. */
        if (next_ns < time_ns || next_ns > last_ns)
            return cn_fail(err, CN_ERR_FORMAT,
                           "time runs backwards: %" PRIu64 " and %" PRIu64
                           " before %" PRIu64,
                           time_ns, next_ns, next_ns < time_ns ? next_ns : last_ns);
        if (i + 1 < count)
            level
                ->cells[((time_ns - b->pyramid->origin_ns) >> b->pyramid->shift) -
                        level->first]
                .sample_count++;
        add_span(b, samples[i].context, time_ns, next_ns);
    }
    return true;
}

static bool add_samples(struct pyramid_builder *b, struct cn_database *db,
                        const struct cn_timeline *timeline, uint64_t last_ns,
                        struct cn_error *err)
{
    struct pyramid_level *level = &b->pyramid->levels[0];
    struct cn_sample samples[CHUNK];

    /* Chunks overlap by one sample, which counts where it is not the last. */
    for (uint64_t at = 0; at + 1 < timeline->count;) {
        uint64_t rest = timeline->count - at;
        size_t count = rest < CHUNK ? (size_t)rest : CHUNK;

        if (!cn_timeline_read(db, timeline, at, count, samples, err) ||
            !add_chunk(b, samples, count, last_ns, err))
            return false;
        at += count - 1;
        if (at / FORGET_EVERY != (at - (count - 1)) / FORGET_EVERY)
            cn_database_forget(db);
    }
    level->cells[level->count - 1].sample_count++;
    advance(b, level->first + level->count - 1);
    for (unsigned i = 0; i < b->pyramid->level_count; i++)
        close_cell(b, i);
    return true;
}

static bool read_ends(struct cn_database *db, const struct cn_timeline *timeline,
                      uint64_t *first_ns, uint64_t *last_ns, struct cn_error *err)
{
    struct cn_sample first, last;

    if (!cn_timeline_read(db, timeline, 0, 1, &first, err) ||
        !cn_timeline_read(db, timeline, timeline->count - 1, 1, &last, err))
        return false;
    if (first.time_ns < db->begin_ns || last.time_ns < first.time_ns)
        return cn_fail(err, CN_ERR_FORMAT,
                       "time runs backwards: from %" PRIu64 " to %" PRIu64
                       ", the timelines begin at %" PRIu64,
                       first.time_ns, last.time_ns, db->begin_ns);
    if (last.time_ns - db->begin_ns >= SPAN_MAX_NS)
        return cn_fail(err, CN_ERR_LIMIT,
                       "time %" PRIu64 " is more than %" PRIu64 " ns after the start",
                       last.time_ns, SPAN_MAX_NS);
    *first_ns = first.time_ns;
    *last_ns = last.time_ns;
    return true;
}

static bool fill(struct pyramid_builder *b, struct cn_database *db,
                 const struct cn_timeline *timeline, struct cn_error *err)
{
    struct cn_time_pyramid *p = b->pyramid;
    uint64_t first_ns, last_ns;

    p->origin_ns = db->begin_ns;
    if (timeline->count == 0)
        return true;
    if (!read_ends(db, timeline, &first_ns, &last_ns, err))
        return false;
    p->shift = choose_shift(last_ns - first_ns, timeline->count);
    make_levels(p, first_ns, last_ns);
    b->at = p->levels[0].first;
    b->sum_max = timeline->count < SUMS_MAX ? (size_t)timeline->count * 3 / 4 + SUMS_MIN
                                            : SUMS_MAX;
    return add_samples(b, db, timeline, last_ns, err);
}

/* Room that only growing needed. */
static void give_back(struct cn_time_pyramid *p)
{
    if (p->sum_count == 0)
        return;
    p->sum_function = cn_realloc(p->sum_function, p->sum_count, sizeof(*p->sum_function));
    p->sum_ns = cn_realloc(p->sum_ns, p->sum_count, sizeof(*p->sum_ns));
}

bool cn_time_pyramid_build(struct cn_time_pyramid **out, struct cn_database *db,
                           const struct cn_cut *cut, uint32_t profile,
                           struct cn_error *err)
{
    bool is_nested = cut->depth == CN_DEPTH_ALL;
    size_t place_count = is_nested ? 0 : (size_t)cut->idle + 1;
    size_t function_count = cut->frames->names.count + 1; /* and waiting */
    struct pyramid_builder b = {
        .pyramid = cn_alloc(1, sizeof(*b.pyramid)),
        .cut = cut,
        .slot_of_place = cn_alloc(place_count, sizeof(*b.slot_of_place)),
        .functions = {.ns = cn_alloc(function_count, sizeof(*b.functions.ns)),
                      .used = cn_alloc(function_count, sizeof(*b.functions.used))},
    };
    struct cn_timeline timeline;

    if (is_nested)
        cn_main_path_init(&b.path, cut->frames);
    for (size_t i = 0; i < place_count; i++)
        b.slot_of_place[i] = CN_NONE;
    bool ok =
        cn_timeline_open(db, profile, &timeline, err) && fill(&b, db, &timeline, err);
    for (unsigned i = 0; i < LEVEL_MAX; i++) {
        free(b.tallies[i].ns);
        free(b.tallies[i].used);
    }
    free(b.functions.ns);
    free(b.functions.used);
    free(b.slot_of_place);
    free(b.place_of_slot);
    cn_main_path_done(&b.path);
    if (!ok) {
        cn_time_pyramid_free(b.pyramid);
        return cn_timeline_fail_in(db, profile, err);
    }
    give_back(b.pyramid);
    *out = b.pyramid;
    return true;
}

void cn_time_pyramid_free(struct cn_time_pyramid *pyramid)
{
    if (!pyramid)
        return;
    for (unsigned i = 0; i < pyramid->level_count; i++)
        free(pyramid->levels[i].cells);
    free(pyramid->sum_start);
    free(pyramid->sum_function);
    free(pyramid->sum_ns);
    free(pyramid);
}

size_t cn_time_pyramid_size(const struct cn_time_pyramid *pyramid)
{
    size_t size =
        sizeof(*pyramid) +
        pyramid->sum_count * (sizeof(*pyramid->sum_function) + sizeof(*pyramid->sum_ns));

    for (unsigned i = 0; i < pyramid->level_count; i++)
        size += pyramid->levels[i].count * sizeof(struct pyramid_cell);
    return size;
}

bool cn_time_pyramid_has(const struct cn_time_pyramid *pyramid, uint64_t begin_ns,
                         uint64_t width_ns)
{
    return width_ns > 0 && (width_ns & (width_ns - 1)) == 0 &&
           width_ns >> pyramid->shift > 0 && begin_ns >= pyramid->origin_ns &&
           ((begin_ns - pyramid->origin_ns) & (width_ns - 1)) == 0;
}

/* One cell wider than those at the top holds all that the top does. */
static struct pyramid_cell cell_at(const struct cn_time_pyramid *pyramid, unsigned number,
                                   uint64_t index)
{
    unsigned top = pyramid->level_count - 1;
    unsigned beyond = number > top ? number - top : 0;
    const struct pyramid_level *level = &pyramid->levels[number - beyond];
    struct pyramid_cell cell = {.place = CN_NONE};

    if (beyond > 0) {
        if (index != level->first >> beyond)
            return cell;
        cell = level->cells[0];
        cell.share = (uint16_t)(cell.share >> (beyond < 16 ? beyond : 16));
        cell.busy = (uint16_t)(cell.busy >> (beyond < 16 ? beyond : 16));
        return cell;
    }
    return index < level->first || index - level->first >= level->count
               ? cell
               : level->cells[index - level->first];
}

void cn_time_pyramid_cells(const struct cn_time_pyramid *pyramid, uint64_t begin_ns,
                           uint64_t width_ns, uint32_t count,
                           struct cn_occupancy_cell *out)
{
    uint64_t first = (begin_ns - pyramid->origin_ns) / width_ns;
    unsigned number = 0;

    while (width_ns >> pyramid->shift >> number > 1)
        number++;
    for (uint32_t i = 0; i < count; i++) {
        struct pyramid_cell cell = {.place = CN_NONE};

        if (pyramid->level_count > 0)
            cell = cell_at(pyramid, number, first + i);
        out[i] = (struct cn_occupancy_cell){
            .place = cell.place,
            .sample_count = cell.sample_count,
            .share = (double)cell.share / WHOLE,
            .busy = (double)cell.busy / WHOLE,
        };
    }
}

void cn_time_pyramid_add(const struct cn_time_pyramid *pyramid, uint64_t begin_ns,
                         uint64_t end_ns, uint64_t *function_ns, uint64_t *inner_begin_ns,
                         uint64_t *inner_end_ns)
{
    const struct pyramid_level *level = &pyramid->levels[pyramid->sums_level];
    const struct pyramid_level *bottom = &pyramid->levels[0];
    unsigned shift = pyramid->shift + pyramid->sums_level;
    uint64_t begin = begin_ns - pyramid->origin_ns, end = end_ns - pyramid->origin_ns;
    uint64_t first = begin >> shift;
    uint64_t last = end >> shift; /* not part of it */

    *inner_begin_ns = *inner_end_ns = begin_ns;
    if (pyramid->level_count == 0)
        return;
    /* Before the first sample and after the last one there is nothing to leave out. */
    if (first << shift < begin && begin >> pyramid->shift > bottom->first)
        first++;
    if (end >> pyramid->shift >= bottom->first + bottom->count)
        last = level->first + level->count;
    if (first < level->first)
        first = level->first;
    if (last > level->first + level->count)
        last = level->first + level->count;
    if (first >= last)
        return;
    if (first << shift > begin)
        *inner_begin_ns = pyramid->origin_ns + (first << shift);
    *inner_end_ns = last << shift < end ? pyramid->origin_ns + (last << shift) : end_ns;
    for (size_t i = pyramid->sum_start[first - level->first];
         i < pyramid->sum_start[last - level->first]; i++)
        function_ns[pyramid->sum_function[i]] += pyramid->sum_ns[i];
}
