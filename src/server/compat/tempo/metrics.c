/* /api/metrics: series of TraceQL. Clients refuse members that their version of Tempo's messages does
 * not have: only what all versions have is written. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/bytes/json.h"
#include "server/compat/tempo/tempo.h"
#include "server/served/store.h"
#include "store/traceql/series.h"

enum { NS_PER_MS = 1000000, EXEMPLARS_DEFAULT = 100, EXEMPLARS_MAX = 1000 };
#define SINCE_NS UINT64_C(3600000000000)

static void add_labels(struct cn_json *json, const struct cn_tql_series *series)
{
    cn_json_add_array(json, "labels");
    for (size_t i = 0; i < series->label_count; i++)
        cn_tempo_add_attribute(json, series->labels[i].name, &series->labels[i].value);
    cn_json_end(json);
}

static void add_ms(struct cn_json *json, uint64_t ns)
{
    cn_json_add_id(json, "timestampMs", ns / NS_PER_MS);
}

static void add_exemplars(struct cn_json *json, const struct cn_tql_series *series)
{
    char digits[40];

    cn_json_add_array(json, "exemplars");
    for (size_t i = 0; i < series->exemplar_count; i++) {
        const struct cn_tql_exemplar *one = &series->exemplars[i];

        if (!isfinite(one->value))
            continue;
        (void)snprintf(digits, sizeof(digits), "%016" PRIx64 "%016" PRIx64,
                       one->trace_high, one->trace_low);
        cn_json_object(json);
        cn_json_add_array(json, "labels");
        cn_tempo_add_attribute(
            json, "trace:id",
            &(struct cn_tql_value){.type = CN_TQL_STRING, .text = cn_bytes_of(digits)});
        (void)snprintf(digits, sizeof(digits), "%016" PRIx64, one->span_id);
        cn_tempo_add_attribute(
            json, "span:id",
            &(struct cn_tql_value){.type = CN_TQL_STRING, .text = cn_bytes_of(digits)});
        cn_json_end(json);
        cn_json_add_f64(json, "value", one->value);
        add_ms(json, one->time_ns);
        cn_json_end(json);
    }
    cn_json_end(json);
}

static void add_series(struct cn_json *json, const struct cn_tql_metrics *metrics,
                       const struct cn_tql_series *series)
{
    cn_json_object(json);
    add_labels(json, series);
    cn_json_add_array(json, "samples");
    for (size_t i = 0; i < metrics->count; i++) {
        if (!isfinite(series->values[i]))
            continue;
        cn_json_object(json);
        add_ms(json, metrics->begin_ns + (i + 1) * metrics->step_ns);
        cn_json_add_f64(json, "value", series->values[i]);
        cn_json_end(json);
    }
    cn_json_end(json);
    if (series->exemplar_count > 0)
        add_exemplars(json, series);
    cn_json_end(json);
}

/* A single value. */
static void add_instant(struct cn_json *json, const struct cn_tql_metrics *metrics,
                        const struct cn_tql_series *series)
{
    if (metrics->count == 0 || !isfinite(series->values[0]))
        return;
    cn_json_object(json);
    add_labels(json, series);
    cn_json_add_f64(json, "value", series->values[0]);
    cn_json_end(json);
}

static bool take_time(const struct cn_compat_call *call, const char *name,
                      uint64_t otherwise, uint64_t *out, struct cn_error *err)
{
    const char *value = cn_compat_value(call, name);

    *out = otherwise;
    return !value || cn_tempo_time_parse(value, out, err) || cn_fail_in(err, "%s", name);
}

static bool take_range(const struct cn_compat_call *call,
                       struct cn_tql_metrics_range *range, struct cn_error *err)
{
    uint64_t since_ns;

    if (!cn_compat_duration(call, "since", SINCE_NS, &since_ns, err) ||
        !take_time(call, "end", call->now_ns, &range->last_ns, err) ||
        !take_time(call, "start",
                   range->last_ns > since_ns ? range->last_ns - since_ns : 0,
                   &range->first_ns, err))
        return false;
    return range->last_ns > range->first_ns ||
           cn_fail(err, CN_ERR_USAGE, "http parameter start must be before end");
}

static bool parse(const struct cn_compat_call *call, struct cn_tql_program **out,
                  struct cn_error *err)
{
    const char *q = cn_compat_value(call, "q");

    if (!q)
        q = cn_compat_value(call, "query");
    if (!q)
        return cn_fail(err, CN_ERR_USAGE, "parameter q is missing: a TraceQL query");
    if (!cn_tql_parse(out, q, err))
        return false;
    if ((*out)->is_metrics)
        return true;
    cn_tql_program_free(*out);
    *out = NULL;
    return cn_fail(err, CN_ERR_USAGE,
                   "this query is not one of metrics: add a function such as rate()");
}

static bool answer(struct cn_compat_call *call, struct cn_tql_metrics_range *range,
                   bool is_instant, struct cn_error *err)
{
    struct cn_json *json = &call->request->json;
    struct cn_tql_program *program = NULL;
    struct cn_tql_metrics metrics;
    uint64_t max;

    if (!cn_compat_u64(call, "maxSeries", UINT32_MAX, CN_TQL_SERIES_MAX, &max, err) ||
        !parse(call, &program, err))
        return false;
    if (!cn_tql_metrics(call->store->search, program, range, &metrics, err)) {
        cn_tql_program_free(program);
        return false;
    }
    max = max > 0 ? max : CN_TQL_SERIES_MAX;
    cn_json_object(json);
    cn_json_add_array(json, "series");
    for (size_t i = 0; i < metrics.series_count && i < max; i++)
        (is_instant ? add_instant : add_series)(json, &metrics, &metrics.series[i]);
    cn_json_end(json);
    cn_tempo_add_metrics(json);
    cn_json_end(json);
    cn_tql_metrics_done(&metrics);
    cn_tql_program_free(program);
    return true;
}

bool cn_tempo_query(struct cn_compat_call *call, struct cn_error *err)
{
    struct cn_tql_metrics_range range = {0};

    return take_range(call, &range, err) && answer(call, &range, true, err);
}

bool cn_tempo_query_range(struct cn_compat_call *call, struct cn_error *err)
{
    struct cn_tql_metrics_range range = {0};
    uint64_t exemplars;

    if (!take_range(call, &range, err) ||
        !cn_compat_u64(call, "exemplars", UINT32_MAX, EXEMPLARS_DEFAULT, &exemplars,
                       err) ||
        !cn_tempo_step(call, cn_tql_default_step_ns(range.first_ns, range.last_ns),
                       &range.step_ns, err))
        return false;
    if (range.step_ns == 0)
        return cn_fail(err, CN_ERR_USAGE, "invalid step: it must be above 0");
    if (exemplars == 0)
        exemplars = EXEMPLARS_DEFAULT;
    range.exemplar_max = exemplars < EXEMPLARS_MAX ? (size_t)exemplars : EXEMPLARS_MAX;
    return answer(call, &range, false, err);
}
