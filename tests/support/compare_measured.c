#include "support/compare_measured.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/text.h"
#include "model/contexts/walk.h"

#define TOLERANCE 1e-12

/* One fact as text, with the number that may be a little off. */
struct fact {
    char *text;
    double value;
};

struct facts {
    struct fact *list;
    size_t count, capacity;
};

struct side {
    struct cn_database *db;
    struct cn_map positions; /* context -> number of its path */
    struct cn_names paths;
    struct facts facts;
};

static void add_fact(struct side *side, struct cn_text *text, double value)
{
    struct facts *facts = &side->facts;

    facts->list =
        cn_grow(facts->list, facts->count, &facts->capacity, sizeof(*facts->list));
    facts->list[facts->count++] = (struct fact){cn_strdup(cn_text_str(text)), value};
    cn_text_clear(text);
}

static bool print_file(struct side *side, uint32_t index, struct cn_text *text,
                       struct cn_error *err)
{
    struct cn_source_file file = {.path = "-"};

    if (index != CN_NONE && !cn_database_file(side->db, index, &file, err))
        return false;
    cn_text_printf(text, " %s%s", file.path, file.is_copied ? " copied" : "");
    return true;
}

static bool print_module(struct side *side, uint32_t index, struct cn_text *text,
                         struct cn_error *err)
{
    struct cn_module module = {.path = "-"};

    if (index != CN_NONE && !cn_database_module(side->db, index, &module, err))
        return false;
    cn_text_printf(text, " %s", module.path);
    return true;
}

static bool print_function(struct side *side, uint32_t index, struct cn_text *text,
                           struct cn_error *err)
{
    struct cn_function function;

    if (!cn_database_function(side->db, index, &function, err))
        return false;
    cn_text_printf(text, " %s %" PRIx64 " %" PRIu32, function.name, function.offset,
                   function.line);
    return print_file(side, function.file, text, err) &&
           print_module(side, function.module, text, err);
}

static bool print_context(struct side *side, const struct cn_context *c,
                          struct cn_text *text, struct cn_error *err)
{
    if (c->kind == CN_CONTEXT_ENTRY) {
        cn_text_printf(text, "> entry %u %s", c->entry, c->entry_name);
        return true;
    }
    cn_text_printf(text, "\n> %u %u %u", c->relation, c->kind, c->propagation);
    if (c->has_function && !print_function(side, c->function, text, err))
        return false;
    if (c->has_source) {
        cn_text_printf(text, " line %" PRIu32, c->line);
        if (!print_file(side, c->file, text, err))
            return false;
    }
    if (c->has_point) {
        cn_text_printf(text, " at %" PRIx64, c->offset);
        return print_module(side, c->module, text, err);
    }
    return true;
}

static bool list_contexts(struct side *side, struct cn_error *err)
{
    struct cn_walk walk = {0};
    struct cn_text path = {0}, fact = {0};
    size_t *lengths = NULL;
    size_t capacity = 0;
    const struct cn_context *context;
    enum cn_walk_event event;
    enum cn_step step = CN_FAIL;
    bool ok = cn_walk_begin(&walk, side->db, err);

    while (ok && (step = cn_walk_next(&walk, &event, &context, err)) == CN_ITEM) {
        if (event != CN_WALK_ENTER)
            continue;
        lengths = cn_grow(lengths, walk.depth, &capacity, sizeof(*lengths));
        path.len = walk.depth > 1 ? lengths[walk.depth - 1] : 0;
        if (path.chars)
            path.chars[path.len] = '\0';
        ok = print_context(side, context, &path, err);
        lengths[walk.depth] = path.len;
        *cn_map_at(&side->positions, context->id, 0) =
            cn_names_add(&side->paths, cn_text_str(&path));
        cn_text_printf(&fact, "context %s", cn_text_str(&path));
        add_fact(side, &fact, 0);
    }
    free(lengths);
    cn_text_done(&path);
    cn_text_done(&fact);
    cn_walk_done(&walk);
    return ok && step == CN_END;
}

static const char *path_of(const struct side *side, uint32_t context)
{
    uint32_t position = cn_map_find(&side->positions, context, UINT32_MAX);

    if (context == 0)
        return "global";
    return position == UINT32_MAX ? "left out" : side->paths.list[position];
}

static bool list_tables(struct side *side, struct cn_error *err)
{
    struct cn_database *db = side->db;
    struct cn_text text = {0};
    bool ok = true;

    cn_text_printf(&text, "title %s, description %s", db->title, db->description);
    add_fact(side, &text, 0);
    for (size_t i = 0; i < db->kinds.count; i++) {
        cn_text_printf(&text, "kind %zu %s", i, db->kinds.list[i]);
        add_fact(side, &text, 0);
    }
    for (uint32_t i = 0; ok && i < db->module_count; i++) {
        cn_text_str_add(&text, "module");
        ok = print_module(side, i, &text, err);
        add_fact(side, &text, 0);
    }
    for (uint32_t i = 0; ok && i < db->file_count; i++) {
        cn_text_str_add(&text, "file");
        ok = print_file(side, i, &text, err);
        add_fact(side, &text, 0);
    }
    for (uint32_t i = 0; ok && i < db->function_count; i++) {
        cn_text_str_add(&text, "function");
        ok = print_function(side, i, &text, err);
        add_fact(side, &text, 0);
    }
    cn_text_printf(&text, "context ids end at %" PRIu32, db->context_limit);
    add_fact(side, &text, 0);
    cn_text_done(&text);
    return ok;
}

static void list_metrics(struct side *side)
{
    const struct cn_metrics *metrics = &side->db->metrics;
    struct cn_text text = {0};

    for (size_t i = 0; i < metrics->scope_count; i++) {
        cn_text_printf(&text, "scope %s %u %u", metrics->scopes[i].name,
                       metrics->scopes[i].type, metrics->scopes[i].propagation);
        add_fact(side, &text, 0);
    }
    for (size_t i = 0; i < metrics->count; i++) {
        const struct cn_metric *metric = &metrics->list[i];

        for (size_t k = 0; k < metric->statistic_count; k++) {
            const struct cn_statistic *s = &metric->statistics[k];

            cn_text_printf(&text, "statistic %s %s %u of %s", s->formula,
                           metrics->scopes[s->scope].name, s->combine, metric->name);
            add_fact(side, &text, 0);
        }
    }
    cn_text_done(&text);
}

static void print_metric(const struct side *side, bool is_summary, uint16_t id,
                         struct cn_text *text)
{
    const struct cn_metrics *metrics = &side->db->metrics;

    for (size_t i = 0; i < metrics->count; i++) {
        const struct cn_metric *metric = &metrics->list[i];

        for (size_t k = 0; !is_summary && k < metric->instance_count; k++)
            if (metric->instances[k].prop_id == id)
                cn_text_printf(text, "%s %s", metric->name,
                               metrics->scopes[metric->instances[k].scope].name);
        for (size_t k = 0; is_summary && k < metric->statistic_count; k++)
            if (metric->statistics[k].stat_id == id)
                cn_text_printf(text, "%s %s %s %u", metric->name,
                               metrics->scopes[metric->statistics[k].scope].name,
                               metric->statistics[k].formula,
                               metric->statistics[k].combine);
    }
}

static void print_identity(const struct side *side, const struct cn_profile *profile,
                           struct cn_text *text)
{
    for (size_t i = 0; i < profile->identity.count; i++) {
        const struct cn_identity *id = &profile->identity.ids[i];

        cn_text_printf(text, "%s %d %" PRIu32 " %" PRIx64 " ",
                       side->db->kinds.list[id->kind], id->is_physical, id->logical,
                       id->physical);
    }
}

static bool list_values(struct side *side, uint32_t index, const char *who,
                        bool is_summary, struct cn_error *err)
{
    struct cn_value_cursor cursor;
    struct cn_value_batch batch;
    struct cn_text text = {0};
    enum cn_step step;

    if (!cn_profile_values(side->db, index, 0, UINT32_MAX, &cursor, err))
        return false;
    while ((step = cn_values_next(&cursor, &batch, err)) == CN_ITEM)
        for (size_t i = 0; i < batch.count; i++) {
            cn_text_printf(&text, "value of %s in ", who);
            print_metric(side, is_summary, batch.values[i].metric, &text);
            cn_text_printf(&text, " at %s", path_of(side, batch.values[i].key));
            add_fact(side, &text, batch.values[i].value);
        }
    cn_text_done(&text);
    return step == CN_END;
}

static bool list_samples(struct side *side, uint32_t index, const char *who,
                         struct cn_error *err)
{
    struct cn_timeline timeline;
    struct cn_text text = {0};

    if (!cn_timeline_open(side->db, index, &timeline, err))
        return false;
    for (uint64_t k = 0; k < timeline.count; k++) {
        struct cn_sample sample;

        if (!cn_timeline_read(side->db, &timeline, k, 1, &sample, err))
            return false;
        cn_text_printf(&text, "sample %" PRIu64 " of %s at %" PRIu64 ": %s", k, who,
                       sample.time_ns, path_of(side, sample.context));
        add_fact(side, &text, 0);
    }
    cn_text_done(&text);
    return true;
}

static bool list_profiles(struct side *side, struct cn_error *err)
{
    bool ok = true;

    for (uint32_t i = 0; ok && i < side->db->profile_count; i++) {
        struct cn_text who = {0}, fact = {0};
        struct cn_profile profile;

        if (!cn_database_profile(side->db, i, &profile, err))
            return false;
        print_identity(side, &profile, &who);
        cn_text_printf(&fact, "profile %s%s", profile.is_summary ? "summary" : "",
                       cn_text_str(&who));
        add_fact(side, &fact, 0);
        ok = list_values(side, i, cn_text_str(&who), profile.is_summary, err) &&
             list_samples(side, i, cn_text_str(&who), err);
        cn_text_done(&who);
        cn_text_done(&fact);
    }
    return ok;
}

/* Inputs by what they are. Recurses along the formula, whose depth is limited. */
static void print_formula(const struct side *side, const struct cn_formula *formula,
                          struct cn_text *text)
{
    if (!formula) {
        cn_text_str_add(text, "none");
    } else if (formula->op == CN_FORMULA_INPUT) {
        const struct cn_input *input = &side->db->taxonomy.inputs[formula->input];

        cn_text_printf(text, "<%s %s %s %u>", input->metric, input->scope, input->formula,
                       input->combine);
    } else {
        cn_text_printf(text, "(%s %.17g", cn_formula_op_name(formula->op, 2),
                       formula->number);
        for (size_t i = 0; i < formula->arg_count; i++)
            print_formula(side, formula->args[i], text);
        cn_text_char(text, ')');
    }
}

static void list_roots(struct side *side)
{
    const struct cn_taxonomy *taxonomy = &side->db->taxonomy;
    struct cn_text text = {0};

    for (size_t i = 0; i < taxonomy->root_count; i++) {
        const struct cn_presented_metric *root = &taxonomy->roots[i];

        for (size_t k = 0; k < root->variant_count; k++) {
            const struct cn_variant *variant = &root->variants[k];

            cn_text_printf(&text, "root %zu %s: %s, %d, %s; %zu %s %u ", i, root->name,
                           root->description ? root->description : "", root->is_visible,
                           root->format ? root->format : "", k, variant->name,
                           variant->render);
            print_formula(side, variant->total.standard, &text);
            print_formula(side, variant->self.custom, &text);
            print_formula(side, variant->self.standard, &text);
            add_fact(side, &text, 0);
        }
    }
    for (size_t i = 0; i < taxonomy->input_count; i++) {
        const struct cn_input *input = &taxonomy->inputs[i];

        cn_text_printf(&text, "input %s %s %s %u", input->metric, input->scope,
                       input->formula, input->combine);
        add_fact(side, &text, 0);
    }
    cn_text_done(&text);
}

static int compare_facts(const void *left, const void *right)
{
    const struct fact *a = left, *b = right;
    int order = strcmp(a->text, b->text);

    return order != 0 ? order : (a->value > b->value) - (a->value < b->value);
}

static bool describe(struct side *side, struct cn_error *err)
{
    list_metrics(side);
    list_roots(side);
    if (!list_tables(side, err) || !list_contexts(side, err) || !list_profiles(side, err))
        return false;
    qsort(side->facts.list, side->facts.count, sizeof(*side->facts.list), compare_facts);
    return true;
}

static bool differ(const char *what, const struct fact *fact, struct cn_error *err)
{
    size_t len = strlen(fact->text);

    /* The end of a path tells more than its beginning. */
    return cn_fail(err, CN_ERR_FORMAT, "%s: %.100s ... %s (%.17g)", what, fact->text,
                   len > 300 ? fact->text + len - 300 : "", fact->value);
}

static bool compare(const struct facts *got, const struct facts *expected,
                    struct cn_error *err)
{
    size_t i = 0, k = 0;

    while (i < got->count || k < expected->count) {
        int order = i == got->count ? 1
                    : k == expected->count
                        ? -1
                        : strcmp(got->list[i].text, expected->list[k].text);

        if (order < 0)
            return differ("too much", &got->list[i], err);
        if (order > 0)
            return differ("missing", &expected->list[k], err);
        if (fabs(got->list[i].value - expected->list[k].value) >
            TOLERANCE * fabs(expected->list[k].value))
            return differ("other value", &got->list[i], err);
        i++;
        k++;
    }
    return true;
}

static void release(struct side *side)
{
    for (size_t i = 0; i < side->facts.count; i++)
        free(side->facts.list[i].text);
    free(side->facts.list);
    cn_map_done(&side->positions);
    cn_names_done(&side->paths);
}

bool cn_compare_measured(struct cn_database *got, struct cn_database *expected,
                         struct cn_error *err)
{
    struct side left = {.db = got}, right = {.db = expected};
    bool ok = describe(&left, err) && describe(&right, err) &&
              compare(&left.facts, &right.facts, err);

    release(&left);
    release(&right);
    return ok;
}
