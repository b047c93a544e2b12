/* What explains the difference of two populations, in as few lines as possible.
 *
 * All self costs are divided among items, each in exactly one: the self cost of a function
 * over all call paths that both sides have; everything below calls that only one side makes;
 * everything below calls that became more or fewer. A function whose call paths changed in
 * opposite directions, or in one of them alone, is divided by call path. Items are ordered by the size of their change.
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_COMPARE_EXPLAIN_H
#define CN_ANALYZE_COMPARE_EXPLAIN_H

#include "analyze/compare/comparison.h"
#include "analyze/compare/evidence.h"

enum cn_change_kind {
    CN_CHANGE_SELF,  /* the functions' own cost */
    CN_CHANGE_NEW,   /* with everything called; only side B has it */
    CN_CHANGE_GONE,  /* likewise; only side A has it */
    CN_CHANGE_MOVED, /* likewise; other callers call it on side B */
    CN_CHANGE_CALLS, /* with everything called; the number of calls changed */
};

const char *cn_change_kind_name(enum cn_change_kind kind);

struct cn_change {
    enum cn_change_kind kind;
    uint32_t name;       /* of the function */
    uint32_t node;       /* the call path with the largest change */
    double node_change;  /* of it: its size */
    uint32_t path_count; /* call paths that changed */
    uint32_t node_count; /* call paths */
    double value[CN_SIDES];
    double calls[CN_SIDES]; /* of the function itself; NAN: unknown */
    double gross;           /* sum of the sizes of the changes of call paths */
    struct cn_evidence evidence;
    size_t row; /* while it is explained: of the values of runs */
    const double
        *runs; /* of what is shown: the cost in each run of the comparison; else NULL */
};

static inline double cn_change_of(const struct cn_change *change)
{
    return change->value[CN_SIDE_B] - change->value[CN_SIDE_A];
}

/* True if one call path has (nearly) all of the change: it is worth printing. */
static inline bool cn_change_has_path(const struct cn_change *change)
{
    double size = cn_change_of(change);

    return change->path_count == 1 ||
           change->node_change >= 0.9 * (size < 0 ? -size : size);
}

struct cn_explanation {
    struct cn_change
        *list; /* the largest first; those that are real before others, noise last */
    size_t count;
    size_t changed_count, real_count;
    size_t unknown_count; /* without a verdict */
    size_t shown;       /* so many explain 90 % of the change, or as much as `most` can */
    double gross;       /* sum of the sizes of all changes that are not noise */
    double shown_gross; /* of it, in the first `shown` */
    struct cn_change whole;    /* of everything */
    double *run_values;        /* that `runs` are part of */
    enum cn_compare_over over; /* what verdicts are from; nothing: they are unknown */
};

/* `most`: how many lines there may be. */
void cn_explain(struct cn_explanation *out, const struct cn_comparison *c, size_t most);
void cn_explanation_done(struct cn_explanation *e);

/* What changed between two populations, in one sentence: "B is 9.8 ms slower: check_block, new, 12 calls
 * from main, +22 ms". */

/* Append the sentence, without a full stop or a newline. */
void cn_explanation_sentence_add(struct cn_text *text, const struct cn_comparison *c,
                                 const struct cn_explanation *e);

#endif
