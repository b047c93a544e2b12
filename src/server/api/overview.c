/* A database or recording on one page: its hottest, waiting and slow functions, the hot
 * path, the cost of each thread, and warnings. What a job still computes is null, and
 * the answer is partial. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/durations/percentile.h"
#include "analyze/timeline/gpu_use.h"
#include "analyze/views/imbalance.h"
#include "analyze/views/thread_costs.h"
#include "analyze/views/waiting_calls.h"
#include "base/alloc.h"
#include "base/best.h"
#include "base/sort.h"
#include "base/text.h"
#include "model/gpu/work.h"
#include "model/memory/metrics.h"
#include "server/api/api.h"
#include "server/api/parameters.h"
#include "server/api/request.h"
#include "server/api/rows_json.h"
#include "server/served/served.h"

#define CALLS_NAME "calls"

enum {
    FUNCTION_COUNT = 20, /* unless another number is asked for */
    LABEL_COUNT = 16,    /* of the busiest threads, likewise */
    ASKED_MAX = 200,
    WAITING_MAX = 5,
    SLOW_MAX = 5,
    SLOW_CALLS = 100,  /* with fewer calls, the slowest 1 % is not even one */
    THREAD_MAX = 5000, /* whose values are listed */
    GPU_MAX = 64,
    GAP_PATH_MAX = 4, /* functions of a launch */
};

/* The view that all functions are ranked in, and what ranks them. */
struct ranking {
    struct cn_served *served;
    struct cn_served_view *view; /* bottom-up */
    struct cn_json *json;
    size_t self, calls, p50, p99; /* columns; the column count where there is none */
    size_t waits[CN_WAIT_KINDS];
};

typedef double rank_fn(const struct ranking *r, const struct cn_row *row);

static double value_at(const struct ranking *r, const struct cn_row *row, size_t column)
{
    return column < r->view->costs.column_count && row->values[column] > 0
               ? row->values[column]
               : 0;
}

static double rank_by_self(const struct ranking *r, const struct cn_row *row)
{
    return value_at(r, row, r->self);
}

/* What the slowest 1 % of the calls take longer than typical ones, if that is at least
 * as much again. */
static double rank_by_slowness(const struct ranking *r, const struct cn_row *row)
{
    double calls = value_at(r, row, r->calls), p50 = value_at(r, row, r->p50);
    double more = value_at(r, row, r->p99) - p50;

    return calls >= SLOW_CALLS && more >= p50 ? more * calls / 100 : 0;
}

/* The member `name`: the functions of highest rank. */
static bool add_ranked(const struct ranking *r, const char *name,
                       const struct cn_row_list *list, rank_fn *rank, size_t limit,
                       struct cn_error *err)
{
    struct cn_best best;
    bool ok = true;

    cn_best_init(&best, limit);
    for (uint32_t i = 0; i < list->count; i++) {
        double value = rank(r, &list->rows[i]);
        struct cn_best_item item = cn_best_of_value(value, i);

        if (value > 0)
            cn_best_offer(&best, &item);
    }
    cn_best_sort(&best, 0);
    cn_json_add_array(r->json, name);
    for (size_t i = 0; ok && i < best.count && i < limit; i++) {
        ok = cn_json_row_begin(r->json, r->view->view, &r->served->structure.frames.index,
                               &list->rows[cn_best_number(&best.list[i])], err);
        cn_json_end(r->json);
    }
    cn_json_end(r->json);
    cn_best_done(&best);
    return ok;
}

/* "waiting": the calls in which threads wait, {path, row, caller}. */
static bool add_waiting(const struct ranking *r, struct cn_error *err)
{
    struct cn_view *view = r->view->view;
    struct cn_waiting_calls calls;
    bool ok = cn_waiting_calls_find(&calls, view, r->waits, err);

    if (!ok)
        return false;
    cn_json_add_array(r->json, "waiting");
    for (size_t i = 0; ok && i < calls.count && i < WAITING_MAX; i++) {
        const struct cn_waiting_call *call = &calls.list[i];

        ok = cn_json_row_begin(r->json, view, &r->served->structure.frames.index,
                               &call->row, err);
        if (ok && call->caller)
            cn_json_add_str(r->json, "caller", call->caller);
        cn_json_end(r->json);
    }
    cn_json_end(r->json);
    cn_waiting_calls_done(&calls);
    return ok;
}

static size_t find_percentile(const struct cn_costs *costs, enum cn_percentile which)
{
    size_t i = 0;

    while (i < costs->column_count &&
           costs->columns[i].fraction != cn_percentile_fractions[which])
        i++;
    return i;
}

static bool answer_functions(struct cn_served *served, struct cn_served_view *view,
                             struct cn_request *request, struct cn_error *err)
{
    const struct cn_costs *costs = &view->costs;
    struct ranking r = {.served = served, .view = view, .json = &request->json};
    struct cn_row_list list = {0};
    uint64_t count;
    bool ok;

    if (!cn_request_u64(request, "functions", 1, ASKED_MAX, FUNCTION_COUNT, &count, err))
        return false;
    r.self = cn_cost_column_find(costs, costs->columns[0].metric, CN_SELF);
    r.calls = cn_cost_column_find(costs, CALLS_NAME, CN_SELF);
    r.p50 = find_percentile(costs, CN_P50);
    r.p99 = find_percentile(costs, CN_P99);
    for (unsigned i = 0; i < CN_WAIT_KINDS; i++)
        r.waits[i] = cn_cost_column_find(costs, cn_wait_names[i], CN_SELF);
    ok = cn_structure_wait(&served->structure, CN_STRUCTURE_FRAMES, err) &&
         cn_view_children(view->view, NULL, 0, false, &list, err);
    if (ok) {
        cn_json_columns(r.json, costs);
        cn_json_add_u64(r.json, "functionCount", list.count);
        ok = add_ranked(&r, "functions", &list, rank_by_self, (size_t)count, err) &&
             add_waiting(&r, err) &&
             add_ranked(&r, "slow", &list, rank_by_slowness, SLOW_MAX, err);
    }
    cn_row_list_done(&list);
    return ok;
}

/* The question of the functions: the metric, and what else there is of waiting, calls
 * and durations. */
static struct cn_view_question ask_functions(const struct cn_database *db,
                                             const char *metric)
{
    struct cn_view_question question = {.kind = CN_VIEW_BOTTOM_UP};
    struct cn_question_list *metrics = &question.metrics;

    metrics->list[metrics->count++] = metric;
    for (unsigned i = 0; i < CN_WAIT_KINDS; i++)
        if (cn_metrics_find(&db->metrics, cn_wait_names[i]) != CN_NO_ID)
            metrics->list[metrics->count++] = cn_wait_names[i];
    if (cn_metrics_find(&db->metrics, CALLS_NAME) != CN_NO_ID)
        metrics->list[metrics->count++] = CALLS_NAME;
    question.has_percentiles = cn_database_has_latencies(db);
    return question;
}

/* "imbalance": ranks or threads that do the same work and wait for one of them; null where
 * nothing shows that. */
static bool add_imbalance(struct cn_served_view *view, struct cn_json *json,
                          struct cn_error *err)
{
    struct cn_view *of = view->view;
    struct cn_row_list path;
    struct cn_imbalance found;
    struct cn_text label = {0};
    size_t count = 0;
    bool ok;

    cn_row_list_begin(&path, of->costs->column_count);
    ok = cn_view_hot_path(of, 0, CN_HOT_SHARE, &path, err);
    uint32_t *contexts = cn_alloc(path.count, sizeof(*contexts));
    for (size_t i = 0; ok && i < path.count; i++)
        contexts[count++] = path.rows[i].context;
    ok = ok && cn_imbalance_find(&found, of->costs->db, of->costs->columns[0].metric,
                                 contexts, count, err);
    for (size_t i = 0; ok && found.is_found && i < count; i++)
        if (contexts[i] == found.context)
            ok = of->ops->label(of, &path.rows[i], &label, err);
    if (ok) {
        cn_json_key(json, "imbalance");
        if (found.is_found) {
            cn_json_object(json);
            cn_json_add_str(json, "by", found.is_by_rank ? "rank" : "thread");
            cn_json_add_u64(json, "count", found.count);
            cn_json_add_u64(json, "most", found.most);
            cn_json_add_f64(json, "max", found.max);
            cn_json_add_f64(json, "mean", found.mean);
            cn_json_add_str(json, "function", cn_text_str(&label));
            cn_json_end(json);
        } else {
            cn_json_null(json);
        }
    }
    cn_text_done(&label);
    free(contexts);
    cn_row_list_done(&path);
    return ok;
}

static bool answer_hot_path(struct cn_served *served, struct cn_served_view *view,
                            struct cn_request *request, struct cn_error *err)
{
    (void)served;
    return cn_json_hot_path(&request->json, "hotPath", view->view, 0, err) &&
           add_imbalance(view, &request->json, err);
}

/* "labels" of the busiest threads, [profile, label], busiest first. */
static void add_labels(struct cn_served *served, const double *values,
                       size_t metric_count, size_t label_count, struct cn_json *json)
{
    struct cn_best busiest;

    cn_best_init(&busiest, label_count);
    for (uint32_t p = 0; p < served->db->profile_count; p++) {
        struct cn_best_item item = cn_best_of_value(values[p * metric_count], p);

        if (!isnan(values[p * metric_count]))
            cn_best_offer(&busiest, &item);
    }
    cn_best_sort(&busiest, 0);
    cn_json_add_array(json, "labels");
    for (size_t i = 0; i < busiest.count && i < label_count; i++) {
        uint32_t index = cn_best_number(&busiest.list[i]);
        struct cn_text label = {0};

        cn_served_thread_label(served, index, &label);
        cn_json_array(json);
        cn_json_u64(json, index);
        cn_json_str(json, cn_text_str(&label));
        cn_json_end(json);
        cn_text_done(&label);
    }
    cn_json_end(json);
    cn_best_done(&busiest);
}

/* "threads": [profile, value, and its waiting by kind where that is known]. */
static bool add_threads(struct cn_served *served, const char *metric,
                        struct cn_request *request, struct cn_error *err)
{
    struct cn_database *db = served->db;
    struct cn_json *json = &request->json;
    uint64_t label_count;
    const char *metrics[1 + CN_WAIT_KINDS] = {metric};
    size_t count = 1;

    if (!cn_request_u64(request, "threads", 1, ASKED_MAX, LABEL_COUNT, &label_count, err))
        return false;
    for (unsigned i = 0; i < CN_WAIT_KINDS && cn_metrics_have_waits(&db->metrics); i++)
        metrics[count++] = cn_wait_names[i];
    double *values = cn_alloc(db->profile_count * count, sizeof(*values));
    bool ok = cn_thread_costs(db, metrics, count, values, err);
    cn_json_add_array(json, "threads");
    for (uint32_t p = 0, listed = 0; ok && p < db->profile_count; p++) {
        if (isnan(values[p * count]) || listed++ == THREAD_MAX)
            continue;
        cn_json_array(json);
        cn_json_u64(json, p);
        for (size_t i = 0; i < count; i++)
            cn_json_f64(json, values[p * count + i]);
        cn_json_end(json);
    }
    cn_json_end(json);
    if (ok)
        add_labels(served, values, count, (size_t)label_count, json);
    free(values);
    return ok;
}

/* The frame of the call that launched the operation of a frame: the first above with a name that is no
 * place of GPUs. *name is the operation: its kernel, or "<gpu copyin>". */
static uint32_t launch_of(const struct cn_frames *frames, uint32_t frame,
                          const char **name)
{
    *name = frames->names.list[frames->list[frame].place];
    while (frame != CN_NONE && frame != 0) {
        const char *place = frames->names.list[frames->list[frame].place];

        frame = frames->list[frame].parent;
        if (strncmp(place, "<gpu ", strlen("<gpu ")) == 0)
            break;
    }
    while (frame != CN_NONE && frame != 0 &&
           strstr(frames->names.list[frames->list[frame].place], "+0x"))
        frame = frames->list[frame].parent;
    return frame;
}

/* How well a function tells where a launch is: of scripts, of the program, of a library; 0: it has no
 * name. */
static unsigned worth_of(const struct cn_structure *structure, uint32_t place)
{
    const struct cn_code_class *code = cn_structure_code(structure, place);

    if (!code || strstr(structure->frames.names.list[place], "+0x"))
        return 0;
    if (code->language == CN_CODE_PYTHON)
        return 3;
    return code->kind == CN_CODE_MINE ? 2 : 1;
}

/* "path": the innermost functions of the best kind that the path of a launch has, outermost first. */
static void add_launch_path(struct cn_served *served, uint32_t launch,
                            struct cn_json *json)
{
    const struct cn_frames *frames = &served->structure.frames;
    const char *names[GAP_PATH_MAX];
    unsigned best = 1;
    size_t count = 0;

    for (uint32_t at = launch; at != CN_NONE && at != 0; at = frames->list[at].parent) {
        unsigned worth = worth_of(&served->structure, frames->list[at].place);

        if (worth > best)
            best = worth;
    }
    for (uint32_t at = launch; at != CN_NONE && at != 0 && count < GAP_PATH_MAX;
         at = frames->list[at].parent)
        if (worth_of(&served->structure, frames->list[at].place) == best)
            names[count++] = frames->names.list[frames->list[at].place];
    cn_json_add_array(json, "path");
    while (count-- > 0)
        cn_json_str(json, names[count]);
    cn_json_end(json);
}

static void add_gap(struct cn_served *served, const struct cn_gpu_gap *gap,
                    struct cn_json *json)
{
    const struct cn_frames *frames = &served->structure.frames;
    const char *operation;
    uint32_t launch = launch_of(frames, cn_frames_find(frames, gap->context), &operation);
    uint64_t origin_ns = served->db->begin_ns;

    cn_json_object(json);
    cn_json_add_u64(json, "begin",
                    gap->begin_ns > origin_ns ? gap->begin_ns - origin_ns : 0);
    cn_json_add_u64(json, "end", gap->end_ns > origin_ns ? gap->end_ns - origin_ns : 0);
    cn_json_add_u64(json, "profile", gap->profile);
    cn_json_add_str(json, "operation", operation);
    cn_json_add_str(json, "launch",
                    launch != CN_NONE && launch != 0
                        ? frames->names.list[frames->list[launch].place]
                        : "");
    add_launch_path(served, launch, json);
    cn_json_end(json);
}

/* "gpus": how busy each was, and its longest gaps; nothing where there are none. */
static bool add_gpus(struct cn_served *served, struct cn_json *json, struct cn_error *err)
{
    struct cn_gpu_uses uses;

    if (!cn_gpu_uses_find(&uses, served->db, err))
        return false;
    if (uses.count > 0 &&
        (!cn_structure_wait(&served->structure, CN_STRUCTURE_FRAMES, err) ||
         !cn_structure_wait(&served->structure, CN_STRUCTURE_CODES, err))) {
        cn_gpu_uses_done(&uses);
        return false;
    }
    if (uses.count > 0)
        cn_json_add_array(json, "gpus");
    for (size_t i = 0; i < uses.count && i < GPU_MAX; i++) {
        const struct cn_gpu_use *use = &uses.list[i];

        cn_json_object(json);
        cn_json_add_u64(json, "number", use->number);
        cn_json_add_u64(json, "streams", use->stream_count);
        cn_json_add_u64(json, "span", use->end_ns - use->begin_ns);
        cn_json_add_u64(json, "busy", use->busy_ns);
        cn_json_add_u64(json, "gapCount", use->gap_count);
        cn_json_add_array(json, "gaps");
        for (size_t k = 0; k < use->listed_count; k++)
            add_gap(served, &use->gaps[k], json);
        cn_json_end(json);
        cn_json_end(json);
    }
    if (uses.count > 0)
        cn_json_end(json);
    cn_gpu_uses_done(&uses);
    return true;
}

/* {metric, total, self, top}: how much there is of a metric of memory, and the function with the most
 * self, whose value is `self`. */
static bool answer_memory(struct cn_served *served, struct cn_served_view *view,
                          struct cn_request *request, struct cn_error *err)
{
    const struct cn_costs *costs = &view->costs;
    struct ranking r = {.served = served, .view = view, .json = &request->json};
    struct cn_row_list list = {0};
    double total = 0, self = 0;

    r.self = cn_cost_column_find(costs, costs->columns[0].metric, CN_SELF);
    bool ok = cn_structure_wait(&served->structure, CN_STRUCTURE_FRAMES, err) &&
              cn_costs_total(costs, costs->columns[0].metric, &total, err) &&
              cn_view_children(view->view, NULL, 0, false, &list, err);
    if (ok) {
        for (uint32_t i = 0; i < list.count; i++)
            self = fmax(self, rank_by_self(&r, &list.rows[i]));
        cn_json_object(r.json);
        cn_json_add_str(r.json, "metric", costs->columns[0].metric);
        cn_json_add_f64(r.json, "total", total);
        cn_json_add_f64(r.json, "self", self);
        ok = add_ranked(&r, "top", &list, rank_by_self, 1, err);
        cn_json_end(r.json);
    }
    cn_row_list_done(&list);
    return ok;
}

static void list_warnings(struct cn_json *json, const struct cn_warning *list)
{
    for (; list; list = list->next) {
        cn_json_object(json);
        cn_json_add_str(json, "text", list->text);
        cn_json_add_bool(json, "isDamage", list->is_damage);
        cn_json_end(json);
    }
}

static void add_warnings(struct cn_served *served, struct cn_json *json)
{
    const struct cn_recording *rec = served->recording;

    cn_json_add_array(json, "warnings");
    list_warnings(json, served->db->warnings);
    cn_json_end(json);
    if (!rec)
        return;
    cn_json_add_u64(json, "lostRecords", served->opened.about.analysis.lost_count);
    cn_json_add_f64(json, "callCost", (double)rec->call_cost.call_ps / 1000);
}

/* Add what a view answers; what is not there yet makes the answer partial. */
static bool add_of_view(struct cn_served *served, const struct cn_view_question *question,
                        struct cn_request *request, cn_view_answer *answer,
                        bool *is_partial, struct cn_error *err)
{
    size_t before = request->json.text->len;

    if (cn_api_with_view(served, question, request, answer, err))
        return true;
    *is_partial = err->kind == CN_ERR_BUSY && request->json.text->len == before &&
                  !cn_request_flag(request, "whole");
    return *is_partial;
}

/* "memory": what was live at the peak and at the end; nothing where that is unknown. */
static bool add_memory(struct cn_served *served, struct cn_request *request,
                       bool *is_partial, struct cn_error *err)
{
    static const enum cn_heap_metric metrics[] = {CN_HEAP_LIVE_PEAK, CN_HEAP_LIVE_END};
    const struct cn_metrics *known = &served->db->metrics;
    bool ok = true;

    if (cn_metrics_find(known, cn_heap_metric_name(CN_HEAP_LIVE_PEAK)) == CN_NO_ID)
        return true;
    cn_json_add_array(&request->json, "memory");
    for (size_t i = 0; ok && i < sizeof(metrics) / sizeof(*metrics); i++) {
        const char *name = cn_heap_metric_name(metrics[i]);
        struct cn_view_question question = {.kind = CN_VIEW_BOTTOM_UP,
                                            .metrics = {{name}, 1}};

        if (cn_metrics_find(known, name) != CN_NO_ID)
            ok = add_of_view(served, &question, request, answer_memory, is_partial, err);
    }
    cn_json_end(&request->json);
    return ok;
}

bool cn_api_overview(struct cn_served *served, struct cn_request *request,
                     struct cn_error *err)
{
    struct cn_json *json = &request->json;
    const char *asked = cn_request_value(request, "metric"), *metric;
    struct cn_view_question functions, contexts = {.kind = CN_VIEW_TOP_DOWN};
    bool is_partial = false, ok;

    if (!cn_served_ready(served, err))
        return false;
    metric = asked && *asked ? asked : cn_served_default_metric(&served->views);
    functions = ask_functions(served->db, metric);
    contexts.metrics = (struct cn_question_list){{metric}, 1};
    cn_json_add_str(json, "metric", metric);
    cn_json_add_base(json, served->db, metric);
    ok = add_of_view(served, &contexts, request, answer_hot_path, &is_partial, err) &&
         add_of_view(served, &functions, request, answer_functions, &is_partial, err) &&
         add_threads(served, metric, request, err) && add_gpus(served, json, err) &&
         add_memory(served, request, &is_partial, err);
    if (!ok)
        return false;
    add_warnings(served, json);
    cn_json_add_bool(json, "isPartial", is_partial);
    return true;
}
