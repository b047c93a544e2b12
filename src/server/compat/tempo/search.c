/* /api/search: traces that match TraceQL, with the spans that do. */
#include "base/bytes/json.h"
#include "base/text.h"
#include "model/traces/json.h"
#include "server/compat/common/find.h"
#include "server/compat/tempo/tempo.h"
#include "server/served/store.h"
#include "store/traceql/traceql.h"

enum { NS_PER_MS = 1000000, LIMIT_DEFAULT = 20, SPANS_DEFAULT = 3, SPANS_MAX = 10000 };

static void add_span(struct cn_json *json, const struct cn_tql_found *found,
                     const struct cn_tql_found_span *span)
{
    cn_json_object(json);
    cn_json_add_span_id(json, "spanID", span->id);
    if (span->name)
        cn_json_add_str(json, "name", span->name);
    cn_json_add_id(json, "startTimeUnixNano", span->time_ns);
    /* Grafana shows NaN for a span without it. */
    cn_json_add_id(json, "durationNanos", span->duration_ns);
    cn_json_add_array(json, "attributes");
    for (size_t i = 0; i < found->field_count; i++)
        if (span->values[i].type != CN_TQL_NIL)
            cn_tempo_add_attribute(json, found->fields[i], &span->values[i]);
    cn_json_end(json);
    cn_json_end(json);
}

static void add_set(struct cn_json *json, const struct cn_tql_found *found,
                    const struct cn_tql_found_set *set)
{
    cn_json_object(json);
    cn_json_add_array(json, "spans");
    for (size_t i = 0; i < set->span_count; i++)
        add_span(json, found, &set->spans[i]);
    cn_json_end(json);
    cn_json_add_u64(json, "matched", set->matched);
    if (set->attribute_count > 0) {
        cn_json_add_array(json, "attributes");
        for (size_t i = 0; i < set->attribute_count; i++)
            cn_tempo_add_attribute(json, set->names[i], &set->values[i]);
        cn_json_end(json);
    }
    cn_json_end(json);
}

static void add_trace(struct cn_json *json, const struct cn_tql_found *found,
                      const struct cn_tql_found_trace *trace)
{
    static const char missing[] = "<root span not yet received>";
    bool has_root = *trace->root_name || *trace->root_service;
    uint64_t ms = trace->duration_ns / NS_PER_MS;

    cn_json_object(json);
    cn_json_add_trace_id(json, "traceID", trace->high, trace->low);
    cn_json_add_str(json, "rootServiceName", has_root ? trace->root_service : missing);
    cn_json_add_str(json, "rootTraceName", has_root ? trace->root_name : missing);
    cn_json_add_id(json, "startTimeUnixNano", trace->time_ns);
    cn_json_add_u64(json, "durationMs", ms < UINT32_MAX ? ms : UINT32_MAX);
    if (trace->set_count > 0) {
        cn_json_key(json, "spanSet");
        add_set(json, found, &trace->sets[0]);
    }
    cn_json_add_array(json, "spanSets");
    for (size_t i = 0; i < trace->set_count; i++)
        add_set(json, found, &trace->sets[i]);
    cn_json_end(json);
    cn_json_end(json);
}

/* The query: `q`, or what `tags` and durations mean. */
static bool take_query(const struct cn_compat_call *call, struct cn_text *out,
                       struct cn_error *err)
{
    const char *q = cn_compat_value(call, "q"), *tags = cn_compat_value(call, "tags");
    uint64_t min_ns, max_ns;

    if (q && tags)
        return cn_fail(err, CN_ERR_USAGE, "can't specify tags and q in the same query");
    if (q) {
        cn_text_str_add(out, q);
        return true;
    }
    return cn_compat_duration(call, "minDuration", 0, &min_ns, err) &&
           cn_compat_duration(call, "maxDuration", UINT64_MAX, &max_ns, err) &&
           cn_tempo_tags_to_query(tags ? tags : "", min_ns, max_ns, out, err);
}

static bool take_limits(const struct cn_compat_call *call, struct cn_tql_range *range,
                        struct cn_error *err)
{
    uint64_t limit, spans;

    if (!cn_compat_u64(call, "limit", UINT32_MAX, LIMIT_DEFAULT, &limit, err) ||
        !cn_compat_u64(call, "spss", UINT32_MAX, SPANS_DEFAULT, &spans, err) ||
        !cn_tempo_range(call, &range->first_ns, &range->last_ns, err))
        return false;
    if (limit == 0)
        return cn_fail(err, CN_ERR_USAGE, "invalid limit: must be a positive number");
    range->trace_max = limit < CN_FIND_MAX ? (size_t)limit : CN_FIND_MAX;
    range->span_max = spans > 0 && spans < SPANS_MAX ? (size_t)spans : SPANS_MAX;
    return true;
}

static bool parse(const struct cn_compat_call *call, struct cn_tql_program **out,
                  struct cn_error *err)
{
    struct cn_text text = {0};
    bool ok = take_query(call, &text, err) && cn_tql_parse(out, cn_text_str(&text), err);

    cn_text_done(&text);
    if (ok && (*out)->is_metrics) {
        cn_tql_program_free(*out);
        *out = NULL;
        return cn_fail(err, CN_ERR_USAGE,
                       "this query is one of metrics: use /api/metrics/query_range");
    }
    return ok;
}

bool cn_tempo_search(struct cn_compat_call *call, struct cn_error *err)
{
    struct cn_json *json = &call->request->json;
    struct cn_tql_program *program = NULL;
    struct cn_tql_range range = {0};
    struct cn_tql_found found;

    if (!take_limits(call, &range, err) || !parse(call, &program, err))
        return false;
    if (!cn_tql_search(call->store->search, program, &range, &found, err)) {
        cn_tql_program_free(program);
        return false;
    }
    cn_json_object(json);
    cn_json_add_array(json, "traces");
    for (size_t i = 0; i < found.count; i++)
        add_trace(json, &found, &found.traces[i]);
    cn_json_end(json);
    cn_json_add_object(json, "metrics");
    cn_json_add_u64(json, "inspectedTraces",
                    found.candidates < UINT32_MAX ? found.candidates : UINT32_MAX);
    cn_json_end(json);
    cn_json_end(json);
    cn_tql_found_done(&found);
    cn_tql_program_free(program);
    return true;
}
