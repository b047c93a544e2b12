/* Flows between calls of a recording, launches of GPU work, and wake-ups of threads of samples, that touch
 * some time of some threads. */
#include <stdlib.h>

#include "base/alloc.h"
#include "model/gpu/work.h"
#include "model/thread_runs.h"
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
    uint32_t *profile_of; /* by task of a recording; 0: it has no calls */
    bool *is_asked;       /* by profile */
};

/* What leads from one profile to another; times as in the question. */
struct arrow {
    uint32_t from, to; /* profiles; 0: there is none */
    uint64_t from_ns, to_ns;
    uint32_t from_depth; /* 0: innermost */
    const char *name;
};

/* Samples do not tell which call it is that a launch is in. */
#define DEPTH_UNKNOWN UINT32_MAX

static const char launch_name[] = "launch";

/* Flows of a recording and launches of its GPU work, or launches and wake-ups of a database. */
static size_t arrow_count(const struct cn_served *served)
{
    const struct cn_recording *rec = served->recording;

    if (!rec)
        return served->db->launch_count + served->db->wakeups.count;
    return (size_t)rec->flow_count + (rec->gpu ? rec->gpu->op_count : 0);
}

static struct arrow arrow_of_op(const struct flows_question *q,
                                const struct cn_gpu_work *work,
                                const struct cn_gpu_op *op)
{
    uint32_t stream = op->stream != CN_NONE ? work->streams[op->stream].thread : CN_NONE;

    if (op->thread == CN_NONE || stream == CN_NONE || op->launch_ns == 0)
        return (struct arrow){0};
    return (struct arrow){.from = q->profile_of[op->thread],
                          .to = q->profile_of[stream],
                          .from_ns = op->launch_ns,
                          .to_ns = op->begin_ns,
                          .name = launch_name};
}

static struct arrow arrow_in_database(const struct cn_database *db, size_t i)
{
    if (i < db->launch_count) {
        const struct cn_launch *launch = &db->launches[i];

        return (struct arrow){
            launch->from_profile, launch->to_profile, launch->from_ns, launch->to_ns, 0,
            launch_name};
    }
    struct cn_wakeup wakeup = cn_wakeups_at(&db->wakeups, i - db->launch_count);
    if (!cn_wakeup_is_of_thread(&wakeup))
        return (struct arrow){0};
    /* A thread that was woken arrives when it runs. */
    return (struct arrow){
        wakeup.from, wakeup.to, wakeup.time_ns, cn_wakeup_runs_ns(&wakeup, db->runs),
        0,           "wakes"};
}

/* Flows that lead to streams are left out: launches say it. */
static struct arrow arrow_at(const struct flows_question *q, size_t i)
{
    const struct cn_recording *rec = q->served->recording;
    struct arrow arrow = {0};

    if (!rec)
        return arrow_in_database(q->served->db, i);
    if (i >= rec->flow_count)
        return arrow_of_op(q, rec->gpu, &rec->gpu->ops[i - rec->flow_count]);
    const struct cn_flow *flow = &rec->flows[i];
    if (!rec->gpu || !rec->tasks[flow->to_task].is_stream)
        arrow = (struct arrow){.from = q->profile_of[flow->from_task],
                               .to = q->profile_of[flow->to_task],
                               .from_ns = flow->from_ns,
                               .to_ns = flow->to_ns,
                               .from_depth = flow->from_depth,
                               .name = flow->name};
    return arrow;
}

static bool is_wanted(const struct flows_question *q, const struct arrow *arrow)
{
    bool is_ahead = arrow->from_ns <= arrow->to_ns;

    return arrow->from != 0 && arrow->to != 0 &&
           (q->is_asked[arrow->from] || q->is_asked[arrow->to]) &&
           (is_ahead ? arrow->from_ns : arrow->to_ns) < q->time.end_ns &&
           (is_ahead ? arrow->to_ns : arrow->from_ns) >= q->time.begin_ns;
}

/* A profile, a time, and the function at that time and depth, 0: the innermost one; null if there
 * is none. */
static bool add_end(const struct flows_question *q, struct cn_json *json,
                    uint32_t profile, uint64_t time_ns, uint32_t depth,
                    struct cn_error *err)
{
    const struct cn_frames *frames = &q->served->structure.frames;
    struct cn_database *db = q->served->db;
    uint64_t since_ns = time_ns > q->time.origin_ns ? time_ns - q->time.origin_ns : 0,
             count;
    uint32_t frame;
    struct cn_sample samples[2];

    if (!cn_samples_at(db, profile, db->begin_ns + since_ns, samples, &count, err))
        return false;
    frame = depth != DEPTH_UNKNOWN && count > 0 && samples[0].context != 0
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

static bool add_arrow(const struct flows_question *q, struct cn_json *json,
                      const struct arrow *arrow, struct cn_error *err)
{
    cn_json_array(json);
    bool ok = add_end(q, json, arrow->from, arrow->from_ns, arrow->from_depth, err) &&
              add_end(q, json, arrow->to, arrow->to_ns, 0, err);
    cn_json_str(json, arrow->name);
    cn_json_end(json);
    return ok;
}

/* Some of many arrows, equally far from each other: every one of `stride`, which doubles when the list is
 * full. */
struct chosen_arrows {
    size_t *list, count, most, stride;
    uint64_t seen;
};

static void choose(struct chosen_arrows *chosen, size_t arrow)
{
    if (chosen->seen++ % chosen->stride != 0)
        return;
    if (chosen->count == chosen->most) {
        for (size_t i = 0; i < chosen->most / 2; i++)
            chosen->list[i] = chosen->list[2 * i];
        chosen->count = chosen->most / 2;
        chosen->stride *= 2;
        if ((chosen->seen - 1) % chosen->stride != 0)
            return;
    }
    chosen->list[chosen->count++] = arrow;
}

static bool add_arrows(const struct flows_question *q, struct cn_json *json,
                       uint64_t limit, struct cn_error *err)
{
    struct chosen_arrows chosen = {.most = 2 * (size_t)limit, .stride = 1};
    size_t all = arrow_count(q->served);
    uint64_t listed = 0;
    bool ok = true;

    chosen.list = cn_alloc(chosen.most, sizeof(*chosen.list));
    for (size_t i = 0; i < all; i++) {
        struct arrow arrow = arrow_at(q, i);

        if (is_wanted(q, &arrow))
            choose(&chosen, i);
    }
    cn_json_add_u64(json, "count", chosen.seen);
    cn_json_add_array(json, "flows");
    for (size_t i = 0; ok && i < chosen.count; i++) {
        struct arrow arrow = arrow_at(q, chosen.list[i]);

        if (chosen.count > limit && i * limit / chosen.count < listed)
            continue;
        ok = add_arrow(q, json, &arrow, err);
        listed++;
    }
    cn_json_end(json);
    free(chosen.list);
    return ok;
}

static bool ask(struct flows_question *q, struct cn_request *request,
                struct cn_error *err)
{
    struct cn_served *served = q->served;

    if (!cn_structure_wait(&served->structure, CN_STRUCTURE_FRAMES, err) ||
        !cn_request_time(request, served, true, &q->time, err))
        return false;
    q->profile_of = cn_alloc(served->recording ? served->recording->task_count : 1,
                             sizeof(*q->profile_of));
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
    if (arrow_count(served) > 0) {
        ok = ask(&q, request, err) && add_arrows(&q, json, limit, err);
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
