/* "Did you mean ...?": the known word nearest to a mistyped one.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_SHELL_SUGGEST_H
#define CN_CLI_SHELL_SUGGEST_H

#include <stddef.h>

struct cn_suggestion {
    const char *typed;
    const char *best; /* borrowed; NULL while nothing is near enough */
    size_t distance;  /* of the best */
};

/* Keep `known` if it is nearer than what was offered before, and near at all: one slip
 * in three letters. Of equals, the first offered stays. */
void cn_suggestion_offer(struct cn_suggestion *suggestion, const char *known);

/* Letters to insert, delete, change, or swap with a neighbour to turn one word into the
 * other. Words longer than 63 letters are infinitely far from everything. */
size_t cn_edit_distance(const char *a, const char *b);

#endif
