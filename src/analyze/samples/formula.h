/* Formulas of measured metrics: "100 * #3 / max(#1, #2)", where #3 is a metric of
 * the same table.
 * Threads: any thread.
 */
#ifndef CN_ANALYZE_SAMPLES_FORMULA_H
#define CN_ANALYZE_SAMPLES_FORMULA_H

#include "base/bytes/bytes.h"
#include "model/contexts/formula.h"

/* Parse a formula. Its inputs are the numbers after '#', all below `limit`. */
CN_CHECK bool cn_sampled_formula_parse(const struct cn_formula **out,
                                       struct cn_bytes text, uint32_t limit,
                                       struct cn_arena *arena, struct cn_error *err);

/* The formula with input i replaced by inputs[i]; NULL when one of those is NULL. */
const struct cn_formula *
cn_sampled_formula_replace(const struct cn_formula *formula,
                           const struct cn_formula *const *inputs,
                           struct cn_arena *arena);

#endif
