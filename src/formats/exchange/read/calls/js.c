#include "formats/exchange/read/calls/js.h"

#include <inttypes.h>
#include <stdlib.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "formats/exchange/read/calls/import.h"
#include "model/contexts/context.h"

enum { NS_DIGITS = 3 /* of microseconds */ };

void cn_js_calls_done(struct cn_js_calls *js)
{
    for (size_t i = 0; i < js->count; i++)
        cn_js_profile_done(&js->list[i].profile);
    free(js->list);
    cn_map_done(&js->profile_of);
    cn_js_profile_done(&js->frames);
    free(js->threads);
    cn_map_done(&js->thread_of);
}

struct cn_js_profile *cn_js_calls_profile(struct cn_js_calls *js, uint64_t id,
                                          struct cn_js_thread thread)
{
    uint64_t key[2] = {id, thread.pid};
    uint32_t at =
        *cn_map_at(&js->profile_of, XXH3_64bits(key, sizeof(key)), (uint32_t)js->count);

    if (at == js->count) {
        CN_PUSH(js->list, js->count, js->capacity,
                (struct cn_js_traced){.thread = thread});
    }
    return &js->list[at].profile;
}

static bool take_sample(void *arg, const struct cn_json_member *member,
                        struct cn_error *err)
{
    struct cn_js_calls *js = arg;
    struct cn_bytes text = member->token.text;
    int64_t value;

    if (cn_json_key_is(member, "ts") && cn_json_as_scaled(text, NS_DIGITS, &value) &&
        value >= 0)
        js->sample.time_ns = (uint64_t)value;
    else if (cn_json_key_is(member, "sf"))
        (void)cn_json_as_u64(text, &js->sample.id);
    else if (cn_json_key_is(member, "pid"))
        (void)cn_json_as_u64(text, &js->sampled.pid);
    else if (cn_json_key_is(member, "tid"))
        (void)cn_json_as_u64(text, &js->sampled.tid);
    return cn_json_skip(js->json, member->kind, err);
}

static bool read_sample(void *arg, uint64_t off, struct cn_error *err)
{
    struct cn_js_calls *js = arg;
    struct cn_js_profile *p = &js->frames;
    uint32_t *thread;

    (void)off;
    js->sample = (struct cn_js_sample){.time_ns = UINT64_MAX, .id = UINT64_MAX};
    js->sampled = (struct cn_js_thread){0};
    if (!cn_json_read_object(js->json, take_sample, js, err))
        return false;
    /* Samples without a time or a stack are of other programs. */
    if (js->sample.time_ns == UINT64_MAX || js->sample.id == UINT64_MAX)
        return true;
    thread = cn_map_at(&js->thread_of, XXH3_64bits(&js->sampled, sizeof(js->sampled)),
                       (uint32_t)js->thread_count);
    if (*thread == js->thread_count) {
        CN_PUSH(js->threads, js->thread_count, js->thread_capacity, js->sampled);
    }
    js->sample.thread = *thread;
    CN_PUSH(p->samples, p->sample_count, p->sample_capacity, js->sample);
    return true;
}

bool cn_js_calls_read_samples(struct cn_js_calls *js, struct cn_json_reader *json,
                              struct cn_error *err)
{
    js->json = json;
    return cn_json_read_objects(json, read_sample, js, err);
}

static bool take_frame(void *arg, const struct cn_json_member *member,
                       struct cn_error *err)
{
    struct cn_js_calls *js = arg;
    uint64_t id;

    if (member->kind != CN_JSON_OBJECT ||
        !cn_json_as_u64(
            (struct cn_bytes){(const uint8_t *)member->key, strlen(member->key)}, &id))
        return cn_json_skip(js->json, member->kind, err);
    return cn_js_profile_take_frame(&js->frames, js->json, id, err);
}

bool cn_js_calls_read_frames(struct cn_js_calls *js, struct cn_json_reader *json,
                             struct cn_error *err)
{
    js->json = json;
    return cn_json_read_object(json, take_frame, js, err);
}

/* The calls of one thread that are open. */
struct js_stack {
    struct cn_call_import *import;
    const struct cn_js_profile *p;
    uint32_t track;
    uint32_t *open, *path; /* nodes, the outermost first */
    size_t depth;
};

/* The functions of a sample; a collection of garbage is called by what is open. */
static size_t find_path(struct js_stack *s, uint32_t node)
{
    const struct cn_js_node *nodes = s->p->nodes;
    uint8_t kind = node == CN_NONE ? CN_JS_IDLE : nodes[node].kind;
    size_t count = 0;

    if (kind == CN_JS_IDLE)
        return 0;
    if (kind == CN_JS_COLLECTOR) {
        count = s->depth;
        if (count > 0 && nodes[s->open[count - 1]].kind == CN_JS_COLLECTOR)
            return count;
        s->path[count] = node;
        return count + 1;
    }
    for (; node != CN_NONE; node = nodes[node].parent)
        if (nodes[node].kind != CN_JS_ROOT && nodes[node].depth <= CN_JS_DEPTH_MAX)
            s->path[count++] = node;
    for (size_t i = 0; i < count / 2; i++) {
        uint32_t other = s->path[i];

        s->path[i] = s->path[count - 1 - i];
        s->path[count - 1 - i] = other;
    }
    return count;
}

/* From now on, `count` functions of `path` are open. */
static bool change(struct js_stack *s, size_t count, uint64_t time_ns,
                   struct cn_error *err)
{
    size_t common = 0;

    while (common < count && common < s->depth && s->open[common] == s->path[common])
        common++;
    for (; s->depth > common; s->depth--)
        if (!cn_call_import_end(s->import, s->track, time_ns, err))
            return false;
    for (; s->depth < count; s->depth++) {
        const struct cn_js_node *node = &s->p->nodes[s->path[s->depth]];
        uint32_t name = cn_call_import_function(s->import, s->p->texts.list[node->name],
                                                s->p->texts.list[node->file], node->line);

        s->open[s->depth] = s->path[s->depth];
        if (!cn_call_import_add(s->import, s->track, time_ns, CN_CALL_BEGIN, name, err))
            return false;
    }
    return true;
}

/* The track of the calls of a thread. */
static bool find_track(struct cn_call_import *import, struct cn_js_thread thread,
                       uint32_t *out, struct cn_error *err)
{
    static const char name[] = "JavaScript";
    struct cn_bytes what = {(const uint8_t *)name, sizeof(name) - 1};

    if (!cn_call_import_track(import, thread.pid, thread.tid, (struct cn_bytes){0}, out,
                              err))
        return false;
    if (!cn_call_import_has_calls(import, *out))
        return true;
    if (!cn_call_import_track(import, thread.pid, thread.tid, what, out, err))
        return false;
    cn_call_import_track_name(import, *out, what);
    return true;
}

/* Add the calls of samples of one thread, which are in the order of time. */
static bool add_thread(struct cn_call_import *import, const struct cn_js_profile *p,
                       const struct cn_js_sample *samples, size_t count, uint64_t end_ns,
                       struct cn_js_thread thread, struct cn_error *err)
{
    struct js_stack s = {.import = import,
                         .p = p,
                         .open = cn_alloc(CN_JS_DEPTH_MAX + 1, sizeof(*s.open)),
                         .path = cn_alloc(CN_JS_DEPTH_MAX + 1, sizeof(*s.path))};
    bool ok = find_track(import, thread, &s.track, err);

    for (size_t i = 0; i < count && ok; i++) {
        size_t depth;

        if (i > 0 && samples[i].node == samples[i - 1].node)
            continue;
        memcpy(s.path, s.open, s.depth * sizeof(*s.path));
        depth = find_path(&s, samples[i].node);
        ok = change(&s, depth, samples[i].time_ns, err);
    }
    ok = ok && change(&s, 0, end_ns, err);
    free(s.open);
    free(s.path);
    return ok;
}

/* Add the samples of Hermes, which has those of all threads in one list. */
static bool add_sampled(struct cn_js_calls *js, struct cn_call_import *import,
                        struct cn_error *err)
{
    struct cn_js_sample *samples = js->frames.samples;
    size_t count = js->frames.sample_count, end;

    CN_SORT(samples, count, CN_UP(struct cn_js_sample, thread),
            CN_UP(struct cn_js_sample, time_ns));
    for (size_t i = 0; i < count; i = end) {
        for (end = i; end < count && samples[end].thread == samples[i].thread;)
            end++;
        if (!add_thread(import, &js->frames, samples + i, end - i,
                        samples[end - 1].time_ns, js->threads[samples[i].thread], err))
            return false;
    }
    return true;
}

bool cn_js_calls_add(struct cn_js_calls *js, struct cn_call_import *import,
                     struct cn_error *damage, struct cn_error *err)
{
    for (size_t i = 0; i <= js->count; i++) {
        struct cn_js_profile *p = i < js->count ? &js->list[i].profile : &js->frames;
        struct cn_error found = {0};

        if (!cn_js_profile_finish(p, &found) && damage->kind == CN_ERR_NONE) {
            (void)cn_fail_in(&found, "JavaScript profile");
            *damage = found;
        }
        js->unknown_count += p->unknown_count;
        if (i < js->count && p->sample_count > 0 && p->has_times &&
            !add_thread(import, p, p->samples, p->sample_count, p->end_ns,
                        js->list[i].thread, err))
            return false;
    }
    return add_sampled(js, import, err);
}
