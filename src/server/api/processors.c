/* What ran on each processor over time. */
#include "analyze/timeline/processor_tracks.h"
#include "server/api/api.h"
#include "server/api/parameters.h"
#include "server/api/request.h"
#include "server/served/served.h"
#include "server/served/thread_list.h"

enum {
    COLUMN_MAX = 4000,
    PROCESSOR_MAX = 1024, /* that are listed */
    SHARES = 20,          /* steps in which the share of a column is told */
};

static const struct cn_thread_runs *runs_of(void *arg, uint32_t profile)
{
    const struct cn_served *served = arg;

    return cn_served_runs_of(served->tracks, profile);
}

/* The share of a column in which some thread ran, in steps; 0 only if none did. */
static unsigned share_of(const struct cn_processor_cell *cell, uint64_t column_ns)
{
    unsigned share = (unsigned)((double)cell->busy_ns / (double)column_ns * SHARES + 0.5);

    if (cell->busy_ns == 0)
        return 0;
    return share < 1 ? 1 : share > SHARES ? SHARES : share;
}

/* "runs": [first column, column after the last, profile, share]. */
static void add_runs(struct cn_json *json, const struct cn_processor_track *track,
                     uint32_t columns, uint64_t column_ns)
{
    cn_json_add_array(json, "runs");
    for (uint32_t i = 0, end; i < columns; i = end) {
        const struct cn_processor_cell *cell = &track->cells[i];
        unsigned share = share_of(cell, column_ns);

        for (end = i + 1; end < columns && track->cells[end].thread == cell->thread &&
                          share_of(&track->cells[end], column_ns) == share;)
            end++;
        if (share == 0)
            continue;
        cn_json_array(json);
        cn_json_u64(json, i);
        cn_json_u64(json, end);
        cn_json_u64(json, cell->thread);
        cn_json_f64(json, (double)share / SHARES);
        cn_json_end(json);
    }
    cn_json_end(json);
}

static void add_processors(struct cn_json *json, struct cn_served *served,
                           const struct cn_time_question *question, uint32_t columns)
{
    struct cn_processor_tracks tracks;
    uint64_t column_ns = (question->end_ns - question->begin_ns) / columns;

    cn_processor_tracks_build(
        &tracks, &(struct cn_processor_question){.runs_of = runs_of,
                                                 .arg = served,
                                                 .first_thread = 1,
                                                 .thread_end = served->db->profile_count,
                                                 .begin_ns = question->begin_ns,
                                                 .end_ns = question->end_ns,
                                                 .column_count = columns,
                                                 .processor_max = PROCESSOR_MAX});
    for (size_t i = 0; i < tracks.count; i++) {
        cn_json_object(json);
        cn_json_add_u64(json, "number", tracks.list[i].number);
        cn_json_add_u64(json, "busy", tracks.list[i].busy_ns);
        add_runs(json, &tracks.list[i], columns, column_ns > 0 ? column_ns : 1);
        cn_json_end(json);
    }
    cn_processor_tracks_done(&tracks);
}

bool cn_api_processors(struct cn_served *served, struct cn_request *request,
                       struct cn_error *err)
{
    struct cn_json *json = &request->json;
    struct cn_time_question question;
    uint64_t columns;
    bool is_ready, is_pending;

    if (!cn_request_u64(request, "columns", 1, COLUMN_MAX, 1000, &columns, err) ||
        !cn_request_time(request, served, false, &question, err))
        return false;
    is_ready = cn_served_runs_ready(served->tracks, served->db, &is_pending);
    cn_json_add_bool(json, "isPending", is_pending);
    cn_json_add_u64(json, "begin", question.begin_ns - question.origin_ns);
    cn_json_add_u64(json, "end", question.end_ns - question.origin_ns);
    cn_json_add_u64(json, "columns", columns);
    cn_json_add_array(json, "processors");
    if (is_ready)
        add_processors(json, served, &question, (uint32_t)columns);
    cn_json_end(json);
    cn_thread_list_done(&question.threads);
    return true;
}
