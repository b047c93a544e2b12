#include "server/api/call_walk.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/calls/stack.h"
#include "base/alloc.h"
#include "base/search.h"
#include "model/calls/values.h"

void cn_call_walk_init(struct cn_call_walk *walk, const struct cn_recording *rec,
                       uint32_t task, const struct cn_task_parts *parts)
{
    *walk = (struct cn_call_walk){.rec = rec, .task = task, .parts = parts};
}

void cn_call_walk_done(struct cn_call_walk *walk)
{
    cn_call_stream_close(walk->stream);
    *walk = (struct cn_call_walk){0};
}

static bool begins_before(const void *parts, uint64_t i, uint64_t time_ns)
{
    return ((const struct cn_call_part *)parts)[i].begin_ns < time_ns;
}

uint32_t cn_call_walk_part_at(const struct cn_call_walk *walk, uint64_t time_ns)
{
    /* The last part that begins before the time: its last records may be of that time. */
    return (uint32_t)cn_search(1, walk->parts->count, begins_before, walk->parts->list,
                               time_ns) -
           1;
}

void cn_call_walk_seek(struct cn_call_walk *walk, uint32_t part)
{
    cn_call_stream_close(walk->stream);
    walk->stream = NULL;
    walk->next = (struct cn_call_position){.part = part};
}

static bool open_part(struct cn_call_walk *walk, struct cn_error *err)
{
    const struct cn_call_part *list = walk->parts->list;

    return list ? cn_recording_part_open(walk->rec, walk->task, &list[walk->next.part],
                                         &walk->stream, err)
                : cn_recording_stream_open(walk->rec, walk->task, cn_time_always,
                                           &walk->stream, err);
}

enum cn_step cn_call_walk_next(struct cn_call_walk *walk, struct cn_call_batch *out,
                               struct cn_call_position *first, struct cn_error *err)
{
    for (;;) {
        if (!walk->stream && walk->next.part >= walk->parts->count)
            return CN_END;
        if (!walk->stream && !open_part(walk, err))
            return CN_FAIL;
        enum cn_step step = cn_call_stream_next(walk->stream, out, err);
        if (step == CN_ITEM) {
            *first = walk->next;
            walk->next.index += out->count;
            return CN_ITEM;
        }
        if (step == CN_FAIL)
            return CN_FAIL;
        cn_call_walk_seek(walk, walk->next.part + 1);
    }
}

static bool is_given(const char *text)
{
    return text && *text;
}

bool cn_call_criteria_begin(struct cn_call_criteria *criteria,
                            const struct cn_recording *rec, struct cn_error *err)
{
    const char *function = criteria->function;

    criteria->has_limits = is_given(function) || is_given(criteria->values) ||
                           criteria->longer_ns > 0 || criteria->depth_max < UINT32_MAX;
    if (is_given(function) && strpbrk(function, ".*[]^$()|?+\\") &&
        !cn_name_filter_add(&criteria->filter, function, CN_MATCH_REGEX, err))
        return false;
    criteria->known = cn_alloc(rec->function_count, 1);
    return true;
}

void cn_call_criteria_done(struct cn_call_criteria *criteria)
{
    cn_name_filter_done(&criteria->filter);
    free(criteria->known);
    cn_text_done(&criteria->scratch);
    *criteria = (struct cn_call_criteria){0};
}

static bool has_name(const struct cn_call_criteria *criteria, const char *name)
{
    return strcmp(name, criteria->function) == 0 ||
           (criteria->filter.count > 0 &&
            cn_name_filter_matches(&criteria->filter, name));
}

static bool match_name(struct cn_call_criteria *criteria, const struct cn_recording *rec,
                       const struct cn_call *call)
{
    char buffer[CN_CALL_NAME_MAX];
    char *known;

    if (!is_given(criteria->function))
        return true;
    if (call->function >= rec->function_count)
        return has_name(criteria,
                        cn_call_name(rec, call->function, call->address, buffer));
    known = &criteria->known[call->function];
    if (*known == 0)
        *known = has_name(criteria, rec->functions[call->function].name) ? 'y' : 'n';
    return *known == 'y';
}

bool cn_call_criteria_match(struct cn_call_criteria *criteria,
                            const struct cn_call_walk *walk, const struct cn_call *call)
{
    return !criteria->has_limits ||
           (call->kind == CN_CALL_ENTER && call->depth <= criteria->depth_max &&
            match_name(criteria, walk->rec, call));
}

bool cn_call_criteria_has_text(struct cn_call_criteria *criteria,
                               const struct cn_call_walk *walk,
                               const struct cn_call_batch *batch,
                               const struct cn_call *call)
{
    if (!is_given(criteria->values))
        return true;
    cn_text_clear(&criteria->scratch);
    cn_recording_print_arguments(walk->rec, walk->task, batch, call, &criteria->scratch);
    return strcasestr(cn_text_str(&criteria->scratch), criteria->values) != NULL;
}
