#include "server/api/timeline_json.h"

#include <math.h>
#include <stdlib.h>

#include "analyze/time_base.h"
#include "analyze/timeline/occupancy.h"
#include "analyze/timeline/spans.h"
#include "analyze/timeline/task_tracks.h"
#include "analyze/waits.h"
#include "base/alloc.h"
#include "base/text.h"
#include "server/api/code_json.h"
#include "server/served/function_times.h"
#include "server/served/served.h"

/* Waits are long if they take such a part of the time. */
enum { LOOKS = 32 };

static void add_number(struct cn_json *json, uint32_t number)
{
    if (number == CN_NONE)
        cn_json_null(json);
    else
        cn_json_u64(json, number);
}

/* "runs": adjacent cells of the same function, [cells, function, mean share in
 * percent, samples]. */
static void add_runs(struct cn_json *json, const struct cn_occupancy *occupancy,
                     size_t row)
{
    const struct cn_occupancy_cell *cells =
        occupancy->cells + row * occupancy->column_count;

    cn_json_add_array(json, "runs");
    for (uint32_t i = 0, end; i < occupancy->column_count; i = end) {
        uint64_t samples = 0;
        double share = 0;

        for (end = i; end < occupancy->column_count && cells[end].place == cells[i].place;
             end++) {
            share += cells[end].share;
            samples += cells[end].sample_count;
        }
        cn_json_array(json);
        cn_json_u64(json, end - i);
        add_number(json, cells[i].place);
        cn_json_u64(json, (uint64_t)lround(share * 100 / (end - i)));
        cn_json_u64(json, samples);
        cn_json_end(json);
    }
    cn_json_end(json);
}

/* "busy": how much of each column the thread ran, a hexadecimal digit each; left out if it ran or
 * did not run in whole columns, as "runs" tell. */
static void add_busy(struct cn_json *json, const struct cn_occupancy *occupancy,
                     size_t row)
{
    const struct cn_occupancy_cell *cells =
        occupancy->cells + row * occupancy->column_count;
    char *digits = cn_alloc(occupancy->column_count + 1, 1);
    bool is_told = false;

    for (uint32_t i = 0; i < occupancy->column_count; i++) {
        unsigned level = (unsigned)lround(cells[i].busy * 15);

        /* A little is more than nothing. */
        level = level == 0 && cells[i].busy > 0 ? 1 : level > 15 ? 15 : level;
        digits[i] = "0123456789abcdef"[level];
        is_told = is_told || (level > 0 && level < 15);
    }
    if (is_told)
        cn_json_add_str(json, "busy", digits);
    free(digits);
}

/* From times of the database to those of its tracks. */
static uint64_t tracks_origin(const struct cn_served *served)
{
    return served->recording
               ? cn_recording_begin_ns(served->recording) - served->db->begin_ns
               : 0;
}

const char *cn_thread_state_at(struct cn_served *served, uint32_t profile,
                               uint64_t time_ns, bool *is_pending)
{
    const struct cn_task_tracks *tracks;
    uint8_t state;

    if (!cn_served_states_ready(served->tracks, served->db, is_pending) ||
        !(tracks = cn_served_tracks_of(served->tracks, profile)))
        return NULL;
    time_ns += tracks_origin(served);
    cn_task_tracks_columns(tracks, time_ns, time_ns + 1, 1, &state);
    return cn_task_state_names[state];
}

/* "states": [columns, state], null where it is unknown; left out without scheduler
 * events. */
static void add_states(struct cn_json *json, const struct cn_served *served,
                       const struct cn_occupancy *occupancy, uint32_t profile)
{
    const struct cn_task_tracks *tracks = cn_served_tracks_of(served->tracks, profile);
    uint64_t origin_ns = tracks_origin(served);

    if (!tracks)
        return;
    uint8_t *states = cn_alloc(occupancy->column_count, sizeof(*states));
    cn_task_tracks_columns(tracks, occupancy->begin_ns + origin_ns,
                           occupancy->end_ns + origin_ns, occupancy->column_count,
                           states);
    cn_json_add_array(json, "states");
    for (uint32_t i = 0, end; i < occupancy->column_count; i = end) {
        for (end = i; end < occupancy->column_count && states[end] == states[i]; end++)
            continue;
        cn_json_array(json);
        cn_json_u64(json, end - i);
        add_number(json, states[i] == CN_TASK_UNKNOWN ? CN_NONE : states[i]);
        cn_json_end(json);
    }
    cn_json_end(json);
    free(states);
}

/* The calls in which a thread waits at both ends of a frame of time; CN_NONE: it does not wait
 * there, or they are unknown. */
struct held {
    uint32_t first, last;
};

/* The frame in which a thread runs at a time; if it waits then, in which it ran before or runs next.
 * CN_NONE: neither of the samples near has one. */
static uint32_t ran_at(struct cn_database *db, const struct cn_frames *frames,
                       const struct cn_timeline *timeline, uint64_t time_ns, bool is_next)
{
    struct cn_sample sample;
    struct cn_error ignored;
    uint64_t at;

    if (timeline->count == 0 || !cn_timeline_find(db, timeline, time_ns, &at, &ignored))
        return CN_NONE;
    for (unsigned step = 0; step < 3; step++) {
        if (!cn_timeline_read(db, timeline, at, 1, &sample, &ignored))
            return CN_NONE;
        if (sample.context != 0)
            return cn_frames_find(frames, sample.context);
        if (is_next ? at + 1 == timeline->count : at == 0)
            return CN_NONE;
        at = is_next ? at + 1 : at - 1;
    }
    return CN_NONE;
}

/* The innermost call that both are in. */
static uint32_t common_frame(const struct cn_frames *frames, uint32_t a, uint32_t b)
{
    while (a != b && a != CN_NONE && b != CN_NONE) {
        if (a > b)
            a = frames->list[a].parent; /* callers have smaller numbers */
        else
            b = frames->list[b].parent;
    }
    return a == b ? a : CN_NONE;
}

uint32_t cn_held_frame(struct cn_database *db, const struct cn_frames *frames,
                       uint32_t profile, uint64_t begin_ns, uint64_t end_ns)
{
    struct cn_timeline timeline;
    struct cn_error ignored;

    if (!cn_metrics_know_waiting_calls(&db->metrics) ||
        !cn_timeline_open(db, profile, &timeline, &ignored))
        return CN_NONE;
    return common_frame(frames, ran_at(db, frames, &timeline, begin_ns, false),
                        ran_at(db, frames, &timeline, end_ns, true));
}

/* The call that is open before and after the cells from `first` to `last`. */
static uint32_t open_around(struct cn_database *db, const struct cn_frames *frames,
                            const struct cn_occupancy *occupancy, uint32_t profile,
                            uint32_t first, uint32_t last)
{
    double ns = (double)(occupancy->end_ns - occupancy->begin_ns);
    uint64_t begin_ns =
        occupancy->begin_ns + (uint64_t)(ns * first / occupancy->column_count);
    uint64_t end_ns =
        occupancy->begin_ns + (uint64_t)(ns * (last + 1) / occupancy->column_count);

    return cn_held_frame(db, frames, profile, begin_ns, end_ns);
}

/* Cells say what is open while a thread waits where it ran before and after; at the ends of the
 * frame, its samples say so. */
static struct held held_of(struct cn_database *db, const struct cn_frames *frames,
                           const struct cn_occupancy *occupancy, size_t row,
                           uint32_t profile)
{
    const struct cn_occupancy_cell *cells =
        occupancy->cells + row * occupancy->column_count;
    uint32_t count = occupancy->column_count, first = 0, last = count;
    struct held held = {CN_NONE, CN_NONE};

    while (first < count && cells[first].place == occupancy->idle)
        first++;
    while (last > 0 && cells[last - 1].place == occupancy->idle)
        last--;
    if (first > 0)
        held.first = open_around(db, frames, occupancy, profile, 0, first - 1);
    if (last < count)
        held.last = first == count
                        ? held.first
                        : open_around(db, frames, occupancy, profile, last, count - 1);
    return held;
}

/* A wait that is long enough to be seen, in columns of a row, and the call in which it is. */
struct wait {
    uint32_t first, end, frame;
};

struct waits {
    struct wait *list;
    size_t count, capacity;
    size_t *row_ends; /* by row: in the list */
};

/* The time in which a thread waits at a time; false if it runs then, or unknown. */
static bool find_wait(struct cn_database *db, uint32_t profile, uint64_t time_ns,
                      uint64_t *begin_ns, uint64_t *end_ns)
{
    struct cn_sample samples[2];
    struct cn_error ignored;
    uint64_t count;

    if (!cn_samples_at(db, profile, time_ns, samples, &count, &ignored) || count < 2)
        return false;
    *begin_ns = samples[0].time_ns;
    *end_ns = samples[1].time_ns;
    return samples[0].context == 0;
}

/* The column that a time is in; the number of columns after the last. */
static uint32_t column_at(const struct cn_occupancy *occupancy, uint64_t time_ns)
{
    double share = (double)(time_ns - occupancy->begin_ns) /
                   (double)(occupancy->end_ns - occupancy->begin_ns);

    return share < 1 ? (uint32_t)(share * occupancy->column_count)
                     : occupancy->column_count;
}

/* Look at a row a few times where it waits: no long wait is between two looks. */
static void find_waits(struct cn_database *db, const struct cn_frames *frames,
                       const struct cn_occupancy *occupancy, size_t row, uint32_t profile,
                       struct waits *out)
{
    const struct cn_occupancy_cell *cells =
        occupancy->cells + row * occupancy->column_count;
    uint64_t step_ns = (occupancy->end_ns - occupancy->begin_ns) / LOOKS + 1;
    uint64_t at_ns = occupancy->begin_ns;

    while (at_ns < occupancy->end_ns) {
        uint64_t begin_ns, end_ns;
        uint32_t frame = CN_NONE;

        if (cells[column_at(occupancy, at_ns)].place == occupancy->idle &&
            find_wait(db, profile, at_ns, &begin_ns, &end_ns) &&
            end_ns - begin_ns >= step_ns)
            frame = cn_held_frame(db, frames, profile, begin_ns, end_ns);
        if (frame != CN_NONE) {
            begin_ns = begin_ns < occupancy->begin_ns ? occupancy->begin_ns : begin_ns;
            CN_PUSH(out->list, out->count, out->capacity,
                    (struct wait){column_at(occupancy, begin_ns),
                                  column_at(occupancy, end_ns), frame});
        }
        /* Times of damaged data may run backwards. */
        at_ns = frame != CN_NONE && end_ns > at_ns ? end_ns : at_ns + step_ns;
    }
}

/* "waits": [first column, the one after the last, frame]. */
static void add_waits(struct cn_json *json, const struct wait *list, size_t count)
{
    cn_json_add_array(json, "waits");
    for (size_t i = 0; i < count; i++) {
        cn_json_array(json);
        cn_json_u64(json, list[i].first);
        cn_json_u64(json, list[i].end);
        cn_json_u64(json, list[i].frame);
        cn_json_end(json);
    }
    cn_json_end(json);
}

static void add_rows(struct cn_json *json, struct cn_served *served,
                     const struct cn_occupancy *occupancy, const uint32_t *profiles,
                     const struct held *held, const struct waits *waits, bool has_states)
{
    cn_json_add_array(json, "rows");
    for (size_t i = 0; i < occupancy->row_count; i++) {
        struct cn_text label = {0};

        cn_served_thread_label(served, profiles[i], &label);
        cn_json_object(json);
        cn_json_add_u64(json, "profile", profiles[i]);
        cn_json_add_str(json, "label", cn_text_str(&label));
        add_runs(json, occupancy, i);
        add_busy(json, occupancy, i);
        if (held) {
            size_t first = i > 0 ? waits->row_ends[i - 1] : 0;

            add_waits(json, waits->list + first, waits->row_ends[i] - first);
        }
        if (held && (held[i].first != CN_NONE || held[i].last != CN_NONE)) {
            cn_json_add_array(json, "held");
            add_number(json, held[i].first);
            add_number(json, held[i].last);
            cn_json_end(json);
        }
        if (has_states)
            add_states(json, served, occupancy, profiles[i]);
        cn_json_end(json);
        cn_text_done(&label);
    }
    cn_json_end(json);
}

/* "places": every function that has time at this depth, [function, name, ns]. */
static void add_places(struct cn_json *json, const struct cn_structure *structure,
                       const struct cn_occupancy *occupancy)
{
    const struct cn_frames *frames = &structure->frames;
    struct cn_code_table codes = {0};

    cn_json_add_array(json, "places");
    for (uint32_t i = 0; i < occupancy->idle; i++) {
        if (occupancy->function_ns[i] == 0)
            continue;
        cn_json_array(json);
        cn_json_u64(json, i);
        cn_json_str(json, frames->names.list[i]);
        cn_json_u64(json, occupancy->function_ns[i]);
        cn_json_end(json);
    }
    cn_json_end(json);
    cn_json_add_array(json, "placeCodes");
    for (uint32_t i = 0; i < occupancy->idle; i++)
        if (occupancy->function_ns[i] > 0)
            cn_json_code(json, &codes, cn_structure_code(structure, i));
    cn_json_end(json);
    cn_json_add_codes(json, &codes);
}

/* Frames, and their callers before them. */
struct frame_list {
    const struct cn_frames *frames;
    bool *is_listed; /* by frame */
    uint32_t *list;
    size_t count, capacity;
};

/* Add a frame and its callers that are not listed yet, callers first. */
static void list_path(struct frame_list *out, uint32_t frame)
{
    size_t first = out->count;

    for (; frame != CN_NONE && !out->is_listed[frame];
         frame = out->frames->list[frame].parent) {
        out->is_listed[frame] = true;
        CN_PUSH(out->list, out->count, out->capacity, frame);
    }
    for (size_t last = out->count; first + 1 < last; first++, last--) {
        uint32_t swapped = out->list[first];

        out->list[first] = out->list[last - 1];
        out->list[last - 1] = swapped;
    }
}

/* The frames of all cells and of calls that are held. */
static void list_frames(struct frame_list *out, const struct cn_occupancy *occupancy,
                        const struct held *held, const struct waits *waits)
{
    for (size_t i = 0; i < occupancy->row_count * occupancy->column_count; i++)
        if (occupancy->cells[i].place != occupancy->idle)
            list_path(out, occupancy->cells[i].place);
    for (size_t i = 0; i < occupancy->row_count; i++) {
        list_path(out, held[i].first);
        list_path(out, held[i].last);
    }
    for (size_t i = 0; i < waits->count; i++)
        list_path(out, waits->list[i].frame);
}

/* "frames": [number, its caller or null, function]. */
static void add_frames(struct cn_json *json, const struct frame_list *list)
{
    cn_json_add_array(json, "frames");
    for (size_t i = 0; i < list->count; i++) {
        const struct cn_frame *frame = &list->frames->list[list->list[i]];

        cn_json_array(json);
        cn_json_u64(json, list->list[i]);
        add_number(json, frame->parent);
        cn_json_u64(json, frame->place);
        cn_json_end(json);
    }
    cn_json_end(json);
}

/* "names": [function, name] of the functions of frames. */
static void add_names(struct cn_json *json, const struct cn_structure *structure,
                      const struct frame_list *list)
{
    const struct cn_names *names = &list->frames->names;
    bool *is_named = cn_alloc(names->count, sizeof(*is_named));
    struct cn_text codes_text = {0};
    struct cn_json code_list = {.text = &codes_text};
    struct cn_code_table codes = {0};

    cn_json_array(&code_list);

    cn_json_add_array(json, "names");
    for (size_t i = 0; i < list->count; i++) {
        uint32_t place = list->frames->list[list->list[i]].place;

        if (is_named[place])
            continue;
        is_named[place] = true;
        cn_json_array(json);
        cn_json_u64(json, place);
        cn_json_str(json, names->list[place]);
        cn_json_end(json);
        cn_json_code(&code_list, &codes, cn_structure_code(structure, place));
    }
    cn_json_end(json);
    cn_json_end(&code_list);
    cn_json_key(json, "nameCodes");
    cn_json_raw(json, codes_text.chars, codes_text.len);
    cn_json_add_codes(json, &codes);
    cn_text_done(&codes_text);
    free(is_named);
}

void cn_json_function_times(struct cn_json *json, const struct cn_frames *frames,
                            const struct cn_function_times *times)
{
    cn_json_add_array(json, "functions");
    for (size_t i = 0; i < times->count; i++) {
        cn_json_array(json);
        cn_json_str(json, frames->names.list[times->list[i].place]);
        cn_json_u64(json, times->list[i].ns);
        cn_json_end(json);
    }
    cn_json_end(json);
    cn_json_add_array(json, "others");
    cn_json_u64(json, times->other_count);
    cn_json_u64(json, times->other_ns);
    cn_json_end(json);
}

static void add_nested(struct cn_json *json, const struct cn_structure *structure,
                       const struct cn_occupancy *occupancy, const struct held *held,
                       const struct waits *waits)
{
    const struct cn_frames *frames = &structure->frames;
    struct frame_list list = {.frames = frames};
    struct cn_function_times functions;

    list.is_listed = cn_alloc(frames->count, sizeof(*list.is_listed));
    list_frames(&list, occupancy, held, waits);
    add_frames(json, &list);
    add_names(json, structure, &list);
    cn_function_times_find(&functions, occupancy->function_ns, frames->names.count);
    cn_json_function_times(json, frames, &functions);
    free(list.is_listed);
    free(list.list);
}

void cn_json_timeline_base(struct cn_json *json, const struct cn_database *db)
{
    cn_json_add_str(json, "base", cn_time_base_name(cn_time_base_of_timeline(db)));
}

void cn_json_occupancy(struct cn_json *json, struct cn_served *served,
                       const struct cn_occupancy *occupancy, const uint32_t *profiles,
                       bool has_states)
{
    const struct cn_frames *frames = &served->structure.frames;
    struct held *held = NULL;
    struct waits waits = {0};

    if (occupancy->depth == CN_DEPTH_ALL) {
        held = cn_alloc(occupancy->row_count, sizeof(*held));
        waits.row_ends = cn_alloc(occupancy->row_count, sizeof(*waits.row_ends));
    }
    for (size_t i = 0; held && i < occupancy->row_count; i++) {
        held[i] = held_of(served->db, frames, occupancy, i, profiles[i]);
        find_waits(served->db, frames, occupancy, i, profiles[i], &waits);
        waits.row_ends[i] = waits.count;
    }
    cn_json_add_u64(json, "begin", occupancy->begin_ns - served->db->begin_ns);
    cn_json_add_u64(json, "end", occupancy->end_ns - served->db->begin_ns);
    cn_json_add_u64(json, "columns", occupancy->column_count);
    if (occupancy->depth != CN_DEPTH_ALL)
        cn_json_add_u64(json, "depth", occupancy->depth);
    cn_json_add_u64(json, "depthMax", frames->depth_max);
    cn_json_add_u64(json, "idle", occupancy->idle);
    cn_json_add_u64(json, "waiting", occupancy->function_ns[frames->names.count]);
    cn_json_add_bool(json, "hasGaps",
                     !cn_metrics_know_waiting_calls(&served->db->metrics));
    cn_json_add_bool(json, "isEstimate", occupancy->is_estimate);
    cn_json_timeline_base(json, served->db);
    add_rows(json, served, occupancy, profiles, held, &waits, has_states);
    if (held)
        add_nested(json, &served->structure, occupancy, held, &waits);
    else
        add_places(json, &served->structure, occupancy);
    free(held);
    free(waits.list);
    free(waits.row_ends);
}
