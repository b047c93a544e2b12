#include "formats/exchange/perf/latency.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "formats/exchange/read/stacks/import.h"

struct cn_perf_latency_sample {
    uint64_t time_ns;
    double weight;
    uint32_t ns; /* before it */
    uint32_t thread;
    struct cn_perf_spot spot;
};

void cn_perf_latency_sample(struct cn_perf_latency *latency, uint32_t thread,
                            struct cn_perf_spot spot, uint64_t ns, uint64_t time_ns,
                            double weight)
{
    if (ns > UINT32_MAX)
        ns = UINT32_MAX;
    if (weight > 0 && ns > 0 && ns <= time_ns)
        CN_PUSH(
            latency->samples, latency->sample_count, latency->sample_capacity,
            (struct cn_perf_latency_sample){time_ns, weight, (uint32_t)ns, thread, spot});
}

void cn_perf_latency_tick(struct cn_perf_latency *latency, uint32_t thread,
                          struct cn_perf_spot spot, uint64_t time_ns, uint64_t tick_ns)
{
    uint64_t last_ns = cn_concurrency_last_ns(&latency->concurrency, thread);
    uint64_t begin_ns = time_ns > tick_ns ? time_ns - tick_ns : 0;

    if (tick_ns == 0)
        return;
    if (last_ns > 0 && last_ns < begin_ns && begin_ns - last_ns <= tick_ns)
        begin_ns = last_ns;
    latency->is_of_ticks = true;
    uint64_t ns = cn_concurrency_add(&latency->concurrency, thread, begin_ns, time_ns);
    cn_perf_latency_sample(latency, thread, spot, ns, time_ns, (double)ns);
}

/* Samples count less the more threads ran before them. Returns their sums by thread. */
static double *divide_weights(struct cn_perf_latency *latency)
{
    double *sums = cn_alloc(latency->concurrency.thread_count, sizeof(*sums));
    size_t cursor = 0;

    for (size_t i = 0; i < latency->sample_count; i++) {
        struct cn_perf_latency_sample *sample = &latency->samples[i];
        double latency_ns =
            cn_concurrency_latency(&latency->concurrency, sample->time_ns - sample->ns,
                                   sample->time_ns, &cursor);

        /* Nothing ran before the sample with which a run begins. */
        if (latency_ns > 0)
            sample->weight *= latency_ns / sample->ns;
        if (sample->thread < latency->concurrency.thread_count)
            sums[sample->thread] += sample->weight;
    }
    return sums;
}

static bool add_seconds(const struct cn_perf_latency *latency, struct cn_import *import,
                        uint32_t metric, const double *weights, struct cn_error *err)
{
    uint32_t unknown = 0;

    for (size_t i = 0; i < latency->sample_count; i++) {
        const struct cn_perf_latency_sample *sample = &latency->samples[i];

        if (sample->thread >= latency->concurrency.thread_count)
            continue;
        double seconds = 1e-9 * latency->concurrency.threads[sample->thread].latency_ns *
                         sample->weight / weights[sample->thread];
        if (seconds <= 0)
            continue;
        if (sample->spot.context == 0 && unknown == 0)
            unknown = cn_import_unknown(import);
        if (sample->spot.point > 0)
            cn_import_add_point(import, sample->thread, sample->spot.point - 1, metric,
                                seconds);
        if (!cn_import_add(import, sample->thread,
                           sample->spot.context ? sample->spot.context : unknown, metric,
                           seconds, err))
            return false;
    }
    return true;
}

static const char *describe(const struct cn_perf_latency *latency)
{
    if (latency->has_lost)
        return "running time, divided by the number of threads that run at once; an "
               "estimate: records were lost";
    if (latency->is_of_ticks)
        return "running time, divided by the number of threads that run at once, which "
               "is "
               "estimated from samples";
    return "running time, divided by the number of threads that run at once";
}

bool cn_perf_latency_finish(struct cn_perf_latency *latency, struct cn_import *import,
                            struct cn_error *err)
{
    uint32_t metric;

    if (latency->concurrency.thread_count == 0)
        return true;
    if (!cn_import_metric(import, CN_LATENCY_NAME, &metric, err))
        return false;
    cn_import_describe(import, metric, describe(latency));
    cn_concurrency_build(&latency->concurrency);
    double *weights = divide_weights(latency);
    bool ok = add_seconds(latency, import, metric, weights, err);
    free(weights);
    return ok;
}

void cn_perf_latency_done(struct cn_perf_latency *latency)
{
    cn_concurrency_done(&latency->concurrency);
    free(latency->samples);
    *latency = (struct cn_perf_latency){0};
}
