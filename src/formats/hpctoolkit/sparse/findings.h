/* What a verifier of the older databases finds: reported, counted by rule, cut where
 * one rule would drown the others; and sets and spans to find it with.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_SPARSE_FINDINGS_H
#define CN_FORMATS_HPCTOOLKIT_SPARSE_FINDINGS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "model/format.h"

enum {
    CN_HPC_FINDINGS_ERROR_MAX = 20, /* of one rule in one file; then only their number */
    CN_HPC_FINDINGS_WARNING_MAX = 3,
    CN_HPC_FINDINGS_RULE_MAX = 96,
};

struct cn_hpc_findings_rule {
    const char *rule;
    bool is_error;
    uint64_t count;
};

/* Set `report` and `arg`, the rest zeroed. */
struct cn_hpc_findings {
    cn_finding_fn report;
    void *arg;
    const char *file; /* that findings are about */
    uint64_t error_count;
    struct cn_hpc_findings_rule rules[CN_HPC_FINDINGS_RULE_MAX]; /* of this file */
    size_t rule_count;
};

/* Findings from here on are about this file; says how many of the one before were
 * left out. NULL: there is no other. */
void cn_hpc_findings_begin(struct cn_hpc_findings *f, const char *file);

/* A violation, or a known deviation of the tools that write the format. `rule` lives
 * forever. */
CN_PRINTF(4, 5)
void cn_hpc_findings_error(struct cn_hpc_findings *f, const char *rule, uint64_t off,
                           const char *fmt, ...);
CN_PRINTF(4, 5)
void cn_hpc_findings_warn(struct cn_hpc_findings *f, const char *rule, uint64_t off,
                          const char *fmt, ...);

/* A set of small numbers, all below `limit`. */
struct cn_hpc_set {
    uint64_t *words;
    uint64_t limit;
};

void cn_hpc_set_init(struct cn_hpc_set *set, uint64_t limit);
void cn_hpc_set_done(struct cn_hpc_set *set);
bool cn_hpc_set_has(const struct cn_hpc_set *set, uint64_t number);

/* False when it was there before. The number must be below the limit. */
bool cn_hpc_set_add(struct cn_hpc_set *set, uint64_t number);

/* Parts of a file that should follow each other and must not overlap. Neighbours
 * become one, so that a file in its natural order costs no memory. */
struct cn_hpc_extent {
    uint64_t begin, end;
};

struct cn_hpc_extents {
    struct cn_hpc_extent *list;
    size_t count, capacity;
};

void cn_hpc_extents_add(struct cn_hpc_extents *spans, uint64_t begin, uint64_t end);

/* Sort, report each overlap as an error, warn of gaps; empties the spans. */
void cn_hpc_extents_check(struct cn_hpc_findings *f, struct cn_hpc_extents *spans,
                          const char *what);

#endif
