/* For whom threads wait, and the critical path to the end of a range of time. */
#include <inttypes.h>
#include <stdlib.h>

#include "analyze/wakers/bars.h"
#include "analyze/wakers/causes.h"
#include "base/alloc.h"
#include "base/text.h"
#include "model/thread_states.h"
#include "server/api/api.h"
#include "server/api/parameters.h"
#include "server/api/request.h"
#include "server/served/served.h"

enum { ROW_MAX = 1000, COLUMN_MAX = 4000, CAUSES_SAID = 4 };

/* A range of time, the threads whose waits are added up, and the one whose end is explained. */
struct waits_question {
    const struct cn_wait_study *study;
    bool *is_chosen; /* by profile */
    uint32_t profile;
    uint64_t origin_ns, begin_ns, end_ns;
};

static bool choose_thread(const struct cn_request *request, struct waits_question *q,
                          struct cn_error *err)
{
    uint32_t count = q->study->db->profile_count;
    uint64_t asked;

    if (!cn_request_u64(request, "of", 1, count - 1, 0, &asked, err))
        return false;
    q->profile =
        asked > 0 ? (uint32_t)asked : cn_wait_study_first(q->study, q->is_chosen);
    return (q->profile != 0 && q->study->db->states[q->profile].count > 0) ||
           cn_fail(err, CN_ERR_NOT_FOUND, "it is not known when the thread waits");
}

/* On failure nothing is left to release. */
static bool ask(struct cn_served *served, struct cn_request *request,
                struct waits_question *q, struct cn_error *err)
{
    struct cn_time_question time;

    *q = (struct waits_question){.study = &served->waits.study};
    if (!cn_served_ready(served, err) || !cn_served_waits_ready(&served->waits, err) ||
        !cn_request_time(request, served, false, &time, err))
        return false;
    q->origin_ns = time.origin_ns;
    q->begin_ns = time.begin_ns;
    q->end_ns = time.end_ns;
    q->is_chosen = cn_alloc(served->db->profile_count, sizeof(*q->is_chosen));
    for (size_t i = 0; i < time.threads.count; i++)
        q->is_chosen[time.threads.profiles[i]] = true;
    cn_thread_list_done(&time.threads);
    if (choose_thread(request, q, err))
        return true;
    free(q->is_chosen);
    return false;
}

static uint64_t since(const struct waits_question *q, uint64_t time_ns)
{
    return time_ns > q->origin_ns ? time_ns - q->origin_ns : 0;
}

/* The range as far as the thread lives. */
static void add_range(struct cn_json *json, const struct waits_question *q)
{
    const struct cn_thread_states *states = &q->study->db->states[q->profile];
    uint64_t first_ns = cn_thread_states_begin(states);
    uint64_t last_ns = cn_thread_states_end(states);
    uint64_t begin_ns = q->begin_ns > first_ns ? q->begin_ns : first_ns;
    uint64_t end_ns = q->end_ns < last_ns ? q->end_ns : last_ns;

    cn_json_add_u64(json, "begin", since(q, begin_ns));
    cn_json_add_u64(json, "end", since(q, end_ns > begin_ns ? end_ns : begin_ns));
}

static void add_causes(struct cn_json *json, const struct cn_wait_sums *path,
                       const struct waits_question *q)
{
    const char *thread = path->names.list[path->name_of[q->profile]];
    struct cn_wait_causes causes;
    struct cn_text text = {0};

    cn_wait_causes_list(&causes, path);
    cn_wait_causes_print(&causes, path, thread, CAUSES_SAID, &text);
    cn_json_add_str(json, "thread", thread);
    cn_json_add_str(json, "sentence", cn_text_str(&text));
    cn_json_add_array(json, "causes");
    for (size_t i = 0; i < causes.count; i++) {
        const struct cn_wait_cause *cause = &causes.list[i];

        cn_text_clear(&text);
        cn_wait_cause_print(path, cause->row, thread, &text);
        cn_json_object(json);
        cn_json_add_str(json, "name", cn_text_str(&text));
        cn_json_add_str(json, "kind", cn_wait_kind_name(path->list[cause->row].kind));
        cn_json_add_u64(json, "time", cause->time_ns);
        cn_json_add_u64(json, "inferred", cause->inferred_ns);
        cn_json_end(json);
    }
    cn_json_end(json);
    cn_wait_causes_done(&causes);
    cn_text_done(&text);
}

static void add_row(struct cn_json *json, const struct waits_question *q,
                    const struct cn_wait_sums *waits, const struct cn_wait_row *row)
{
    struct cn_text text = {0};

    cn_json_object(json);
    cn_json_add_str(json, "kind", cn_wait_kind_name(row->kind));
    cn_json_add_bool(json, "isInferred", row->is_inferred);
    cn_json_add_u64(json, "time", row->time_ns);
    cn_json_add_u64(json, "count", row->count);
    cn_json_add_u64(json, "longest", row->longest_ns);
    cn_json_add_u64(json, "longestAt", since(q, row->longest_at_ns));
    cn_json_add_u64(json, "profile", row->profile);
    cn_json_add_str(json, "thread", waits->names.list[row->name]);
    cn_wait_site_print(waits->sites, row->site, &text);
    cn_json_add_str(json, "in", cn_text_str(&text));
    cn_text_clear(&text);
    cn_wait_row_print_waker(waits, row, &text);
    if (text.len > 0)
        cn_json_add_str(json, "wokenBy", cn_text_str(&text));
    if (row->lock != CN_NONE)
        cn_json_add_str(json, "lock", waits->names.list[row->lock]);
    cn_json_end(json);
    cn_text_done(&text);
}

bool cn_api_waits(struct cn_served *served, struct cn_request *request,
                  struct cn_error *err)
{
    struct cn_json *json = &request->json;
    struct cn_wait_sums path = {0}, waits = {0};
    struct waits_question q;
    uint64_t limit;

    if (!cn_request_u64(request, "limit", 1, ROW_MAX, 8, &limit, err) ||
        !ask(served, request, &q, err))
        return false;
    bool ok =
        cn_wait_study_path(q.study, q.profile, q.begin_ns, q.end_ns, &path, err) &&
        cn_wait_study_waits(q.study, q.is_chosen, q.begin_ns, q.end_ns, &waits, err);
    if (ok) {
        cn_json_add_u64(json, "profile", q.profile);
        add_range(json, &q);
        cn_json_add_bool(json, "hasWakeups", q.study->graph.wakeup_count > 0);
        add_causes(json, &path, &q);
        cn_json_add_u64(json, "time", waits.total_ns);
        cn_json_add_u64(json, "count", waits.count);
        cn_json_add_array(json, "rows");
        for (size_t i = 0; i < waits.count && i < limit; i++)
            add_row(json, &q, &waits, &waits.list[i]);
        cn_json_end(json);
    }
    cn_wait_sums_done(&path);
    cn_wait_sums_done(&waits);
    free(q.is_chosen);
    return ok;
}

static void add_bars(struct cn_json *json, const struct waits_question *q,
                     const struct cn_wait_bars *bars)
{
    cn_json_add_array(json, "bars");
    for (size_t i = 0; i < bars->count; i++) {
        const struct cn_wait_bar *bar = &bars->list[i];

        cn_json_array(json);
        cn_json_u64(json, since(q, bar->begin_ns));
        cn_json_u64(json, since(q, bar->end_ns));
        cn_json_u64(json, bar->profile);
        cn_json_str(json, cn_wait_kind_name(bar->kind));
        cn_json_u64(json, bar->parts);
        cn_json_end(json);
    }
    cn_json_end(json);
}

bool cn_api_wait_path(struct cn_served *served, struct cn_request *request,
                      struct cn_error *err)
{
    struct cn_json *json = &request->json;
    struct cn_wait_bars bars;
    struct waits_question q;
    uint64_t columns, from, to;

    if (!cn_request_u64(request, "columns", 1, COLUMN_MAX, 1000, &columns, err) ||
        !ask(served, request, &q, err))
        return false;
    uint64_t begin = q.begin_ns - q.origin_ns, end = q.end_ns - q.origin_ns;
    if (!cn_request_u64(request, "from", 0, UINT64_MAX - q.origin_ns, begin, &from,
                        err) ||
        !cn_request_u64(request, "to", 0, UINT64_MAX - q.origin_ns, end, &to, err)) {
        free(q.is_chosen);
        return false;
    }
    const struct cn_wait_chain *path =
        cn_served_path_borrow(&served->waits, q.profile, q.begin_ns, q.end_ns);
    cn_wait_bars_build(&bars, path, q.origin_ns + from, q.origin_ns + to,
                       to > from ? (to - from) / columns : 0);
    cn_json_add_u64(json, "profile", q.profile);
    cn_json_add_u64(json, "parts", path->count);
    cn_served_path_return(&served->waits);
    add_bars(json, &q, &bars);
    cn_wait_bars_done(&bars);
    free(q.is_chosen);
    return true;
}
