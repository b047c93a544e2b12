/* Readers of CPU and heap profiles of V8: .cpuprofile, .heapprofile. */

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "formats/exchange/exchange.h"
#include "formats/exchange/read/js_profile.h"
#include "formats/exchange/read/readers.h"
#include "formats/exchange/read/stacks/import.h"

struct js_reading {
    struct cn_import *import;
    struct cn_json_reader json;
    struct cn_js_profile profile;
    uint32_t *contexts; /* by node; CN_NONE: not made yet, 0: above all functions */
    uint32_t *path;     /* of nodes */
    uint32_t thread;
};

static bool take_member(void *arg, const struct cn_json_member *member,
                        struct cn_error *err)
{
    struct js_reading *r = arg;

    return cn_js_profile_take(&r->profile, &r->json, member, err);
}

static uint32_t call(struct js_reading *r, uint32_t parent, uint32_t node)
{
    const struct cn_js_node *about = &r->profile.nodes[node];

    if (about->kind == CN_JS_ROOT || about->kind == CN_JS_IDLE)
        return parent;
    return cn_import_call(
        r->import, parent,
        cn_import_frame(r->import, &(struct cn_import_frame){
                                       .name = r->profile.texts.list[about->name],
                                       .module = "",
                                       .file = r->profile.texts.list[about->file],
                                       .line = about->line}));
}

static uint32_t context_of(struct js_reading *r, uint32_t node)
{
    const struct cn_js_node *nodes = r->profile.nodes;
    size_t count = 0;
    uint32_t context;

    for (; node != CN_NONE && r->contexts[node] == CN_NONE; node = nodes[node].parent)
        r->path[count++] = node;
    context = node == CN_NONE ? 0 : r->contexts[node];
    while (count-- > 0) {
        if (nodes[r->path[count]].depth <= CN_JS_DEPTH_MAX)
            context = call(r, context, r->path[count]);
        r->contexts[r->path[count]] = context;
    }
    return context;
}

static uint32_t line_of(struct js_reading *r, uint32_t context, uint32_t node,
                        uint32_t line)
{
    const struct cn_js_profile *p = &r->profile;

    return line > 0 && node != CN_NONE
               ? cn_import_line(r->import, context, p->texts.list[p->nodes[node].file],
                                line)
               : context;
}

/* A sample counts until the next one, the last until the end. */
static bool add_samples(struct js_reading *r, struct cn_error *err)
{
    const struct cn_js_profile *p = &r->profile;
    uint32_t metric, before = 0;

    if (!p->has_times)
        return true;
    if (!cn_import_metric(r->import, "time (sec)", &metric, err))
        return false;
    for (size_t i = 0; i < p->sample_count; i++) {
        const struct cn_js_sample *sample = &p->samples[i];
        uint64_t end_ns = i + 1 < p->sample_count ? sample[1].time_ns : p->end_ns;
        uint8_t kind = sample->node == CN_NONE ? CN_JS_ROOT : p->nodes[sample->node].kind;
        uint32_t context = kind == CN_JS_COLLECTOR ? call(r, before, sample->node)
                                                   : context_of(r, sample->node);

        if (kind == CN_JS_IDLE) {
            cn_import_wait(r->import, r->thread, sample->time_ns);
            before = 0;
            continue;
        }
        if (kind != CN_JS_COLLECTOR)
            before = context;
        cn_import_sample(r->import, r->thread, sample->time_ns, context);
        context = line_of(r, context, sample->node, sample->line);
        if (!cn_import_add(r->import, r->thread, context, metric,
                           (double)(end_ns - sample->time_ns) * 1e-9, err))
            return false;
    }
    return true;
}

/* Hits of nodes, or bytes: those of lines, and the rest. */
static bool add_sizes(struct js_reading *r, const char *name, struct cn_error *err)
{
    const struct cn_js_profile *p = &r->profile;
    double *rest = cn_alloc(p->node_count + 1, sizeof(*rest));
    uint32_t metric;
    bool ok = cn_import_metric(r->import, name, &metric, err);

    for (uint32_t i = 0; i < p->node_count; i++)
        rest[i] = p->nodes[i].kind == CN_JS_IDLE ? 0 : p->nodes[i].size;
    for (size_t i = 0; i < p->tick_count && ok; i++) {
        const struct cn_js_tick *tick = &p->ticks[i];

        if ((double)tick->count > rest[tick->node])
            continue;
        rest[tick->node] -= (double)tick->count;
        ok = cn_import_add(r->import, r->thread,
                           line_of(r, context_of(r, tick->node), tick->node, tick->line),
                           metric, (double)tick->count, err);
    }
    for (uint32_t i = 0; i < p->node_count && ok; i++)
        if (rest[i] > 0)
            ok = cn_import_add(r->import, r->thread, context_of(r, i), metric, rest[i],
                               err);
    free(rest);
    return ok;
}

static bool add_profile(struct js_reading *r, bool is_heap, struct cn_error *err)
{
    size_t count = r->profile.node_count;

    r->contexts = cn_alloc(count + 1, sizeof(*r->contexts));
    r->path = cn_alloc(count + 1, sizeof(*r->path));
    for (size_t i = 0; i < count; i++)
        r->contexts[i] = CN_NONE;
    bool ok =
        cn_import_thread(r->import,
                         &(struct cn_import_identity){.kinds = {"THREAD"}, .name = ""},
                         &r->thread, err) &&
        (is_heap ? add_sizes(r, "size (bytes)", err)
                 : add_samples(r, err) && add_sizes(r, "samples", err));
    free(r->contexts);
    free(r->path);
    return ok;
}

static bool read_profile(struct cn_import *import, struct cn_bytes bytes, bool is_heap,
                         struct cn_error *err)
{
    struct js_reading r = {.import = import, .json = cn_json_read_tree(bytes)};
    bool ok = cn_json_expect(&r.json, CN_JSON_OBJECT, "an object", err) &&
              cn_json_read_object(&r.json, take_member, &r, err) &&
              (r.profile.node_count > 0 || cn_fail(err, CN_ERR_FORMAT, "no nodes"));

    cn_js_profile_end_part(&r.profile);
    /* Damage does not hide what is before it. */
    if (!ok && err->kind == CN_ERR_FORMAT && r.profile.node_count > 0) {
        cn_import_warn(import, true, "%s; read up to there", err->text);
        ok = true;
    }
    if (ok && !cn_js_profile_finish(&r.profile, err)) {
        cn_import_warn(import, true, "%s; read up to there", err->text);
        ok = r.profile.node_count > 0;
    }
    if (r.profile.unknown_count > 0)
        cn_import_warn(import, true,
                       "samples of unknown functions: %zu; the first is sample %zu, of "
                       "node %" PRIu64,
                       r.profile.unknown_count, r.profile.first_unknown,
                       r.profile.samples[r.profile.first_unknown].id);
    ok = ok && add_profile(&r, is_heap, err);
    cn_json_reader_done(&r.json);
    cn_js_profile_done(&r.profile);
    return ok;
}

bool cn_cpuprofile_read(struct cn_import *import, struct cn_bytes bytes,
                        struct cn_error *err)
{
    return read_profile(import, bytes, false, err);
}

bool cn_heapprofile_read(struct cn_import *import, struct cn_bytes bytes,
                         struct cn_error *err)
{
    return read_profile(import, bytes, true, err);
}

static bool has_key(struct cn_bytes bytes, const char *key)
{
    return memmem(bytes.ptr, bytes.len, key, strlen(key)) != NULL;
}

/* An object with a list or a tree of nodes. */
static bool has_nodes(struct cn_bytes beginning)
{
    size_t at = 0;

    while (at < beginning.len && strchr(" \t\r\n", beginning.ptr[at]) &&
           beginning.ptr[at])
        at++;
    return at < beginning.len && beginning.ptr[at] == '{' &&
           has_key(beginning, "\"functionName\"") &&
           (has_key(beginning, "\"nodes\"") || has_key(beginning, "\"head\""));
}

static bool looks_like_cpu(struct cn_bytes beginning, bool is_whole)
{
    (void)is_whole;
    return has_nodes(beginning) && !has_key(beginning, "\"selfSize\"");
}

static bool looks_like_heap(struct cn_bytes beginning, bool is_whole)
{
    (void)is_whole;
    return has_nodes(beginning) && has_key(beginning, "\"selfSize\"");
}

static bool probe_cpu(const char *path)
{
    return cn_import_probe(path, looks_like_cpu);
}

static bool probe_heap(const char *path)
{
    return cn_import_probe(path, looks_like_heap);
}

static bool open_cpu(struct cn_database **out, const char *path, struct cn_error *err)
{
    return cn_import_database(out, path, "JavaScript CPU profile", cn_cpuprofile_read,
                              err);
}

static bool open_heap(struct cn_database **out, const char *path, struct cn_error *err)
{
    return cn_import_database(out, path, "JavaScript heap profile", cn_heapprofile_read,
                              err);
}

const struct cn_format cn_format_cpuprofile = {
    .name = "cpuprofile",
    .summary = "CPU profile of V8 (Node.js, Chrome): stacks and samples over time",
    .holds = "stacks",
    .is_file = true,
    .probe = probe_cpu,
    .open_database = open_cpu,
};

const struct cn_format cn_format_heapprofile = {
    .name = "heapprofile",
    .summary = "sampled heap profile of V8 (Node.js, Chrome): bytes by stack",
    .holds = "stacks",
    .is_file = true,
    .probe = probe_heap,
    .open_database = open_heap,
};
