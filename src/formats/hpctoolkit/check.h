/* What the verifiers of all generations share: the limits of their findings, sets of
 * numbers, extents of a file.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_CHECK_H
#define CN_FORMATS_HPCTOOLKIT_CHECK_H

#include "base/findings.h"

enum { CN_HPC_ERROR_MAX = 20, CN_HPC_WARNING_MAX = 3 }; /* of one rule in one file */

/* A collector with these limits. */
struct cn_findings cn_hpc_findings(cn_finding_fn report, void *arg);

/* A set of numbers below `limit`. */
struct cn_hpc_set {
    uint64_t *words;
    uint64_t limit;
};

void cn_hpc_set_init(struct cn_hpc_set *set, uint64_t limit);
void cn_hpc_set_done(struct cn_hpc_set *set);
bool cn_hpc_set_has(const struct cn_hpc_set *set, uint64_t number);

/* False if the set has it already. The number must be below the limit. */
bool cn_hpc_set_add(struct cn_hpc_set *set, uint64_t number);

/* Parts of a file that must not overlap. Neighbours become one extent, so that a file in
 * its natural order costs no memory. */
struct cn_hpc_extent {
    uint64_t begin, end;
};

struct cn_hpc_extents {
    uint64_t padding_max; /* bytes between neighbours */
    struct cn_hpc_extent *list;
    size_t count, capacity;
};

void cn_hpc_extents_add(struct cn_hpc_extents *extents, uint64_t begin, uint64_t end);

/* Sort, report each overlap as an error of `rule`; warn of gaps in extents that should be
 * contiguous. Empties the extents. */
void cn_hpc_extents_check(struct cn_findings *f, struct cn_hpc_extents *extents,
                          const char *what, const char *rule, bool are_contiguous);

#endif
