/* Rules that a new build must keep: 'total(parse) <= +5%', 'calls(malloc) == same',
 * 'p99(handle) < 20ms', 'new(MPI_*) none'.
 *
 *     rule     = quantity "(" pattern ")" ( operator limit | "none" )
 *     quantity = "total" | "self" | "calls" | "p50" | "p90" | "p99" | "new" | "gone"
 *     operator = "<=" | "<" | ">=" | ">" | "=="
 *     limit    = "same" | number [unit] | ("+" | "-") number ["%" | unit]
 *     unit     = "ns" | "us" | "ms" | "s" | "m" | "h" | "d" | "w"
 *
 * The pattern is a glob over names of functions; total(*) is the whole program. "none" is for
 * new and gone, which are the functions that one side has alone; all others have an operator
 * and a limit. A limit with a sign is relative to the base. A rule is broken only if the
 * difference from its limit is more than noise, where that is known: of repeated runs, and of costs
 * of single runs with calls or samples (call_evidence.h).
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_COMPARE_RULES_H
#define CN_ANALYZE_COMPARE_RULES_H

#include "analyze/compare/comparison.h"
#include "analyze/compare/evidence.h"
#include "base/name_filter.h"
#include "base/text.h"

enum cn_rule_quantity {
    CN_RULE_TOTAL,
    CN_RULE_SELF,
    CN_RULE_CALLS,
    CN_RULE_P50,
    CN_RULE_P90,
    CN_RULE_P99,
    CN_RULE_NEW,
    CN_RULE_GONE,
};

enum cn_rule_operator {
    CN_RULE_AT_MOST,
    CN_RULE_BELOW,
    CN_RULE_AT_LEAST,
    CN_RULE_ABOVE,
    CN_RULE_EQUAL,
};

struct cn_rule {
    char *text; /* as written */
    enum cn_rule_quantity quantity;
    struct cn_name_filter filter;
    enum cn_rule_operator op;
    enum { CN_LIMIT_FIXED, CN_LIMIT_ADDED, CN_LIMIT_PERCENT } limit_kind;
    double limit; /* of times in seconds */
    bool is_time; /* the limit has a unit */
};

enum cn_rule_verdict {
    CN_RULE_KEPT,
    CN_RULE_NOISE, /* beyond the limit, but by no more than noise */
    CN_RULE_BROKEN,
};

struct cn_rule_result {
    enum cn_rule_verdict verdict;
    double value[CN_SIDES]; /* means; NAN: no function matches on that side */
    double limit;           /* that the value of side B was compared with */
    double half_width;      /* of the 95 % confidence interval of B - A; NAN: unknown */
    double p; /* that noise takes side B beyond the limit; 1: it is not; NAN: unknown */
    struct cn_text names; /* of new and gone: which, with commas */
    size_t name_count;
};

/* On failure nothing is left to release. */
CN_CHECK bool cn_rule_parse(struct cn_rule *out, const char *text, struct cn_error *err);
void cn_rule_done(struct cn_rule *rule);

/* The fraction of a percentile: 0.99. 0 for other quantities. */
double cn_rule_fraction(const struct cn_rule *rule);

/* A percentile of the durations of all calls of the functions that match, in seconds; NAN
 * without calls. */
CN_CHECK bool cn_rule_percentile(const struct cn_rule *rule, struct cn_database *db,
                                 const struct cn_progress *progress, double *out,
                                 struct cn_error *err);

/* Compare the values of a rule; cn_rules_judge() has the verdict. `percentiles` are those of the runs, NULL for other quantities. Fails with
 * CN_ERR_USAGE if calls are unknown. Release with cn_rule_result_done(). */
CN_CHECK bool cn_rule_check(const struct cn_rule *rule, const struct cn_comparison *c,
                            const double *percentiles, struct cn_rule_result *out,
                            struct cn_error *err);

/* The verdicts of all rules that were checked: of those that are broken, at most 1 % are by chance,
 * however many there are. */
void cn_rules_judge(struct cn_rule_result *results, size_t count);
void cn_rule_result_done(struct cn_rule_result *result);

#endif
