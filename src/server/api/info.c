/* A source at a glance, and its threads. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/time_base.h"
#include "analyze/views/overview.h"
#include "analyze/views/thread_costs.h"
#include "base/alloc.h"
#include "base/text.h"
#include "server/api/api.h"
#include "server/api/parameters.h"
#include "server/api/request.h"
#include "server/served/served.h"

enum { THREAD_MAX = 5000 };

static const char *const kind_names[] = {
    [CN_SERVED_DATABASE] = "database",
    [CN_SERVED_RECORDING] = "recording",
    [CN_SERVED_STORE] = "store",
};

/* "step": what the analysis does, and how far it is with that; nothing before its first report. */
static void add_step(struct cn_json *json, struct cn_served *served)
{
    struct cn_job_step step = cn_job_step(&served->analysis);

    if (!step.what[0])
        return;
    cn_json_key(json, "step");
    cn_json_object(json);
    cn_json_add_str(json, "what", step.what);
    cn_json_add_u64(json, "done", step.done);
    cn_json_add_u64(json, "total", step.total);
    cn_json_add_str(json, "unit", step.unit);
    cn_json_end(json);
}

void cn_api_describe(struct cn_served *served, unsigned id, struct cn_request *request)
{
    struct cn_json *json = &request->json;
    struct cn_error err;
    bool is_ready = cn_served_ready(served, &err);
    bool is_working = !is_ready && err.kind == CN_ERR_BUSY;

    cn_json_object(json);
    cn_json_add_u64(json, "id", id);
    cn_json_add_str(json, "kind", kind_names[served->kind]);
    cn_json_add_str(json, "name", served->name);
    cn_json_add_str(json, "path", served->path);
    cn_json_add_str(json, "format", served->format);
    cn_json_add_str(json, "state",
                    is_ready     ? "ready"
                    : is_working ? "working"
                                 : "failed");
    cn_json_add_f64(json, "shareDone",
                    served->analysis.work ? cn_job_share_done(&served->analysis) : 0);
    if (is_working)
        add_step(json, served);
    if (!is_ready && !is_working)
        cn_json_add_str(json, "failure", err.text);
    cn_json_end(json);
}

/* None before the analysis of a recording. */
static void add_metrics(struct cn_json *json, const struct cn_database *db)
{
    const struct cn_presented_metric *metric;

    cn_json_add_array(json, "metrics");
    for (size_t i = 0; db && (metric = cn_costs_metric_at(db, i)); i++) {
        cn_json_object(json);
        cn_json_add_str(json, "name", metric->name);
        cn_json_add_str(json, "description", metric->description);
        cn_json_add_bool(json, "isVisible", metric->is_visible);
        cn_json_end(json);
    }
    cn_json_end(json);
}

static void add_state(struct cn_json *json, const char *name, const char *metric,
                      double seconds)
{
    cn_json_object(json);
    cn_json_add_str(json, "name", name);
    cn_json_add_str(json, "metric", metric);
    cn_json_add_f64(json, "seconds", seconds);
    cn_json_end(json);
}

/* "states": all time, then its states; empty if they are unknown. */
static void add_states(struct cn_json *json, struct cn_database *db, const char *shown)
{
    struct cn_costs *costs = cn_alloc(1, sizeof(*costs));
    struct cn_cost_states states;
    struct cn_error err;

    cn_json_add_array(json, "states");
    cn_costs_init(costs, db);
    if (db && strcmp(shown, CN_CPU_TIME_NAME) == 0 &&
        cn_costs_states(costs, &states, &err)) {
        add_state(json, "all", CN_TIME_NAME, states.time_s);
        add_state(json, "running", CN_CPU_TIME_NAME, states.cpu_s);
        for (unsigned i = 0; i < CN_WAIT_KINDS; i++)
            add_state(json, cn_wait_states[i], cn_wait_names[i], states.wait_s[i]);
    }
    cn_costs_done(costs);
    free(costs);
    cn_json_end(json);
}

/* Tasks that recorded anything have profiles. */
static void add_recording(struct cn_json *json, const struct cn_served *served)
{
    const struct cn_recording *rec = served->recording;
    uint32_t *profile_of = cn_alloc(rec->task_count, sizeof(*profile_of));

    for (size_t i = 0; i < served->profiled_count; i++)
        profile_of[served->profiled_tasks[i]] = (uint32_t)i + 1;
    cn_json_add_array(json, "tasks");
    for (uint32_t i = 0; i < rec->task_count && i < THREAD_MAX; i++) {
        cn_json_object(json);
        cn_json_add_u64(json, "index", i);
        cn_json_add_u64(json, "tid", rec->tasks[i].tid);
        cn_json_add_u64(json, "pid", rec->tasks[i].pid);
        cn_json_add_str(json, "name", rec->tasks[i].name);
        if (profile_of[i] > 0)
            cn_json_add_u64(json, "profile", profile_of[i]);
        cn_json_end(json);
    }
    cn_json_end(json);
    free(profile_of);
    cn_json_add_array(json, "facts");
    for (uint32_t i = 0; i < rec->fact_count; i++) {
        cn_json_array(json);
        cn_json_str(json, rec->facts[i].key);
        cn_json_str(json, rec->facts[i].value);
        cn_json_end(json);
    }
    cn_json_end(json);
}

bool cn_api_info(struct cn_served *served, struct cn_request *request,
                 struct cn_error *err)
{
    struct cn_json *json = &request->json;
    bool is_ready = cn_served_ready(served, err);
    const struct cn_database *db = is_ready ? served->db : NULL;
    struct cn_overview overview = {0};
    const char *shown = is_ready ? cn_served_default_metric(&served->views) : "";

    /* During its analysis, a recording has calls and nothing else, measurements have nothing. */
    if (!is_ready && (!served->recording || err->kind != CN_ERR_BUSY))
        return false;
    if (is_ready && !cn_overview_build(&overview, served->db, err))
        return false;
    enum cn_time_source source =
        db ? cn_time_base_of_durations(db).source
           : cn_time_base_of_calls(served->recording, served->opened.options.is_raw)
                 .source;
    cn_json_add_str(json, "kind", kind_names[served->kind]);
    cn_json_add_bool(json, "isReady", is_ready);
    cn_json_add_str(json, "title", db ? db->title : served->name);
    cn_json_add_u64(json, "threadCount",
                    db ? overview.thread_count : served->recording->task_count);
    cn_json_add_u64(json, "valueCount", overview.value_count);
    cn_json_add_u64(json, "sampleCount", overview.sample_count);
    cn_json_add_u64(json, "contextLimit", db ? db->context_limit : 0);
    cn_json_add_bool(json, "hasTimelines",
                     db && db->has_timelines && db->end_ns > db->begin_ns);
    cn_json_add_bool(json, "hasLatencies", db && cn_database_has_latencies(db));
    cn_json_add_id(json, "origin", db ? db->begin_ns : 0);
    cn_json_add_u64(json, "duration", db ? db->end_ns - db->begin_ns : 0);
    if (db && db->timeline_resolution_ns > 0)
        cn_json_add_u64(json, "timelineResolution", db->timeline_resolution_ns);
    add_metrics(json, db);
    cn_json_add_str(json, "defaultMetric", shown);
    add_states(json, is_ready ? served->db : NULL, shown);
    cn_json_add_bool(json, "hasWaits", is_ready && served->db->states != NULL);
    cn_json_add_bool(json, "hasIo", is_ready && served->db->io != NULL);
    if (source != CN_TIME_MEASURED)
        cn_json_add_str(json, "costTimes",
                        source == CN_TIME_CORRECTED ? "corrected" : "recorded");
    if (served->recording)
        add_recording(json, served);
    cn_overview_done(&overview);
    return true;
}

/* "selector": what selects this thread as `thread`, "RANK 0 THREAD 1". */
static void add_selector(struct cn_json *json, const struct cn_kinds *kinds,
                         uint32_t index, const struct cn_identity_tuple *identity)
{
    struct cn_text text = {0};

    for (size_t i = 0; i < identity->count; i++) {
        const struct cn_identity *id = &identity->ids[i];

        if (id->kind >= kinds->count)
            continue;
        cn_text_printf(&text, "%s%s %" PRIu64, text.len > 0 ? " " : "",
                       kinds->list[id->kind],
                       id->is_physical ? id->physical : id->logical);
    }
    if (text.len == 0)
        cn_text_u64(&text, index);
    cn_json_add_str(json, "selector", cn_text_str(&text));
    cn_text_done(&text);
}

/* What is known of all threads. */
struct thread_facts {
    const struct cn_served *served;
    struct cn_map processes; /* the profiles with their names */
    double *costs;           /* in the default metric, by profile; NAN: none */
};

/* What a timeline needs to know of a thread: "samples", and "group" and "name", its label
 * in two parts: the process or rank, and the thread in it. Of a task also the creator. */
static bool add_timeline(struct cn_json *json, const struct thread_facts *facts,
                         uint32_t index, const struct cn_profile *profile,
                         struct cn_error *err)
{
    const struct cn_served *served = facts->served;
    struct cn_text group = {0}, name = {0};
    struct cn_timeline timeline = {0};
    uint32_t creator;
    uint64_t start_ns;

    if (served->db->has_timelines && !cn_timeline_open(served->db, index, &timeline, err))
        return false;
    cn_served_thread_group(served, index, profile, &facts->processes, &group, &name);
    cn_json_add_u64(json, "samples", timeline.count);
    cn_json_add_str(json, "group", cn_text_str(&group));
    cn_json_add_str(json, "name", cn_text_str(&name));
    if (cn_served_thread_creator(served, index, &creator, &start_ns)) {
        cn_json_add_u64(json, "creator", creator);
        cn_json_add_u64(json, "start", start_ns);
    }
    cn_text_done(&group);
    cn_text_done(&name);
    return true;
}

static bool add_thread(struct cn_json *json, const struct thread_facts *facts,
                       uint32_t index, const struct cn_profile *profile,
                       struct cn_error *err)
{
    const struct cn_served *served = facts->served;
    struct cn_text label = {0};

    cn_served_thread_label(served, index, &label);
    cn_json_object(json);
    cn_json_add_u64(json, "profile", index);
    cn_json_add_str(json, "label", cn_text_str(&label));
    cn_json_add_u64(json, "values", profile->value_count);
    if (!isnan(facts->costs[index]))
        cn_json_add_f64(json, "cost", facts->costs[index]);
    add_selector(json, &served->db->kinds, index, &profile->identity);
    bool ok = add_timeline(json, facts, index, profile, err);
    cn_json_end(json);
    cn_text_done(&label);
    return ok;
}

/* The selected threads from number `first` on. */
static bool add_threads(struct cn_json *json, struct cn_served *served,
                        const struct cn_costs *costs, uint64_t first, uint64_t count,
                        struct cn_error *err)
{
    struct thread_facts facts = {.served = served};
    const char *metric = cn_served_default_metric(&served->views);
    struct cn_profile profile;
    bool ok;

    facts.costs = cn_alloc(served->db->profile_count, sizeof(*facts.costs));
    ok = cn_thread_costs(served->db, &metric, 1, facts.costs, err);
    cn_served_name_processes(served, &facts.processes);
    for (uint64_t i = first; ok && i < served->db->profile_count && count > 0; i++) {
        if (!cn_costs_is_selected(costs, (uint32_t)i))
            continue;
        ok = cn_database_profile(served->db, (uint32_t)i, &profile, err);
        if (!ok || profile.is_summary)
            continue;
        ok = add_thread(json, &facts, (uint32_t)i, &profile, err);
        count--;
    }
    cn_map_done(&facts.processes);
    free(facts.costs);
    return ok;
}

bool cn_api_threads(struct cn_served *served, struct cn_request *request,
                    struct cn_error *err)
{
    struct cn_question_list selections;
    uint64_t first, count;
    bool ok = true;

    if (!cn_served_ready(served, err) ||
        !cn_request_u64(request, "first", 0, UINT32_MAX, 1, &first, err) ||
        !cn_request_u64(request, "count", 1, THREAD_MAX, THREAD_MAX, &count, err))
        return false;
    cn_request_list(request, "thread", &selections);
    struct cn_costs *costs = cn_alloc(1, sizeof(*costs));
    cn_costs_init(costs, served->db);
    for (size_t i = 0; ok && i < selections.count; i++)
        ok = cn_costs_select(costs, selections.list[i], err);
    ok = ok && add_threads(&request->json, served, costs, first, count, err);
    cn_costs_done(costs);
    free(costs);
    return ok;
}
