#include "server/served/slowest_calls.h"

#include <stdlib.h>

#include "analyze/calls/defaults.h"
#include "analyze/calls/report.h"
#include "base/best.h"
#include "base/run/pool.h"
#include "model/calls/recording.h"

enum {
    CALLS_MIN = 10, /* of a function: with fewer, nothing is usual */
    TIMES_MIN = 2,  /* the mean that a slow call takes at least */
};

/* What a call took longer than usual; 0: not worth a look. Waiting is a state, not a call. */
static uint64_t excess_of(const struct cn_recording *rec, const struct cn_call_row *row)
{
    uint64_t mean_ns = cn_call_times_mean(&row->cost.total, row->cost.calls);
    uint64_t most_ns = row->moments ? row->moments->list[CN_MOMENT_TOTAL_MAX].time_ns : 0;

    return row->function < rec->function_count && row->cost.calls >= CALLS_MIN &&
                   most_ns / TIMES_MIN >= mean_ns
               ? most_ns - mean_ns
               : 0;
}

static void choose(struct cn_slowest_calls *slowest, const struct cn_call_report *report)
{
    struct cn_best best;

    cn_best_init(&best, CN_SLOWEST_MAX);
    for (uint32_t i = 0; i < report->row_count; i++) {
        uint64_t excess_ns = excess_of(slowest->rec, &report->rows[i]);
        struct cn_best_item item = cn_best_of_value((double)excess_ns, i);

        if (excess_ns > 0)
            cn_best_offer(&best, &item);
    }
    cn_best_sort(&best, 0);
    slowest->count = 0;
    for (size_t i = 0; i < best.count && i < CN_SLOWEST_MAX; i++) {
        const struct cn_call_row *row = &report->rows[cn_best_number(&best.list[i])];
        const struct cn_call_moment_of *call = &row->moments->list[CN_MOMENT_TOTAL_MAX];

        slowest->list[slowest->count++] = (struct cn_slow_call){
            .function = cn_arena_strdup(&slowest->arena, row->name),
            .begin_ns = call->begin_ns,
            .duration_ns = call->time_ns,
            .mean_ns = cn_call_times_mean(&row->cost.total, row->cost.calls),
            .calls = row->cost.calls,
            .task = call->task,
        };
    }
    cn_best_done(&best);
}

static bool find(void *arg, const struct cn_progress *progress, struct cn_error *err)
{
    struct cn_slowest_calls *slowest = arg;
    struct cn_call_report report = {0};
    struct cn_all_calls all;
    bool ok = cn_all_calls_init(&all, slowest->rec, err);

    all.query.is_raw = slowest->is_raw;
    all.query.progress = progress;
    ok = ok &&
         cn_call_report_build(&report, &all.query, cn_pool_default_workers(),
                              (struct cn_call_report_options){.with_moments = true}, err);
    if (ok)
        choose(slowest, &report);
    cn_call_report_done(&report);
    cn_all_calls_done(&all);
    return ok;
}

void cn_slowest_calls_init(struct cn_slowest_calls *slowest,
                           const struct cn_recording *rec, bool is_raw,
                           struct cn_job_group *group)
{
    *slowest = (struct cn_slowest_calls){
        .rec = rec,
        .is_raw = is_raw,
        .job = {.group = group,
                .work = find,
                .arg = slowest,
                .what = "looking for the slowest calls",
                .stops_unasked = true},
    };
}

void cn_slowest_calls_done(struct cn_slowest_calls *slowest)
{
    cn_job_end(&slowest->job);
    cn_arena_done(&slowest->arena);
}
