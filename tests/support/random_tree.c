#include "support/random_tree.h"

#include <stdlib.h>

#include "model/contexts/memory.h"

enum { MODULES = 2, FILES = 3, POINT_ID = 0 };

static uint32_t pick(uint32_t *random, uint32_t below)
{
    *random = *random * UINT32_C(1664525) + UINT32_C(1013904223);
    return (*random >> 16) % below;
}

static void add_tables(struct cn_memory_database *m)
{
    static const char *const names[CN_RANDOM_FUNCTIONS] = {"f0", "f1", "f2", "f3",
                                                           "f4", "f5", "f6", "f6"};

    (void)cn_memory_database_add_kind(m, "SUMMARY");
    (void)cn_memory_database_add_kind(m, "THREAD");
    cn_memory_database_add_usual_scopes(m);
    (void)cn_memory_database_add_usual_metric(m, "time");
    (void)cn_memory_database_add_module(m, "/bin/m0");
    (void)cn_memory_database_add_module(m, "/bin/m1");
    (void)cn_memory_database_add_file(m, "/src/a.c", false);
    (void)cn_memory_database_add_file(m, "/src/b.c", false);
    (void)cn_memory_database_add_file(m, "/src/c.c", false);
    for (uint32_t i = 0; i < CN_RANDOM_FUNCTIONS; i++) {
        uint32_t place = i < CN_RANDOM_FUNCTIONS - 1 ? i : i - 1;

        (void)cn_memory_database_add_function(
            m, (struct cn_function){names[i], place % MODULES, 0x100 * i,
                                    place == 0 ? CN_NONE : place % FILES, place});
    }
    for (uint32_t t = 0; t < CN_RANDOM_THREADS; t++)
        (void)cn_memory_database_add_profile(
            m, (struct cn_identity_tuple){.count = 1, .ids = {{1, false, t, t}}});
}

static struct cn_context entry(void)
{
    return (struct cn_context){.kind = CN_CONTEXT_ENTRY,
                               .entry = CN_ENTRY_MAIN_THREAD,
                               .entry_name = "main thread"};
}

static struct cn_context call(uint32_t *random)
{
    struct cn_context context = {
        .kind = CN_CONTEXT_FUNCTION,
        .relation = pick(random, 4) == 0 ? CN_INLINED_CALL : CN_CALL,
        .function = pick(random, CN_RANDOM_FUNCTIONS + 1),
    };

    context.has_function = context.function < CN_RANDOM_FUNCTIONS;
    if (!context.has_function)
        context.function = CN_NONE;
    return context;
}

static struct cn_context called_instruction(uint32_t *random)
{
    return (struct cn_context){.kind = CN_CONTEXT_INSTRUCTION,
                               .relation = CN_CALL,
                               .has_point = true,
                               .module = pick(random, MODULES),
                               .offset = 0x10 * (1 + pick(random, 3))};
}

static struct cn_context inside(uint32_t *random)
{
    bool is_binary = pick(random, 4) == 0;

    return (struct cn_context){
        .kind = pick(random, 2) ? CN_CONTEXT_LOOP : CN_CONTEXT_LINE,
        .relation = CN_LEXICAL,
        .propagation = 1,
        .has_source = !is_binary,
        .has_point = is_binary,
        .file = is_binary ? CN_NONE : pick(random, FILES),
        .line = is_binary ? 0 : 1 + pick(random, 3),
        .module = 0,
        .offset = is_binary ? 0x20 * (1 + pick(random, 2)) : 0,
    };
}

/* Mostly below one of the newest contexts, so that trees are deep. */
static size_t choose_parent(const struct cn_random_tree *tree, uint32_t *random)
{
    size_t among = pick(random, 3) ? (tree->count < 4 ? tree->count : 4) : tree->count;

    return tree->count - 1 - pick(random, (uint32_t)among);
}

static void add_context(struct cn_random_tree *tree, struct cn_memory_database *m,
                        uint32_t *random)
{
    struct cn_random_context *c = &tree->contexts[tree->count];
    uint32_t what = pick(random, 10);
    bool is_entry = tree->count == 0 || (what == 0 && tree->count < 8);
    bool is_below_entry;

    c->parent = is_entry ? tree->count : choose_parent(tree, random);
    is_below_entry = tree->contexts[c->parent].context.kind == CN_CONTEXT_ENTRY;
    if (is_entry)
        c->context = entry();
    else if (what < 2)
        c->context = called_instruction(random);
    else if (what < 6 && !is_below_entry)
        c->context = inside(random);
    else
        c->context = call(random);
    c->context.id = cn_memory_database_add_context(
        m, is_entry ? 0 : tree->contexts[c->parent].context.id, c->context);
    for (size_t t = 0; t < CN_RANDOM_THREADS && !is_entry; t++)
        if (pick(random, 2))
            c->point[t] = 1 + pick(random, 9);
    tree->count++;
}

void cn_random_tree_build(struct cn_random_tree *tree, uint32_t seed)
{
    struct cn_memory_database *m = cn_memory_database_new("random", "");
    uint32_t random = seed * UINT32_C(2654435761) + 1;
    size_t wanted = 3 + pick(&random, CN_RANDOM_CONTEXTS_MAX - 3);
    struct cn_error err = {0};

    *tree = (struct cn_random_tree){0};
    add_tables(m);
    while (tree->count < wanted)
        add_context(tree, m, &random);
    for (size_t i = 0; i < tree->count; i++)
        for (uint32_t t = 0; t < CN_RANDOM_THREADS; t++)
            if (tree->contexts[i].point[t] > 0)
                cn_memory_database_add_value(m, t + 1, tree->contexts[i].context.id,
                                             POINT_ID, tree->contexts[i].point[t]);
    if (!cn_memory_database_propagate(m, &err))
        abort();
    tree->db = cn_memory_database_finish(m);
}

void cn_random_tree_done(struct cn_random_tree *tree)
{
    cn_database_close(tree->db);
    *tree = (struct cn_random_tree){0};
}

bool cn_random_is_call(const struct cn_random_context *c)
{
    return c->context.kind != CN_CONTEXT_ENTRY && c->context.relation != CN_LEXICAL;
}

static bool is_at_or_below(const struct cn_random_tree *tree, size_t at, size_t top)
{
    while (at != top && tree->contexts[at].parent != at)
        at = tree->contexts[at].parent;
    return at == top;
}

/* Whether no call lies between a context and the one above it. A loop is left out of what
 * belongs to the loop around it, not of what belongs to the function. */
static bool belongs_to(const struct cn_random_tree *tree, size_t at, size_t top)
{
    bool is_loop = tree->contexts[top].context.kind == CN_CONTEXT_LOOP;

    for (; at != top; at = tree->contexts[at].parent) {
        const struct cn_random_context *c = &tree->contexts[at];

        if (cn_random_is_call(c) || (is_loop && c->context.kind == CN_CONTEXT_LOOP))
            return false;
    }
    return tree->contexts[top].context.kind != CN_CONTEXT_ENTRY;
}

double cn_random_total(const struct cn_random_tree *tree, size_t at, size_t thread)
{
    double sum = 0;

    for (size_t i = at; i < tree->count; i++)
        if (is_at_or_below(tree, i, at))
            sum += tree->contexts[i].point[thread];
    return sum;
}

double cn_random_self(const struct cn_random_tree *tree, size_t at, size_t thread)
{
    double sum = 0;

    for (size_t i = at; i < tree->count; i++)
        if (is_at_or_below(tree, i, at) && belongs_to(tree, i, at))
            sum += tree->contexts[i].point[thread];
    return sum;
}
