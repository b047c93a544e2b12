#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/text.h"
#include "formats/hpctoolkit/metrics_yaml.h"
#include "formats/hpctoolkit/v4/verify/verify_parts.h"

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
    uint32_t number;

    cn_text_printf(&key, "%zu:%s%zu:%s%u:%s", strlen(metric), metric, strlen(scope),
                   scope, combine, formula);
    number = cn_names_add(&m->keys, cn_text_str(&key));
    cn_text_done(&key);
    if (m->keys.count > known) {
        m->counts = cn_grow(m->counts, number, &m->capacity, sizeof(*m->counts));
        m->counts[number] = 0;
    }
    return &m->counts[number];
}

static void count_statistics(struct cn_hpc_v4_check *v, struct matches *m)
{
    for (size_t i = 0; i < v->metrics.count; i++) {
        const struct cn_metric *metric = &v->metrics.list[i];

        for (size_t k = 0; k < metric->statistic_count; k++) {
            const struct cn_statistic *s = &metric->statistics[k];

            ++*count_at(m, metric->name, v->metrics.scopes[s->scope].name, s->formula,
                        s->combine);
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
                &v->c.f, "yaml-input", 0,
                "input %.80s, scope %.40s, formula %.40s, combine %s is %" PRIu32
                " statistics of meta.db instead of one",
                input->metric, input->scope, input->formula,
                cn_combine_name(input->combine), count);
    }
    cn_names_done(&m.keys);
    free(m.counts);
}

static void check_file(struct cn_hpc_v4_check *v, const struct cn_hpc_v4_yaml *yaml,
                       bool is_default)
{
    struct cn_arena arena = {0};
    struct cn_error err = {0};
    struct cn_taxonomy taxonomy;

    if (cn_hpc_metrics_yaml_read(yaml->text, &taxonomy, &arena, &err)) {
        if (v->c.thread_ids)
            check_inputs(v, &taxonomy);
        if (is_default && taxonomy.root_count == 0)
            cn_findings_warn(&v->c.f, "yaml-roots", 0, "presents no metric");
    } else if (is_default) {
        cn_findings_error(&v->c.f, "yaml-parse", 0, "%s", err.text);
    } else {
        cn_findings_warn(&v->c.f, "yaml-parse", 0, "%s", err.text);
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
            &v->c.f, is_default ? "metrics/default.yaml"
                                : cn_arena_printf(&v->arena, "metrics/%s", yaml->name));
        check_file(v, yaml, is_default);
        has_default |= is_default;
    }
    if (has_default)
        return;
    cn_findings_begin(&v->c.f, "metrics/default.yaml");
    cn_findings_error(&v->c.f, "file-missing", 0,
                      "does not exist, but hpcviewer and Hatchet need it");
}
