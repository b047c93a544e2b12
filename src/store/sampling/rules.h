/* Rules of tail sampling: which share of the traces that match a query stays.
 *
 *     cn_sample_rules_add(&rules, "errors: 100%", err)
 *     cn_sample_rules_add(&rules, "{ duration > 1s }: 50%", err)
 *     cn_sample_rules_add(&rules, "rest: 5%", err)
 *     cn_sample_rules_free(rules)
 *
 * The first rule that matches a trace decides, with all of its spans; `rest` matches every trace. A
 * trace that no rule matches stays. Queries are of store/search or TraceQL.
 * Threads: immutable after the last rule was added.
 */
#ifndef CN_STORE_SAMPLING_RULES_H
#define CN_STORE_SAMPLING_RULES_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* With that of pinned traces, the rates fit into the config of a segment. */
enum { CN_SAMPLE_RULES_MAX = 15 };

struct cn_sample_rule {
    char *query;   /* NULL: of the rest */
    uint32_t rate; /* in millionths: CN_RATE_ALL is 100 % */
};

struct cn_sample_rules {
    struct cn_sample_rule list[CN_SAMPLE_RULES_MAX];
    size_t count;
};

/* Add "QUERY: RATE%". Makes `*rules` if it is NULL; a failure adds nothing. Empty lines and those that
 * begin with # are skipped. */
CN_CHECK bool cn_sample_rules_add(struct cn_sample_rules **rules, const char *line,
                                  struct cn_error *err);

/* Read a file of rules, one in a line. */
CN_CHECK bool cn_sample_rules_open(struct cn_sample_rules **out, const char *path,
                                   struct cn_error *err);
void cn_sample_rules_free(struct cn_sample_rules *rules); /* NULL is fine */

/* True for that share of all trace ids; all programs agree, and a trace that stays at one rate stays
 * at higher ones. */
bool cn_sample_keeps(uint64_t trace_high, uint64_t trace_low, uint32_t rate);

#endif
