/* Matches words against a condition; each word is compared once, when it is first asked for.
 *
 *     cn_word_match_init(&match, index, term, CN_WORD_AS_TEXT);
 *     cn_word_match(&match, word, &is_match, err) ...
 *     cn_word_match_done(&match);
 * Threads: one thread at a time.
 */
#ifndef CN_STORE_SEARCH_MATCH_WORDS_H
#define CN_STORE_SEARCH_MATCH_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"

struct cn_query_term;
struct cn_store_index;

/* How a word is compared. */
enum cn_word_aspect {
    CN_WORD_AS_TEXT,  /* its bytes */
    CN_WORD_AS_NAME,  /* as "class.method" or class; "=" also accepts the end of it */
    CN_WORD_AS_CLASS, /* the class of a method, likewise */
    CN_WORD_AS_METHOD_TEXT, /* as "class.method", like any text */
};

struct cn_word_match {
    const struct cn_store_index *index;
    const struct cn_query_term *term;
    enum cn_word_aspect aspect;
    uint32_t word_count;
    uint8_t *known; /* by word: 0 not compared, 1 no, 2 yes */
    struct cn_text text;
};

void cn_word_match_init(struct cn_word_match *match, const struct cn_store_index *index,
                        const struct cn_query_term *term, enum cn_word_aspect aspect);
void cn_word_match_done(struct cn_word_match *match);

/* Compare a word for the first time; use cn_word_match(). */
CN_CHECK bool cn_word_match_new(struct cn_word_match *match, uint32_t word,
                                bool *is_match, struct cn_error *err);

static inline bool cn_word_match(struct cn_word_match *match, uint32_t word,
                                 bool *is_match, struct cn_error *err)
{
    if (word > match->word_count || match->known[word] == 0)
        return cn_word_match_new(match, word, is_match, err);
    *is_match = match->known[word] == 2;
    return true;
}

/* Compare all texts, for "contains" with one scan of their bytes. The aspect must be
 * CN_WORD_AS_TEXT. `count` receives the number of matches. */
CN_CHECK bool cn_word_match_all(struct cn_word_match *match, uint32_t *count,
                                struct cn_error *err);

#endif
