/* What the verifiers of all generations share: findings, sets of numbers, extents of a
 * file, and what one file says that others have to fit.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_CHECK_H
#define CN_FORMATS_HPCTOOLKIT_CHECK_H

#include "base/findings.h"
#include "formats/hpctoolkit/table.h"
#include "model/contexts/metric.h"

struct cn_progress;

enum { CN_HPC_ERROR_MAX = 20, CN_HPC_WARNING_MAX = 3 }; /* of one rule in one file */

/* A collector with these limits. */
struct cn_findings cn_hpc_findings(cn_finding_fn report, void *arg);

/* A set of numbers below `limit`. */
struct cn_hpc_set {
    uint64_t *bits;
    uint64_t limit;
};

void cn_hpc_set_init(struct cn_hpc_set *set, uint64_t limit);
void cn_hpc_set_done(struct cn_hpc_set *set);
bool cn_hpc_set_has(const struct cn_hpc_set *set, uint64_t number);

/* False if the set has it already. The number must be below the limit. */
bool cn_hpc_set_add(struct cn_hpc_set *set, uint64_t number);

/* The same for `count` numbers from `first` on: false if the set has some of them already. */
bool cn_hpc_set_add_range(struct cn_hpc_set *set, uint64_t first, uint64_t count);

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

/* A check in progress. Set the first group, zero the rest; the verifier of the tree sets the
 * second, that of profile.db the third. */
struct cn_hpc_check {
    struct cn_findings f;
    const struct cn_progress *progress;
    const char *tree; /* "meta.db" */
    bool is_mapped;   /* the memory of the files can be given back */

    /* What the tree says; NULL where it could not be read. */
    const struct cn_hpc_set *thread_ids, *summary_ids; /* metric ids that are listed */
    const struct cn_zero_ids *zero_ids; /* of threads, then of summaries; NULL: none */
    const struct cn_hpc_set *contexts;
    uint32_t context_last; /* the largest id */
    uint32_t kind_count;   /* kinds of identities that have a name */

    /* What profile.db says. */
    uint32_t profile_count;      /* 0: it could not be read */
    struct cn_hpc_set summaries; /* profiles that are not threads */
    uint32_t value_context_last; /* the largest id that has values */

    uint64_t touched_len; /* of mapped files, since their memory was given back */
};

/* End the last file and release what the check owns. */
void cn_hpc_check_done(struct cn_hpc_check *c);

/* The next findings are about a file that has to exist. False, after a report, if it does
 * not. */
bool cn_hpc_check_begin(struct cn_hpc_check *c, const char *name, bool exists);

/* Count `len` bytes of a file that were read; from time to time, give its memory back. */
void cn_hpc_check_forget(struct cn_hpc_check *c, struct cn_bytes file, uint64_t len);

/* Report an offset that is not a multiple of `align`; 0: any is fine. */
void cn_hpc_check_aligned(struct cn_hpc_check *c, uint64_t off, unsigned align,
                          const char *what);

/* Report a profile that does not exist or is a summary. False if it does not exist. */
bool cn_hpc_check_thread(struct cn_hpc_check *c, const char *rule, uint32_t profile,
                         uint64_t off);

/* Report a pointer at `off` that does not lead to a record of the table. */
void cn_hpc_check_pointer(struct cn_findings *f, const char *rule,
                          const struct cn_hpc_table *table, uint64_t pointer,
                          uint64_t off, const char *what);

#endif
