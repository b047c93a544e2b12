/* States, counters and rates of threads over time. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/time_base.h"
#include "analyze/timeline/task_tracks.h"
#include "analyze/views/thread_costs.h"
#include "base/alloc.h"
#include "base/search.h"
#include "base/text.h"
#include "model/heap_history.h"
#include "server/api/api.h"
#include "server/api/parameters.h"
#include "server/api/request.h"
#include "server/served/served.h"
#include "server/served/thread_list.h"

enum {
    COLUMN_MAX = 4000,
    TRACK_MAX = 200,     /* with points */
    LISTED_MAX = 100000, /* names alone */
    THREAD_MAX = 5000,   /* whose states are listed */
};

/* The tracks of an answer. */
struct tracks {
    struct cn_json *json;
    struct cn_served *served;
    struct cn_time_question question;
    uint64_t columns;
    bool is_list;                  /* names, no points */
    struct cn_question_list names; /* of the tracks asked for; none: all */
    size_t count, count_max;       /* all tracks; those that are listed */
};

/* States of the threads of an answer. */
struct states {
    struct cn_served *served;
    const struct cn_time_question *question;
    double *
        running_s; /* by profile, the corrected running time in calls; NULL: not needed */
    struct cn_state_sums sums;
    uint64_t recording_ns;
};

/* Of the running time, what corrected costs do not contain. */
static uint64_t recording_of(const struct states *states, uint32_t profile,
                             const struct cn_state_sums *sums)
{
    double in_calls_ns =
        (double)(sums->ns[CN_TASK_RUNNING] - sums->outside_ns[CN_TASK_RUNNING]);
    double more_ns =
        states->running_s ? in_calls_ns - 1e9 * states->running_s[profile] : 0;

    return more_ns > 0 ? (uint64_t)llround(more_ns) : 0;
}

/* "threads": [profile, ns of each state, ns of waiting outside of calls, ns of recording, ns of
 * running outside of calls]. */
static void add_thread_states(struct states *states, struct cn_json *json,
                              uint32_t profile, const struct cn_state_sums *sums)
{
    uint64_t recording_ns = recording_of(states, profile, sums);

    states->recording_ns += recording_ns;
    cn_json_array(json);
    cn_json_u64(json, profile);
    for (unsigned i = 0; i < CN_TASK_STATES; i++)
        cn_json_u64(json, sums->ns[i]);
    cn_json_u64(json, cn_state_sums_waiting_outside(sums));
    cn_json_u64(json, recording_ns);
    cn_json_u64(json, sums->outside_ns[CN_TASK_RUNNING]);
    cn_json_end(json);
}

/* List the threads, if they are asked for, and add up their states. Streams of GPUs are no threads. */
static void sum_states(struct states *states, bool is_list, struct cn_json *json)
{
    const struct cn_time_question *question = states->question;
    struct cn_state_sums *out = &states->sums;

    if (is_list)
        cn_json_add_array(json, "threads");
    for (size_t i = 0; i < question->threads.count; i++) {
        uint32_t profile = question->threads.profiles[i];
        const struct cn_task_tracks *tracks =
            cn_served_tracks_of(states->served->tracks, profile);
        struct cn_state_sums sums;

        if (!tracks || cn_served_is_stream(states->served, profile))
            continue;
        cn_task_tracks_sum(tracks, question->begin_ns, question->end_ns, &sums);
        for (unsigned k = 0; k < CN_TASK_STATES; k++)
            out->ns[k] += sums.ns[k];
        for (unsigned k = 0; k < CN_TASK_UNKNOWN; k++)
            out->outside_ns[k] += sums.outside_ns[k];
        if (is_list && i < THREAD_MAX)
            add_thread_states(states, json, profile, &sums);
    }
    if (is_list)
        cn_json_end(json);
}

/* All of the time is that of all records: some events follow the last call. */
static void widen(struct cn_served *served, struct cn_time_question *question)
{
    struct cn_wall_time wall = {0};

    for (size_t i = 0; i < served->tracks->count; i++)
        cn_wall_time_add(&wall, served->tracks->list[i].first_ns,
                         served->tracks->list[i].last_ns);
    question->begin_ns = wall.begin_ns;
    question->end_ns = wall.end_ns;
}

/* The running time of threads where costs are corrected. */
static bool read_running(struct states *states, struct cn_error *err)
{
    struct cn_database *db = states->served->db;
    const char *metric = CN_CPU_TIME_NAME;

    if (cn_time_base_of_durations(db).source != CN_TIME_CORRECTED ||
        !cn_metrics_have_waits(&db->metrics))
        return true;
    states->running_s = cn_alloc(db->profile_count, sizeof(*states->running_s));
    if (!cn_thread_costs(db, &metric, 1, states->running_s, err))
        return false;
    for (uint32_t i = 0; i < db->profile_count; i++)
        if (isnan(states->running_s[i]))
            states->running_s[i] = 0;
    return true;
}

/* The time of each state, over all threads of the question. */
bool cn_api_states(struct cn_served *served, struct cn_request *request,
                   struct cn_error *err)
{
    struct cn_json *json = &request->json;
    struct cn_time_question question;
    struct states states = {.served = served, .question = &question};
    bool is_known, is_pending, is_list = cn_request_flag(request, "list"), ok = true;

    if (!cn_request_time(request, served, false, &question, err))
        return false;
    is_known = cn_served_states_ready(served->tracks, served->db, &is_pending);
    cn_json_add_bool(json, "isPending", is_pending);
    if (is_known) {
        if (!cn_request_value(request, "begin") && !cn_request_value(request, "end")) {
            widen(served, &question);
            ok = !is_list || read_running(&states, err);
        }
        cn_json_add_u64(json, "wall", question.end_ns - question.begin_ns);
        sum_states(&states, is_list, json);
    }
    cn_json_add_array(json, "states");
    for (unsigned i = 0; is_known && i < CN_TASK_STATES; i++) {
        cn_json_array(json);
        cn_json_str(json, cn_task_state_names[i]);
        cn_json_u64(json, states.sums.ns[i]);
        cn_json_end(json);
    }
    cn_json_end(json);
    if (is_known && is_list) {
        cn_json_add_u64(json, "waitingOutside",
                        cn_state_sums_waiting_outside(&states.sums));
        cn_json_add_u64(json, "recording", states.recording_ns);
    }
    free(states.running_s);
    cn_thread_list_done(&question.threads);
    return ok;
}

static bool is_before(const void *data, uint64_t index, uint64_t time_ns)
{
    return ((const struct cn_reading *)data)[index].time_ns < time_ns;
}

static uint64_t column_of(const struct tracks *tracks, uint64_t time_ns)
{
    const struct cn_time_question *question = &tracks->question;
    double share = (double)(time_ns - question->begin_ns) /
                   (double)(question->end_ns - question->begin_ns);

    return (uint64_t)(share * (double)tracks->columns);
}

/* "points": of each column with readings, [time of the last, minimum, maximum, last]; the
 * first one is the reading before the range, if there is one. */
static void add_points(const struct tracks *tracks, const struct cn_readings *readings)
{
    const struct cn_time_question *question = &tracks->question;
    struct cn_json *json = tracks->json;
    size_t at = (size_t)cn_search(0, readings->count, is_before, readings->list,
                                  question->begin_ns);

    at -= at > 0;
    cn_json_add_array(json, "points");
    while (at < readings->count && readings->list[at].time_ns < question->end_ns) {
        const struct cn_reading *first = &readings->list[at], *last = first;
        double low = first->value, high = first->value;
        bool is_outside = first->time_ns < question->begin_ns;

        for (at++; !is_outside && at < readings->count &&
                   readings->list[at].time_ns < question->end_ns &&
                   column_of(tracks, readings->list[at].time_ns) ==
                       column_of(tracks, first->time_ns);
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

static bool is_asked_for(const struct tracks *tracks, const char *name)
{
    for (size_t i = 0; i < tracks->names.count; i++)
        if (strcmp(tracks->names.list[i], name) == 0)
            return true;
    return tracks->names.count == 0;
}

/* "peak": [time, value], of a counter whose highest value is known apart from its points. */
static void add_peak(const struct tracks *tracks, const struct cn_reading *peak)
{
    struct cn_json *json = tracks->json;
    uint64_t origin_ns = tracks->question.origin_ns;

    cn_json_add_array(json, "peak");
    cn_json_u64(json, peak->time_ns > origin_ns ? peak->time_ns - origin_ns : 0);
    cn_json_f64(json, peak->value);
    cn_json_end(json);
}

/* A track; of a list, only its name. `peak` may be NULL. */
static void add_counter(struct tracks *tracks, uint32_t index, const char *name,
                        const struct cn_readings *readings, const struct cn_reading *peak)
{
    struct cn_json *json = tracks->json;
    struct cn_text label = {0};

    if (!is_asked_for(tracks, name) || tracks->count++ >= tracks->count_max)
        return;
    cn_served_thread_label(tracks->served, index, &label);
    cn_json_object(json);
    cn_json_add_u64(json, "profile", index);
    cn_json_add_str(json, "label", cn_text_str(&label));
    cn_json_add_str(json, "name", name);
    if (!tracks->is_list)
        add_points(tracks, readings);
    if (!tracks->is_list && peak)
        add_peak(tracks, peak);
    cn_json_end(json);
    cn_text_done(&label);
}

/* The counters of a thread. */
static void add_counters(struct tracks *out, uint32_t index,
                         const struct cn_task_tracks *tracks)
{
    for (size_t i = 0; i < CN_COUNTER_COUNT + tracks->named_count; i++) {
        bool is_named = i >= CN_COUNTER_COUNT;
        size_t number = is_named ? i - CN_COUNTER_COUNT : i;
        const struct cn_readings *readings =
            is_named ? &tracks->named[number] : &tracks->readings[number];

        if (readings->count == 0)
            continue;
        const char *name = is_named ? cn_recording_event_name(out->served->recording,
                                                              CN_EVENT_COUNTER + number)
                                    : cn_counter_names[number];
        if (name) /* else the file of names is damaged */
            add_counter(out, index, name, readings, NULL);
    }
}

/* The live bytes of the processes of a history that are of a profile, and of a device if it is one of GPUs. */
static void add_live(struct tracks *out, const struct cn_heap_history *heap,
                     uint32_t profile, uint32_t device, const char *name)
{
    uint64_t shift_ns = out->question.origin_ns - out->served->db->begin_ns;
    double *live = cn_alloc(heap->process_count, sizeof(*live));
    struct cn_readings readings = {0};
    struct cn_reading peak = {0};

    for (size_t i = 0; i < heap->process_count; i++)
        if (heap->processes[i].profile == profile &&
            heap->processes[i].device == device &&
            heap->processes[i].peak_bytes > peak.value)
            peak = (struct cn_reading){heap->processes[i].peak_ns + shift_ns,
                                       heap->processes[i].peak_bytes};
    for (size_t i = 0; peak.value > 0 && i < heap->change_count; i++) {
        const struct cn_heap_change *change = &heap->changes[i];
        const struct cn_heap_process *process = &heap->processes[change->process];

        if (process->profile != profile || process->device != device)
            continue;
        live[change->process] += change->bytes;
        CN_PUSH(readings.list, readings.count, readings.capacity,
                (struct cn_reading){change->time_ns + shift_ns, live[change->process]});
    }
    if (readings.count > 0)
        add_counter(out, profile, name, &readings, &peak);
    free(readings.list);
    free(live);
}

/* What the processes of a thread had allocated over time: after an exec() it is that of the next one. A
 * track belongs to the first thread of its process. */
static void add_heaps(struct tracks *out)
{
    const struct cn_thread_list *threads = &out->question.threads;
    const struct cn_heap_history *heap = out->served->db->heap;

    if (!heap || !is_asked_for(out, "heap (B)"))
        return;
    for (size_t i = 0; i < threads->count; i++)
        add_live(out, heap, threads->profiles[i], 0, "heap (B)");
}

/* Those of a GPU are of the first thread that allocated. */
static void add_gpu_memory(struct tracks *out)
{
    const struct cn_thread_list *threads = &out->question.threads;
    const struct cn_heap_history *heap = out->served->db->gpu_memory;
    struct cn_text name = {0};

    for (size_t k = 0; heap && k < heap->process_count; k++) {
        const struct cn_heap_process *gpu = &heap->processes[k];
        size_t i = 0;

        while (i < threads->count && threads->profiles[i] != gpu->profile)
            i++;
        cn_text_clear(&name);
        cn_text_printf(&name, "GPU %u memory (B)", (unsigned)gpu->device);
        if (i < threads->count)
            add_live(out, heap, gpu->profile, gpu->device, cn_text_str(&name));
    }
    cn_text_done(&name);
}

static void add_of_recording(struct tracks *out)
{
    const struct cn_thread_list *threads = &out->question.threads;

    for (size_t i = 0; i < threads->count; i++) {
        const struct cn_task_tracks *tracks =
            cn_served_tracks_of(out->served->tracks, threads->profiles[i]);

        if (tracks)
            add_counters(out, threads->profiles[i], tracks);
    }
    for (size_t i = 0; i < threads->count; i++) {
        const struct cn_task_tracks *tracks =
            cn_served_tracks_of(out->served->tracks, threads->profiles[i]);

        if (tracks && tracks->call_rate.count > 0)
            add_counter(out, threads->profiles[i], "calls/s", &tracks->call_rate, NULL);
    }
}

static bool add_of_database(struct tracks *out, struct cn_error *err)
{
    struct cn_database *db = out->served->db;
    const struct cn_thread_list *threads = &out->question.threads;

    for (size_t i = 0; i < threads->count; i++) {
        struct cn_readings rate = {0};
        struct cn_timeline timeline;
        bool ok = cn_timeline_open(db, threads->profiles[i], &timeline, err);

        if (ok && timeline.count == 0)
            continue;
        if (ok && !out->is_list && out->count < out->count_max &&
            is_asked_for(out, "samples/s"))
            ok = cn_sample_rate_read(&rate, db, threads->profiles[i],
                                     out->question.begin_ns, out->question.end_ns, err);
        if (ok)
            add_counter(out, threads->profiles[i], "samples/s", &rate, NULL);
        free(rate.list);
        if (!ok)
            return false;
    }
    return true;
}

bool cn_api_counters(struct cn_served *served, struct cn_request *request,
                     struct cn_error *err)
{
    struct cn_json *json = &request->json;
    struct tracks tracks = {
        .json = json, .served = served, .is_list = cn_request_flag(request, "list")};
    bool is_ready, is_pending, ok = true;

    if (!cn_request_u64(request, "columns", 1, COLUMN_MAX, 1000, &tracks.columns, err) ||
        !cn_request_time(request, served, false, &tracks.question, err))
        return false;
    cn_request_list(request, "name", &tracks.names);
    tracks.count_max = tracks.is_list ? LISTED_MAX : TRACK_MAX;
    is_ready = cn_served_counters_ready(served->tracks, &is_pending);
    cn_json_add_bool(json, "isPending", is_pending);
    cn_json_add_array(json, "counters");
    add_heaps(&tracks);
    add_gpu_memory(&tracks);
    if (!served->recording)
        ok = add_of_database(&tracks, err);
    else if (is_ready)
        add_of_recording(&tracks);
    cn_json_end(json);
    cn_json_add_u64(json, "count", tracks.count);
    cn_thread_list_done(&tracks.question.threads);
    return ok;
}
