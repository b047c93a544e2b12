/* metrics/default.yaml, restricted to statistics that meta.db has exactly once. */
#include "formats/hpctoolkit/v4/write/writing.h"

#include "base/text.h"
#include "formats/hpctoolkit/metrics_yaml.h"
#include "model/contexts/bucket.h"

/* An input that meta.db lacks. */
#define DROPPED UINT32_MAX

struct pruning {
    const struct cn_database *db;
    struct cn_arena arena;
    uint32_t *new_numbers; /* of inputs; DROPPED when the database lacks them */
    uint64_t lost_count;   /* formulas */
};

static unsigned count_matches(const struct cn_metrics *metrics,
                              const struct cn_input *input)
{
    unsigned count = 0;

    for (size_t i = 0; i < metrics->count; i++) {
        const struct cn_metric *metric = &metrics->list[i];

        for (size_t k = 0; k < metric->statistic_count; k++) {
            const struct cn_statistic *statistic = &metric->statistics[k];

            count += strcmp(metric->name, input->metric) == 0 &&
                     strcmp(metrics->scopes[statistic->scope].name, input->scope) == 0 &&
                     statistic->combine == input->combine &&
                     strcmp(statistic->formula, input->formula) == 0;
        }
    }
    return count;
}

static size_t keep_inputs(struct pruning *p, const struct cn_taxonomy *from,
                          struct cn_input *inputs)
{
    size_t count = 0;

    p->new_numbers =
        cn_arena_alloc(&p->arena, from->input_count, sizeof(*p->new_numbers));
    for (size_t i = 0; i < from->input_count; i++) {
        p->new_numbers[i] = DROPPED;
        if (count_matches(&p->db->metrics, &from->inputs[i]) != 1)
            continue;
        p->new_numbers[i] = (uint32_t)count;
        inputs[count++] = from->inputs[i];
    }
    return count;
}

/* The formula with the new numbers of its inputs; NULL if one was dropped. Recursion is at
 * most CN_FORMULA_DEPTH_MAX deep. */
static const struct cn_formula *renumber(struct pruning *p,
                                         const struct cn_formula *formula)
{
    if (formula->op == CN_FORMULA_NUMBER)
        return formula;
    if (formula->op == CN_FORMULA_INPUT)
        return p->new_numbers[formula->input] == DROPPED
                   ? NULL
                   : cn_formula_input(&p->arena, p->new_numbers[formula->input]);
    const struct cn_formula **args =
        cn_arena_alloc(&p->arena, formula->arg_count, sizeof(*args));
    for (size_t i = 0; i < formula->arg_count; i++) {
        args[i] = renumber(p, formula->args[i]);
        if (!args[i])
            return NULL;
    }
    return cn_formula_new(&p->arena, formula->op, args, formula->arg_count);
}

static const struct cn_formula *keep_formula(struct pruning *p,
                                             const struct cn_formula *formula)
{
    const struct cn_formula *kept = formula ? renumber(p, formula) : NULL;

    p->lost_count += formula && !kept;
    return kept;
}

/* A variant that never had a formula is that of a category: hpcviewer asks for it. */
static bool keep_variant(struct pruning *p, struct cn_variant *variant)
{
    struct cn_cost_formulas *costs[] = {&variant->total, &variant->self};
    bool has_any = !variant->total.standard && !variant->total.custom &&
                   !variant->self.standard && !variant->self.custom;

    for (size_t i = 0; i < 2; i++) {
        costs[i]->standard = keep_formula(p, costs[i]->standard);
        costs[i]->custom = keep_formula(p, costs[i]->custom);
        has_any = has_any || costs[i]->standard || costs[i]->custom;
    }
    return has_any;
}

static bool has_formulas(const struct cn_variant *variants, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (variants[i].total.standard || variants[i].total.custom ||
            variants[i].self.standard || variants[i].self.custom)
            return true;
    return false;
}

static const struct cn_presented_metric *
keep_metrics(struct pruning *p, const struct cn_presented_metric *from, size_t count,
             size_t *kept_count);

/* Earlier versions presented the calls by duration, which are now in latency.db. */
static bool is_bucket(const struct cn_presented_metric *metric)
{
    struct cn_bucket_range range;

    return cn_bucket_name_parse(metric->name, &range);
}

static bool keep_metric(struct pruning *p, struct cn_presented_metric *metric)
{
    const struct cn_variant *from = metric->variants;
    struct cn_variant *variants =
        cn_arena_alloc(&p->arena, metric->variant_count, sizeof(*variants));
    size_t count = 0;

    for (size_t i = 0; i < metric->variant_count; i++) {
        variants[count] = from[i];
        count += keep_variant(p, &variants[count]);
    }
    metric->variants = variants;
    metric->variant_count = count;
    metric->children =
        keep_metrics(p, metric->children, metric->child_count, &metric->child_count);
    return has_formulas(variants, count) || metric->child_count > 0;
}

/* Recursion is as deep as the taxonomy, which its reader limits. */
static const struct cn_presented_metric *
keep_metrics(struct pruning *p, const struct cn_presented_metric *from, size_t count,
             size_t *kept_count)
{
    struct cn_presented_metric *kept = cn_arena_alloc(&p->arena, count, sizeof(*kept));
    size_t kept_so_far = 0;

    for (size_t i = 0; i < count; i++) {
        kept[kept_so_far] = from[i];
        if (is_bucket(&from[i]))
            continue;
        kept_so_far += keep_metric(p, &kept[kept_so_far]);
    }
    *kept_count = kept_so_far;
    return kept;
}

static void prune(struct pruning *p, const struct cn_taxonomy *from,
                  struct cn_taxonomy *out)
{
    struct cn_input *inputs =
        cn_arena_alloc(&p->arena, from->input_count, sizeof(*inputs));

    out->inputs = inputs;
    out->input_count = keep_inputs(p, from, inputs);
    out->roots = keep_metrics(p, from->roots, from->root_count, &out->root_count);
}

bool cn_hpc_taxonomy_write(const struct cn_hpc_writing *w, struct cn_error *err)
{
    struct pruning p = {.db = w->db};
    struct cn_taxonomy taxonomy;
    struct cn_text text = {0};
    struct cn_out out = {0};

    prune(&p, &w->db->taxonomy, &taxonomy);
    /* Inputs without roots present nothing. */
    if (taxonomy.root_count == 0 &&
        (w->db->taxonomy.root_count > 0 || w->db->taxonomy.input_count == 0)) {
        struct cn_taxonomy usual;

        cn_taxonomy_build(&usual, &w->db->metrics, &p.arena);
        prune(&p, &usual, &taxonomy);
    }
    cn_hpc_metrics_yaml_write(&taxonomy, &text);
    bool ok = cn_out_open_at(&out, w->dir, "metrics/default.yaml", err) &&
              cn_out_write(&out, text.chars, text.len, err) && cn_out_close(&out, err);
    if (ok)
        cn_write_lose(w->options,
                      "formulas over statistics that the database does not have",
                      p.lost_count);
    cn_out_abandon(&out);
    cn_text_done(&text);
    cn_arena_done(&p.arena);
    return ok;
}
