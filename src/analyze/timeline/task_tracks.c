#include "analyze/timeline/task_tracks.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/timeline/occupancy.h"
#include "base/alloc.h"
#include "base/run/progress.h"
#include "base/search.h"
#include "model/contexts/database.h"

enum {
    PART_MIN_NS = 1024, /* of the rate of calls */
    PARTS_MIN = 64,
    ITEMS_PER_PART = 8, /* of the limit of items */
};

/* Calls in parts of equal length, whose number is limited: their length doubles. */
struct call_counts {
    uint64_t begin_ns, last_ns; /* of the first call, and of the last record */
    uint64_t part_ns;           /* 0: no calls yet */
    size_t part_max;
    uint64_t counts[CN_CALL_RATE_PARTS_MAX];
};

/* A task while it is read. */
struct tracks_reader {
    struct cn_task_tracks tracks;
    const struct cn_recording *rec;
    size_t items_left;
    bool is_over; /* the limit was reached */
    struct cn_state_clock clock;
    bool is_out;        /* it does not run */
    uint64_t run_ns;    /* when it began to run */
    uint32_t processor; /* where, if that is known; else CN_NONE */
    struct cn_counter_levels *levels;
    struct call_counts calls;
};

static void add_change(struct tracks_reader *reader, enum cn_task_state state)
{
    cn_thread_states_add(&reader->tracks.states, reader->clock.now_ns, state, 0);
}

/* What follows the limit is unknown. */
static bool take_item(struct tracks_reader *reader)
{
    if (!reader->is_over && reader->items_left == 0) {
        reader->is_over = true;
        add_change(reader, CN_TASK_UNKNOWN);
    }
    reader->items_left -= !reader->is_over;
    return !reader->is_over;
}

static void add_reading(struct tracks_reader *reader, struct cn_readings *readings,
                        double value)
{
    if (!take_item(reader))
        return;
    CN_PUSH(readings->list, readings->count, readings->capacity,
            (struct cn_reading){reader->clock.now_ns, value});
}

static void see_counters(struct tracks_reader *reader, struct cn_counters *counters)
{
    if (!cn_counter_levels_take(reader->levels, counters))
        return;
    for (unsigned i = 0; i < counters->count; i++)
        add_reading(reader, &reader->tracks.readings[counters->first + i],
                    (double)(int64_t)counters->values[i]);
}

static void see_named(struct tracks_reader *reader, uint32_t number, double value)
{
    struct cn_task_tracks *tracks = &reader->tracks;

    if (number >= tracks->named_count) {
        struct cn_readings *named = cn_alloc(number + 1u, sizeof(*named));

        if (tracks->named_count > 0)
            memcpy(named, tracks->named, tracks->named_count * sizeof(*named));
        free(tracks->named);
        tracks->named = named;
        tracks->named_count = number + 1u;
    }
    add_reading(reader, &tracks->named[number], value);
}

static void see_event(struct tracks_reader *reader, const struct cn_call_batch *batch,
                      const struct cn_call *call)
{
    struct cn_counters counters;
    uint32_t number;
    double value;

    if (cn_event_has_counters(call->address) &&
        cn_recording_counters(reader->rec, batch, call, &counters))
        see_counters(reader, &counters);
    else if (cn_recording_named_reading(reader->rec, batch, call, &number, &value))
        see_named(reader, number, value);
}

static void count_call(struct call_counts *calls, uint64_t time_ns)
{
    if (calls->part_ns == 0) {
        calls->begin_ns = time_ns;
        calls->part_ns = PART_MIN_NS;
    }
    if (time_ns < calls->begin_ns)
        time_ns = calls->begin_ns; /* damaged */
    while ((time_ns - calls->begin_ns) / calls->part_ns >= calls->part_max) {
        for (size_t i = 0; i < calls->part_max; i++) {
            uint64_t count = calls->counts[i];

            calls->counts[i] = 0;
            calls->counts[i / 2] += count;
        }
        calls->part_ns *= 2;
    }
    calls->counts[(time_ns - calls->begin_ns) / calls->part_ns]++;
}

static void add_rate(struct cn_readings *rate, uint64_t time_ns, double value)
{
    if (rate->count > 0 && rate->list[rate->count - 1].value == value)
        return;
    CN_PUSH(rate->list, rate->count, rate->capacity, (struct cn_reading){time_ns, value});
}

/* The last part ends with the last record. */
static void take_rate(struct cn_readings *rate, const struct call_counts *calls)
{
    uint64_t at_ns = calls->begin_ns;

    if (calls->part_ns == 0 || calls->last_ns <= calls->begin_ns)
        return;
    for (size_t i = 0; i < calls->part_max && at_ns < calls->last_ns; i++) {
        uint64_t left_ns = calls->last_ns - at_ns;
        uint64_t len_ns = left_ns < calls->part_ns ? left_ns : calls->part_ns;

        add_rate(rate, at_ns, (double)calls->counts[i] * 1e9 / (double)len_ns);
        at_ns += len_ns;
    }
    add_rate(rate, calls->last_ns, 0);
}

/* The first change does not count as an item. */
static void see_state(struct tracks_reader *reader, const struct cn_call *call)
{
    if (!cn_state_clock_take(&reader->clock, call))
        return;
    if (reader->tracks.states.count == 0 || take_item(reader))
        add_change(reader, reader->clock.state);
}

static void end_run(struct tracks_reader *reader, uint64_t now_ns, uint32_t processor)
{
    if (!reader->is_out && !reader->is_over)
        cn_thread_runs_add(&reader->tracks.runs, reader->run_ns, now_ns, processor);
}

/* A task runs from its first record on, where its first event says. */
static void see_run(struct tracks_reader *reader, const struct cn_call *call)
{
    bool is_in = call->address == CN_EVENT_SCHED_IN;

    if (reader->run_ns == 0)
        reader->run_ns = call->time_ns;
    if (call->kind != CN_CALL_EVENT)
        return;
    uint32_t processor = call->depth > 0 ? call->depth - 1u : CN_NONE;
    if (call->address == CN_EVENT_SCHED_OUT ||
        call->address == CN_EVENT_SCHED_OUT_PREEMPT) {
        end_run(reader, call->time_ns, processor);
        reader->is_out = true;
    } else if (is_in) {
        reader->is_out = false;
        reader->run_ns = call->time_ns;
        reader->processor = processor;
    }
}

static void read_batch(struct tracks_reader *reader, const struct cn_call_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        const struct cn_call *call = &batch->calls[i];

        if (call->kind == CN_CALL_ENTER)
            count_call(&reader->calls, call->time_ns);
        if (call->time_ns > reader->calls.last_ns)
            reader->calls.last_ns = call->time_ns;
        see_state(reader, call);
        see_run(reader, call);
        if (!reader->is_over && call->kind == CN_CALL_EVENT)
            see_event(reader, batch, call);
    }
}

static void take_whole(struct tracks_reader *reader)
{
    struct cn_state_clock *clock = &reader->clock;

    cn_state_clock_end(clock);
    reader->tracks.has_states = clock->has_events;
    reader->tracks.whole = clock->sums;
    reader->tracks.first_ns = clock->first_ns;
    reader->tracks.last_ns = clock->now_ns;
}

static bool read_stream(struct tracks_reader *reader, struct cn_call_stream *stream,
                        const struct cn_progress *progress, struct cn_error *err)
{
    struct cn_call_batch batch;
    struct cn_error damage; /* ends the reading */

    while (cn_call_stream_next(stream, &batch, &damage) == CN_ITEM) {
        if (!cn_progress_check(progress, "reading events", err))
            return false;
        read_batch(reader, &batch);
    }
    end_run(reader, reader->clock.now_ns, reader->processor);
    if (reader->tracks.states.count > 0 && !reader->is_over)
        add_change(reader, CN_TASK_UNKNOWN);
    take_whole(reader);
    take_rate(&reader->tracks.call_rate, &reader->calls);
    return true;
}

static size_t parts_for(size_t item_max)
{
    size_t count = item_max / ITEMS_PER_PART;

    return count < PARTS_MIN                ? PARTS_MIN
           : count > CN_CALL_RATE_PARTS_MAX ? CN_CALL_RATE_PARTS_MAX
                                            : count;
}

bool cn_task_tracks_read(struct cn_task_tracks *out, const struct cn_recording *rec,
                         uint32_t task, size_t item_max,
                         const struct cn_progress *progress, struct cn_error *err)
{
    struct tracks_reader *reader = cn_alloc(1, sizeof(*reader));
    struct cn_call_stream *stream;
    struct cn_error damage;
    bool ok = true;

    reader->rec = rec;
    reader->items_left = item_max;
    reader->processor = CN_NONE;
    reader->levels = cn_counter_levels_new();
    cn_state_clock_init(&reader->clock, cn_time_always);
    reader->calls.part_max = parts_for(item_max);
    if (cn_recording_stream_open(rec, task, cn_time_always, &stream, &damage)) {
        ok = read_stream(reader, stream, progress, err);
        cn_call_stream_close(stream);
    }
    if (ok)
        *out = reader->tracks;
    else
        cn_task_tracks_done(&reader->tracks);
    cn_counter_levels_free(reader->levels);
    free(reader);
    return ok;
}

void cn_task_tracks_done(struct cn_task_tracks *tracks)
{
    cn_thread_states_done(&tracks->states);
    cn_thread_runs_done(&tracks->runs);
    for (unsigned i = 0; i < CN_COUNTER_COUNT; i++)
        free(tracks->readings[i].list);
    for (size_t i = 0; i < tracks->named_count; i++)
        free(tracks->named[i].list);
    free(tracks->named);
    free(tracks->call_rate.list);
    *tracks = (struct cn_task_tracks){0};
}

/* Add the states from a time on to `out_ns`; `at` is the number of changes until then, and
 * moves on. */
static void add_states(const struct cn_thread_states *states, size_t *at,
                       uint64_t begin_ns, uint64_t end_ns,
                       uint64_t out_ns[CN_TASK_STATES])
{
    while (begin_ns < end_ns) {
        bool has_next = *at < states->count;
        uint64_t next_ns = has_next ? cn_thread_states_at(states, *at).time_ns : end_ns;
        uint64_t until_ns = next_ns < end_ns ? next_ns : end_ns;
        enum cn_task_state state =
            *at > 0 ? cn_thread_states_at(states, *at - 1).state : CN_TASK_UNKNOWN;

        if (until_ns > begin_ns)
            out_ns[state] += until_ns - begin_ns;
        begin_ns = until_ns > begin_ns ? until_ns : begin_ns;
        *at += has_next && next_ns <= begin_ns;
    }
}

struct cn_task_tracks cn_task_tracks_of_profile(const struct cn_database *db,
                                                uint32_t profile)
{
    struct cn_task_tracks tracks = {0};
    const struct cn_thread_states *states = &tracks.states;
    size_t at = 0;

    if (db->runs)
        tracks.runs = db->runs[profile];
    if (!db->states || db->states[profile].count == 0)
        return tracks;
    tracks.states = db->states[profile];
    tracks.has_states = true;
    tracks.first_ns = cn_thread_states_begin(states);
    tracks.last_ns = cn_thread_states_end(states);
    add_states(states, &at, tracks.first_ns, tracks.last_ns, tracks.whole.ns);
    return tracks;
}

void cn_task_states_of_database(struct cn_task_states *out, const struct cn_database *db)
{
    struct cn_wall_time wall = {0};

    *out = (struct cn_task_states){0};
    if (!db->states)
        return;
    out->is_known = true;
    out->count = db->profile_count;
    out->list = cn_alloc(out->count, sizeof(*out->list));
    for (size_t i = 0; i < out->count; i++) {
        struct cn_task_tracks tracks = cn_task_tracks_of_profile(db, (uint32_t)i);

        out->list[i] = tracks.whole;
        cn_wall_time_add(&wall, tracks.first_ns, tracks.last_ns);
    }
    out->wall_ns = wall.end_ns - wall.begin_ns;
    for (size_t i = 0; i < out->count; i++)
        cn_state_sums_fill(&out->list[i], out->wall_ns);
}

void cn_task_tracks_sum(const struct cn_task_tracks *tracks, uint64_t begin_ns,
                        uint64_t end_ns, struct cn_state_sums *out)
{
    size_t at = cn_thread_states_until(&tracks->states, begin_ns);

    if (begin_ns <= tracks->first_ns && end_ns >= tracks->last_ns) {
        *out = tracks->whole;
        cn_state_sums_fill(out, end_ns - begin_ns);
        return;
    }
    *out = (struct cn_state_sums){0};
    add_states(&tracks->states, &at, begin_ns, end_ns, out->ns);
}

void cn_task_tracks_columns(const struct cn_task_tracks *tracks, uint64_t begin_ns,
                            uint64_t end_ns, uint32_t count, uint8_t *out)
{
    struct cn_occupancy columns = {
        .begin_ns = begin_ns, .end_ns = end_ns, .column_count = count};
    size_t at = cn_thread_states_until(&tracks->states, begin_ns);

    for (uint32_t i = 0; i < count; i++) {
        uint64_t ns[CN_TASK_STATES] = {0};
        unsigned best = CN_TASK_UNKNOWN;

        add_states(&tracks->states, &at, cn_occupancy_column_ns(&columns, i),
                   cn_occupancy_column_ns(&columns, i + 1), ns);
        for (unsigned k = 0; k < CN_TASK_UNKNOWN; k++)
            if (ns[k] > 0 && (best == CN_TASK_UNKNOWN || ns[k] > ns[best]))
                best = k;
        out[i] = (uint8_t)best;
    }
}
