#include "formats/exchange/write/spans/lanes.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/run/pool.h"
#include "base/run/progress.h"

enum { ROUND_LEN = 1 << 20 }; /* bytes of text per lane and round */

struct rounds {
    struct cn_export *x;
    const struct cn_lane_ops *ops;
    void *arg;
    struct cn_lane lanes[CN_LANES_MAX];
    size_t lane_max, lane_count;
    uint32_t next_slot, done_count;
    struct cn_span_counts counts;
    bool has_written;
    bool ok;
    struct cn_error err;
};

static void open_lane(struct rounds *rounds)
{
    const struct cn_call_query *query = rounds->x->query;
    struct cn_lane *lane = &rounds->lanes[rounds->lane_count++];
    uint32_t slot = rounds->next_slot++;
    uint32_t task = query->tasks[slot];
    struct cn_text text = lane->text, scratch = lane->scratch;

    *lane = (struct cn_lane){
        .x = rounds->x,
        .rec = query->rec,
        .arg = rounds->arg,
        .slot = slot,
        .task = &query->rec->tasks[task],
        .text = text,
        .scratch = scratch,
        .base_ns = cn_export_start_ns(query),
        .step = CN_ITEM,
    };
    if (rounds->ops->begin)
        rounds->ops->begin(lane);
    if (!cn_spans_open(&lane->spans, query, task, &lane->err))
        lane->step = CN_FAIL;
}

static void fill_lane(void *arg, size_t job, unsigned worker)
{
    struct rounds *rounds = arg;
    struct cn_lane *lane = &rounds->lanes[job];

    (void)worker;
    while (lane->step == CN_ITEM && lane->text.len < ROUND_LEN)
        lane->step = cn_spans_next(lane->spans, rounds->ops->visit, lane, &lane->err);
}

static void close_lane(struct rounds *rounds, struct cn_lane *lane)
{
    if (lane->step == CN_FAIL)
        cn_export_damage(rounds->x, rounds->x->query->tasks[lane->slot], &lane->err);
    if (lane->spans)
        cn_spans_finish(lane->spans, rounds->ops->visit, lane);
    if (rounds->ops->end)
        rounds->ops->end(lane);
    if (lane->spans)
        cn_spans_count(lane->spans, &rounds->counts);
    cn_spans_close(lane->spans);
    lane->spans = NULL;
    rounds->done_count++;
}

static void write_lane(void *arg, size_t job, unsigned worker)
{
    struct rounds *rounds = arg;
    struct cn_lane *lane = &rounds->lanes[job];

    (void)worker;
    if (lane->step != CN_ITEM)
        close_lane(rounds, lane);
    if (lane->text.len == 0 || !rounds->ok)
        return;
    if (rounds->ops->is_list && !rounds->has_written)
        lane->text.chars[0] = ' ';
    rounds->has_written = true;
    rounds->ok = cn_sink_text(&rounds->x->sink, &lane->text, &rounds->err);
}

/* Move the lanes that have not ended to the front. */
static void drop_ended_lanes(struct rounds *rounds)
{
    size_t count = 0;

    for (size_t i = 0; i < rounds->lane_count; i++) {
        struct cn_lane lane = rounds->lanes[i];

        if (lane.step != CN_ITEM)
            continue;
        rounds->lanes[i] = rounds->lanes[count];
        rounds->lanes[count++] = lane;
    }
    rounds->lane_count = count;
}

static bool run_round(struct rounds *rounds, struct cn_error *err)
{
    const struct cn_call_query *query = rounds->x->query;
    struct cn_jobs jobs = {.arg = rounds, .run = fill_lane, .take = write_lane};

    while (rounds->lane_count < rounds->lane_max && rounds->next_slot < query->task_count)
        open_lane(rounds);
    jobs.count = rounds->lane_count;
    cn_pool_run(&jobs, rounds->x->workers < jobs.count ? rounds->x->workers
                                                       : (unsigned)jobs.count);
    drop_ended_lanes(rounds);
    if (!rounds->ok) {
        *err = rounds->err;
        return false;
    }
    return cn_progress_report(rounds->x->options->progress, "writing calls",
                              rounds->done_count, query->task_count, "tasks", err);
}

bool cn_export_lanes(struct cn_export *x, const struct cn_lane_ops *ops, void *arg,
                     struct cn_span_counts *counts, struct cn_error *err)
{
    struct rounds *rounds = cn_alloc(1, sizeof(*rounds));
    bool ok = cn_sink_text(&x->sink, &x->text, err);

    rounds->x = x;
    rounds->ops = ops;
    rounds->arg = arg;
    rounds->lane_max = ops->is_sequential ? 1 : CN_LANES_MAX;
    rounds->ok = true;
    while (ok && (rounds->lane_count > 0 || rounds->next_slot < x->query->task_count))
        ok = run_round(rounds, err);
    for (size_t i = 0; i < CN_LANES_MAX; i++) {
        cn_spans_close(rounds->lanes[i].spans);
        cn_text_done(&rounds->lanes[i].text);
        cn_text_done(&rounds->lanes[i].scratch);
    }
    *counts = rounds->counts;
    free(rounds);
    return ok;
}
