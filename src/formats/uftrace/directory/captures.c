#include "formats/uftrace/directory/captures.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/sort.h"
#include "formats/gpu/records.h"
#include "formats/uftrace/directory/stream.h"
#include "model/contexts/context.h"
#include "model/gpu/work.h"

enum { DEPTH_MAX = 1024 }; /* calls of a path; the innermost are left out */

/* Some call of a task made nodes at this time. */
struct capture {
    uint64_t time_ns;
    uint32_t task, number;
};

struct cn_uft_captures {
    struct capture *list;
    uint32_t *path_of; /* by number: 1 + path */
    struct cn_caller_path *paths;
    struct cn_map number_of; /* by path of the records: 1 + number */
    struct cn_map known;     /* paths by parent and function */
    size_t count, capacity, path_count, path_capacity;
};

struct cn_uft_captures *cn_uft_captures_new(void)
{
    return cn_alloc(1, sizeof(struct cn_uft_captures));
}

void cn_uft_captures_free(struct cn_uft_captures *captures)
{
    if (!captures)
        return;
    free(captures->list);
    free(captures->path_of);
    free(captures->paths);
    cn_map_done(&captures->number_of);
    cn_map_done(&captures->known);
    free(captures);
}

uint32_t cn_uft_captures_add(struct cn_uft_captures *captures,
                             const struct cn_gpu_records *records, uint32_t capture)
{
    struct cn_gpu_path path;

    if (capture == 0)
        return 0;
    path = cn_gpu_records_path(records, capture - 1);
    if (path.thread == CN_NONE)
        return 0;
    uint32_t *number =
        cn_map_at(&captures->number_of, capture, (uint32_t)captures->count + 1);
    if (*number == captures->count + 1) {
        CN_PUSH(captures->list, captures->count, captures->capacity,
                (struct capture){path.time_ns, path.thread, *number});
    }
    return *number;
}

static uint32_t path_below(struct cn_uft_captures *captures, uint32_t parent,
                           uint32_t function)
{
    uint64_t key = (uint64_t)parent << 32 | function;
    uint32_t at = *cn_map_at(&captures->known, key, (uint32_t)captures->path_count);

    if (at == captures->path_count) {
        CN_PUSH(captures->paths, captures->path_count, captures->path_capacity,
                (struct cn_caller_path){parent, function});
    }
    return at;
}

/* The calls of a task that are open, as they are read. */
struct open_calls {
    uint32_t functions[DEPTH_MAX];
    uint32_t depth; /* may be more */
};

/* The path of the open calls; CN_NONE: there are none. */
static uint32_t path_of(struct cn_uft_captures *captures, const struct open_calls *open)
{
    uint32_t path = CN_NONE;

    for (uint32_t i = 0; i < open->depth && i < DEPTH_MAX; i++)
        if (open->functions[i] != CN_NONE)
            path = path_below(captures, path, open->functions[i]);
    return path;
}

static void follow(struct open_calls *open, const struct cn_call *call)
{
    if (call->kind == CN_CALL_ENTER) {
        if (open->depth < DEPTH_MAX)
            open->functions[open->depth] = call->function;
        open->depth++;
    } else if (call->kind == CN_CALL_EXIT && open->depth > 0) {
        open->depth--;
    }
}

/* Note the paths of the captures of a task, from `first` on; returns the end of them. */
static size_t find_of_task(struct cn_uft_captures *captures,
                           const struct cn_uft_directory *dir, size_t first)
{
    const struct capture *list = captures->list;
    size_t end = first, at = first;
    struct open_calls open = {.depth = 0};
    struct cn_call_batch batch;
    struct cn_error damage;

    while (end < captures->count && list[end].task == list[first].task)
        end++;
    struct cn_time_range range = {.last_ns = list[end - 1].time_ns};
    struct cn_uft_stream *stream =
        cn_uft_task_stream_new(dir, list[first].task, range, false);
    while (at < end && stream->next(stream, &batch, &damage) == CN_ITEM)
        for (size_t i = 0; i < batch.count && at < end; i++) {
            for (; at < end && list[at].time_ns < batch.calls[i].time_ns; at++)
                captures->path_of[list[at].number] = 1 + path_of(captures, &open);
            follow(&open, &batch.calls[i]);
        }
    for (; at < end; at++)
        captures->path_of[list[at].number] = 1 + path_of(captures, &open);
    stream->close(stream);
    return end;
}

void cn_uft_captures_find(struct cn_uft_captures *captures, struct cn_uft_directory *dir,
                          struct cn_gpu_work *work)
{
    if (captures->count == 0)
        return;
    CN_SORT(captures->list, captures->count, CN_UP(struct capture, task),
            CN_UP(struct capture, time_ns), CN_UP(struct capture, number));
    captures->path_of = cn_alloc(captures->count + 1, sizeof(*captures->path_of));
    for (size_t first = 0; first < captures->count;)
        first = find_of_task(captures, dir, first);
    for (uint32_t i = 0; i < work->op_count; i++)
        if (work->ops[i].capture > 0)
            work->ops[i].capture = captures->path_of[work->ops[i].capture];
    dir->rec.paths = captures->paths;
    dir->rec.path_count = (uint32_t)captures->path_count;
}
