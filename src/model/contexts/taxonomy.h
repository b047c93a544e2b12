/* The presentation of metrics: named columns, each a formula over statistics.
 *
 * A taxonomy is read from metrics/default.yaml of a database, or made from its metrics if
 * there is none. All memory is in the arena it was built in.
 * Threads: immutable once built.
 */
#ifndef CN_MODEL_CONTEXTS_TAXONOMY_H
#define CN_MODEL_CONTEXTS_TAXONOMY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "model/contexts/formula.h"
#include "model/contexts/metric.h"

/* Limit of nested children in taxonomies from input, so that walking may recurse. */
enum { CN_TAXONOMY_DEPTH_MAX = 32 };

/* A statistic in formulas, which have its index in the inputs of the taxonomy. */
struct cn_input {
    const char *metric, *scope;
    const char *formula; /* "$$", "1", "($$^2)" */
    uint8_t combine;     /* enum cn_combine */
};

enum cn_render {
    CN_RENDER_NUMBER = 1 << 0,
    CN_RENDER_PERCENT = 1 << 1,
    CN_RENDER_HIDDEN = 1 << 2,
    CN_RENDER_COLORBAR = 1 << 3,
};

/* The formulas of a total or a self cost; NULL if there is none. `custom` is preferred: in
 * real databases it is the lex_aware scope, which differs from `standard` only on loops. */
struct cn_cost_formulas {
    const struct cn_formula *standard, *custom;
};

/* A variant without formulas has no values: that of a category, which only has children. */
struct cn_variant {
    const char *name;   /* "Sum", "Mean", ..., or "" */
    unsigned render;    /* enum cn_render bits */
    const char *format; /* printf format of one double, from the file, or NULL */
    struct cn_cost_formulas total, self;
    /* "sum" or "first" if the formulas are made of this variant of the children; or NULL */
    const char *children, *child_variant;
};

struct cn_presented_metric {
    const char *name, *description; /* description may be NULL */
    bool is_visible;                /* by default */
    const char *format;             /* for variants without one; or NULL */
    const struct cn_variant *variants;
    size_t variant_count;
    const struct cn_presented_metric *children;
    size_t child_count;
};

struct cn_taxonomy {
    const struct cn_input *inputs;
    const struct cn_presented_metric *roots;
    size_t input_count, root_count;
};

/* The taxonomy that hpcviewer expects for these metrics: for each metric a root with the
 * variants that its statistics allow (Sum; Mean, StdDev and CfVar with count and squares;
 * Min; Max), totals from the execution scope, self costs from function and lex_aware. */
void cn_taxonomy_build(struct cn_taxonomy *out, const struct cn_metrics *metrics,
                       struct cn_arena *arena);

/* A root without values above others: Hatchet takes every root for a metric with a total and
 * a self cost that add up. `children` is borrowed. */
struct cn_presented_metric
cn_taxonomy_category(const char *name, const struct cn_presented_metric *children,
                     size_t count, struct cn_arena *arena);

/* The root or descendant of this name, parents first, or NULL. */
const struct cn_presented_metric *cn_taxonomy_find(const struct cn_taxonomy *taxonomy,
                                                   const char *name);

#endif
