/* How metrics are presented: named columns, each a formula over statistics.
 *
 * A taxonomy comes from a database's metrics/default.yaml, or is made from its
 * metrics when there is none. Everything lives in the arena it was built in.
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

/* Whoever makes a taxonomy from input refuses children nested deeper than this, so
 * that walking one may recurse. */
enum { CN_TAXONOMY_DEPTH_MAX = 32 };

/* A statistic that formulas refer to: index into the taxonomy's inputs. */
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

/* The formulas of one kind of cost; NULL where there is none. `custom` (on real
 * databases the lex_aware scope, which differs from `standard` on loops only) is
 * preferred for showing. */
struct cn_cost_formulas {
    const struct cn_formula *standard, *custom;
};

struct cn_variant {
    const char *name;   /* "Sum", "Mean", ..., or "" */
    unsigned render;    /* enum cn_render bits */
    const char *format; /* printf format of one double as the file gives it, or NULL */
    struct cn_cost_formulas total, self;
};

struct cn_presented_metric {
    const char *name, *description; /* description may be NULL */
    bool is_visible;                /* by default */
    const char *format;             /* for all variants that have none; or NULL */
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

/* The taxonomy hpcviewer expects for these metrics: for each metric one root with
 * the variants its statistics allow (Sum; Mean, StdDev and CfVar when count and
 * squares are there; Min; Max), total from the execution scope, self from
 * function and lex_aware. */
void cn_taxonomy_build(struct cn_taxonomy *out, const struct cn_metrics *metrics,
                       struct cn_arena *arena);

/* A root or one of its descendants by name, parents first, or NULL. */
const struct cn_presented_metric *cn_taxonomy_find(const struct cn_taxonomy *taxonomy,
                                                   const char *name);

#endif
