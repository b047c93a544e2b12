#include "server/api/call_list.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "model/calls/values.h"

enum {
    READ_MAX = 1500000, /* records that one request reads */
    ENDS_MAX = 1500000, /* records read for the exits of calls that are listed */
    SLACK = 4096,       /* items beyond the wanted ones before the list is trimmed */
};

/* An open call that is no longer in the list. */
static const uint32_t not_listed = UINT32_MAX;

void cn_call_list_init(struct cn_call_list *list, struct cn_call_walk *walk,
                       struct cn_call_criteria *criteria, uint64_t limit)
{
    *list = (struct cn_call_list){.walk = walk, .criteria = criteria, .limit = limit};
}

static void free_item(struct cn_call_item *item)
{
    cn_text_done(&item->values);
    cn_text_done(&item->result);
}

void cn_call_list_done(struct cn_call_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free_item(&list->items[i]);
    free(list->items);
    free(list->open);
    *list = (struct cn_call_list){0};
}

static bool is_short(const struct cn_call_list *list, const struct cn_call_item *item,
                     uint64_t end_ns)
{
    return item->call.kind == CN_CALL_ENTER &&
           end_ns < item->call.time_ns + list->criteria->longer_ns;
}

bool cn_call_list_shows(const struct cn_call_list *list, const struct cn_call_item *item)
{
    return !item->is_dropped && !item->is_doubtful &&
           !is_short(list, item, item->is_open ? list->time_ns : item->end_ns);
}

static void settle(struct cn_call_list *list, struct cn_call_item *item)
{
    list->doubtful_count -= item->is_doubtful;
    item->is_doubtful = false;
}

static void take_result(struct cn_call_list *list, struct cn_call_item *item,
                        const struct cn_call_batch *batch, const struct cn_call *exit)
{
    if (!list->is_backwards)
        cn_recording_print_arguments(list->walk->rec, list->walk->task, batch, exit,
                                     &item->result);
    if (item->is_doubtful &&
        cn_call_criteria_has_text(list->criteria, list->walk, batch, exit))
        settle(list, item);
}

/* A record ends the open calls of its depth and deeper ones. */
static void end_calls(struct cn_call_list *list, const struct cn_call_batch *batch,
                      const struct cn_call *call)
{
    while (list->open_count > 0) {
        uint32_t number = list->open[list->open_count - 1];
        struct cn_call_item *item = number == not_listed ? NULL : &list->items[number];

        if (item && item->call.depth < call->depth)
            break;
        list->open_count--;
        if (!item)
            continue;
        item->is_open = false;
        item->end_ns = call->time_ns;
        if (call->kind == CN_CALL_EXIT && item->call.depth == call->depth)
            take_result(list, item, batch, call);
        if (!item->is_doubtful && !is_short(list, item, item->end_ns))
            continue;
        settle(list, item);
        item->is_dropped = true;
        list->dropped_count++;
    }
    while (list->count > 0 && list->items[list->count - 1].is_dropped) {
        free_item(&list->items[--list->count]);
        list->dropped_count--;
    }
}

static void add_item(struct cn_call_list *list, const struct cn_call_batch *batch,
                     const struct cn_call *call, struct cn_call_position position)
{
    struct cn_call_item *item;

    CN_GROW(list->items, list->count, list->capacity);
    item = &list->items[list->count];
    *item = (struct cn_call_item){.position = position, .call = *call};
    if (call->kind == CN_CALL_ENTER) {
        item->is_open = true;
        item->is_doubtful =
            !cn_call_criteria_has_text(list->criteria, list->walk, batch, call);
        list->doubtful_count += item->is_doubtful;
        CN_PUSH(list->open, list->open_count, list->open_capacity, (uint32_t)list->count);
    }
    if (call->kind == CN_CALL_EVENT && !list->is_backwards)
        (void)cn_recording_print_event(list->walk->rec, batch, call, false,
                                       &item->values);
    else if (call->kind != CN_CALL_LOST && !list->is_backwards)
        cn_recording_print_arguments(list->walk->rec, list->walk->task, batch, call,
                                     &item->values);
    list->count++;
}

/* Before a bound only the last items count, and those that are still open. */
static void drop_first(struct cn_call_list *list)
{
    size_t rest = (size_t)list->limit + list->open_count + list->dropped_count;

    if (!list->is_backwards || list->count < 2 * rest + SLACK)
        return;
    size_t gone = list->count - rest;
    for (size_t i = 0; i < list->count; i++) {
        if (i < gone)
            free_item(&list->items[i]);
        else
            list->items[i - gone] = list->items[i];
    }
    list->count = rest;
    for (size_t i = 0; i < list->open_count; i++)
        if (list->open[i] != not_listed)
            list->open[i] =
                list->open[i] < gone ? not_listed : list->open[i] - (uint32_t)gone;
    list->dropped_count = list->doubtful_count = 0;
    for (size_t i = 0; i < list->count; i++) {
        list->dropped_count += list->items[i].is_dropped;
        list->doubtful_count += list->items[i].is_doubtful;
    }
}

static bool is_before(const struct cn_call_bound *bound, struct cn_call_position position,
                      const struct cn_call *call)
{
    if (position.part != bound->position.part)
        return position.part < bound->position.part;
    return position.index < bound->position.index ||
           (call->kind != CN_CALL_LOST && call->time_ns < bound->time_ns);
}

bool cn_call_list_is_full(const struct cn_call_list *list)
{
    return !list->is_backwards &&
           list->count - list->dropped_count - list->doubtful_count >= list->limit;
}

/* True if the durations of all calls are known, or known to be long enough. */
static bool is_settled(const struct cn_call_list *list)
{
    for (size_t i = list->open_count; i-- > 0;) {
        const struct cn_call_item *item =
            list->open[i] == not_listed ? NULL : &list->items[list->open[i]];

        if (item && (!list->is_backwards || item->is_doubtful ||
                     is_short(list, item, list->time_ns)))
            return false;
    }
    return true;
}

/* False when the list is complete. */
static bool read_record(struct cn_call_list *list, const struct cn_call_batch *batch,
                        const struct cn_call *call, struct cn_call_position position,
                        uint64_t *beyond)
{
    bool is_call = call->kind == CN_CALL_ENTER || call->kind == CN_CALL_EXIT;
    bool is_left = is_before(&list->bound, position, call);
    bool is_wanted = is_left == list->is_backwards && !cn_call_list_is_full(list);

    if (call->kind != CN_CALL_LOST)
        list->time_ns = call->time_ns;
    if (is_call)
        end_calls(list, batch, call);
    if (is_wanted && cn_call_criteria_match(list->criteria, list->walk, call)) {
        add_item(list, batch, call, position);
        drop_first(list);
    }
    if (list->is_backwards ? is_left : !cn_call_list_is_full(list))
        return true;
    ++*beyond;
    return !is_settled(list);
}

/* The least depth of the calls of the part that is read. */
struct part_depth {
    uint32_t part, depth;
    bool is_whole; /* read from its first record on */
};

/* When another part begins: all of the one before was read. */
static void begin_part(const struct cn_call_list *list, struct part_depth *of,
                       struct cn_call_position first)
{
    if (first.part == of->part && first.index > 0)
        return;
    if (of->is_whole)
        cn_task_parts_set_depth(list->walk->parts, of->part, of->depth);
    *of = (struct part_depth){first.part, UINT32_MAX - 1, first.index == 0};
}

static void note_depths(struct part_depth *of, const struct cn_call_batch *batch)
{
    for (size_t i = 0; of->is_whole && i < batch->count; i++)
        if ((batch->calls[i].kind == CN_CALL_ENTER ||
             batch->calls[i].kind == CN_CALL_EXIT) &&
            batch->calls[i].depth < of->depth)
            of->depth = batch->calls[i].depth;
}

/* While only ends of calls are missing: go on with the next part that may have one. The last part
 * tells when the task ends. False if this is the one that begins here. */
static bool skip_parts(struct cn_call_list *list, struct cn_call_position first)
{
    const struct cn_task_parts *parts = list->walk->parts;
    uint32_t part = first.part;

    if (first.index > 0 || list->is_backwards || !cn_call_list_is_full(list) ||
        list->open_count == 0)
        return false;
    uint32_t depth = list->items[list->open[list->open_count - 1]].call.depth;
    while (part + 1 < parts->count && cn_task_parts_depth(parts, part) > depth)
        part++;
    if (part == first.part)
        return false;
    cn_call_walk_seek(list->walk, part);
    return true;
}

/* True if all of a batch is before the bound. */
static bool is_skipped(const struct cn_call_list *list, const struct cn_call_batch *batch,
                       struct cn_call_position first)
{
    const struct cn_call *last = &batch->calls[batch->count - 1];

    first.index += batch->count - 1;
    return !list->is_backwards && list->open_count == 0 &&
           is_before(&list->bound, first, last) &&
           (last->kind != CN_CALL_LOST || first.index < list->bound.position.index);
}

void cn_call_list_read(struct cn_call_list *list)
{
    struct part_depth depth = {.part = UINT32_MAX};
    struct cn_call_position first;
    struct cn_call_batch batch;
    uint64_t beyond = 0;

    while (cn_call_walk_next(list->walk, &batch, &first, &list->damage) == CN_ITEM) {
        begin_part(list, &depth, first);
        if (skip_parts(list, first)) {
            depth.is_whole = false;
            continue;
        }
        /* What was read of a part is of use to the next request if it was all of it. */
        list->lacks_ends = first.index == 0 && beyond >= ENDS_MAX;
        if (list->lacks_ends)
            return;
        note_depths(&depth, &batch);
        list->record_count += batch.count;
        if (is_skipped(list, &batch, first))
            continue;
        for (size_t i = 0; i < batch.count; i++) {
            struct cn_call_position position = {first.part, first.index + i};

            if (!read_record(list, &batch, &batch.calls[i], position, &beyond))
                return;
        }
        if (list->record_count > READ_MAX && !list->is_backwards &&
            !cn_call_list_is_full(list)) {
            list->is_cut = true;
            return;
        }
    }
    list->has_ended = list->damage.kind == CN_ERR_NONE;
}

uint64_t cn_call_list_before(struct cn_call_walk *walk, struct cn_call_criteria *criteria,
                             struct cn_call_bound bound, uint64_t count,
                             struct cn_call_position *out)
{
    uint64_t record_count = 0, found = 0;

    if (!criteria->has_limits && bound.time_ns == 0 && bound.position.index >= count) {
        *out = bound.position;
        out->index -= count;
        return count;
    }
    /* One part at a time, backwards. */
    for (uint32_t part = bound.position.part;; part--) {
        struct cn_call_position position = {.part = part};
        struct cn_call_list list;

        cn_call_list_init(&list, walk, criteria, count - found);
        list.is_backwards = true;
        list.bound = bound;
        cn_call_walk_seek(walk, part);
        cn_call_list_read(&list);
        for (size_t i = list.count; i-- > 0 && found < count;)
            if (cn_call_list_shows(&list, &list.items[i])) {
                position = list.items[i].position;
                found++;
            }
        record_count += list.record_count;
        cn_call_list_done(&list);
        *out = position;
        if (found == count || part == 0 || record_count > READ_MAX)
            return found;
        bound = (struct cn_call_bound){.position = {.part = part}};
    }
}
