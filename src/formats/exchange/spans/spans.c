#include "formats/exchange/spans/spans.h"

#include <stdlib.h>

#include "base/alloc.h"

bool cn_spans_open(struct cn_spans *spans, const struct cn_call_query *query,
                   uint32_t task, struct cn_error *err)
{
    *spans = (struct cn_spans){
        .query = query,
        .task = task,
        .is_on = !query->filter->is_off,
        .last_ns = query->rec->tasks[task].first_ns,
    };
    if (!cn_call_feed_open(&spans->feed, query->rec, query->filter, task, query->range,
                           err))
        return false;
    cn_call_stack_init(&spans->stack, query->rec, query->filter, task, false,
                       &spans->is_on);
    return true;
}

void cn_spans_close(struct cn_spans *spans)
{
    if (!spans->query)
        return;
    cn_call_feed_close(&spans->feed);
    cn_call_stack_done(&spans->stack);
    free(spans->open);
    *spans = (struct cn_spans){0};
}

/* The walk over one batch. */
struct walk {
    struct cn_spans *spans;
    const struct cn_call_batch *batch;
    cn_span_fn visit;
    void *arg;
};

static void begin(const struct walk *walk, const struct cn_call_frame *frame,
                  const struct cn_call *call)
{
    struct cn_spans *spans = walk->spans;
    struct cn_open_span *open;
    struct cn_span span;

    if (spans->count == spans->capacity)
        spans->open =
            cn_grow(spans->open, spans->count, &spans->capacity, sizeof(*spans->open));
    open = &spans->open[spans->count++];
    *open = (struct cn_open_span){
        .address = frame->address,
        .function = frame->function,
        .begin_ns = frame->enter_ns,
        .is_shown = frame->flags & CN_FRAME_SHOWN,
    };
    if (!open->is_shown)
        return;
    open->number = spans->next_number++;
    span = (struct cn_span){
        .kind = CN_SPAN_BEGIN,
        .depth = spans->depth++,
        .function = open->function,
        .address = open->address,
        .number = open->number,
        .time_ns = open->begin_ns,
        .begin_ns = open->begin_ns,
        .call = call,
        .batch = walk->batch,
    };
    walk->visit(walk->arg, &span);
}

/* End the innermost span; `call` is NULL when no record says so. */
static void end(const struct walk *walk, uint64_t time_ns, const struct cn_call *call)
{
    struct cn_spans *spans = walk->spans;
    const struct cn_open_span *open = &spans->open[--spans->count];
    uint64_t total_ns = time_ns > open->begin_ns ? time_ns - open->begin_ns : 0;
    struct cn_span span;

    if (spans->count > 0)
        spans->open[spans->count - 1].child_ns +=
            open->is_shown ? total_ns : open->child_ns;
    if (!open->is_shown)
        return;
    span = (struct cn_span){
        .kind = CN_SPAN_END,
        .has_begin = true,
        .is_repaired = !call,
        .depth = --spans->depth,
        .function = open->function,
        .address = open->address,
        .number = open->number,
        .time_ns = open->begin_ns + total_ns,
        .begin_ns = open->begin_ns,
        .child_ns = open->child_ns,
        .call = call,
        .batch = walk->batch,
    };
    walk->visit(walk->arg, &span);
}

static void enter(const struct walk *walk, const struct cn_call *call)
{
    struct cn_spans *spans = walk->spans;
    const struct cn_call_frame *frame =
        cn_call_stack_enter_quick(&spans->stack, call, walk->batch);
    size_t at = (size_t)(frame - spans->stack.frames);

    while (spans->count > at)
        end(walk, call->time_ns, NULL);
    begin(walk, frame, call);
}

static void leave(const struct walk *walk, const struct cn_call *call)
{
    struct cn_spans *spans = walk->spans;
    struct cn_call_end ended;
    struct cn_span span;
    size_t kept;

    cn_call_stack_leave_quick(&spans->stack, call, &ended);
    kept = spans->stack.count + ended.has_time;
    while (spans->count > kept)
        end(walk, call->time_ns, NULL);
    if (ended.has_time) {
        end(walk, call->time_ns, call);
        return;
    }
    if (!(ended.frame.flags & CN_FRAME_SHOWN))
        return;
    span = (struct cn_span){
        .kind = CN_SPAN_END,
        .depth = spans->depth,
        .function = call->function,
        .address = call->address,
        .time_ns = call->time_ns,
        .begin_ns = call->time_ns,
        .call = call,
        .batch = walk->batch,
    };
    walk->visit(walk->arg, &span);
}

static void tell(const struct walk *walk, const struct cn_call *call,
                 enum cn_span_kind kind)
{
    struct cn_spans *spans = walk->spans;
    struct cn_span span = {
        .kind = (uint8_t)kind,
        .depth = spans->depth,
        .function = CN_NONE,
        .address = call->address,
        .time_ns = call->time_ns ? call->time_ns : spans->last_ns,
        .begin_ns = call->time_ns,
        .call = call,
        .batch = walk->batch,
    };

    walk->visit(walk->arg, &span);
}

static void event(const struct walk *walk, const struct cn_call *call)
{
    struct cn_spans *spans = walk->spans;
    struct cn_call_end ended;

    if (call->address == CN_EVENT_SCHED_IN) {
        if (cn_call_stack_wake(&spans->stack, call, &ended))
            end(walk, call->time_ns, call);
    } else if (cn_call_stack_may_sleep(&spans->stack, call)) {
        begin(walk, cn_call_stack_sleep(&spans->stack, call), call);
    } else if (cn_call_stack_shows_event(&spans->stack, call)) {
        tell(walk, call, CN_SPAN_EVENT);
    }
}

static void visit_call(const struct walk *walk, const struct cn_call *call)
{
    if (call->time_ns > walk->spans->last_ns)
        walk->spans->last_ns = call->time_ns;
    switch ((enum cn_call_kind)call->kind) {
    case CN_CALL_ENTER:
        enter(walk, call);
        break;
    case CN_CALL_EXIT:
        leave(walk, call);
        break;
    case CN_CALL_EVENT:
        event(walk, call);
        break;
    case CN_CALL_LOST:
        tell(walk, call, CN_SPAN_LOST);
        break;
    }
}

enum cn_step cn_spans_next(struct cn_spans *spans, cn_span_fn visit, void *arg,
                           struct cn_error *err)
{
    struct cn_call_batch batch;
    struct walk walk = {.spans = spans, .visit = visit, .arg = arg};
    enum cn_step step = cn_call_feed_next(&spans->feed, &batch, err);

    if (step == CN_ITEM) {
        walk.batch = &batch;
        for (size_t i = 0; i < batch.count; i++)
            visit_call(&walk, &batch.calls[i]);
        return CN_ITEM;
    }
    return step;
}

void cn_spans_finish(struct cn_spans *spans, uint64_t end_ns, cn_span_fn visit, void *arg)
{
    struct walk walk = {.spans = spans, .visit = visit, .arg = arg};

    while (spans->count > 0)
        end(&walk, end_ns > spans->last_ns ? end_ns : spans->last_ns, NULL);
}
