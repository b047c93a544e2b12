#include "store/trace/critical_path.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "store/trace/distributed.h"

/* A call, or a branch of the trace without a caller. */
struct child {
    uint32_t branch, node;
    uint64_t begin_ns, end_ns;
};

/* A call whose callees are followed, the last one first. The children of all frames are in one
 * list, those of the innermost frame at its end. */
struct critical_frame {
    uint32_t branch, node;
    uint64_t begin_ns;
    uint64_t at_ns; /* the path is known from here to the end */
    size_t first_child, next_child;
};

struct critical_finding {
    const struct cn_trace_set *set;
    struct cn_critical_path path;
    struct critical_frame *frames;
    size_t frame_count, frame_capacity;
    struct child *children;
    size_t child_count, child_capacity;
};

static void add_child(struct critical_finding *f, const struct child *caller,
                      uint32_t branch, uint32_t node)
{
    const struct cn_trace_branch *b = &f->set->branches[branch];
    uint64_t begin_ns = cn_trace_branch_begin_ns(b, node);
    uint64_t end_ns = cn_trace_branch_end_ns(b, node);

    CN_PUSH(f->children, f->child_count, f->child_capacity,
            (struct child){
                .branch = branch,
                .node = node,
                .begin_ns = begin_ns > caller->begin_ns ? begin_ns : caller->begin_ns,
                .end_ns = end_ns < caller->end_ns ? end_ns : caller->end_ns,
            });
}

/* Add the callees of a call, within its time. */
static void add_children(struct critical_finding *f, const struct child *call)
{
    const struct cn_trace_branch *branch = &f->set->branches[call->branch];
    const struct cn_trace_node *nodes = branch->trace.nodes;

    for (uint32_t i = call->node + 1; i < nodes[call->node].end; i = nodes[i].end)
        add_child(f, call, call->branch, i);
    for (uint32_t i = branch->first_children[call->node]; i != CN_NONE;
         i = f->set->branches[i].next) {
        if (f->set->branches[i].trace.node_count > 0)
            add_child(f, call, i, 0);
    }
}

static void begin_frame(struct critical_finding *f, const struct child *call)
{
    struct critical_frame frame = {
        .branch = call->branch,
        .node = call->node,
        .begin_ns = call->begin_ns,
        .at_ns = call->end_ns,
        .first_child = f->child_count,
        .next_child = f->child_count,
    };

    if (call->branch != CN_NONE) {
        f->path.self_ns[call->branch][call->node] = 0;
        add_children(f, call);
    }
    for (uint32_t i = 0; call->branch == CN_NONE && i < f->set->count; i++) {
        if (f->set->branches[i].parent == CN_NONE &&
            f->set->branches[i].trace.node_count > 0)
            add_child(f, call, i, 0);
    }
    /* The last end first; of equals the longest, then the first of the trace. */
    CN_SORT(f->children + frame.first_child, f->child_count - frame.first_child,
            CN_DOWN(struct child, end_ns), CN_UP(struct child, begin_ns),
            CN_UP(struct child, branch), CN_UP(struct child, node));
    CN_PUSH(f->frames, f->frame_count, f->frame_capacity, frame);
}

/* The call's own time, from `begin_ns` to where the path is known. */
static void add_step(struct critical_finding *f, struct critical_frame *frame,
                     uint64_t begin_ns)
{
    struct cn_critical_path *path = &f->path;

    if (begin_ns >= frame->at_ns)
        return;
    CN_PUSH(path->steps, path->count, path->capacity,
            (struct cn_critical_step){
                .branch = frame->branch,
                .node = frame->node,
                .begin_ns = begin_ns,
                .end_ns = frame->at_ns,
            });
    if (frame->branch != CN_NONE)
        path->self_ns[frame->branch][frame->node] += frame->at_ns - begin_ns;
    frame->at_ns = begin_ns;
}

/* Follow the next callee of the innermost frame, or end it. A callee that was still running
 * when the next one on the path began is not on it. */
static void follow(struct critical_finding *f)
{
    struct critical_frame *frame = &f->frames[f->frame_count - 1];

    while (frame->next_child < f->child_count) {
        struct child child = f->children[frame->next_child++];

        if (child.end_ns > frame->at_ns || child.begin_ns >= child.end_ns)
            continue;
        add_step(f, frame, child.end_ns);
        frame->at_ns = child.begin_ns;
        begin_frame(f, &child);
        return;
    }
    add_step(f, frame, frame->begin_ns);
    f->child_count = frame->first_child;
    f->frame_count--;
}

static void reverse(struct cn_critical_path *path)
{
    for (size_t i = 0; i < path->count / 2; i++) {
        struct cn_critical_step step = path->steps[i];

        path->steps[i] = path->steps[path->count - 1 - i];
        path->steps[path->count - 1 - i] = step;
    }
}

void cn_critical_path_find(struct cn_critical_path *out, const struct cn_trace_set *set)
{
    struct critical_finding f = {.set = set, .path = {.begin_ns = UINT64_MAX}};

    f.path.branch_count = set->count;
    f.path.self_ns = cn_alloc(set->count, sizeof(*f.path.self_ns));
    for (uint32_t i = 0; i < set->count; i++) {
        const struct cn_trace_branch *branch = &set->branches[i];
        uint32_t count = branch->trace.node_count;

        f.path.self_ns[i] = cn_alloc(count, sizeof(**f.path.self_ns));
        for (uint32_t n = 0; n < count; n++)
            f.path.self_ns[i][n] = UINT64_MAX;
        if (count == 0 || branch->parent != CN_NONE)
            continue;
        uint64_t end_ns = cn_trace_branch_end_ns(branch, 0);
        if (branch->row.time_ns < f.path.begin_ns)
            f.path.begin_ns = branch->row.time_ns;
        if (end_ns > f.path.end_ns)
            f.path.end_ns = end_ns;
    }
    if (f.path.end_ns > f.path.begin_ns)
        begin_frame(&f, &(struct child){.branch = CN_NONE,
                                        .node = CN_NONE,
                                        .begin_ns = f.path.begin_ns,
                                        .end_ns = f.path.end_ns});
    while (f.frame_count > 0)
        follow(&f);
    reverse(&f.path);
    free(f.frames);
    free(f.children);
    *out = f.path;
}

void cn_critical_path_done(struct cn_critical_path *path)
{
    for (size_t i = 0; i < path->branch_count; i++)
        free(path->self_ns[i]);
    free(path->self_ns);
    free(path->steps);
    *path = (struct cn_critical_path){0};
}
