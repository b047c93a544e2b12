#include "server/api/call_walk.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/calls/call_stack.h"
#include "base/alloc.h"
#include "base/regex.h"

void cn_call_walk_init(struct cn_call_walk *walk, const struct cn_recording *rec,
                       uint32_t task, const struct cn_call_pieces *pieces)
{
    *walk = (struct cn_call_walk){.rec = rec, .task = task, .pieces = pieces};
}

void cn_call_walk_done(struct cn_call_walk *walk)
{
    cn_call_stream_close(walk->stream);
    *walk = (struct cn_call_walk){0};
}

uint32_t cn_call_walk_piece_at(const struct cn_call_walk *walk, uint64_t time_ns)
{
    uint32_t low = 0, high = walk->pieces->count;

    /* The last piece that begins before the time: its last records may be of it. */
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;

        if (walk->pieces->parts[middle].begin_ns < time_ns)
            low = middle;
        else
            high = middle;
    }
    return low;
}

void cn_call_walk_seek(struct cn_call_walk *walk, uint32_t piece)
{
    cn_call_stream_close(walk->stream);
    walk->stream = NULL;
    walk->next = (struct cn_call_place){.piece = piece};
}

static bool open_piece(struct cn_call_walk *walk, struct cn_error *err)
{
    if (walk->pieces->parts)
        return cn_recording_part_open(walk->rec, walk->task,
                                      &walk->pieces->parts[walk->next.piece],
                                      &walk->stream, err);
    return cn_recording_stream_open(walk->rec, walk->task, cn_time_always, &walk->stream,
                                    err);
}

enum cn_step cn_call_walk_next(struct cn_call_walk *walk, struct cn_call_batch *out,
                               struct cn_call_place *first, struct cn_error *err)
{
    for (;;) {
        enum cn_step step;

        if (!walk->stream && walk->next.piece >= walk->pieces->count)
            return CN_END;
        if (!walk->stream && !open_piece(walk, err))
            return CN_FAIL;
        step = cn_call_stream_next(walk->stream, out, err);
        if (step == CN_ITEM) {
            *first = walk->next;
            walk->next.index += out->count;
            return CN_ITEM;
        }
        if (step == CN_FAIL)
            return CN_FAIL;
        cn_call_walk_seek(walk, walk->next.piece + 1);
    }
}

bool cn_call_wish_init(struct cn_call_wish *wish, const struct cn_recording *rec,
                       const char *function, uint64_t longer_ns, uint32_t depth_max,
                       struct cn_error *err)
{
    *wish = (struct cn_call_wish){
        .function = function && *function ? function : NULL,
        .longer_ns = longer_ns,
        .depth_max = depth_max,
    };
    wish->has_limits = wish->function || longer_ns > 0 || depth_max < UINT32_MAX;
    if (wish->function && strpbrk(function, ".*[]^$()|?+\\") &&
        !cn_regex_new(&wish->regex, function, 0, err))
        return cn_fail_in(err, "pattern '%.100s'", function);
    wish->known = cn_alloc(rec->function_count, 1);
    return true;
}

void cn_call_wish_done(struct cn_call_wish *wish)
{
    cn_regex_free(wish->regex);
    free(wish->known);
    *wish = (struct cn_call_wish){0};
}

static bool is_meant(const struct cn_call_wish *wish, const char *name)
{
    return strcmp(name, wish->function) == 0 ||
           (wish->regex && cn_regex_matches(wish->regex, name, strlen(name)));
}

bool cn_call_wish_holds(struct cn_call_wish *wish, const struct cn_recording *rec,
                        const struct cn_call *call)
{
    char buffer[CN_CALL_NAME_MAX];
    char *known;

    if (!wish->has_limits)
        return true;
    if (call->kind != CN_CALL_ENTER || call->depth > wish->depth_max)
        return false;
    if (!wish->function)
        return true;
    if (call->function >= rec->function_count)
        return is_meant(wish, cn_call_name(rec, call->function, call->address, buffer));
    known = &wish->known[call->function];
    if (*known == 0)
        *known = is_meant(wish, rec->functions[call->function].name) ? 'y' : 'n';
    return *known == 'y';
}
