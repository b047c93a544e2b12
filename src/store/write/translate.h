/* Translates traces from one dictionary to another.
 *
 * Translated words are cached while the two dictionaries stay the same. Keys, types and services
 * become keywords, values become texts.
 * Threads: one thread at a time.
 */
#ifndef CN_STORE_WRITE_TRANSLATE_H
#define CN_STORE_WRITE_TRANSLATE_H

#include "model/traces/trace.h"
#include "model/traces/words.h"

struct cn_translation {
    const struct cn_words *from;
    struct cn_words *to;
    uint64_t from_born_ns, to_born_ns;
    uint32_t *known; /* by word of `from`; 0: not yet */
    size_t known_count;
    struct cn_trace trace; /* the last result */
};

/* The trace with words of `to`, valid until the next call. */
const struct cn_trace *cn_translate(struct cn_translation *translation,
                                    const struct cn_trace *trace, struct cn_words *to);

/* Drop the cache, after words of `to` were taken back. */
void cn_translation_forget(struct cn_translation *translation);
void cn_translation_done(struct cn_translation *translation);

#endif
