/* The calls of a recording: a list around a time or a position, and the next or
 * previous call that matches criteria. */
#include <inttypes.h>
#include <stdio.h>

#include "analyze/calls/stack.h"
#include "analyze/time_base.h"
#include "model/calls/values.h"
#include "server/api/api.h"
#include "server/api/call_list.h"
#include "server/api/request.h"
#include "server/served/served.h"

enum { CALL_MAX = 2000 };

struct calls_question {
    const struct cn_recording *rec;
    uint64_t origin_ns; /* times are nanoseconds from the first record of all tasks */
    struct cn_call_walk walk;
    struct cn_call_criteria criteria;
    struct cn_call_bound bound;
};

/* The position `at`, "PART.INDEX" as lists of calls give it; without one, the time. */
static bool parse_bound(struct calls_question *question, const struct cn_request *request,
                        const char *time_name, struct cn_error *err)
{
    const char *at = cn_request_value(request, "at"), *rest = at;
    struct cn_call_bound *bound = &question->bound;
    uint64_t time_ns, part;

    if (!cn_request_u64(request, time_name, 0, UINT64_MAX - question->origin_ns, 0,
                        &time_ns, err))
        return false;
    if (!at) {
        /* Records before the first one of all tasks belong to the start. */
        bound->time_ns = time_ns > 0 ? question->origin_ns + time_ns : 0;
        bound->position.part = cn_call_walk_part_at(&question->walk, bound->time_ns);
        return true;
    }
    if (!cn_number_take(&rest, question->walk.parts->count, &part) || *rest++ != '.' ||
        !cn_number_take(&rest, UINT64_MAX, &bound->position.index) || *rest)
        return cn_fail(err, CN_ERR_USAGE,
                       "at '%.40s' is not a position, PART.INDEX, in the calls", at);
    bound->position.part = (uint32_t)part;
    return true;
}

static bool begin(struct calls_question *question, struct cn_served *served,
                  const struct cn_request *request, const char *time_name,
                  struct cn_error *err)
{
    const struct cn_recording *rec = served->recording;
    uint64_t task, longer_ns, depth;

    *question = (struct calls_question){.rec = rec};
    if (!rec)
        return cn_fail(err, CN_ERR_USAGE, "%s is not a recording", served->name);
    if (rec->task_count == 0)
        return cn_fail(err, CN_ERR_NOT_FOUND, "%s has no tasks", served->name);
    if (!cn_request_u64(request, "task", 0, rec->task_count - 1, 0, &task, err) ||
        !cn_request_u64(request, "longer", 0, INT64_MAX, 0, &longer_ns, err) ||
        !cn_request_u64(request, "depth", 0, UINT32_MAX, UINT32_MAX, &depth, err))
        return false;
    question->origin_ns = cn_recording_begin_ns(rec);
    cn_call_walk_init(&question->walk, rec, (uint32_t)task,
                      cn_call_parts_of(&served->call_parts, rec, (uint32_t)task));
    question->criteria = (struct cn_call_criteria){
        .function = cn_request_value(request, "function"),
        .values = cn_request_value(request, "values"),
        .longer_ns = longer_ns,
        .depth_max = (uint32_t)depth,
    };
    return cn_call_criteria_begin(&question->criteria, rec, err) &&
           parse_bound(question, request, time_name, err);
}

static void end(struct calls_question *question)
{
    cn_call_criteria_done(&question->criteria);
    cn_call_walk_done(&question->walk);
}

/* Read forwards from the bound. */
static void read_on(struct calls_question *question, struct cn_call_list *list,
                    uint64_t limit)
{
    cn_call_list_init(list, &question->walk, &question->criteria, limit);
    list->bound = question->bound;
    cn_call_walk_seek(&question->walk, question->bound.position.part);
    cn_call_list_read(list);
}

static void add_position(struct cn_json *json, const char *key,
                         struct cn_call_position position)
{
    char text[40];

    (void)snprintf(text, sizeof(text), "%" PRIu32 ".%" PRIu64, position.part,
                   position.index);
    cn_json_add_str(json, key, text);
}

/* The time from the first call of all tasks; events of the scheduler may be earlier. */
static void add_time(struct cn_json *json, uint64_t time_ns, uint64_t origin_ns)
{
    if (time_ns < origin_ns)
        cn_json_add_f64(json, "time", -(double)(origin_ns - time_ns));
    else
        cn_json_add_u64(json, "time", time_ns - origin_ns);
}

/* How long an entered call took. One that never returned ends with its task, as in `report`; of one that
 * ends after what was read, only a lower limit is known. */
static void add_duration(struct cn_json *json, const struct cn_call_list *list,
                         const struct cn_call_item *item)
{
    uint64_t end_ns = item->is_open ? list->time_ns : item->end_ns;
    uint64_t duration_ns = end_ns > item->call.time_ns ? end_ns - item->call.time_ns : 0;

    cn_json_add_u64(json, item->is_open && !list->has_ended ? "atLeast" : "duration",
                    duration_ns);
    if (item->is_open && list->has_ended)
        cn_json_add_bool(json, "isOpen", true);
    if (!item->is_open)
        cn_json_add_str(json, "result", cn_text_str(&item->result));
}

static void add_call(struct cn_json *json, const struct calls_question *question,
                     const struct cn_call_list *list, const struct cn_call_item *item)
{
    static const char *const kind_names[] = {"enter", "exit", "lost", "event"};
    const struct cn_call *call = &item->call;
    char buffer[CN_CALL_NAME_MAX];

    cn_json_object(json);
    add_time(json, call->time_ns, question->origin_ns);
    cn_json_add_str(json, "kind", kind_names[call->kind & 3]);
    cn_json_add_u64(json, "depth", call->depth);
    if (call->kind == CN_CALL_EVENT)
        cn_json_add_str(json, "name",
                        cn_recording_event_name(question->rec, call->address));
    else if (call->kind != CN_CALL_LOST)
        cn_json_add_str(
            json, "name",
            cn_call_name(question->rec, call->function, call->address, buffer));
    cn_json_add_str(json, "values", cn_text_str(&item->values));
    if (call->kind == CN_CALL_ENTER)
        add_duration(json, list, item);
    cn_json_end(json);
}

static void add_list(struct cn_json *json, const struct calls_question *question,
                     const struct cn_call_list *list)
{
    struct cn_call_position next = question->walk.next;
    bool is_full = cn_call_list_is_full(list);

    if (is_full && list->count > 0) {
        next = list->items[list->count - 1].position;
        next.index++;
    }
    cn_json_add_array(json, "calls");
    for (size_t i = 0; i < list->count; i++)
        if (cn_call_list_shows(list, &list->items[i]))
            add_call(json, question, list, &list->items[i]);
    cn_json_end(json);
    add_position(json, "first", question->bound.position);
    add_position(json, "next", next);
    cn_json_add_bool(json, "isStart",
                     question->bound.position.part == 0 &&
                         question->bound.position.index == 0 &&
                         question->bound.time_ns == 0);
    cn_json_add_bool(json, "isEnd", !is_full && !list->is_cut);
    if (list->lacks_ends)
        cn_json_add_bool(json, "isPartial", true);
    if (list->damage.kind != CN_ERR_NONE)
        cn_json_add_str(json, "damage", list->damage.text);
}

static bool list_calls(struct calls_question *question, struct cn_request *request,
                       struct cn_error *err)
{
    struct cn_call_list list;
    uint64_t limit, before;

    if (!cn_request_u64(request, "limit", 0, CALL_MAX, 200, &limit, err) ||
        !cn_request_u64(request, "before", 0, CALL_MAX, 0, &before, err))
        return false;
    /* Replace the time by the position of its first record. */
    if (question->bound.time_ns > 0 && (before == 0 || !question->criteria.has_limits)) {
        read_on(question, &list, 1);
        if (list.count > 0)
            question->bound = (struct cn_call_bound){.position = list.items[0].position};
        cn_call_list_done(&list);
    }
    if (before > 0) {
        struct cn_call_position position;

        before = cn_call_list_before(&question->walk, &question->criteria,
                                     question->bound, before, &position);
        question->bound = (struct cn_call_bound){.position = position};
    }
    read_on(question, &list, limit + before);
    /* Calls are where they were recorded, as in timelines. */
    cn_json_add_str(&request->json, "base",
                    cn_time_base_name(cn_time_base_of_calls(question->rec, true)));
    add_list(&request->json, question, &list);
    cn_call_list_done(&list);
    return true;
}

bool cn_api_calls(struct cn_served *served, struct cn_request *request,
                  struct cn_error *err)
{
    struct calls_question question;
    bool ok = begin(&question, served, request, "time", err) &&
              list_calls(&question, request, err);

    end(&question);
    return ok;
}

static void add_found(struct cn_json *json, const struct calls_question *question,
                      const struct cn_call_list *list)
{
    const struct cn_call_item *item = NULL;

    for (size_t i = 0; !item && i < list->count; i++)
        if (cn_call_list_shows(list, &list->items[i]))
            item = &list->items[i];
    cn_json_add_bool(json, "isFound", item != NULL);
    if (item) {
        add_time(json, item->call.time_ns, question->origin_ns);
        cn_json_add_u64(json, "duration",
                        (item->is_open ? list->time_ns : item->end_ns) -
                            item->call.time_ns);
        cn_json_add_u64(json, "depth", item->call.depth);
        add_position(json, "place", item->position);
    } else if (list->is_cut) {
        add_position(json, "next", question->walk.next);
    }
}

static void find(struct calls_question *question, struct cn_json *json, bool is_reversed)
{
    struct cn_call_position position;
    struct cn_call_list list;

    if (is_reversed) {
        bool is_found = cn_call_list_before(&question->walk, &question->criteria,
                                            question->bound, 1, &position) > 0;

        question->bound = (struct cn_call_bound){.position = position};
        if (!is_found) {
            cn_json_add_bool(json, "isFound", false);
            if (position.part > 0)
                add_position(json, "next", position);
            return;
        }
    }
    read_on(question, &list, 1);
    add_found(json, question, &list);
    cn_call_list_done(&list);
}

bool cn_api_find(struct cn_served *served, struct cn_request *request,
                 struct cn_error *err)
{
    bool is_reversed = cn_request_flag(request, "reverse");
    struct calls_question question;

    if (!cn_request_value(request, "function") && !cn_request_value(request, "values"))
        return cn_fail(err, CN_ERR_USAGE,
                       "parameter function is missing: the function to find, or "
                       "values: text of its arguments or result");
    bool ok = begin(&question, served, request, is_reversed ? "before" : "after", err);
    if (ok)
        find(&question, &request->json, is_reversed);
    end(&question);
    return ok;
}

bool cn_api_slowest(struct cn_served *served, struct cn_request *request,
                    struct cn_error *err)
{
    struct cn_slowest_calls *slowest = &served->slowest;
    struct cn_json *json = &request->json;

    if (!served->recording)
        return cn_fail(err, CN_ERR_USAGE, "%s is not a recording", served->name);
    if (!cn_job_wait(&slowest->job, err))
        return false;
    uint64_t origin_ns = cn_recording_begin_ns(served->recording);
    cn_json_add_str(
        json, "base",
        cn_time_base_name(cn_time_base_of_calls(served->recording, slowest->is_raw)));
    cn_json_add_array(json, "calls");
    for (size_t i = 0; i < slowest->count; i++) {
        const struct cn_slow_call *call = &slowest->list[i];

        cn_json_object(json);
        cn_json_add_str(json, "function", call->function);
        cn_json_add_u64(json, "task", call->task);
        add_time(json, call->begin_ns, origin_ns);
        cn_json_add_u64(json, "duration", call->duration_ns);
        cn_json_add_u64(json, "mean", call->mean_ns);
        cn_json_add_u64(json, "count", call->calls);
        cn_json_end(json);
    }
    cn_json_end(json);
    return true;
}
