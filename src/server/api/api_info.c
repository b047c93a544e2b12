/* What a thing is, at a glance, and who its threads are. */
#include <string.h>

#include "analyze/views/overview.h"
#include "base/text.h"
#include "server/api/api.h"
#include "server/api/request.h"
#include "server/served/served.h"
#include "server/served/thread_label.h"

enum { THREAD_MAX = 5000 };

static const char *kind_name(enum cn_served_kind kind)
{
    static const char *const names[] = {"database", "recording", "store"};

    return names[kind];
}

void cn_api_describe(struct cn_served *served, unsigned id, struct cn_request *request)
{
    struct cn_json *json = &request->json;
    struct cn_error err;
    bool is_ready = cn_served_ready(served, &err);
    bool is_working = !is_ready && err.kind == CN_ERR_INTERRUPTED;

    cn_json_object(json);
    cn_json_add_u64(json, "id", id);
    cn_json_add_str(json, "kind", kind_name(served->kind));
    cn_json_add_str(json, "name", served->name);
    cn_json_add_str(json, "path", served->path);
    cn_json_add_str(json, "format", served->format);
    cn_json_add_str(json, "state",
                    is_ready     ? "ready"
                    : is_working ? "working"
                                 : "failed");
    cn_json_add_f64(json, "shareDone",
                    served->recording ? cn_job_share_done(&served->analysis) : 0);
    if (!is_ready && !is_working)
        cn_json_add_str(json, "failure", err.text);
    cn_json_end(json);
}

static void add_metrics(struct cn_json *json, const struct cn_database *db)
{
    const struct cn_presented_metric *metric;

    cn_json_key(json, "metrics");
    cn_json_array(json);
    for (size_t i = 0; (metric = cn_costs_metric_at(db, i)); i++) {
        cn_json_object(json);
        cn_json_add_str(json, "name", metric->name);
        cn_json_add_str(json, "description", metric->description);
        cn_json_add_bool(json, "isVisible", metric->is_visible);
        cn_json_end(json);
    }
    cn_json_end(json);
}

static bool has_latencies(const struct cn_database *db)
{
    for (size_t i = 0; i < db->metrics.count; i++)
        if (strncmp(db->metrics.list[i].name, "latency ", 8) == 0)
            return true;
    return false;
}

/* Every task that recorded anything has a profile, in the order of tasks. */
static void add_recording(struct cn_json *json, const struct cn_recording *rec)
{
    uint64_t profile_count = 0;

    cn_json_key(json, "tasks");
    cn_json_array(json);
    for (uint32_t i = 0; i < rec->task_count && i < THREAD_MAX; i++) {
        cn_json_object(json);
        cn_json_add_u64(json, "index", i);
        cn_json_add_u64(json, "tid", rec->tasks[i].tid);
        cn_json_add_u64(json, "pid", rec->tasks[i].pid);
        cn_json_add_str(json, "name", rec->tasks[i].name);
        if (rec->tasks[i].data_len > 0)
            cn_json_add_u64(json, "profile", ++profile_count);
        cn_json_end(json);
    }
    cn_json_end(json);
    cn_json_key(json, "facts");
    cn_json_array(json);
    for (uint32_t i = 0; i < rec->fact_count; i++) {
        cn_json_array(json);
        cn_json_str(json, rec->facts[i].key);
        cn_json_str(json, rec->facts[i].value);
        cn_json_end(json);
    }
    cn_json_end(json);
}

/* What is known of a recording before its calls were added up. */
static void describe_recording(struct cn_served *served, struct cn_json *json)
{
    cn_json_object(json);
    cn_json_add_str(json, "kind", kind_name(served->kind));
    cn_json_add_bool(json, "isReady", false);
    cn_json_add_str(json, "title", served->name);
    cn_json_add_u64(json, "threadCount", served->recording->task_count);
    cn_json_add_u64(json, "valueCount", 0);
    cn_json_add_u64(json, "sampleCount", 0);
    cn_json_add_u64(json, "contextLimit", 0);
    cn_json_add_bool(json, "hasTimelines", false);
    cn_json_add_bool(json, "hasLatencies", false);
    cn_json_add_id(json, "origin", 0);
    cn_json_add_u64(json, "duration", 0);
    cn_json_key(json, "metrics");
    cn_json_array(json);
    cn_json_end(json);
    add_recording(json, served->recording);
    cn_json_end(json);
}

bool cn_api_info(struct cn_served *served, struct cn_request *request,
                 struct cn_error *err)
{
    struct cn_json *json = &request->json;
    struct cn_overview overview;
    struct cn_database *db;

    if (!cn_served_ready(served, err)) {
        if (err->kind != CN_ERR_INTERRUPTED || !served->recording)
            return false;
        describe_recording(served, json);
        return true;
    }
    db = served->db;
    if (!cn_overview_build(&overview, db, err))
        return false;
    cn_json_object(json);
    cn_json_add_str(json, "kind", kind_name(served->kind));
    cn_json_add_bool(json, "isReady", true);
    cn_json_add_str(json, "title", db->title);
    cn_json_add_u64(json, "threadCount", overview.thread_count);
    cn_json_add_u64(json, "valueCount", overview.value_count);
    cn_json_add_u64(json, "sampleCount", overview.sample_count);
    cn_json_add_u64(json, "contextLimit", db->context_limit);
    cn_json_add_bool(json, "hasTimelines",
                     db->has_timelines && db->end_ns > db->begin_ns);
    cn_json_add_bool(json, "hasLatencies", has_latencies(db));
    cn_json_add_id(json, "origin", db->begin_ns);
    cn_json_add_u64(json, "duration", db->end_ns - db->begin_ns);
    add_metrics(json, db);
    if (served->recording)
        add_recording(json, served->recording);
    cn_json_end(json);
    cn_overview_done(&overview);
    return true;
}

static bool add_threads(struct cn_served *served, struct cn_request *request,
                        struct cn_error *err)
{
    struct cn_json *json = &request->json;
    struct cn_database *db = served->db;
    uint64_t first, count;
    bool ok = true;

    if (!cn_request_u64(request, "first", 0, UINT32_MAX, 1, &first, err) ||
        !cn_request_u64(request, "count", 1, THREAD_MAX, THREAD_MAX, &count, err))
        return false;
    cn_json_array(json);
    for (uint64_t i = first; ok && i < db->profile_count && i - first < count; i++) {
        struct cn_profile profile;
        struct cn_text label = {0};

        ok = cn_database_profile(db, (uint32_t)i, &profile, err);
        if (!ok || profile.is_summary)
            continue;
        cn_thread_label(served, (uint32_t)i, &profile, &label);
        cn_json_object(json);
        cn_json_add_u64(json, "profile", i);
        cn_json_add_str(json, "label", cn_text_str(&label));
        cn_json_add_u64(json, "values", profile.value_count);
        cn_json_end(json);
        cn_text_done(&label);
    }
    cn_json_end(json);
    return ok;
}

bool cn_api_threads(struct cn_served *served, struct cn_request *request,
                    struct cn_error *err)
{
    return cn_served_ready(served, err) && add_threads(served, request, err);
}
