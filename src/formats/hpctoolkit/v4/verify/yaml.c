#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/text.h"
#include "formats/hpctoolkit/metrics_yaml.h"
#include "formats/hpctoolkit/v4/verify/parts.h"

/* The number of statistics of meta.db for each key. */
struct matches {
    struct cn_names keys;
    uint32_t *counts;
    size_t capacity;
};

static uint32_t *count_at(struct matches *m, const char *metric, const char *scope,
                          const char *formula, unsigned combine)
{
    size_t known = m->keys.count;
    struct cn_text key = {0};

    cn_text_printf(&key, "%zu:%s%zu:%s%u:%s", strlen(metric), metric, strlen(scope),
                   scope, combine, formula);
    /* hpcviewer compares names without regard to case. */
    for (size_t i = 0; i < key.len; i++)
        key.chars[i] = (char)tolower((unsigned char)key.chars[i]);
    uint32_t number = cn_names_add(&m->keys, cn_text_str(&key));
    cn_text_done(&key);
    if (m->keys.count > known) {
        CN_GROW(m->counts, number, m->capacity);
        m->counts[number] = 0;
    }
    return &m->counts[number];
}

static void count_statistics(struct cn_hpc_v4_check *v, struct matches *m)
{
    for (size_t i = 0; i < v->m.head.metrics.count; i++) {
        const struct cn_metric *metric = &v->m.head.metrics.list[i];

        for (size_t k = 0; k < metric->statistic_count; k++) {
            const struct cn_statistic *s = &metric->statistics[k];

            ++*count_at(m, metric->name, v->m.head.metrics.scopes[s->scope].name,
                        s->formula, s->combine);
        }
    }
}

/* hpcviewer fails if an input is not exactly one statistic. */
static void check_inputs(struct cn_hpc_v4_check *v, const struct cn_taxonomy *taxonomy)
{
    struct matches m = {0};

    count_statistics(v, &m);
    for (size_t i = 0; i < taxonomy->input_count; i++) {
        const struct cn_input *input = &taxonomy->inputs[i];
        uint32_t count =
            *count_at(&m, input->metric, input->scope, input->formula, input->combine);

        if (count != 1)
            cn_findings_error(
                &v->m.c.f, "yaml-input", 0,
                "input %.80s, scope %.40s, formula %.40s, combine %s is %" PRIu32
                " statistics of meta.db instead of one",
                input->metric, input->scope, input->formula,
                cn_combine_name(input->combine), count);
    }
    cn_names_done(&m.keys);
    free(m.counts);
}

/* What hpcviewer and Hatchet expect of formulas. */
struct presentation {
    struct cn_hpc_v4_check *v;
    const struct cn_taxonomy *taxonomy;
    bool *is_column;       /* by input: it is a column of its own */
    bool has_derived;      /* a column is not an input */
    bool has_hatchet_root; /* a metric whose self cost Hatchet finds */
};

static void check_column(struct presentation *p, const struct cn_presented_metric *metric,
                         const struct cn_formula *formula)
{
    if (!formula)
        return;
    p->has_derived = p->has_derived || formula->op != CN_FORMULA_INPUT;
    if (formula->op != CN_FORMULA_INPUT)
        return;
    if (p->is_column[formula->input])
        cn_findings_error(&p->v->m.c.f, "yaml-column-twice", 0,
                          "%.80s: input %" PRIu32
                          " is the formula of two columns; hpcviewer fails",
                          metric->name, formula->input);
    p->is_column[formula->input] = true;
}

/* Recursion is at most CN_TAXONOMY_DEPTH_MAX deep. */
static void check_columns(struct presentation *p,
                          const struct cn_presented_metric *metric)
{
    for (size_t i = 0; i < metric->variant_count; i++) {
        const struct cn_variant *variant = &metric->variants[i];

        /* A formula over children is not a column of its own. */
        if (variant->children)
            continue;
        check_column(p, metric, variant->total.standard);
        check_column(p, metric, variant->total.custom);
        check_column(p, metric, variant->self.standard);
        check_column(p, metric, variant->self.custom);
    }
    for (size_t i = 0; i < metric->child_count; i++)
        check_columns(p, &metric->children[i]);
}

/* The variant of a root that Hatchet reads. */
static const struct cn_variant *hatchet_variant(const struct cn_presented_metric *root)
{
    const struct cn_variant *unnamed = NULL;

    for (size_t i = 0; i < root->variant_count; i++) {
        if (strcmp(root->variants[i].name, "Sum") == 0)
            return &root->variants[i];
        if (root->variants[i].name[0] == '\0')
            unnamed = &root->variants[i];
    }
    return unnamed;
}

static bool is_input(const struct cn_formula *formula)
{
    return formula && formula->op == CN_FORMULA_INPUT;
}

/* Hatchet takes a root for a metric that has a total and a self cost, each an input, if the
 * root shows a percentage or a metric of meta.db has its name. */
static void check_root(struct presentation *p, const struct cn_presented_metric *root)
{
    const struct cn_variant *variant = hatchet_variant(root);
    bool has_percent = variant && (variant->render & CN_RENDER_PERCENT) != 0;
    bool is_metric = cn_metrics_find(&p->v->m.head.metrics, root->name) != CN_NO_ID;
    const struct cn_formula *total = variant ? variant->total.standard : NULL;
    const struct cn_formula *self = variant ? variant->self.standard : NULL;
    bool is_complete =
        has_percent && !variant->children && is_input(total) && is_input(self);
    const char *problem = NULL;

    if (has_percent && !variant->children &&
        ((variant->total.custom && !total) || (total && !is_input(total)) ||
         (variant->self.custom && !self) || (self && !is_input(self))))
        problem = "a percentage of a formula";
    else if (is_metric && !is_complete)
        problem = "the name of a metric, but not both costs with a percentage";
    if (problem)
        cn_findings_warn(&p->v->m.c.f, "yaml-hatchet", 0, "%.80s has %s; Hatchet fails",
                         root->name, problem);
    p->has_hatchet_root = p->has_hatchet_root || (is_metric && is_complete);
}

/* hpcviewer numbers the columns that are no input after the count of statistics. */
static void check_density(struct cn_hpc_v4_check *v)
{
    size_t count = 0;

    for (size_t i = 0; i < v->m.head.metrics.count; i++)
        count += v->m.head.metrics.list[i].statistic_count;
    for (size_t i = 0; i < v->m.head.metrics.count; i++)
        for (size_t k = 0; k < v->m.head.metrics.list[i].statistic_count; k++)
            if (v->m.head.metrics.list[i].statistics[k].stat_id > count)
                cn_findings_error(
                    &v->m.c.f, "statistic-id-gap", 0,
                    "%.80s: statistic id %u, but there are %zu statistics: "
                    "hpcviewer fails when it gives this number to a formula",
                    v->m.head.metrics.list[i].name,
                    v->m.head.metrics.list[i].statistics[k].stat_id, count);
}

static void check_presentation(struct cn_hpc_v4_check *v,
                               const struct cn_taxonomy *taxonomy)
{
    struct presentation p = {
        .v = v,
        .taxonomy = taxonomy,
        .is_column = cn_alloc(taxonomy->input_count, sizeof(*p.is_column)),
    };

    for (size_t i = 0; i < taxonomy->root_count; i++) {
        check_columns(&p, &taxonomy->roots[i]);
        check_root(&p, &taxonomy->roots[i]);
    }
    if (p.has_derived)
        check_density(v);
    if (!p.has_hatchet_root && taxonomy->root_count > 0)
        cn_findings_warn(
            &v->m.c.f, "yaml-hatchet", 0,
            "no root is a metric with a total and a self cost; Hatchet fails");
    free(p.is_column);
}

static void check_file(struct cn_hpc_v4_check *v, const struct cn_hpc_v4_yaml *yaml,
                       bool is_default)
{
    struct cn_arena arena = {0};
    struct cn_error err = {0};
    struct cn_taxonomy taxonomy;

    if (cn_hpc_metrics_yaml_read(yaml->text, &taxonomy, &arena, &err)) {
        if (is_default)
            cn_hpc_v4_check_yaml_tree(v, yaml->text);
        if (v->m.c.thread_ids)
            check_inputs(v, &taxonomy);
        if (v->m.c.thread_ids && is_default)
            check_presentation(v, &taxonomy);
        if (is_default && taxonomy.root_count == 0)
            cn_findings_warn(&v->m.c.f, "yaml-roots", 0, "presents no metric");
    } else if (is_default) {
        cn_findings_error(&v->m.c.f, "yaml-parse", 0, "%s", err.text);
    } else {
        cn_findings_warn(&v->m.c.f, "yaml-parse", 0, "%s", err.text);
    }
    cn_arena_done(&arena);
}

void cn_hpc_v4_check_yaml(struct cn_hpc_v4_check *v)
{
    bool has_default = false;

    for (size_t i = 0; i < v->files->yaml_count; i++) {
        const struct cn_hpc_v4_yaml *yaml = &v->files->yaml[i];
        bool is_default = strcmp(yaml->name, "default.yaml") == 0;

        cn_findings_begin(
            &v->m.c.f, is_default
                           ? "metrics/default.yaml"
                           : cn_arena_printf(&v->m.head.arena, "metrics/%s", yaml->name));
        check_file(v, yaml, is_default);
        has_default |= is_default;
    }
    if (has_default)
        return;
    cn_findings_begin(&v->m.c.f, "metrics/default.yaml");
    cn_findings_error(&v->m.c.f, "file-missing", 0,
                      "does not exist, but hpcviewer and Hatchet need it");
}
