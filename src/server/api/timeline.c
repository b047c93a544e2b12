/* Threads over time: what each did in each column, the stack at one moment, and the
 * flame graph of a range. */
#include <math.h>
#include <stdlib.h>

#include "analyze/timeline/occupancy.h"
#include "analyze/timeline/range_database.h"
#include "analyze/timeline/spans.h"
#include "base/alloc.h"
#include "base/run/pool.h"
#include "server/api/api.h"
#include "server/api/code_json.h"
#include "server/api/flame_json.h"
#include "server/api/parameters.h"
#include "server/api/request.h"
#include "server/api/timeline_json.h"
#include "server/served/range_flame.h"
#include "server/served/served.h"
#include "server/served/thread_list.h"

enum {
    COLUMN_MAX = 4000,
    ROW_MAX = 200,
    DEPTH_MAX = 100000,
    POINTS_MIN = 2, /* samples read in a crowded cell */
    POINTS_MAX = 8,
    LOOKS = 120000,    /* samples read in all crowded cells together */
    CROWDED = 1 << 16, /* samples of crowded cells that are all read, in all threads */
    STACKS = 20000,    /* the same of whole stacks, in the first answer */
    REFINED = 2 << 20, /* and in the one that refines it */
    LONG = 1 << 20,    /* samples of a timeline that is not read without a pyramid */
    SAMPLES_MIN = 32,
    DRAWERS_MAX = 4, /* threads that draw a frame */
    PREVIEW_CELLS = 2000,
    FIRST_LOOKS = 16000, /* stacks looked at for a first answer */
    HALVINGS_MAX = 5,
};

/* Make columns 2^n wide and align their borders, as the cells of pyramids are. About
 * as many columns as before remain, halved `halvings` times. */
static void snap(const struct cn_database *db, struct cn_occupancy_request *wanted,
                 unsigned halvings)
{
    uint64_t begin_ns = wanted->begin_ns - db->begin_ns;
    uint64_t end_ns = wanted->end_ns - db->begin_ns;
    double width_ns = (double)(end_ns - begin_ns) / wanted->column_count;
    unsigned shift = width_ns > 1 ? (unsigned)lround(log2(width_ns)) : 0;

    shift += halvings;
    uint64_t first = begin_ns >> shift;
    uint64_t last = (end_ns - 1) >> shift;
    wanted->begin_ns = db->begin_ns + (first << shift);
    wanted->column_count = (uint32_t)(last - first + 1);
    wanted->end_ns = wanted->begin_ns + ((uint64_t)wanted->column_count << shift);
}

/* What drawing rows without pyramids takes. */
struct effort {
    uint64_t *samples; /* by row, in the range; 0: few enough to read them all */
    size_t crowded;    /* rows with many samples in the range, far apart in their file */
};

static void weigh_row(struct cn_database *db, const struct cn_occupancy_request *wanted,
                      size_t row, struct effort *effort)
{
    struct cn_timeline timeline;
    struct cn_error err; /* drawing meets it again */
    uint64_t first, last;

    if (!cn_timeline_open(db, wanted->profiles[row], &timeline, &err) ||
        timeline.count <= wanted->crowded_max ||
        !cn_timeline_find(db, &timeline, wanted->begin_ns, &first, &err) ||
        !cn_timeline_find(db, &timeline, wanted->end_ns, &last, &err))
        return;
    if (last - first > wanted->crowded_max)
        effort->samples[row] = last - first;
    if (timeline.count > LONG &&
        last - first > (uint64_t)wanted->column_count * SAMPLES_MIN)
        effort->crowded++;
}

/* The stacks that are looked at with so many columns. */
static uint64_t looks_of(const struct effort *effort, size_t rows, uint32_t columns)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < rows; i++)
        sum += effort->samples[i] < columns ? effort->samples[i] : columns;
    return sum;
}

/* Until pyramids are there, draw fewer columns: each look into a long timeline maps a page,
 * and adding up stacks takes long. An answer that refines another one has time, but rows that it
 * cannot read whole wait for their pyramids. */
static void preview(const struct cn_request *request, struct cn_database *db,
                    struct cn_occupancy_request *wanted, bool *is_brief_row)
{
    size_t rows = wanted->profile_count;
    struct effort effort = {.samples = cn_alloc(rows, sizeof(*effort.samples))};
    bool is_brief = wanted->depth == CN_DEPTH_ALL && !cn_request_flag(request, "refine");
    unsigned halvings = 0;

    for (size_t i = 0; i < rows; i++)
        if (!wanted->pyramids[i])
            weigh_row(db, wanted, i, &effort);
    for (size_t i = 0; i < rows; i++)
        is_brief_row[i] = effort.samples[i] > 0;
    wanted->is_brief = is_brief_row;
    size_t crowded = effort.crowded;
    while (halvings < HALVINGS_MAX &&
           (crowded * (wanted->column_count >> halvings) > PREVIEW_CELLS ||
            (is_brief &&
             looks_of(&effort, rows, wanted->column_count >> halvings) > FIRST_LOOKS)))
        halvings++;
    free(effort.samples);
    if (halvings > 0)
        snap(db, wanted, halvings);
    if (crowded > 0) {
        wanted->points = 1;
        wanted->crowded_max = 0;
    }
}

/* The more cells, the fewer samples are read in each. */
static uint32_t points_for(size_t cell_count)
{
    size_t points = cell_count > 0 ? LOOKS / cell_count : POINTS_MAX;

    return points < POINTS_MIN   ? POINTS_MIN
           : points > POINTS_MAX ? POINTS_MAX
                                 : (uint32_t)points;
}

/* Adding up whole stacks takes longer: the first answer looks at one moment of cells with
 * several samples. */
static void choose_looks(const struct cn_request *request,
                         struct cn_occupancy_request *wanted)
{
    size_t rows = wanted->profile_count > 0 ? wanted->profile_count : 1;

    wanted->points = points_for(wanted->profile_count * wanted->column_count);
    wanted->crowded_max = CROWDED / rows;
    if (wanted->depth != CN_DEPTH_ALL)
        return;
    if (cn_request_flag(request, "refine")) {
        wanted->crowded_max = REFINED / rows;
    } else {
        wanted->points = 1;
        wanted->crowd_min = 2;
        wanted->crowded_max = STACKS / rows;
    }
}

static bool has_profile(const struct cn_thread_list *list, uint32_t profile)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->profiles[i] == profile)
            return true;
    return false;
}

/* Cut the stacks of all rows at `depth`, except those of the threads of `whole`. */
static bool cut_rows(struct cn_served *served, const struct cn_request *request,
                     const uint32_t *profiles, struct cn_occupancy *occupancy,
                     struct cn_error *err)
{
    const struct cn_frame *frames = served->structure.frames.list;
    struct cn_question_list selections;
    struct cn_thread_list whole = {0};
    uint64_t depth;

    cn_request_list(request, "whole", &selections);
    if (!cn_request_u64(request, "depth", 0, DEPTH_MAX, 0, &depth, err) ||
        (selections.count > 0 &&
         !cn_thread_list_build(&whole, served->db, &selections, true, err)))
        return false;
    for (size_t row = 0; depth > 0 && row < occupancy->row_count; row++) {
        struct cn_occupancy_cell *cells =
            occupancy->cells + row * occupancy->column_count;

        if (has_profile(&whole, profiles[row]))
            continue;
        for (uint32_t i = 0; i < occupancy->column_count; i++)
            while (cells[i].place != CN_NONE && cells[i].place != occupancy->idle &&
                   frames[cells[i].place].depth > depth)
                cells[i].place = frames[cells[i].place].parent;
    }
    cn_thread_list_done(&whole);
    return true;
}

/* Draw with the pyramids that are there, and want the others. */
static bool draw(struct cn_served *served, struct cn_request *request,
                 struct cn_occupancy_request *wanted, struct cn_error *err)
{
    size_t count = wanted->profile_count;
    const struct cn_time_pyramid **pyramids = cn_alloc(count, sizeof(*pyramids));
    bool *is_brief = cn_alloc(count, sizeof(*is_brief));
    struct cn_occupancy occupancy;
    bool is_snapped = cn_request_flag(request, "snap"), ok, is_pending;
    bool has_states = false, is_reading = false;

    cn_served_pyramids_borrow(&served->pyramids, wanted->profiles, count, wanted->depth,
                              pyramids);
    wanted->pyramids = pyramids;
    choose_looks(request, wanted);
    if (is_snapped)
        preview(request, served->db, wanted, is_brief);
    wanted->cut = cn_served_cut_borrow(&served->pyramids, wanted->depth);
    ok = cn_occupancy_build(&occupancy, served->db, &served->structure.frames, wanted,
                            err);
    cn_served_cut_return(&served->pyramids, wanted->cut);
    cn_served_pyramids_return(&served->pyramids, pyramids, wanted->profiles, count,
                              wanted->depth);
    is_pending = ok && is_snapped && occupancy.is_estimate &&
                 cn_served_pyramids_want(&served->pyramids, pyramids, wanted->profiles,
                                         occupancy.is_estimated, count, wanted->depth);
    free(pyramids);
    free(is_brief);
    if (!ok)
        return false;
    if (wanted->depth == CN_DEPTH_ALL) {
        has_states = cn_served_states_ready(served->tracks, served->db, &is_reading);
        ok = cut_rows(served, request, wanted->profiles, &occupancy, err);
    }
    if (ok) {
        cn_json_add_bool(&request->json, "isPending", is_pending || is_reading);
        cn_json_occupancy(&request->json, served, &occupancy, wanted->profiles,
                          has_states);
    }
    cn_occupancy_done(&occupancy);
    return ok;
}

static bool answer_timeline(struct cn_served *served, struct cn_request *request,
                            struct cn_thread_list *threads, struct cn_error *err)
{
    unsigned processors = cn_pool_default_workers();
    struct cn_occupancy_request wanted = {
        .workers = processors < DRAWERS_MAX ? processors : DRAWERS_MAX};
    bool is_nested = cn_request_flag(request, "nested");
    uint64_t columns, depth, first, count, every;

    if (!cn_request_range(request, served->db, &wanted.begin_ns, &wanted.end_ns, err) ||
        !cn_request_u64(request, "columns", 1, COLUMN_MAX, 1000, &columns, err) ||
        !cn_request_u64(request, "depth", 0, DEPTH_MAX, 0, &depth, err) ||
        !cn_request_u64(request, "first", 0, UINT32_MAX, 0, &first, err) ||
        !cn_request_u64(request, "count", 1, ROW_MAX, 32, &count, err) ||
        !cn_request_u64(request, "every", 1, UINT32_MAX, 1, &every, err) ||
        !cn_structure_wait(&served->structure, CN_STRUCTURE_CODES, err) ||
        !cn_structure_wait(
            &served->structure,
            depth == 0 && !is_nested ? CN_STRUCTURE_DEPTH : CN_STRUCTURE_FRAMES, err))
        return false;
    wanted.depth = is_nested    ? CN_DEPTH_ALL
                   : depth == 0 ? served->structure.depth
                                : (uint32_t)depth;
    cn_json_add_u64(&request->json, "threadCount", threads->count);
    cn_thread_list_thin(threads, first, every);
    wanted.profiles = threads->profiles;
    wanted.profile_count = threads->count < count ? threads->count : (size_t)count;
    if (columns > wanted.end_ns - wanted.begin_ns)
        columns = wanted.end_ns - wanted.begin_ns;
    wanted.column_count = (uint32_t)columns;
    if (cn_request_flag(request, "snap"))
        snap(served->db, &wanted, 0);
    cn_json_add_u64(&request->json, "first", first);
    return draw(served, request, &wanted, err);
}

bool cn_api_timeline(struct cn_served *served, struct cn_request *request,
                     struct cn_error *err)
{
    struct cn_question_list selections;
    struct cn_thread_list threads;

    cn_request_list(request, "thread", &selections);
    if (!cn_served_ready(served, err) ||
        !cn_thread_list_build(&threads, served->db, &selections, true, err))
        return false;
    bool ok = answer_timeline(served, request, &threads, err);
    cn_thread_list_done(&threads);
    return ok;
}

static void add_stack(struct cn_json *json, const struct cn_structure *structure,
                      uint32_t frame)
{
    const struct cn_frames *frames = &structure->frames;

    cn_json_add_array(json, "frames");
    /* Innermost first; the loop ends because callers have smaller numbers. */
    for (; frame != CN_NONE; frame = frames->list[frame].parent) {
        cn_json_object(json);
        cn_json_add_str(json, "label", frames->names.list[frames->list[frame].place]);
        cn_json_add_u64(json, "place", frames->list[frame].place);
        cn_json_add_u64(json, "depth", frames->list[frame].depth);
        cn_json_add_code(json, cn_structure_code(structure, frames->list[frame].place));
        cn_json_end(json);
    }
    cn_json_end(json);
}

/* The stack of a sample, and the state; of one that waits, the call that is open meanwhile. */
static void add_sample(struct cn_json *json, struct cn_served *served, uint32_t profile,
                       uint64_t time_ns, const struct cn_sample samples[2], bool has_next)
{
    const struct cn_frames *frames = &served->structure.frames;
    bool is_pending;
    const char *state = cn_thread_state_at(served, profile, time_ns, &is_pending);
    uint32_t context = samples[0].context;
    uint32_t node = cn_context_index_find(&frames->index, context);

    add_stack(json, &served->structure,
              context == 0
                  ? cn_held_frame(served->db, frames, profile, samples[0].time_ns,
                                  has_next ? samples[1].time_ns : time_ns)
                  : cn_frames_find(frames, context));
    if (node != CN_NONE)
        cn_json_add_id(json, "id", frames->index.nodes[node].at);
    cn_json_add_bool(json, "isPending", is_pending);
    cn_json_add_str(json, "state", state ? state : context == 0 ? "waiting" : "running");
}

bool cn_samples_at(struct cn_database *db, uint32_t profile, uint64_t time_ns,
                   struct cn_sample *out, uint64_t *count, struct cn_error *err)
{
    struct cn_timeline timeline;
    uint64_t at;

    if (!cn_timeline_open(db, profile, &timeline, err) ||
        !cn_timeline_find(db, &timeline, time_ns, &at, err))
        return false;
    *count = timeline.count - at < 2 ? timeline.count - at : 2;
    if (*count > 0 && !cn_timeline_read(db, &timeline, at, (size_t)*count, out, err))
        return false;
    if (*count > 0 && out[0].time_ns > time_ns)
        *count = 0;
    return true;
}

bool cn_api_stack(struct cn_served *served, struct cn_request *request,
                  struct cn_error *err)
{
    struct cn_json *json = &request->json;
    struct cn_sample samples[2] = {{0}};
    uint64_t profile, time_ns, count;

    if (!cn_served_ready(served, err))
        return false;
    struct cn_database *db = served->db;
    if (!cn_request_u64(request, "profile", 0, db->profile_count - 1, 0, &profile, err) ||
        !cn_request_u64(request, "time", 0, db->end_ns - db->begin_ns, 0, &time_ns,
                        err) ||
        !cn_structure_wait(&served->structure, CN_STRUCTURE_CODES, err) ||
        !cn_structure_wait(&served->structure, CN_STRUCTURE_FRAMES, err) ||
        !cn_samples_at(db, (uint32_t)profile, db->begin_ns + time_ns, samples, &count,
                       err))
        return false;
    if (count > 0) {
        cn_json_add_u64(json, "begin", samples[0].time_ns - db->begin_ns);
        if (count == 2)
            cn_json_add_u64(json, "end", samples[1].time_ns - db->begin_ns);
        add_sample(json, served, (uint32_t)profile, db->begin_ns + time_ns, samples,
                   count == 2);
    }
    return true;
}

bool cn_api_range(struct cn_served *served, struct cn_request *request,
                  struct cn_error *err)
{
    const struct cn_range_flame *range;
    struct cn_json *json = &request->json;
    struct cn_range_question question;
    struct cn_cached *entry;

    if (!cn_served_ready(served, err) ||
        !cn_request_range(request, served->db, &question.begin_ns, &question.end_ns,
                          err) ||
        !cn_request_f64(request, "min", 0, 1, 0.0005, &question.min_share, err))
        return false;
    cn_request_list(request, "thread", &question.threads);
    if (!cn_served_range_flame(&served->range_flames, &question, &range, &entry, err))
        return false;
    cn_json_add_str(json, "column", cn_range_metric(served->db));
    cn_json_timeline_base(json, served->db);
    cn_json_add_f64(json, "waiting", range->waiting_s);
    cn_json_add_u64(json, "samples", range->sample_count);
    if (range->is_estimate)
        cn_json_add_bool(json, "isPartial", true);
    cn_json_function_times(json, &served->structure.frames, &range->functions);
    cn_json_flame(json, &range->flame, range->total_s);
    cn_served_range_return(&served->range_flames, entry);
    return true;
}
