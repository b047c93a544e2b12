#include "analyze/time_base.h"

#include <string.h>

#include "analyze/recorder_cost.h"
#include "analyze/waits.h"
#include "model/contexts/database.h"

enum { PS_PER_NS = 1000 };

const char *cn_time_base_name(struct cn_time_base base)
{
    static const char *const names[][CN_TIME_ALL + 1] = {
        [CN_TIME_MEASURED] = {"measured time", "measured running time",
                              "measured waiting time", "measured time with waiting"},
        [CN_TIME_RECORDED] = {"recorded time", "recorded running time",
                              "recorded waiting time", "recorded time with waiting"},
        [CN_TIME_CORRECTED] = {"corrected time", "corrected running time",
                               "corrected waiting time", "corrected time with waiting"},
    };

    return names[base.source][base.waits];
}

static bool has_calls(const struct cn_database *db)
{
    return cn_metrics_find(&db->metrics, CN_CALLS_NAME) != CN_NO_ID;
}

static enum cn_time_source source_of(const struct cn_database *db)
{
    if (cn_recorder_cost_parse(db->description).call_ps > 0)
        return CN_TIME_CORRECTED;
    return has_calls(db) || cn_recorder_cost_is_included(db->description)
               ? CN_TIME_RECORDED
               : CN_TIME_MEASURED;
}

bool cn_time_base_of(const struct cn_database *db, const char *metric,
                     struct cn_time_base *out)
{
    if (!strstr(metric, "(sec)"))
        return false;
    out->source = source_of(db);
    out->waits = CN_TIME_PLAIN;
    if (strcmp(metric, CN_CPU_TIME_NAME) == 0)
        out->waits = CN_TIME_RUNNING;
    else if (strcmp(metric, CN_TIME_NAME) == 0 &&
             (out->source != CN_TIME_MEASURED || cn_metrics_have_waits(&db->metrics)))
        out->waits = CN_TIME_ALL;
    for (unsigned i = 0; i < CN_WAIT_KINDS; i++)
        if (strcmp(metric, cn_wait_names[i]) == 0)
            out->waits = CN_TIME_WAITING;
    return true;
}

struct cn_time_base cn_time_base_of_durations(const struct cn_database *db)
{
    return (struct cn_time_base){source_of(db), CN_TIME_ALL};
}

static bool is_corrected(const struct cn_recording *rec, bool is_raw)
{
    return !is_raw && cn_recorder_cost_of(rec).call_ps > 0;
}

struct cn_time_base cn_time_base_of_calls(const struct cn_recording *rec, bool is_raw)
{
    return (struct cn_time_base){
        is_corrected(rec, is_raw) ? CN_TIME_CORRECTED : CN_TIME_RECORDED, CN_TIME_ALL};
}

struct cn_time_base cn_time_base_of_costs(const struct cn_recording *rec, bool is_raw)
{
    struct cn_time_base base = cn_time_base_of_calls(rec, is_raw);

    if (rec->source_count == 0)
        base.waits = CN_TIME_PLAIN;
    for (uint32_t i = 0; i < rec->source_count; i++)
        if (rec->sources[i].kind == CN_SOURCE_PERF)
            base.waits = CN_TIME_RUNNING;
    return base;
}

struct cn_time_base cn_time_base_of_timeline(const struct cn_database *db)
{
    return (struct cn_time_base){
        has_calls(db) ? CN_TIME_RECORDED : CN_TIME_MEASURED,
        cn_metrics_have_waits(&db->metrics) ? CN_TIME_RUNNING
        : has_calls(db)                     ? CN_TIME_ALL
                                            : CN_TIME_PLAIN,
    };
}

uint64_t cn_time_resolution_ns(const struct cn_database *db)
{
    return cn_recorder_cost_parse(db->description).inner_ps / PS_PER_NS;
}

uint64_t cn_time_resolution_of_calls(const struct cn_recording *rec, bool is_raw)
{
    return is_corrected(rec, is_raw) ? cn_recorder_cost_of(rec).inner_ps / PS_PER_NS : 0;
}
