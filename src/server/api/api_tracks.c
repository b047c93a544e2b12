/* States and counters of threads over time, of a recording. */
#include "analyze/timeline/task_tracks.h"
#include "base/text.h"
#include "server/api/api.h"
#include "server/api/parameters.h"
#include "server/api/request.h"
#include "server/served/served.h"
#include "server/served/thread_list.h"

enum { COLUMN_MAX = 4000, TRACK_MAX = 200 };

/* A question about some time of some threads, in times of the recording. */
struct question {
    struct cn_thread_list threads;
    uint64_t origin_ns, begin_ns, end_ns;
    uint64_t columns;
};

static bool ask(struct cn_served *served, struct cn_request *request,
                struct question *question, struct cn_error *err)
{
    struct cn_question_list selections;

    *question = (struct question){0};
    cn_request_list(request, "thread", &selections);
    if (!cn_served_ready(served, err) ||
        !cn_request_range(request, served->db, &question->begin_ns, &question->end_ns,
                          err) ||
        !cn_request_u64(request, "columns", 1, COLUMN_MAX, 1000, &question->columns,
                        err) ||
        !cn_thread_list_build_all(&question->threads, served->db, &selections, err))
        return false;
    if (served->recording)
        question->origin_ns = cn_recording_begin_ns(served->recording);
    question->begin_ns += question->origin_ns - served->db->begin_ns;
    question->end_ns += question->origin_ns - served->db->begin_ns;
    return true;
}

/* The time of each state, over all threads of the question. */
bool cn_api_states(struct cn_served *served, struct cn_request *request,
                   struct cn_error *err)
{
    struct cn_json *json = &request->json;
    uint64_t sums_ns[CN_TASK_STATES] = {0};
    struct question question;
    bool is_ready, is_pending, has_states = false;

    if (!ask(served, request, &question, err))
        return false;
    is_ready = cn_served_states_ready(&served->tracks, served->db, &is_pending);
    cn_json_object(json);
    cn_json_add_bool(json, "isPending", is_pending);
    for (size_t i = 0; is_ready && i < question.threads.count; i++) {
        const struct cn_task_tracks *tracks =
            cn_served_tracks_of(&served->tracks, question.threads.profiles[i]);
        uint64_t ns[CN_TASK_STATES];

        if (!tracks || !tracks->has_states)
            continue;
        has_states = true;
        cn_task_tracks_sum(tracks, question.begin_ns, question.end_ns, ns);
        for (unsigned k = 0; k < CN_TASK_STATES; k++)
            sums_ns[k] += ns[k];
    }
    cn_json_key(json, "states");
    cn_json_array(json);
    for (unsigned i = 0; has_states && i < CN_TASK_UNKNOWN; i++) {
        cn_json_array(json);
        cn_json_str(json, cn_task_state_names[i]);
        cn_json_u64(json, sums_ns[i]);
        cn_json_end(json);
    }
    cn_json_end(json);
    cn_json_end(json);
    cn_thread_list_done(&question.threads);
    return true;
}

/* The first reading at or after a time. */
static size_t find_reading(const struct cn_readings *readings, uint64_t time_ns)
{
    size_t low = 0, high = readings->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (readings->list[middle].time_ns < time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static uint64_t column_of(const struct question *question, uint64_t time_ns)
{
    double share = (double)(time_ns - question->begin_ns) /
                   (double)(question->end_ns - question->begin_ns);

    return (uint64_t)(share * (double)question->columns);
}

/* "points": of each column with readings, [time of the last, minimum, maximum, last]; the
 * first one is the reading before the range, if there is one. */
static void add_points(struct cn_json *json, const struct question *question,
                       const struct cn_readings *readings)
{
    size_t at = find_reading(readings, question->begin_ns);

    at -= at > 0;
    cn_json_key(json, "points");
    cn_json_array(json);
    while (at < readings->count && readings->list[at].time_ns < question->end_ns) {
        const struct cn_reading *first = &readings->list[at], *last = first;
        double low = first->value, high = first->value;
        bool is_before = first->time_ns < question->begin_ns;

        for (at++; !is_before && at < readings->count &&
                   readings->list[at].time_ns < question->end_ns &&
                   column_of(question, readings->list[at].time_ns) ==
                       column_of(question, first->time_ns);
             at++) {
            last = &readings->list[at];
            low = last->value < low ? last->value : low;
            high = last->value > high ? last->value : high;
        }
        cn_json_array(json);
        cn_json_u64(json, last->time_ns > question->origin_ns
                              ? last->time_ns - question->origin_ns
                              : 0);
        cn_json_f64(json, low);
        cn_json_f64(json, high);
        cn_json_f64(json, last->value);
        cn_json_end(json);
    }
    cn_json_end(json);
}

static void add_counter(struct cn_json *json, struct cn_served *served, uint32_t index,
                        const char *name, const struct question *question,
                        const struct cn_readings *readings)
{
    struct cn_text label = {0};
    struct cn_profile profile;
    struct cn_error ignored;

    if (cn_database_profile(served->db, index, &profile, &ignored))
        cn_served_thread_label(served, index, &profile, &label);
    cn_json_object(json);
    cn_json_add_u64(json, "profile", index);
    cn_json_add_str(json, "label", cn_text_str(&label));
    cn_json_add_str(json, "name", name);
    add_points(json, question, readings);
    cn_json_end(json);
    cn_text_done(&label);
}

/* The counters of a thread; `left` is the number of tracks that may follow. */
static void add_counters(struct cn_json *json, struct cn_served *served, uint32_t index,
                         const struct question *question,
                         const struct cn_task_tracks *tracks, size_t *left)
{
    for (size_t i = 0; i<CN_COUNTER_COUNT + tracks->named_count && * left> 0; i++) {
        bool is_named = i >= CN_COUNTER_COUNT;
        size_t number = is_named ? i - CN_COUNTER_COUNT : i;
        const struct cn_readings *readings =
            is_named ? &tracks->named[number] : &tracks->readings[number];
        const char *name;

        if (readings->count == 0)
            continue;
        name = is_named
                   ? cn_recording_event_name(served->recording, CN_EVENT_COUNTER + number)
                   : cn_counter_names[number];
        if (!name)
            continue; /* the file of names is damaged */
        add_counter(json, served, index, name, question, readings);
        --*left;
    }
}

bool cn_api_counters(struct cn_served *served, struct cn_request *request,
                     struct cn_error *err)
{
    struct cn_json *json = &request->json;
    struct question question;
    size_t left = TRACK_MAX;
    bool is_ready, is_pending;

    if (!ask(served, request, &question, err))
        return false;
    is_ready = cn_served_counters_ready(&served->tracks, &is_pending);
    cn_json_object(json);
    cn_json_add_bool(json, "isPending", is_pending);
    cn_json_key(json, "counters");
    cn_json_array(json);
    for (size_t i = 0; is_ready && i < question.threads.count; i++) {
        const struct cn_task_tracks *tracks =
            cn_served_tracks_of(&served->tracks, question.threads.profiles[i]);

        if (tracks)
            add_counters(json, served, question.threads.profiles[i], &question, tracks,
                         &left);
    }
    for (size_t i = 0; is_ready && i < question.threads.count && left > 0; i++) {
        const struct cn_task_tracks *tracks =
            cn_served_tracks_of(&served->tracks, question.threads.profiles[i]);

        if (!tracks || tracks->call_rate.count == 0)
            continue;
        add_counter(json, served, question.threads.profiles[i], "calls/s", &question,
                    &tracks->call_rate);
        left--;
    }
    cn_json_end(json);
    cn_json_end(json);
    cn_thread_list_done(&question.threads);
    return true;
}
