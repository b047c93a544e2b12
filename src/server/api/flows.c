/* Flows between calls of a recording that touch some time of some threads. */
#include <stdlib.h>

#include "base/alloc.h"
#include "server/api/api.h"
#include "server/api/parameters.h"
#include "server/api/request.h"
#include "server/api/timeline_json.h"
#include "server/served/served.h"
#include "server/served/thread_list.h"

enum { FLOW_MAX = 2000 }; /* that are listed */

/* A question, in times of the recording. */
struct flows_question {
    struct cn_served *served;
    struct cn_time_question time;
    uint32_t *profile_of; /* by task; 0: it has no calls */
    bool *is_asked;       /* by profile */
};

static bool is_wanted(const struct flows_question *q, const struct cn_flow *flow)
{
    uint32_t from = q->profile_of[flow->from_task], to = q->profile_of[flow->to_task];
    bool is_ahead = flow->from_ns <= flow->to_ns;

    return from != 0 && to != 0 && (q->is_asked[from] || q->is_asked[to]) &&
           (is_ahead ? flow->from_ns : flow->to_ns) < q->time.end_ns &&
           (is_ahead ? flow->to_ns : flow->from_ns) >= q->time.begin_ns;
}

/* A profile, a time, and the function at that time and depth, 0: the innermost one; null if there
 * is none. */
static bool add_end(const struct flows_question *q, struct cn_json *json, uint32_t task,
                    uint64_t time_ns, uint32_t depth, struct cn_error *err)
{
    const struct cn_frames *frames = &q->served->structure.frames;
    struct cn_database *db = q->served->db;
    uint64_t since_ns = time_ns > q->time.origin_ns ? time_ns - q->time.origin_ns : 0,
             count;
    uint32_t profile = q->profile_of[task], frame;
    struct cn_sample samples[2];

    if (!cn_samples_at(db, profile, db->begin_ns + since_ns, samples, &count, err))
        return false;
    frame = count > 0 && samples[0].context != 0
                ? cn_frames_find(frames, samples[0].context)
                : CN_NONE;
    while (frame != CN_NONE && depth > 0 && frames->list[frame].depth > depth)
        frame = frames->list[frame].parent;
    cn_json_u64(json, profile);
    cn_json_u64(json, since_ns);
    if (frame == CN_NONE)
        cn_json_null(json);
    else
        cn_json_str(json, frames->names.list[frames->list[frame].place]);
    return true;
}

static bool add_flow(const struct flows_question *q, struct cn_json *json,
                     const struct cn_flow *flow, struct cn_error *err)
{
    cn_json_array(json);
    bool ok = add_end(q, json, flow->from_task, flow->from_ns, flow->from_depth, err) &&
              add_end(q, json, flow->to_task, flow->to_ns, 0, err);
    cn_json_str(json, flow->name);
    cn_json_end(json);
    return ok;
}

/* List some of many flows, equally far from each other in the list of all. */
static bool add_flows(const struct flows_question *q, struct cn_json *json,
                      uint64_t limit, struct cn_error *err)
{
    const struct cn_recording *rec = q->served->recording;
    uint64_t count = 0, seen = 0, listed = 0;
    bool ok = true;

    for (uint32_t i = 0; i < rec->flow_count; i++)
        count += is_wanted(q, &rec->flows[i]);
    cn_json_add_u64(json, "count", count);
    cn_json_add_array(json, "flows");
    for (uint32_t i = 0; ok && i < rec->flow_count; i++) {
        if (!is_wanted(q, &rec->flows[i]))
            continue;
        if (count <= limit || seen * limit / count >= listed) {
            ok = add_flow(q, json, &rec->flows[i], err);
            listed++;
        }
        seen++;
    }
    cn_json_end(json);
    return ok;
}

static bool ask(struct flows_question *q, struct cn_request *request,
                struct cn_error *err)
{
    struct cn_served *served = q->served;

    if (!cn_structure_wait(&served->structure, CN_STRUCTURE_FRAMES, err) ||
        !cn_request_time(request, served, true, &q->time, err))
        return false;
    q->profile_of = cn_alloc(served->recording->task_count, sizeof(*q->profile_of));
    for (size_t i = 0; i < served->profiled_count && i + 1 < served->db->profile_count;
         i++)
        q->profile_of[served->profiled_tasks[i]] = (uint32_t)i + 1;
    q->is_asked = cn_alloc(served->db->profile_count, sizeof(*q->is_asked));
    for (size_t i = 0; i < q->time.threads.count; i++)
        q->is_asked[q->time.threads.profiles[i]] = true;
    return true;
}

bool cn_api_flows(struct cn_served *served, struct cn_request *request,
                  struct cn_error *err)
{
    struct cn_json *json = &request->json;
    struct flows_question q = {.served = served};
    uint64_t limit;
    bool ok;

    if (!cn_served_ready(served, err) ||
        !cn_request_u64(request, "limit", 1, FLOW_MAX, 200, &limit, err))
        return false;
    if (served->recording && served->recording->flow_count > 0) {
        ok = ask(&q, request, err) && add_flows(&q, json, limit, err);
        free(q.profile_of);
        free(q.is_asked);
        cn_thread_list_done(&q.time.threads);
    } else {
        cn_json_add_u64(json, "count", 0);
        cn_json_add_array(json, "flows");
        cn_json_end(json);
        ok = true;
    }
    return ok;
}
