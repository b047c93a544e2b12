#include "formats/exchange/read/calls/strands.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "formats/exchange/read/calls/import.h"
#include "model/calls/recording.h"

/* Times in microseconds are rounded: a callee that exceeds its caller by so little ends with
 * it. */
enum { OVERHANG_NS = 1000 };

static uint64_t overhang_of(const struct cn_imported_call *item)
{
    return item->duration_ns / 2 < OVERHANG_NS ? item->duration_ns / 2 : OVERHANG_NS;
}

struct strand_open_call {
    uint64_t end_ns; /* CN_CALL_BEGIN: unknown */
    bool has_end_item;
};

struct import_strand {
    uint32_t track;
    struct strand_open_call *open;
    size_t depth, capacity;
    uint64_t lost_ends; /* of calls that are over */
};

struct splitter {
    struct cn_call_tracks *tracks;
    uint64_t item_count;
    uint64_t cut_count;
    struct import_strand strands[CN_CALL_STRAND_MAX];
    size_t strand_count;
};

static void push(struct splitter *s, struct import_strand *strand,
                 const struct cn_imported_call *item)
{
    bool has_end_item = item->duration_ns == CN_CALL_BEGIN;
    uint64_t end_ns = has_end_item ? CN_CALL_BEGIN : item->time_ns + item->duration_ns;

    if (strand->depth > 0 && strand->open[strand->depth - 1].end_ns < end_ns) {
        s->cut_count += !has_end_item && end_ns - strand->open[strand->depth - 1].end_ns >
                                             overhang_of(item);
        end_ns = strand->open[strand->depth - 1].end_ns;
    }
    if (strand->depth == CN_CALL_DEPTH_MAX) /* reading the track fails */
        return;
    CN_PUSH(strand->open, strand->depth, strand->capacity,
            (struct strand_open_call){end_ns, has_end_item});
}

/* Leave calls that are over. If an end comes later, the caller was shorter. */
static void leave(struct import_strand *strand, uint64_t time_ns)
{
    while (strand->depth > 0 && strand->open[strand->depth - 1].end_ns <= time_ns) {
        strand->depth--;
        strand->lost_ends += strand->open[strand->depth].has_end_item;
    }
}

/* An end: of the innermost call without a duration, and of the calls inside it. */
static void end(struct splitter *s, struct import_strand *strand, uint64_t time_ns)
{
    size_t at;

    leave(strand, time_ns > OVERHANG_NS ? time_ns - OVERHANG_NS : 0);
    for (at = strand->depth; at > 0 && !strand->open[at - 1].has_end_item;)
        at--;
    if (at == 0) {
        s->cut_count += strand->lost_ends > 0;
        strand->lost_ends -= strand->lost_ends > 0;
        return;
    }
    for (size_t i = at; i < strand->depth; i++)
        s->cut_count += strand->open[i].end_ns > time_ns + OVERHANG_NS;
    strand->depth = at - 1;
}

/* Whether a call is inside the innermost call that is open in a strand. */
static bool fits(struct import_strand *strand, const struct cn_imported_call *item)
{
    leave(strand, item->time_ns);
    uint64_t outer_ns =
        strand->depth > 0 ? strand->open[strand->depth - 1].end_ns : CN_CALL_BEGIN;
    return item->duration_ns == CN_CALL_BEGIN || outer_ns == CN_CALL_BEGIN ||
           item->time_ns + item->duration_ns <= outer_ns + overhang_of(item);
}

/* A further strand of the track of strand 0; false if there are too many. */
static bool add_strand(struct splitter *s)
{
    struct cn_call_tracks *tracks = s->tracks;
    const struct cn_call_track *of = &tracks->list[s->strands[0].track];
    struct cn_call_track track = {.input_pid = of->input_pid,
                                  .input_tid = of->input_tid,
                                  .is_stream = of->is_stream,
                                  .name = of->name ? cn_strdup(of->name) : NULL,
                                  .first_ns = UINT64_MAX,
                                  .start_ns = UINT64_MAX};

    if (s->strand_count == CN_CALL_STRAND_MAX || tracks->count == CN_CALL_TRACK_MAX) {
        free(track.name);
        return false;
    }
    CN_PUSH(tracks->list, tracks->count, tracks->capacity, track);
    s->strands[s->strand_count].track = (uint32_t)tracks->count - 1;
    s->strands[s->strand_count++].depth = 0;
    return true;
}

static void move(struct splitter *s, const struct import_strand *strand,
                 const struct cn_imported_call *item)
{
    struct cn_call_tracks *tracks = s->tracks;
    struct cn_call_track *to = &tracks->list[strand->track];
    struct cn_call_runs *runs = &to->runs;
    uint64_t end_ns = item->time_ns + item->duration_ns;

    if (!tracks->moved) {
        tracks->moved =
            cn_alloc((size_t)(s->item_count / 64 + 1), sizeof(*tracks->moved));
        tracks->moved_max = (uint32_t)(s->item_count - 1);
    }
    tracks->moved[item->order / 64] |= UINT64_C(1) << item->order % 64;
    CN_GROW(runs->items, runs->item_count, runs->item_capacity);
    runs->items[runs->item_count] = *item;
    runs->items[runs->item_count++].order = UINT32_MAX; /* not moved again */
    if (to->first_ns == UINT64_MAX)
        to->first_ns = to->start_ns = item->time_ns;
    if (end_ns > to->last_ns)
        to->last_ns = end_ns;
}

static void take(struct splitter *s, const struct cn_imported_call *item)
{
    struct import_strand *strand = &s->strands[0];
    size_t i = 0;

    if (item->name == CN_NONE) {
        end(s, strand, item->time_ns);
        return;
    }
    while (i < s->strand_count && !fits(&s->strands[i], item))
        i++;
    if (i < s->strand_count || add_strand(s))
        strand = &s->strands[i];
    if (strand != s->strands)
        move(s, strand, item);
    push(s, strand, item);
}

static bool split_track(struct splitter *s, uint32_t track, struct cn_error *err)
{
    struct cn_run_merge *merge =
        cn_run_merge_new(&s->tracks->list[track].runs, &s->tracks->spool);
    const struct cn_imported_call *item = NULL;
    enum cn_step step;

    s->strands[0].track = track;
    s->strands[0].depth = 0;
    s->strands[0].lost_ends = 0;
    s->strand_count = 1;
    while ((step = cn_run_merge_peek(merge, &item, err)) == CN_ITEM) {
        take(s, item);
        cn_run_merge_take(merge);
    }
    cn_run_merge_free(merge);
    return step == CN_END;
}

bool cn_call_strands_split(struct cn_call_tracks *tracks, uint64_t item_count,
                           uint64_t *cut_count, struct cn_error *err)
{
    struct splitter *s = cn_alloc(1, sizeof(*s));
    size_t count = tracks->count;
    bool ok = true;

    s->tracks = tracks;
    s->item_count = item_count;
    for (size_t i = 0; ok && i < count; i++)
        ok = split_track(s, (uint32_t)i, err);
    *cut_count = s->cut_count;
    for (size_t i = 0; i < CN_CALL_STRAND_MAX; i++)
        free(s->strands[i].open);
    free(s);
    return ok;
}
