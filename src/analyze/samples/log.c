#include "analyze/samples/contexts.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/bytes/wire.h"

/* The least lengths of elements of a message. */
enum { MODULE_LEN = 16, CONTEXT_LEN = 4, STEP_LEN = 28 };

void cn_sampled_log_encode(const struct cn_sampled_log *log,
                           const struct cn_sampled_contexts *contexts,
                           struct cn_text *message)
{
    cn_wire_u64(message, log->module_count);
    for (size_t i = 0; i < log->module_count; i++) {
        cn_wire_u64(message, log->modules[i].profile);
        cn_wire_bytes(message, log->modules[i].path, strlen(log->modules[i].path));
    }
    cn_wire_u64(message, contexts->count);
    for (uint32_t i = 0; i < contexts->count; i++)
        cn_wire_u32(message, cn_sampled_context_at(contexts, i)->parent);
    cn_wire_u64(message, log->count);
    for (size_t i = 0; i < log->count; i++) {
        const struct cn_sampled_step *step = &log->steps[i];

        cn_wire_u64(message, step->address);
        cn_wire_u32(message, step->parent);
        cn_wire_u32(message, cn_map_find(&log->module_numbers, step->module, CN_NONE));
        cn_wire_u32(message, step->path);
        cn_wire_u32(message, step->last);
        cn_wire_u32(message, step->kind);
    }
}

/* From numbers of the message to ours. */
struct replay {
    struct cn_sampled_contexts *contexts;
    struct cn_bytes from;
    bool is_copy;
    uint32_t *modules;
    size_t module_count;
    uint32_t *parents; /* of contexts, in numbers of the message */
    uint32_t *ids;     /* of the message -> ours; CN_NONE: not replayed yet */
    size_t context_count;
};

static bool is_damaged(struct cn_error *err)
{
    return cn_fail(err, CN_ERR_FORMAT, "damaged log of contexts");
}

static bool decode_modules(struct replay *r, struct cn_error *err)
{
    struct cn_measurements *measurements = r->contexts->measurements;

    if (!cn_wire_count_take(&r->from, MODULE_LEN, &r->module_count))
        return is_damaged(err);
    r->modules = cn_alloc(r->module_count, sizeof(*r->modules));
    for (size_t i = 0; i < r->module_count; i++) {
        struct cn_bytes path;
        uint64_t profile;

        if (!cn_wire_u64_take(&r->from, &profile) ||
            !cn_wire_bytes_take(&r->from, &path) ||
            profile >= measurements->profile_count)
            return is_damaged(err);
        if (!cn_measurements_find_module(measurements, (size_t)profile, path,
                                         &r->modules[i], err))
            return false;
        if (r->contexts->log)
            cn_sampled_log_name(r->contexts->log, r->modules[i], (size_t)profile, path);
    }
    return true;
}

static bool decode_parents(struct replay *r, struct cn_error *err)
{
    if (!cn_wire_count_take(&r->from, CONTEXT_LEN, &r->context_count) ||
        r->context_count == 0 || r->context_count > CN_NONE)
        return is_damaged(err);
    r->parents = cn_alloc(r->context_count, sizeof(*r->parents));
    r->ids = cn_alloc(r->context_count, sizeof(*r->ids));
    for (size_t i = 0; i < r->context_count; i++) {
        if (!cn_wire_u32_take(&r->from, &r->parents[i]) || (i > 0 && r->parents[i] >= i))
            return is_damaged(err);
        r->ids[i] = i == 0 ? 0 : CN_NONE;
    }
    return true;
}

static bool decode_step(struct replay *r, struct cn_sampled_step *out,
                        struct cn_error *err)
{
    uint32_t kind;

    if (!cn_wire_u64_take(&r->from, &out->address) ||
        !cn_wire_u32_take(&r->from, &out->parent) ||
        !cn_wire_u32_take(&r->from, &out->module) ||
        !cn_wire_u32_take(&r->from, &out->path) ||
        !cn_wire_u32_take(&r->from, &out->last) || !cn_wire_u32_take(&r->from, &kind) ||
        kind > CN_STEP_PATH || out->parent >= r->context_count ||
        out->last >= r->context_count || r->ids[out->parent] == CN_NONE ||
        (kind >= CN_STEP_POINT && out->module >= r->module_count) ||
        (kind == CN_STEP_ENTRY && out->address > CN_ENTRY_APPLICATION_THREAD))
        return is_damaged(err);
    out->kind = (uint8_t)kind;
    return true;
}

static bool take_path(struct replay *r, uint32_t parent, uint32_t module,
                      const struct cn_sampled_step *step, uint32_t *last,
                      struct cn_error *err)
{
    struct cn_call_paths paths;

    if (!cn_measurements_call_paths(r->contexts->measurements, module, step->address,
                                    &paths, err))
        return false;
    if (step->path >= paths.count)
        return cn_fail(err, CN_ERR_FORMAT,
                       "processes found different calls of GPU functions");
    *last = cn_sampled_contexts_path(
        r->contexts, &(struct cn_sampled_spot){parent, module, step->address}, step->path,
        &paths.list[step->path].entry);
    return true;
}

static bool take_step(struct replay *r, const struct cn_sampled_step *step,
                      uint32_t *last, struct cn_error *err)
{
    uint32_t parent = r->ids[step->parent];
    uint32_t module = step->kind >= CN_STEP_POINT ? r->modules[step->module] : CN_NONE;
    struct cn_sampled_expansion expansion;

    switch ((enum cn_sampled_step_kind)step->kind) {
    case CN_STEP_ENTRY:
        *last = cn_sampled_contexts_entry(r->contexts, (enum cn_entry)step->address);
        break;
    case CN_STEP_UNKNOWN:
        *last = cn_sampled_contexts_unknown(r->contexts, parent);
        break;
    case CN_STEP_PLACEHOLDER:
        *last = cn_sampled_contexts_placeholder(r->contexts, parent, step->address);
        break;
    case CN_STEP_POINT:
        if (!cn_sampled_contexts_expand(r->contexts, parent, module, step->address,
                                        &expansion, err))
            return false;
        *last = expansion.last;
        break;
    case CN_STEP_PATH:
        return take_path(r, parent, module, step, last, err);
    }
    return true;
}

/* Pair the contexts of the step in the message with those of the step here, from the
 * innermost outwards. */
static bool pair_up(struct replay *r, const struct cn_sampled_step *step, uint32_t last,
                    struct cn_error *err)
{
    uint32_t theirs = step->last, ours = last;

    while (theirs != step->parent && r->ids[theirs] == CN_NONE) {
        r->ids[theirs] = ours;
        if (r->is_copy && theirs != ours)
            break;
        theirs = r->parents[theirs];
        ours = cn_sampled_context_at(r->contexts, ours)->parent;
    }
    if (r->ids[theirs] != ours || (r->is_copy && theirs != ours))
        return cn_fail(err, CN_ERR_FORMAT,
                       "processes found different functions and lines in the same files");
    return true;
}

bool cn_sampled_log_replay(struct cn_sampled_contexts *contexts, struct cn_bytes message,
                           bool is_copy, struct cn_error *err)
{
    struct replay r = {.contexts = contexts, .from = message, .is_copy = is_copy};
    size_t count = 0;
    bool ok = decode_modules(&r, err) && decode_parents(&r, err) &&
              (cn_wire_count_take(&r.from, STEP_LEN, &count) || is_damaged(err));

    for (size_t i = 0; ok && i < count; i++) {
        struct cn_sampled_step step;
        uint32_t last = 0;

        ok = decode_step(&r, &step, err) && take_step(&r, &step, &last, err) &&
             pair_up(&r, &step, last, err);
    }
    free(r.modules);
    free(r.parents);
    free(r.ids);
    return ok;
}
