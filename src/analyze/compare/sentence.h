/* What changed between two populations, in one sentence: "B is 9.8 ms slower: check_block, new, 12 calls
 * from main, +22 ms".
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_COMPARE_SENTENCE_H
#define CN_ANALYZE_COMPARE_SENTENCE_H

#include "analyze/compare/explain.h"

/* Append the sentence, without a full stop or a newline. */
void cn_explanation_sentence_add(struct cn_text *text, const struct cn_comparison *c,
                                 const struct cn_explanation *e);

#endif
