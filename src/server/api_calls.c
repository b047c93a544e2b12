/* The calls of a recording: a list around a moment, and the next call of a function that
 * took long. */
#include <stdlib.h>
#include <string.h>

#include "analyze/call_filter.h"
#include "analyze/call_stack.h"
#include "base/text.h"
#include "model/call_values.h"
#include "server/api.h"
#include "server/request.h"
#include "server/served.h"

enum { CALL_MAX = 2000 };

static bool need_recording(const struct cn_served *served, struct cn_error *err)
{
    return served->recording ||
           cn_fail(err, CN_ERR_USAGE, "%s is no recording of calls", served->name);
}

static bool chosen_task(const struct cn_recording *rec, const struct cn_request *request,
                        uint64_t *task, struct cn_error *err)
{
    if (rec->task_count == 0)
        return cn_fail(err, CN_ERR_NOT_FOUND, "the recording has no tasks");
    return cn_request_u64(request, "task", 0, rec->task_count - 1, 0, task, err);
}

/* Times are nanoseconds from the first record of all tasks. */
static uint64_t origin_of(const struct cn_recording *rec)
{
    uint64_t first_ns = UINT64_MAX;

    for (uint32_t i = 0; i < rec->task_count; i++)
        if (rec->tasks[i].first_ns > 0 && rec->tasks[i].first_ns < first_ns)
            first_ns = rec->tasks[i].first_ns;
    return first_ns == UINT64_MAX ? 0 : first_ns;
}

/* The time in a parameter; 0, the start, when it was not given. */
static bool chosen_time(const struct cn_request *request, const char *name,
                        uint64_t origin_ns, uint64_t *out, struct cn_error *err)
{
    if (!cn_request_u64(request, name, 0, UINT64_MAX - origin_ns, 0, out, err))
        return false;
    *out += origin_ns;
    return true;
}

static const char *const kind_names[] = {"enter", "exit", "lost", "event"};

static void add_call(struct cn_json *json, const struct cn_recording *rec, uint32_t task,
                     uint64_t origin_ns, const struct cn_call_batch *batch,
                     const struct cn_call *call)
{
    char buffer[CN_CALL_NAME_MAX];
    struct cn_text values = {0};

    cn_json_object(json);
    cn_json_add_u64(json, "time",
                    call->time_ns > origin_ns ? call->time_ns - origin_ns : 0);
    cn_json_add_str(json, "kind", kind_names[call->kind & 3]);
    cn_json_add_u64(json, "depth", call->depth);
    if (call->kind == CN_CALL_EVENT) {
        cn_json_add_str(json, "name", cn_recording_event_name(rec, call->address));
        (void)cn_recording_print_event(rec, batch, call, false, &values);
    } else if (call->kind != CN_CALL_LOST) {
        cn_json_add_str(json, "name",
                        cn_call_name(rec, call->function, call->address, buffer));
        cn_recording_print_arguments(rec, task, batch, call, &values);
    }
    cn_json_add_str(json, "values", cn_text_str(&values));
    cn_json_end(json);
    cn_text_done(&values);
}

static bool list_calls(const struct cn_recording *rec, uint32_t task,
                       struct cn_time_range range, uint64_t limit, struct cn_json *json,
                       struct cn_error *err)
{
    uint64_t origin_ns = origin_of(rec);
    struct cn_call_stream *stream;
    struct cn_call_batch batch;
    enum cn_step step = CN_ITEM;

    if (!cn_recording_stream_open(rec, task, range, &stream, err))
        return false;
    while (limit > 0 && (step = cn_call_stream_next(stream, &batch, err)) == CN_ITEM)
        for (size_t i = 0; i < batch.count && limit > 0; i++, limit--)
            add_call(json, rec, task, origin_ns, &batch, &batch.calls[i]);
    cn_call_stream_close(stream);
    return step != CN_FAIL;
}

bool cn_api_calls(struct cn_served *served, struct cn_request *request,
                  struct cn_error *err)
{
    struct cn_time_range range = cn_time_always;
    uint64_t task, limit;
    bool ok;

    if (!need_recording(served, err) ||
        !chosen_task(served->recording, request, &task, err) ||
        !chosen_time(request, "time", origin_of(served->recording), &range.first_ns,
                     err) ||
        !cn_request_u64(request, "limit", 1, CALL_MAX, 200, &limit, err))
        return false;
    cn_json_object(&request->json);
    cn_json_key(&request->json, "calls");
    cn_json_array(&request->json);
    ok = list_calls(served->recording, (uint32_t)task, range, limit, &request->json, err);
    cn_json_end(&request->json);
    cn_json_end(&request->json);
    return ok;
}

struct hunt {
    const struct cn_recording *rec;
    const char *name;
    uint64_t longer_ns;
    struct cn_call_end end;
    bool is_found;
};

static void look(struct hunt *hunt, const struct cn_call_end *end)
{
    char buffer[CN_CALL_NAME_MAX];

    if (!end->has_time || end->total_ns < hunt->longer_ns)
        return;
    if (strcmp(cn_call_name(hunt->rec, end->frame.function, end->frame.address, buffer),
               hunt->name) != 0)
        return;
    /* Calls end in another order than they begin: the first to begin is wanted. */
    if (hunt->is_found && hunt->end.frame.enter_ns <= end->frame.enter_ns)
        return;
    hunt->end = *end;
    hunt->is_found = true;
}

/* Whether a call that is still open may have begun before what was found. */
static bool is_settled(const struct hunt *hunt, const struct cn_call_stack *stack)
{
    return hunt->is_found &&
           (stack->count == 0 || stack->frames[0].enter_ns > hunt->end.frame.enter_ns);
}

static bool search(struct hunt *hunt, struct cn_call_stack *stack,
                   struct cn_call_stream *stream, struct cn_error *err)
{
    struct cn_call_batch batch;
    enum cn_step step = CN_END;

    while (!is_settled(hunt, stack) &&
           (step = cn_call_stream_next(stream, &batch, err)) == CN_ITEM)
        for (size_t i = 0; i < batch.count; i++) {
            struct cn_call_end end;

            if (batch.calls[i].kind == CN_CALL_ENTER) {
                (void)cn_call_stack_enter(stack, &batch.calls[i], &batch, NULL);
            } else if (batch.calls[i].kind == CN_CALL_EXIT) {
                cn_call_stack_leave(stack, &batch.calls[i], &end);
                look(hunt, &end);
            }
        }
    return step != CN_FAIL;
}

static bool find_in_task(struct hunt *hunt, uint32_t task, struct cn_time_range range,
                         struct cn_error *err)
{
    struct cn_call_filter filter;
    struct cn_call_stack stack;
    struct cn_call_stream *stream;
    bool is_on = true, ok;

    cn_call_filter_init(&filter, hunt->rec);
    filter.depth = UINT32_MAX;
    cn_call_filter_ready(&filter);
    cn_call_stack_init(&stack, hunt->rec, &filter, task, true, &is_on);
    ok = cn_recording_stream_open(hunt->rec, task, range, &stream, err);
    if (ok) {
        ok = search(hunt, &stack, stream, err);
        cn_call_stream_close(stream);
    }
    cn_call_stack_done(&stack);
    cn_call_filter_done(&filter);
    return ok;
}

bool cn_api_find(struct cn_served *served, struct cn_request *request,
                 struct cn_error *err)
{
    struct cn_json *json = &request->json;
    struct cn_time_range range = cn_time_always;
    struct hunt hunt = {.rec = served->recording};
    uint64_t task;

    hunt.name = cn_request_value(request, "function");
    if (!hunt.name)
        return cn_fail(err, CN_ERR_USAGE, "function is missing: which one?");
    if (!need_recording(served, err) || !chosen_task(hunt.rec, request, &task, err) ||
        !cn_request_u64(request, "longer", 0, UINT64_MAX, 0, &hunt.longer_ns, err) ||
        !chosen_time(request, "after", origin_of(hunt.rec), &range.first_ns, err) ||
        !find_in_task(&hunt, (uint32_t)task, range, err))
        return false;
    cn_json_object(json);
    cn_json_add_bool(json, "isFound", hunt.is_found);
    if (hunt.is_found) {
        cn_json_add_u64(json, "time", hunt.end.frame.enter_ns - origin_of(hunt.rec));
        cn_json_add_u64(json, "duration", hunt.end.total_ns);
        cn_json_add_u64(json, "depth", hunt.end.frame.depth);
    }
    cn_json_end(json);
    return true;
}
