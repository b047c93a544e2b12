/* "Did you mean ...?": the known word nearest to a mistyped one.
 * Threads: one thread at a time.
 */
#ifndef CN_BASE_SUGGEST_H
#define CN_BASE_SUGGEST_H

#include <stddef.h>

struct cn_suggestion {
    const char *typed;
    const char *best; /* borrowed; NULL: none is near enough */
    size_t distance;  /* of the best */
};

/* Consider a known word. It must differ by at most one edit per three letters; the first of
 * equally near words wins. */
void cn_suggestion_offer(struct cn_suggestion *suggestion, const char *known);

/* The edit distance with swaps of neighbours (Damerau). SIZE_MAX for words longer than 63
 * letters. */
size_t cn_edit_distance(const char *a, const char *b);

#endif
