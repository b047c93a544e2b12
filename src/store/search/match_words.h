/* Which words satisfy a condition: each is looked at once, when it is asked for first.
 *
 *     cn_word_match_init(&match, index, term);
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

/* What about the word is compared. */
enum cn_word_aspect {
    CN_WORD_AS_TEXT, /* its bytes */
    CN_WORD_AS_NAME, /* a method as "class.method", a class: "=" takes the end of a name, too */
    CN_WORD_AS_CLASS,       /* the class of a method, as a name */
    CN_WORD_AS_METHOD_TEXT, /* a method as "class.method", compared as any text */
};

struct cn_word_match {
    const struct cn_store_index *index;
    const struct cn_query_term *term;
    enum cn_word_aspect aspect;
    uint32_t word_count;
    uint8_t *known; /* per word: 0 not looked at, 1 no, 2 yes */
    struct cn_text text;
};

void cn_word_match_init(struct cn_word_match *match, const struct cn_store_index *index,
                        const struct cn_query_term *term, enum cn_word_aspect aspect);
void cn_word_match_done(struct cn_word_match *match);

/* The first look at a word; use cn_word_match(). */
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

/* Look at all texts at once, which for "contains" is one scan of their bytes. The aspect must be
 * CN_WORD_AS_TEXT. `count` is how many match. */
CN_CHECK bool cn_word_match_all(struct cn_word_match *match, uint32_t *count,
                                struct cn_error *err);

#endif
