#include "analyze/samples/contexts.h"

#include <stdlib.h>

#include "base/alloc.h"

enum { BLOCK_COUNT = 1 << (32 - CN_CONTEXT_BLOCK_BITS) };

void cn_sampled_log_done(struct cn_sampled_log *log)
{
    free(log->steps);
    free(log->modules);
    cn_map_done(&log->module_numbers);
    cn_arena_done(&log->arena);
    *log = (struct cn_sampled_log){0};
}

static void log_step(struct cn_sampled_log *log, const struct cn_sampled_step *step)
{
    if (!log)
        return;
    CN_PUSH(log->steps, log->count, log->capacity, *step);
}

void cn_sampled_log_name(struct cn_sampled_log *log, uint32_t module, size_t profile,
                         struct cn_bytes path)
{
    uint32_t fresh = (uint32_t)log->module_count;

    if (*cn_map_at(&log->module_numbers, module, fresh) != fresh)
        return;
    CN_PUSH(log->modules, log->module_count, log->module_capacity,
            (struct cn_sampled_log_module){
                profile, cn_arena_copy(&log->arena, (const char *)path.ptr, path.len),
                module});
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

static uint64_t hash_context(const struct cn_sampled_context *c)
{
    uint64_t hash = mix((uint64_t)c->parent << 16 | (uint64_t)c->kind << 8 | c->relation,
                        (uint64_t)c->function << 32 | c->line);

    return mix(mix(hash, (uint64_t)c->file << 32 | c->module), c->offset ^ c->entry);
}

static bool is_same(const struct cn_sampled_context *a,
                    const struct cn_sampled_context *b)
{
    return a->offset == b->offset && a->parent == b->parent &&
           a->function == b->function && a->file == b->file && a->line == b->line &&
           a->module == b->module && a->entry == b->entry && a->kind == b->kind &&
           a->relation == b->relation;
}

static struct cn_sampled_context *add(struct cn_sampled_contexts *contexts)
{
    size_t block = contexts->count >> CN_CONTEXT_BLOCK_BITS;

    if (!contexts->blocks[block])
        contexts->blocks[block] =
            cn_alloc(CN_CONTEXT_BLOCK_LEN, sizeof(**contexts->blocks));
    return cn_sampled_context_at(contexts, (uint32_t)contexts->count++);
}

void cn_sampled_contexts_init(struct cn_sampled_contexts *contexts,
                              struct cn_measurements *measurements)
{
    *contexts = (struct cn_sampled_contexts){
        .measurements = measurements,
        .blocks = cn_alloc(BLOCK_COUNT, sizeof(*contexts->blocks)),
    };
    *add(contexts) = (struct cn_sampled_context){.function = CN_NONE,
                                                 .file = CN_NONE,
                                                 .module = CN_NONE,
                                                 .kind = CN_CONTEXT_ENTRY};
}

void cn_sampled_contexts_done(struct cn_sampled_contexts *contexts)
{
    for (size_t i = 0; i < BLOCK_COUNT && contexts->blocks && contexts->blocks[i]; i++)
        free(contexts->blocks[i]);
    free(contexts->blocks);
    cn_map_done(&contexts->children);
    cn_shared_map_done(&contexts->expansions);
    *contexts = (struct cn_sampled_contexts){0};
}

static uint32_t find_or_add(struct cn_sampled_contexts *contexts,
                            const struct cn_sampled_context *wanted)
{
    uint64_t hash = hash_context(wanted);
    uint32_t *id = cn_map_at(&contexts->children, hash, 0);

    /* Contexts with the same hash follow it. */
    while (*id != 0 && !is_same(cn_sampled_context_at(contexts, *id), wanted))
        id = cn_map_at(&contexts->children, ++hash, 0);
    if (*id == 0) {
        *id = (uint32_t)contexts->count;
        *add(contexts) = *wanted;
    }
    return *id;
}

static uint32_t child(struct cn_sampled_contexts *contexts, uint32_t parent,
                      const struct cn_code_scope *place)
{
    struct cn_sampled_context wanted = {
        .offset = place->offset,
        .parent = parent,
        .function = place->function,
        .file = place->file,
        .line = place->line,
        .module = place->module,
        .kind = place->kind,
        .relation = place->relation,
    };

    return find_or_add(contexts, &wanted);
}

/* Keys of expansions: a step without a module has a number that no module has. */
static uint64_t key_of(enum cn_sampled_step_kind kind, uint32_t parent, uint32_t module)
{
    return (uint64_t)parent << 32 |
           (kind == CN_STEP_POINT ? module : CN_NONE - (uint32_t)kind);
}

bool cn_sampled_contexts_find(const struct cn_sampled_contexts *contexts,
                              enum cn_sampled_step_kind kind, uint32_t parent,
                              uint32_t module, uint64_t address,
                              struct cn_sampled_expansion *out)
{
    uint64_t found =
        cn_shared_map_find(&contexts->expansions, key_of(kind, parent, module), address);

    *out = (struct cn_sampled_expansion){(uint32_t)(found >> 32), (uint32_t)found};
    return found != 0;
}

static void remember(struct cn_sampled_contexts *contexts,
                     const struct cn_sampled_step *step, uint32_t first)
{
    uint64_t key =
        key_of((enum cn_sampled_step_kind)step->kind, step->parent, step->module);

    if (cn_shared_map_find(&contexts->expansions, key, step->address) == 0)
        cn_shared_map_add(&contexts->expansions, key, step->address,
                          (uint64_t)first << 32 | step->last);
}

/* Remember a step of one context, and log it unless it added no context. */
static uint32_t note(struct cn_sampled_contexts *contexts, size_t known,
                     struct cn_sampled_step step)
{
    if (step.kind != CN_STEP_PATH)
        remember(contexts, &step, step.last);
    if (contexts->count > known)
        log_step(contexts->log, &step);
    return step.last;
}

uint32_t cn_sampled_contexts_entry(struct cn_sampled_contexts *contexts,
                                   enum cn_entry entry)
{
    size_t known = contexts->count;
    struct cn_sampled_context wanted = {
        .function = CN_NONE,
        .file = CN_NONE,
        .module = CN_NONE,
        .entry = (uint16_t)entry,
        .kind = CN_CONTEXT_ENTRY,
        .relation = CN_CALL,
    };

    return note(contexts, known,
                (struct cn_sampled_step){.address = entry,
                                         .module = CN_NONE,
                                         .last = find_or_add(contexts, &wanted),
                                         .kind = CN_STEP_ENTRY});
}

static uint32_t call(struct cn_sampled_contexts *contexts, uint32_t parent,
                     uint32_t function)
{
    struct cn_code_scope place = {
        .kind = CN_CONTEXT_FUNCTION,
        .relation = CN_CALL,
        .function = function,
        .file = CN_NONE,
        .module = CN_NONE,
    };

    return child(contexts, parent, &place);
}

uint32_t cn_sampled_contexts_unknown(struct cn_sampled_contexts *contexts,
                                     uint32_t parent)
{
    size_t known = contexts->count;

    return note(contexts, known,
                (struct cn_sampled_step){.parent = parent,
                                         .module = CN_NONE,
                                         .last = call(contexts, parent, CN_NONE),
                                         .kind = CN_STEP_UNKNOWN});
}

uint32_t cn_sampled_contexts_placeholder(struct cn_sampled_contexts *contexts,
                                         uint32_t parent, uint64_t code)
{
    size_t known = contexts->count;
    uint32_t function = cn_measurements_placeholder(contexts->measurements, code);

    return note(contexts, known,
                (struct cn_sampled_step){.address = code,
                                         .parent = parent,
                                         .module = CN_NONE,
                                         .last = call(contexts, parent, function),
                                         .kind = CN_STEP_PLACEHOLDER});
}

uint32_t cn_sampled_contexts_path(struct cn_sampled_contexts *contexts,
                                  const struct cn_sampled_spot *spot, size_t path,
                                  const struct cn_code_scope *entry)
{
    size_t known = contexts->count;

    return note(contexts, known,
                (struct cn_sampled_step){.address = spot->address,
                                         .parent = spot->parent,
                                         .module = spot->module,
                                         .path = (uint32_t)path,
                                         .last = child(contexts, spot->parent, entry),
                                         .kind = CN_STEP_PATH});
}

static bool build(struct cn_sampled_contexts *contexts, uint32_t parent, uint32_t module,
                  uint64_t address, struct cn_sampled_expansion *out,
                  struct cn_error *err)
{
    struct cn_code_scope instruction = {
        .kind = CN_CONTEXT_INSTRUCTION,
        .function = CN_NONE,
        .file = CN_NONE,
        .module = module,
        .offset = address,
    };
    uint32_t at = parent;
    struct cn_code_scopes places;

    if (!cn_measurements_scopes(contexts->measurements, module, address, &places, err))
        return false;
    for (size_t i = 0; i < places.count; i++) {
        at = child(contexts, at, &places.list[i]);
        if (i == 0)
            out->first = at;
    }
    if (places.has_instruction) {
        instruction.relation = places.count > 0 ? CN_LEXICAL : CN_CALL;
        at = child(contexts, at, &instruction);
    }
    if (places.count == 0)
        out->first = at;
    out->last = at;
    return true;
}

bool cn_sampled_contexts_expand(struct cn_sampled_contexts *contexts, uint32_t parent,
                                uint32_t module, uint64_t address,
                                struct cn_sampled_expansion *out, struct cn_error *err)
{
    struct cn_sampled_step step = {
        .address = address, .parent = parent, .module = module, .kind = CN_STEP_POINT};

    if (cn_sampled_contexts_find(contexts, CN_STEP_POINT, parent, module, address, out))
        return true;
    if (!build(contexts, parent, module, address, out, err))
        return false;
    step.last = out->last;
    remember(contexts, &step, out->first);
    log_step(contexts->log, &step);
    return true;
}
