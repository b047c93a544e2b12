/* How much each context explains of the difference between slow and typical calls.
 *
 * Means per call: the difference of the self times of all contexts adds up to the difference
 * of the calls. The fewest contexts that explain 90 % of it come first, of those whose difference
 * is real: at most 5 % of them are not (Benjamini and Hochberg), or a matter of calls that only
 * one group makes.
 * Threads: any thread.
 */
#ifndef CN_ANALYZE_WHY_ROWS_H
#define CN_ANALYZE_WHY_ROWS_H

#include "analyze/why/why.h"

/* What time is spent on, as far as scheduler events and names of functions tell. */
enum cn_why_kind {
    CN_WHY_RUNNING, /* or unknown: without scheduler events, waiting is not seen */
    CN_WHY_BLOCKED,
    CN_WHY_PREEMPTED,
    CN_WHY_LOCK,
    CN_WHY_IO,
    CN_WHY_SLEEP,
    CN_WHY_MEMORY,
    CN_WHY_KINDS,
};
extern const char *const cn_why_kind_names[CN_WHY_KINDS];

/* The kind of calls of a function, by its name; CN_WHY_RUNNING if it says nothing. */
enum cn_why_kind cn_why_kind_of(const char *name);

struct cn_why_row {
    uint32_t context;
    enum cn_why_kind kind;
    /* Per call of the function. Total: with all contexts below. */
    double self_ns[CN_WHY_GROUPS], total_ns[CN_WHY_GROUPS], calls[CN_WHY_GROUPS];
    double difference_ns; /* of self_ns */
    double share;         /* of the whole difference */
    /* Half of the 95 % interval of the difference: how much the calls of a group differ, and what
     * the recorder's cost, known to a tenth, was taken for. NAN with a single call. */
    double error_ns;
    bool is_noise; /* among so many contexts, chance makes such a difference */
};

struct cn_why_rows {
    struct cn_why_row *list; /* noise last, then by difference, the largest first */
    size_t count;
    size_t explaining_count; /* the first rows: they explain 90 % */
    double explained;        /* the share that they explain */
    double mean_ns[CN_WHY_GROUPS];
    double inner_calls[CN_WHY_GROUPS]; /* calls inside the function, per call */
    double kinds_ns[CN_WHY_KINDS][CN_WHY_GROUPS]; /* per call */
};

/* The row of the innermost context that has at least `share` of the difference in total. */
const struct cn_why_row *cn_why_rows_narrow(const struct cn_why_rows *rows,
                                            const struct cn_why *why, double share);

void cn_why_rows_build(struct cn_why_rows *rows, const struct cn_why *why,
                       const char *name);
void cn_why_rows_done(struct cn_why_rows *rows);

#endif
