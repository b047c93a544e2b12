#include "analyze/views/frames.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/labels/context.h"

struct frames_builder {
    struct cn_frames *frames;
    struct cn_database *db;
    struct cn_map place_of_function; /* spares looking up names again */
    struct cn_text text;
};

static uint32_t add_frame(struct cn_frames *frames, uint32_t parent, uint32_t depth,
                          uint32_t place)
{
    CN_GROW(frames->list, frames->count, frames->capacity);
    frames->list[frames->count] = (struct cn_frame){parent, depth, place};
    if (depth > frames->depth_max)
        frames->depth_max = depth;
    return (uint32_t)frames->count++;
}

static bool is_frame(const struct cn_context *context)
{
    switch (context->kind) {
    case CN_CONTEXT_ENTRY:
    case CN_CONTEXT_FUNCTION:
        return true;
    case CN_CONTEXT_LOOP:
    case CN_CONTEXT_LINE:
        return false;
    default:
        return context->relation != CN_LEXICAL;
    }
}

static bool is_named_function(const struct cn_context *context)
{
    return context->kind == CN_CONTEXT_FUNCTION && context->has_function &&
           context->function != CN_NONE;
}

/* An inlined function is the same place as one that was called. */
static bool add_label(struct frames_builder *b, const struct cn_context *context,
                      struct cn_error *err)
{
    cn_text_clear(&b->text);
    if (context->kind == CN_CONTEXT_FUNCTION)
        return cn_label_function(
            b->db, context->has_function ? context->function : CN_NONE, &b->text, err);
    return cn_label_context(b->db, context, &b->text, err);
}

/* The place of a name, which may be new. */
static uint32_t name_place(struct cn_frames *frames, const char *name, uint32_t function)
{
    size_t known = frames->names.count;
    uint32_t place = cn_names_add(&frames->names, name);

    CN_GROW(frames->functions, place, frames->function_capacity);
    if (place == known || frames->functions[place] == CN_NONE)
        frames->functions[place] = function;
    return place;
}

static bool find_place(struct frames_builder *b, const struct cn_context *context,
                       uint32_t *out, struct cn_error *err)
{
    uint32_t place = CN_NONE;

    if (is_named_function(context))
        place = cn_map_find(&b->place_of_function, context->function, CN_NONE);
    if (place == CN_NONE) {
        if (!add_label(b, context, err))
            return false;
        place = name_place(b->frames, cn_text_str(&b->text),
                           is_named_function(context) ? context->function : CN_NONE);
    }
    if (is_named_function(context))
        *cn_map_at(&b->place_of_function, context->function, place) = place;
    *out = place;
    return true;
}

static bool add_node(struct frames_builder *b, size_t node, struct cn_error *err)
{
    struct cn_frames *frames = b->frames;
    const struct cn_context_node *at = &frames->index.nodes[node];
    uint32_t parent = at->parent == CN_NONE ? CN_NONE : frames->of_node[at->parent];
    struct cn_context context;
    uint32_t place, depth = 0;

    if (!cn_context_at(b->db, at->at, &context, err))
        return false;
    if (parent != CN_NONE && !is_frame(&context)) {
        frames->of_node[node] = parent;
        return true;
    }
    if (parent != CN_NONE)
        depth = frames->list[parent].depth + 1;
    else if (context.kind != CN_CONTEXT_ENTRY)
        depth = 1; /* databases without entry points begin with functions */
    if (!find_place(b, &context, &place, err))
        return false;
    frames->of_node[node] = add_frame(frames, parent, depth, place);
    return true;
}

static bool add_nodes(struct frames_builder *b, const struct cn_progress *progress,
                      struct cn_error *err)
{
    enum { REPORT_EVERY = 1 << 16 };
    struct cn_frames *frames = b->frames;

    frames->of_node = cn_alloc(frames->index.count, sizeof(*frames->of_node));
    (void)add_frame(frames, CN_NONE, 0, name_place(frames, "<unknown context>", CN_NONE));
    for (size_t i = 0; i < frames->index.count; i++) {
        if (!add_node(b, i, err) ||
            (i % REPORT_EVERY == 0 &&
             !cn_progress_report(progress, "reading contexts", i, frames->index.count,
                                 "contexts", err)))
            return false;
    }
    return true;
}

bool cn_frames_build(struct cn_frames *out, struct cn_database *db,
                     const struct cn_progress *progress, struct cn_error *err)
{
    struct cn_frames frames = {0};
    struct frames_builder b = {.frames = &frames, .db = db};
    bool ok =
        cn_context_index_build(&frames.index, db, err) && add_nodes(&b, progress, err);

    cn_map_done(&b.place_of_function);
    cn_text_done(&b.text);
    if (!ok) {
        cn_frames_done(&frames);
        return false;
    }
    frames.list = cn_realloc(frames.list, frames.count, sizeof(*frames.list));
    frames.capacity = frames.count;
    *out = frames;
    return true;
}

static bool is_gpu_place(const struct cn_frames *frames, uint32_t frame)
{
    static const char gpu[] = "<gpu ";

    return strncmp(frames->names.list[frames->list[frame].place], gpu, strlen(gpu)) == 0;
}

bool cn_frames_is_gpu(const struct cn_frames *frames, uint32_t frame)
{
    uint32_t parent = frames->list[frame].parent;

    return is_gpu_place(frames, frame) ||
           (parent != CN_NONE && is_gpu_place(frames, parent));
}

void cn_frames_cut(const struct cn_frames *frames, uint32_t depth, uint32_t *out)
{
    for (uint32_t i = 0; i < frames->count; i++) {
        const struct cn_frame *frame = &frames->list[i];
        bool is_shown = frame->depth <= depth || frame->parent == CN_NONE ||
                        cn_frames_is_gpu(frames, i);

        out[i] = is_shown ? frame->place : out[frame->parent];
    }
}

void cn_cut_init(struct cn_cut *cut, const struct cn_frames *frames, uint32_t depth)
{
    bool is_cut = depth != CN_DEPTH_ALL;
    uint32_t *place_of_frame = cn_alloc(frames->count, sizeof(*place_of_frame));
    size_t id_limit = frames->index.id_limit > 0 ? frames->index.id_limit : 1;

    assert(id_limit <= UINT32_MAX);
    *cut = (struct cn_cut){
        .depth = depth,
        .idle = (uint32_t)cn_frames_place_count(frames, depth),
        .frames = frames,
        .place = cn_alloc(id_limit, sizeof(*cut->place)),
        .id_limit = (uint32_t)id_limit,
    };
    if (is_cut)
        cn_frames_cut(frames, depth, place_of_frame);
    for (uint32_t i = 1; i < cut->id_limit; i++) {
        uint32_t frame = cn_frames_find(frames, i);

        cut->place[i] = is_cut ? place_of_frame[frame] : frame;
    }
    cut->place[0] = cut->idle;
    free(place_of_frame);
}

void cn_cut_done(struct cn_cut *cut)
{
    free(cut->place);
    *cut = (struct cn_cut){0};
}

void cn_frames_done(struct cn_frames *frames)
{
    cn_context_index_done(&frames->index);
    free(frames->list);
    free(frames->of_node);
    free(frames->functions);
    cn_names_done(&frames->names);
    *frames = (struct cn_frames){0};
}
