#include "formats/exchange/spans/lanes.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/run/pool.h"
#include "base/run/progress.h"

enum { ROUND_LEN = 1 << 20 }; /* of the text of a lane */

struct rounds {
    struct cn_export *x;
    const struct cn_lane_ops *ops;
    const void *arg;
    struct cn_lane lanes[CN_LANES_MAX];
    size_t lane_max, lane_count;
    uint32_t next_slot, done_count;
    struct cn_lane_counts counts;
    bool is_begun; /* something was written */
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
    if (!lane->spans.query)
        return; /* it could not be opened */
    while (lane->step == CN_ITEM && lane->text.len < ROUND_LEN)
        lane->step = cn_spans_next(&lane->spans, rounds->ops->visit, lane, &lane->err);
}

static void close_lane(struct rounds *rounds, struct cn_lane *lane)
{
    const struct cn_lane_counts *counts = &lane->counts;

    if (lane->step == CN_FAIL)
        cn_call_damages_add(&rounds->x->damages, rounds->x->query->tasks[lane->slot],
                            &lane->err);
    if (lane->spans.count > 0)
        cn_spans_finish(&lane->spans, cn_export_end_ns(rounds->x), rounds->ops->visit,
                        lane);
    if (rounds->ops->end)
        rounds->ops->end(lane);
    cn_spans_close(&lane->spans);
    rounds->counts.spans += counts->spans;
    rounds->counts.events += counts->events;
    rounds->counts.lost += counts->lost;
    rounds->counts.repaired += counts->repaired;
    rounds->counts.without_begin += counts->without_begin;
    rounds->counts.arguments += counts->arguments;
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
    if (rounds->ops->is_list && !rounds->is_begun)
        lane->text.chars[0] = ' ';
    rounds->is_begun = true;
    rounds->ok = cn_sink_text(&rounds->x->sink, &lane->text, &rounds->err);
}

/* Lanes that have ended make room for those behind them. */
static void close_ranks(struct rounds *rounds)
{
    size_t kept = 0;

    for (size_t i = 0; i < rounds->lane_count; i++) {
        struct cn_lane *lane = &rounds->lanes[i];

        if (lane->step != CN_ITEM)
            continue;
        if (kept != i) {
            struct cn_lane moved = rounds->lanes[kept];

            rounds->lanes[kept] = *lane;
            *lane = moved;
            /* The stack of a lane knows where its switch is. */
            rounds->lanes[kept].spans.stack.is_on = &rounds->lanes[kept].spans.is_on;
        }
        kept++;
    }
    rounds->lane_count = kept;
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
    close_ranks(rounds);
    if (!rounds->ok) {
        *err = rounds->err;
        return false;
    }
    return cn_progress_report(rounds->x->options->progress, "writing calls",
                              rounds->done_count, query->task_count, "tasks", err);
}

bool cn_export_lanes(struct cn_export *x, const struct cn_lane_ops *ops, const void *arg,
                     struct cn_lane_counts *counts, struct cn_error *err)
{
    struct rounds *rounds = cn_alloc(1, sizeof(*rounds));
    bool ok = cn_sink_text(&x->sink, &x->text, err);

    rounds->x = x;
    rounds->ops = ops;
    rounds->arg = arg;
    rounds->lane_max = ops->is_apart ? 1 : CN_LANES_MAX;
    rounds->ok = true;
    while (ok && (rounds->lane_count > 0 || rounds->next_slot < x->query->task_count))
        ok = run_round(rounds, err);
    for (size_t i = 0; i < CN_LANES_MAX; i++) {
        cn_spans_close(&rounds->lanes[i].spans);
        cn_text_done(&rounds->lanes[i].text);
        cn_text_done(&rounds->lanes[i].scratch);
    }
    if (counts)
        *counts = rounds->counts;
    free(rounds);
    return ok;
}

void cn_export_lose_counts(struct cn_export *x, const struct cn_lane_counts *counts,
                           bool keeps_events, bool keeps_arguments)
{
    if (!keeps_events)
        cn_export_lose(x, "events", counts->events);
    if (!keeps_arguments)
        cn_export_lose(x, "calls and returns with values", counts->arguments);
    cn_export_lose(x, "returns from calls that were not recorded", counts->without_begin);
    /* That records were lost while recording is told as an event. */
    if (!keeps_events && counts->lost > 0)
        cn_export_lose(x, "notes that the recorder lost records", counts->lost);
}
