#include "support/synthetic.h"

#include <assert.h>
#include <stdio.h>

enum {
    FUNCTIONS = 20000,
    FILES = 2000,
    MODULES = 50,
    LINES = 4000,
    NAME_LEN = 64,
    SCOPES_OF_CONTEXT = 3, /* function, lex_aware, execution: metric ids 1 to 3 */
    PAUSE_EVERY = 100,
    PATTERN_LEN = 5,
    PATTERN_SUM = 7,
};

static char names[FUNCTIONS][NAME_LEN];
static char paths[FILES + MODULES][NAME_LEN];
static struct cn_module modules[MODULES];
static struct cn_source_file files[FILES];
static struct cn_function functions[FUNCTIONS];

static const struct cn_scope scopes[] = {
    {"point", CN_SCOPE_POINT, 255},
    {"function", CN_SCOPE_TRANSITIVE, 0},
    {"lex_aware", CN_SCOPE_CUSTOM, 255},
    {"execution", CN_SCOPE_EXECUTION, 255},
};
static const struct cn_scope_instance instances[] = {{0, 0}, {1, 1}, {2, 2}, {3, 3}};
static const struct cn_statistic statistics[] = {
    {0, 0, CN_COMBINE_SUM, "$$"},
    {1, 1, CN_COMBINE_SUM, "$$"},
    {2, 2, CN_COMBINE_SUM, "$$"},
    {3, 3, CN_COMBINE_SUM, "$$"},
};
static const struct cn_metric metric = {"CPUTIME (sec)", instances, statistics, 4, 4};
static const char *const kinds[] = {"SUMMARY", "NODE", "RANK", "THREAD"};

static uint32_t scramble(uint32_t a, uint32_t b)
{
    uint64_t x = ((uint64_t)a << 32 | b) * UINT64_C(0x9e3779b97f4a7c15);

    return (uint32_t)(x >> 32);
}

static struct cn_synthetic *self_of(struct cn_database *db)
{
    return (struct cn_synthetic *)db;
}

/* Children of the contexts before number `i`: where its own begin. */
static uint64_t children_before(uint64_t i)
{
    static const uint8_t before[PATTERN_LEN] = {0, 3, 4, 4, 7}; /* 3 1 0 3 0 children */

    return i / PATTERN_LEN * PATTERN_SUM + before[i % PATTERN_LEN];
}

static bool get_profile(struct cn_database *db, uint32_t index, struct cn_profile *out,
                        struct cn_error *err)
{
    struct cn_synthetic *s = self_of(db);
    uint32_t contexts = index == 0 ? s->size.contexts : s->thread_contexts;
    uint32_t rank = (index - 1) / 16, thread = (index - 1) % 16;

    (void)err;
    *out = (struct cn_profile){
        .is_summary = index == 0,
        .value_count = (uint64_t)contexts * SCOPES_OF_CONTEXT + 1,
        .context_count = contexts + 1,
    };
    if (index > 0)
        out->identity = (struct cn_identity_tuple){
            .count = 3,
            .ids = {{1, true, rank / 4, 0x7f0000 + rank / 4},
                    {2, false, rank, rank},
                    {3, false, thread, thread}},
        };
    return true;
}

static struct cn_context context_number(uint64_t i)
{
    uint32_t dice = scramble((uint32_t)i, 1);
    struct cn_context context = {.id = (uint32_t)i + 1, .at = i};

    if (i == 0) {
        context.kind = CN_CONTEXT_ENTRY;
        context.entry = CN_ENTRY_MAIN_THREAD;
        context.entry_name = "main thread";
    } else if (i % 2 == 0) {
        context.kind = CN_CONTEXT_FUNCTION;
        context.relation = CN_CALL;
        context.has_function = true;
        context.function = dice % FUNCTIONS;
    } else {
        context.kind = i % 16 == 1 ? CN_CONTEXT_LOOP : CN_CONTEXT_LINE;
        context.relation = CN_LEXICAL;
        context.propagation = 1;
        context.has_source = true;
        context.file = dice % FILES;
        context.line = 1 + dice / FILES % LINES;
    }
    return context;
}

static bool children(struct cn_database *db, const struct cn_context *parent,
                     struct cn_context_cursor *out, struct cn_error *err)
{
    uint64_t count = self_of(db)->size.contexts;
    uint64_t at = parent ? 1 + children_before(parent->at) : 0;
    uint64_t end = parent ? 1 + children_before(parent->at + 1) : 1;

    (void)err;
    *out = (struct cn_context_cursor){
        .at = at < count ? at : count,
        .end = end < count ? end : count,
        .is_entry_list = !parent,
    };
    out->size = out->end - out->at;
    return true;
}

static enum cn_step child_next(struct cn_database *db, struct cn_context_cursor *cursor,
                               struct cn_context *out, struct cn_error *err)
{
    (void)db;
    (void)err;
    if (cursor->at >= cursor->end)
        return CN_END;
    *out = context_number(cursor->at++);
    return CN_ITEM;
}

static bool context_at(struct cn_database *db, uint64_t at, struct cn_context *out,
                       struct cn_error *err)
{
    (void)db;
    (void)err;
    *out = context_number(at);
    return true;
}

/* The id of the k-th context that has values in a profile; number 0 is the global one. */
static uint32_t key_of(const struct cn_synthetic *s, uint32_t profile, uint64_t k)
{
    uint64_t jitter;

    if (k == 0 || profile == 0)
        return (uint32_t)k;
    jitter = (uint64_t)scramble(profile, (uint32_t)k) * s->step >> 32;
    return (uint32_t)(1 + (k - 1) * s->step + jitter);
}

/* The number of contexts of a profile with an id below `key`, the global one included. */
static uint64_t count_below(const struct cn_synthetic *s, uint32_t profile, uint64_t key)
{
    uint64_t total = (profile == 0 ? s->size.contexts : s->thread_contexts) + UINT64_C(1);
    uint64_t k;

    if (key == 0)
        return 0;
    k = profile == 0 ? key : (key - 1) / s->step + 1;
    if (k >= total)
        return total;
    return k + (key_of(s, profile, k) < key);
}

static bool values_begin(struct cn_database *db, struct cn_value_cursor *cursor,
                         struct cn_error *err)
{
    struct cn_synthetic *s = self_of(db);

    (void)err;
    assert(cursor->plane == CN_PLANE_OF_PROFILE);
    cursor->at = count_below(s, cursor->owner, cursor->first_key);
    cursor->end = count_below(s, cursor->owner, (uint64_t)cursor->last_key + 1);
    return true;
}

/* Total cost: falls steeply with the number of a context, so that children together
 * have less than their parent. */
static double cost_of(uint32_t profile, uint32_t key)
{
    double share = 1.0 / (key ? key : 1);

    share *= share;
    return (profile == 0 ? 4e6 : 1e3 + profile % 7) * share * share;
}

static size_t add_values(struct cn_value *out, uint32_t profile, uint32_t key)
{
    double cost = cost_of(profile, key);

    if (key == 0) {
        out[0] = (struct cn_value){cost, 0, 3};
        return 1;
    }
    out[0] = (struct cn_value){cost * 0.25, key, 1};
    out[1] = (struct cn_value){cost * 0.125, key, 2};
    out[2] = (struct cn_value){cost, key, 3};
    return SCOPES_OF_CONTEXT;
}

static enum cn_step values_next(struct cn_value_cursor *cursor,
                                struct cn_value_batch *out, struct cn_error *err)
{
    const struct cn_synthetic *s = self_of(cursor->db);
    size_t count = 0;

    (void)err;
    while (cursor->at < cursor->end && count + SCOPES_OF_CONTEXT <= CN_VALUE_BATCH)
        count += add_values(cursor->batch + count, cursor->owner,
                            key_of(s, cursor->owner, cursor->at++));
    *out = (struct cn_value_batch){cursor->batch, count};
    return count > 0 ? CN_ITEM : CN_END;
}

static bool timeline(struct cn_database *db, uint32_t profile, struct cn_timeline *out,
                     struct cn_error *err)
{
    struct cn_synthetic *s = self_of(db);

    (void)err;
    *out = (struct cn_timeline){
        .count = profile == 0 ? 0 : s->size.samples / s->size.threads,
        .at = profile,
    };
    return true;
}

static bool samples(struct cn_database *db, const struct cn_timeline *from,
                    uint64_t first, size_t count, struct cn_sample *out,
                    struct cn_error *err)
{
    uint32_t contexts = self_of(db)->size.contexts;

    (void)err;
    for (size_t i = 0; i < count; i++) {
        uint64_t k = first + i;
        uint32_t dice = scramble((uint32_t)from->at, (uint32_t)k);
        bool is_pause = k % PAUSE_EVERY == PAUSE_EVERY - 1;

        out[i].time_ns = UINT64_C(1700000000000000000) + k * 5000000 + dice % 1000000;
        out[i].context = is_pause ? 0 : 1 + (uint32_t)((uint64_t)dice * contexts >> 32);
    }
    return true;
}

static void close_database(struct cn_database *db)
{
    (void)db;
}

static const struct cn_database_ops operations = {
    .profile = get_profile,
    .children = children,
    .child_next = child_next,
    .context_at = context_at,
    .values_begin = values_begin,
    .values_next = values_next,
    .timeline = timeline,
    .samples = samples,
    .close = close_database,
};

static void make_tables(void)
{
    for (uint32_t i = 0; i < FUNCTIONS; i++) {
        (void)snprintf(names[i], NAME_LEN, "solver%u::step<%u>(double*, int)", i % 97, i);
        functions[i] = (struct cn_function){
            .name = names[i],
            .module = i % MODULES,
            .offset = 0x1000 + i * UINT64_C(256),
            .file = i % FILES,
            .line = 1 + i / FILES * 100,
        };
    }
    for (unsigned i = 0; i < FILES; i++) {
        (void)snprintf(paths[i], NAME_LEN, "/opt/app/src/part%u/file%u.cpp", i % 40, i);
        files[i] = (struct cn_source_file){.path = paths[i]};
    }
    for (unsigned i = 0; i < MODULES; i++) {
        (void)snprintf(paths[FILES + i], NAME_LEN, "/opt/app/lib/libpart%u.so", i);
        modules[i] = (struct cn_module){.path = paths[FILES + i]};
    }
}

void cn_synthetic_init(struct cn_synthetic *s, const struct cn_synthetic_size *size)
{
    uint64_t thread_contexts = size->values / size->threads / SCOPES_OF_CONTEXT;

    assert(thread_contexts > 0 && thread_contexts <= size->contexts);
    make_tables();
    *s = (struct cn_synthetic){
        .db =
            {
                .ops = &operations,
                .path = "",
                .title = "synthetic",
                .description = "Computed, to measure how fast a database is written.",
                .kinds = {kinds, sizeof(kinds) / sizeof(*kinds)},
                .metrics = {scopes, &metric, sizeof(scopes) / sizeof(*scopes), 1},
                .profile_count = size->threads + 1,
                .module_count = MODULES,
                .file_count = FILES,
                .function_count = FUNCTIONS,
                .modules = modules,
                .files = files,
                .functions = functions,
                .context_limit = size->contexts + 1,
                .context_weight = size->contexts,
                .has_timelines = size->samples > 0,
            },
        .size = *size,
        .thread_contexts = (uint32_t)thread_contexts,
        .step = size->contexts / (uint32_t)thread_contexts,
    };
    cn_taxonomy_build(&s->db.taxonomy, &s->db.metrics, &s->db.arena);
}
