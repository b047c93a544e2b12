/* The tree of a lens: one pass over the contexts of the whole, parents first. For each it is
 * decided whether it is shown, part of another one, or removed. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "analyze/lens/internal.h"
#include "base/alloc.h"
#include "base/text.h"
#include "model/contexts/walk.h"

enum {
    ID_SPREAD = 64, /* ids out of proportion to the number of contexts are damage */
    ID_SLACK = 1 << 16,
    REPORT_EVERY = 1 << 16,
    ALL_PARTS =
        CN_LENS_POINT | CN_LENS_SELF | CN_LENS_OWN_LOOP | CN_LENS_TOTAL | CN_LENS_OWN,
};

/* A context of the whole on the path of the walk. */
struct lens_level {
    uint32_t node;   /* what is below it goes there; at first, that of its parent */
    uint32_t target; /* the node that it counts for, with these parts */
    uint8_t parts;
    uint32_t focus;    /* rules of focus that hold on the path */
    uint32_t function; /* that is counted on the path; CN_NONE: none */
    bool counts;       /* its costs are not removed */
    bool is_shown;     /* so are its loops and lines */
    bool is_pruned, is_dropped;
};

/* What tells contexts with the same parent apart. */
struct lens_key {
    uint64_t offset, entry_name;
    uint32_t function, file, line, module;
    uint32_t kind, relation, entry, library;
};

struct lens_part {
    uint32_t node;
    struct cn_lens_source source;
};

struct lens_builder {
    struct cn_lens_database *self;
    struct cn_database *whole;
    const struct cn_lens *lens;
    uint32_t masks[CN_LENS_ACTIONS];               /* rules of each action */
    bool folds;                                    /* recursion */
    bool by_language;                              /* collapse by language, not library */
    uint32_t *of_function, *of_module, of_unknown; /* rules that match */
    uint32_t *on_path; /* by function, for recursion: how often it is shown on the path */
    uint32_t *function_of; /* by node: the function of a call */
    size_t function_of_capacity;
    /* By library, then by language: CN_NONE until it is needed. */
    uint32_t *group_function;
    struct cn_map key_of;
    uint32_t key_count;
    struct lens_level *path;
    size_t path_capacity;
    struct lens_part *parts;
    size_t part_count, part_capacity;
    size_t node_count, node_capacity, transfer_capacity;
    uint32_t *targets;     /* by context id: 0 if unknown, else 1 + node */
    uint8_t *target_parts; /* what counts there */
    size_t target_capacity, target_part_capacity;
    uint64_t context_count;
};

/* What was called; databases without functions have instructions instead. */
static bool is_call(const struct cn_context *context)
{
    return context->kind == CN_CONTEXT_FUNCTION ||
           (context->kind != CN_CONTEXT_ENTRY && context->relation != CN_LEXICAL);
}

static uint32_t rules_of(const struct lens_builder *b, const struct cn_context *context)
{
    if (context->has_function && context->function < b->whole->function_count)
        return b->of_function[context->function];
    return context->has_point && context->module < b->whole->module_count
               ? b->of_module[context->module]
               : b->of_unknown;
}

static uint32_t match_rules(struct lens_builder *b, const struct cn_code_class *code,
                            struct cn_lens_function *function)
{
    uint32_t rules = 0;

    function->kind = code->kind;
    function->language = code->language;
    function->library = b->self->codes.libraries.list[code->library];
    for (size_t i = 0; i < b->lens->count; i++)
        if (cn_lens_rule_matches(&b->lens->rules[i], function))
            rules |= UINT32_C(1) << i;
    return rules;
}

/* Match each function once. */
static bool match_functions(struct lens_builder *b, struct cn_error *err)
{
    struct cn_database *db = b->whole;
    const struct cn_codes *codes = &b->self->codes;
    struct cn_module module;
    struct cn_source_file file;

    b->of_function = cn_alloc(db->function_count, sizeof(*b->of_function));
    b->of_module = cn_alloc(db->module_count, sizeof(*b->of_module));
    for (uint32_t i = 0; i < db->module_count; i++) {
        if (!cn_database_module(db, i, &module, err))
            return false;
        b->of_module[i] = match_rules(
            b, cn_codes_find(codes, CN_NONE, i),
            &(struct cn_lens_function){.name = "", .module = module.path, .file = ""});
    }
    b->of_unknown =
        match_rules(b, cn_codes_find(codes, CN_NONE, CN_NONE),
                    &(struct cn_lens_function){.name = "", .module = "", .file = ""});
    for (uint32_t i = 0; i < db->function_count; i++) {
        struct cn_function function;

        module.path = file.path = "";
        if (!cn_database_function(db, i, &function, err) ||
            (function.module < db->module_count &&
             !cn_database_module(db, function.module, &module, err)) ||
            (function.file < db->file_count &&
             !cn_database_file(db, function.file, &file, err)))
            return false;
        b->of_function[i] = match_rules(b, cn_codes_find(codes, i, function.module),
                                        &(struct cn_lens_function){.name = function.name,
                                                                   .module = module.path,
                                                                   .file = file.path});
        for (size_t k = 0; k < b->lens->count; k++)
            b->self->match_counts[k] += b->of_function[i] >> k & 1;
    }
    return true;
}

static struct lens_key key_of_context(const struct cn_context *context)
{
    struct lens_key key = {
        .kind = context->kind,
        .relation = context->relation,
        .entry = context->kind == CN_CONTEXT_ENTRY ? context->entry : 0,
        .function = context->has_function ? context->function : CN_NONE,
        .file = CN_NONE,
        .module = CN_NONE,
        .library = CN_NONE,
    };

    if (context->kind == CN_CONTEXT_ENTRY && context->entry_name)
        key.entry_name = XXH3_64bits(context->entry_name, strlen(context->entry_name));
    if (context->kind != CN_CONTEXT_FUNCTION && context->has_source) {
        key.file = context->file;
        key.line = context->line;
    }
    if (context->has_point && !context->has_function) {
        key.module = context->module;
        key.offset = context->kind == CN_CONTEXT_FUNCTION ? 0 : context->offset;
    }
    return key;
}

/* The node of a key below another one; a new one is that of the context. */
static uint32_t node_at(struct lens_builder *b, uint32_t parent,
                        const struct lens_key *key, const struct cn_context *context)
{
    struct cn_lens_database *self = b->self;
    uint32_t *number = cn_map_at(&b->key_of, XXH3_64bits(key, sizeof(*key)), CN_NONE);

    if (*number == CN_NONE)
        *number = b->key_count++;
    uint32_t node = cn_tree_child(&self->tree, parent, *number);
    if (node == b->node_count) {
        CN_GROW(b->function_of, node, b->function_of_capacity);
        b->function_of[node] =
            is_call(context) && context->has_function ? context->function : CN_NONE;
        CN_PUSH(self->nodes, b->node_count, b->node_capacity,
                (struct cn_lens_node){.at = context->at,
                                      .id = context->id,
                                      .function = CN_NONE,
                                      .is_loop = context->kind == CN_CONTEXT_LOOP,
                                      .is_call = is_call(context) ||
                                                 context->kind == CN_CONTEXT_ENTRY});
    }
    return node;
}

static void add_part(struct lens_builder *b, uint32_t node, uint32_t context,
                     unsigned parts)
{
    CN_PUSH(b->parts, b->part_count, b->part_capacity,
            (struct lens_part){node, {context, (uint8_t)parts}});
}

static void transfer(struct lens_builder *b, uint32_t node, uint32_t context, int sign)
{
    CN_PUSH(b->self->transfers, b->self->transfer_count, b->transfer_capacity,
            (struct cn_lens_transfer){context, node, sign});
}

/* Costs without a shown caller have a row of their own. */
static uint32_t hidden_node(struct lens_builder *b, const struct cn_context *context)
{
    struct lens_key key = {.kind = CN_CONTEXT_ENTRY, .library = CN_LENS_REMOVED};
    uint32_t node = node_at(b, 0, &key, context);

    b->self->nodes[node].is_hidden = b->self->nodes[node].is_call = true;
    return node;
}

/* A context that is not shown counts for the node of the level, and its self cost for what contains
 * that without a call. */
static void absorb(struct lens_builder *b, const struct cn_context *context,
                   bool has_self, struct lens_level *level)
{
    bool has_loop = false;
    uint32_t node;
    unsigned parts;

    level->parts =
        has_self ? CN_LENS_POINT | CN_LENS_SELF | CN_LENS_OWN_LOOP : CN_LENS_POINT;
    if (!level->counts)
        return;
    level->target = level->node != 0 ? level->node : hidden_node(b, context);
    add_part(b, level->target, context->id, level->parts);
    for (node = level->target;
         has_self && (node = cn_lens_around(b->self, node, &has_loop, &parts)) != 0;)
        add_part(b, node, context->id, parts);
}

/* It is shown by a node of its own, or one that it shares. */
static void show(struct lens_builder *b, const struct cn_context *context,
                 struct lens_level *level)
{
    level->target = level->node;
    level->parts = ALL_PARTS;
    if (level->counts)
        add_part(b, level->node, context->id, level->parts);
}

/* The number of its library or, if languages are collapsed, of its language. */
static uint32_t group_of(const struct lens_builder *b, const struct cn_code_class *code)
{
    return b->by_language ? (uint32_t)b->self->codes.libraries.count + code->language
                          : code->library;
}

/* The function that stands for a library or a language. */
static uint32_t function_of_group(struct lens_builder *b,
                                  const struct cn_code_class *code, uint32_t module)
{
    struct cn_lens_database *self = b->self;
    const char *name = b->by_language ? cn_code_language_name(code->language)
                                      : self->codes.libraries.list[code->library];
    uint32_t *known = &b->group_function[group_of(b, code)];

    if (*known == CN_NONE) {
        *known = b->whole->function_count + (uint32_t)self->function_count;
        CN_PUSH(self->functions, self->function_count, self->function_capacity,
                (struct cn_function){
                    .name = cn_arena_printf(&self->overlay.db.arena,
                                            name[0] == '[' ? "%s" : "[%s]",
                                            *name ? name : "unknown"),
                    .module = module,
                    .file = CN_NONE,
                });
    }
    return *known;
}

/* Functions of a library that call each other are one node. */
static void collapse(struct lens_builder *b, const struct cn_context *context,
                     struct lens_level *level)
{
    const struct cn_code_class *code = cn_codes_of(&b->self->codes, context);
    struct cn_function function = {.module =
                                       context->has_point ? context->module : CN_NONE};
    struct cn_error ignored;

    if (context->has_function)
        (void)!cn_database_function(b->whole, context->function, &function, &ignored);
    uint32_t number = function_of_group(b, code, function.module);
    if (b->self->nodes[level->node].function == number) {
        absorb(b, context, true, level);
        return;
    }
    struct lens_key key = {.kind = CN_CONTEXT_FUNCTION,
                           .relation = CN_CALL,
                           .function = number,
                           .file = CN_NONE,
                           .module = CN_NONE,
                           .library = group_of(b, code)};
    level->node = node_at(b, level->node, &key, context);
    b->self->nodes[level->node].function = number;
    show(b, context, level);
}

/* The row above a call that shows the same function; 0: none. */
static uint32_t row_above(const struct lens_builder *b, const struct cn_context *context,
                          uint32_t node)
{
    if (b->on_path[context->function] == 0)
        return 0;
    while (node != 0 && b->function_of[node] != context->function)
        node = b->self->tree.links[node].parent;
    return node;
}

/* A recursive call counts for the row above it, and no longer for the rows between them. */
static void fold(struct lens_builder *b, const struct cn_context *context, uint32_t row,
                 struct lens_level *level)
{
    if (level->counts) {
        transfer(b, level->node, context->id, -1);
        transfer(b, row, context->id, 1);
    }
    level->node = row;
    absorb(b, context, true, level);
}

static void place_function(struct lens_builder *b, const struct cn_context *context,
                           uint32_t rules, struct lens_level *level)
{
    bool may_fold =
        b->folds && context->has_function && context->function < b->whole->function_count;
    uint32_t row = may_fold ? row_above(b, context, level->node) : 0;

    if (level->is_pruned || rules & b->masks[CN_LENS_HIDE]) {
        absorb(b, context, true, level);
    } else if (rules & b->masks[CN_LENS_COLLAPSE]) {
        collapse(b, context, level);
    } else if (row != 0) {
        fold(b, context, row, level);
    } else {
        struct lens_key key = key_of_context(context);

        level->node = node_at(b, level->node, &key, context);
        level->is_shown = true;
        show(b, context, level);
        if (may_fold) {
            level->function = context->function;
            b->on_path[context->function]++;
        }
    }
}

/* An entry, or what is inside of a function. */
static void place(struct lens_builder *b, const struct cn_context *context,
                  bool is_inside_shown, struct lens_level *level)
{
    struct lens_key key = key_of_context(context);

    if (!is_inside_shown && context->kind != CN_CONTEXT_ENTRY) {
        absorb(b, context, false, level);
        return;
    }
    level->node = node_at(b, level->node, &key, context);
    level->is_shown = true;
    show(b, context, level);
}

/* Of contexts with the same id, the first has the values. */
static bool is_first(struct lens_builder *b, uint32_t context)
{
    size_t had = b->target_capacity;

    CN_GROW_TO(b->targets, (size_t)context + 1, b->target_capacity);
    CN_GROW_TO(b->target_parts, (size_t)context + 1, b->target_part_capacity);
    if (b->target_capacity > had)
        memset(b->targets + had, 0, (b->target_capacity - had) * sizeof(*b->targets));
    return b->targets[context] == 0;
}

/* Decide about a context below `above`. */
static void enter(struct lens_builder *b, const struct lens_level *above,
                  const struct cn_context *context, struct lens_level *level)
{
    uint32_t wanted = b->masks[CN_LENS_FOCUS];
    bool is_function = is_call(context);
    bool has_values = is_first(b, context->id);
    uint32_t rules = is_function ? rules_of(b, context) : 0;

    *level = (struct lens_level){
        .node = above->node,
        .target = CN_LENS_REMOVED,
        .focus = above->focus | (rules & wanted),
        .function = CN_NONE,
        .is_pruned = above->is_pruned,
        .is_dropped = above->is_dropped || rules & b->masks[CN_LENS_DROP],
    };
    bool did_count = above->focus == wanted && !above->is_dropped;
    bool does_count = level->focus == wanted && !level->is_dropped;
    level->counts = does_count && has_values;
    if (did_count != does_count && has_values)
        transfer(b, above->node, context->id, does_count ? 1 : -1);
    if (!level->is_dropped && is_function)
        place_function(b, context, rules, level);
    else if (!level->is_dropped)
        place(b, context, above->is_shown, level);
    level->is_pruned |= (rules & b->masks[CN_LENS_PRUNE]) != 0;
    if (!has_values)
        return;
    b->targets[context->id] = 1 + (level->counts ? level->target : CN_LENS_REMOVED);
    b->target_parts[context->id] = level->parts;
}

static bool check_id(const struct lens_builder *b, uint32_t id, struct cn_error *err)
{
    if (id < (uint64_t)b->whole->context_limit ||
        id < b->context_count * ID_SPREAD + ID_SLACK)
        return true;
    return cn_fail(
        err, CN_ERR_LIMIT,
        "context id %" PRIu32 " is out of proportion to the number of contexts", id);
}

static bool walk_contexts(struct lens_builder *b, const struct cn_progress *progress,
                          struct cn_error *err)
{
    struct lens_level top = {.is_shown = true, .function = CN_NONE};
    const struct cn_context *context;
    enum cn_walk_event event;
    enum cn_step step = CN_FAIL;
    struct cn_walk walk;
    bool ok = true;

    if (cn_walk_begin(&walk, b->whole, err))
        while (ok && (step = cn_walk_next(&walk, &event, &context, err)) == CN_ITEM) {
            struct lens_level *level;

            CN_GROW(b->path, walk.depth, b->path_capacity);
            level = &b->path[walk.depth - 1];
            if (event == CN_WALK_LEAVE) {
                if (level->function != CN_NONE)
                    b->on_path[level->function]--;
                continue;
            }
            b->context_count++;
            ok = check_id(b, context->id, err);
            if (ok)
                enter(b, walk.depth > 1 ? level - 1 : &top, context, level);
            if (ok && b->context_count % REPORT_EVERY == 0)
                ok = cn_progress_report(progress, "applying filters", b->context_count,
                                        b->whole->context_limit, "contexts", err);
        }
    cn_walk_done(&walk);
    return ok && (step == CN_END || cn_contexts_fail_in(b->whole, err));
}

/* Sources by node, in the order of the walk. */
static void sort_parts(struct lens_builder *b)
{
    struct cn_lens_database *self = b->self;
    size_t count = self->tree.count;

    self->start = cn_alloc(count + 1, sizeof(*self->start));
    self->sources = cn_alloc(b->part_count, sizeof(*self->sources));
    for (size_t i = 0; i < b->part_count; i++)
        self->start[b->parts[i].node + 1]++;
    for (size_t i = 0; i < count; i++)
        self->start[i + 1] += self->start[i];
    for (size_t i = 0; i < b->part_count; i++)
        self->sources[self->start[b->parts[i].node]++] = b->parts[i].source;
    for (size_t i = count; i > 0; i--)
        self->start[i] = self->start[i - 1];
    self->start[0] = 0;
}

/* Nodes with costs, and those above them. */
static void list_nodes(struct cn_lens_database *self)
{
    for (size_t i = self->tree.count; i-- > 1;) {
        struct cn_lens_node *parent = &self->nodes[self->tree.links[i].parent];

        self->nodes[i].is_listed |= self->start[i + 1] > self->start[i];
        parent->is_listed |= self->nodes[i].is_listed;
        parent->child_count += self->nodes[i].is_listed;
    }
}

static void number_nodes(struct cn_lens_database *self)
{
    uint32_t number = 0, node = 0;

    self->dfs_begin = cn_alloc(self->tree.count, sizeof(*self->dfs_begin));
    self->dfs_end = cn_alloc(self->tree.count, sizeof(*self->dfs_end));
    do {
        self->dfs_begin[node] = number++;
        node = cn_tree_after(&self->tree, 0, node, false);
    } while (node != 0);
    for (size_t i = self->tree.count; i-- > 0;) {
        uint32_t parent = self->tree.links[i].parent;

        if (self->dfs_end[i] <= self->dfs_begin[i])
            self->dfs_end[i] = self->dfs_begin[i] + 1;
        if (i > 0 && self->dfs_end[parent] < self->dfs_end[i])
            self->dfs_end[parent] = self->dfs_end[i];
    }
}

static void sort_transfers(struct cn_lens_database *self)
{
    size_t count = self->tree.count;
    struct cn_lens_transfer *sorted;
    uint32_t *next;

    if (self->transfer_count == 0)
        return;
    number_nodes(self);
    next = cn_alloc(count + 1, sizeof(*next));
    sorted = cn_alloc(self->transfer_count, sizeof(*sorted));
    for (size_t i = 0; i < self->transfer_count; i++)
        next[self->dfs_begin[self->transfers[i].node] + 1]++;
    for (size_t i = 0; i < count; i++)
        next[i + 1] += next[i];
    for (size_t i = 0; i < self->transfer_count; i++)
        sorted[next[self->dfs_begin[self->transfers[i].node]]++] = self->transfers[i];
    free(next);
    free(self->transfers);
    self->transfers = sorted;
    self->transfer_next = cn_alloc(self->transfer_count, sizeof(*self->transfer_next));
    for (size_t i = self->transfer_count; i-- > 0;) {
        uint32_t *first = cn_map_at(&self->transfer_of, sorted[i].context, 0);

        self->transfer_next[i] = *first;
        *first = (uint32_t)i + 1;
    }
}

static void number_contexts(struct lens_builder *b)
{
    struct cn_lens_database *self = b->self;
    uint32_t limit = b->whole->context_limit;

    self->id_limit = b->target_capacity > limit ? b->target_capacity : limit;
    self->id_limit += self->id_limit == 0;
    self->target_of_id = cn_alloc(self->id_limit, sizeof(*self->target_of_id));
    self->parts_of_id = cn_alloc(self->id_limit, sizeof(*self->parts_of_id));
    self->node_of_id = cn_alloc(self->id_limit, sizeof(*self->node_of_id));
    for (size_t i = 0; i < self->id_limit; i++) {
        bool is_known = i < b->target_capacity && b->targets[i] > 0;

        self->target_of_id[i] = is_known ? b->targets[i] - 1 : CN_NONE;
        self->parts_of_id[i] = is_known ? b->target_parts[i] : 0;
        self->node_of_id[i] = CN_NONE;
    }
    self->target_of_id[0] = b->masks[CN_LENS_FOCUS] ? CN_LENS_REMOVED : 0;
    self->parts_of_id[0] = ALL_PARTS;
    self->node_of_id[0] = 0;
    for (size_t i = self->tree.count; i-- > 1;)
        if (self->nodes[i].is_listed)
            self->node_of_id[self->nodes[i].id] = (uint32_t)i;
}

/* The code of a library is that of the functions in it. */
static void extend_codes(struct lens_builder *b)
{
    struct cn_lens_database *self = b->self;
    struct cn_codes *codes = &self->codes;
    size_t count = codes->function_count + self->function_count;

    if (self->function_count == 0)
        return;
    codes->of_function =
        cn_realloc(codes->of_function, count, sizeof(*codes->of_function));
    for (size_t i = codes->function_count; i < count; i++)
        codes->of_function[i] = (struct cn_code_class){0};
    for (size_t i = 0; i < codes->module_count; i++) {
        uint32_t at = b->group_function[group_of(b, &codes->of_module[i])];

        if (at != CN_NONE && b->of_module[i] & b->masks[CN_LENS_COLLAPSE])
            codes->of_function[at] = codes->of_module[i];
    }
    for (size_t i = codes->function_count; i-- > 0;) {
        uint32_t at = b->group_function[group_of(b, &codes->of_function[i])];

        if (at != CN_NONE && b->of_function[i] & b->masks[CN_LENS_COLLAPSE])
            codes->of_function[at] = codes->of_function[i];
    }
    codes->function_count = count;
}

static void begin(struct lens_builder *b)
{
    struct cn_lens_database *self = b->self;

    cn_tree_init(&self->tree);
    for (size_t i = 0; i < b->lens->count; i++) {
        const struct cn_lens_rule *rule = &b->lens->rules[i];

        b->folds |= rule->subject == CN_LENS_OF_RECURSION;
        b->by_language |= rule->subject == CN_LENS_OF_LANGUAGES;
        b->masks[rule->action] |= UINT32_C(1) << i;
    }
    if (b->folds)
        b->on_path = cn_alloc(b->whole->function_count, sizeof(*b->on_path));
    size_t groups = self->codes.libraries.count + CN_CODE_LANGUAGES;
    b->group_function = cn_alloc(groups, sizeof(*b->group_function));
    for (size_t i = 0; i < groups; i++)
        b->group_function[i] = CN_NONE;
    CN_GROW(b->function_of, 0, b->function_of_capacity);
    b->function_of[0] = CN_NONE;
    CN_PUSH(self->nodes, b->node_count, b->node_capacity,
            (struct cn_lens_node){.function = CN_NONE, .is_call = true});
    if (b->masks[CN_LENS_FOCUS] == 0)
        add_part(b, 0, 0, ALL_PARTS);
}

/* What was read before the damage is shown. */
static bool note_damage(struct cn_lens_database *self, const struct cn_error *err)
{
    if (err->kind != CN_ERR_FORMAT)
        return false;
    cn_database_warn(&self->overlay.db, true, "%s", err->text);
    return true;
}

bool cn_lens_build(struct cn_lens_database *self, const struct cn_lens *lens,
                   const struct cn_progress *progress, struct cn_error *err)
{
    struct lens_builder b = {.self = self, .whole = self->overlay.source, .lens = lens};

    begin(&b);
    bool ok = match_functions(&b, err) &&
              (walk_contexts(&b, progress, err) || note_damage(self, err));
    if (ok) {
        cn_tree_sort(&self->tree);
        cn_tree_trim(&self->tree);
        sort_parts(&b);
        list_nodes(self);
        sort_transfers(self);
        number_contexts(&b);
        extend_codes(&b);
    }
    cn_map_done(&b.key_of);
    free(b.of_function);
    free(b.of_module);
    free(b.on_path);
    free(b.function_of);
    free(b.group_function);
    free(b.path);
    free(b.parts);
    free(b.targets);
    free(b.target_parts);
    return ok;
}
