/* Translates traces from one dictionary to another.
 *
 * Translated words are cached while the dictionaries stay the same, of several that are translated
 * in turn. Keys, types and services become keywords, values become texts.
 * Threads: one thread at a time.
 */
#ifndef CN_STORE_WRITE_TRANSLATE_H
#define CN_STORE_WRITE_TRANSLATE_H

#include "model/traces/trace.h"
#include "model/traces/words.h"

enum { CN_TRANSLATED_MAX = 64 };

/* What is known of one dictionary. */
struct cn_translated {
    const struct cn_words *from;
    uint64_t from_born_ns;
    uint32_t *known; /* by word of `from`; 0: not yet */
    size_t known_count;
};

struct cn_translation {
    struct cn_words *to;
    uint64_t to_born_ns;
    struct cn_translated sources[CN_TRANSLATED_MAX];
    size_t source_count, next_source; /* the next one is replaced where all are used */
    size_t known_count;               /* of all */
    struct cn_trace trace;            /* the last result */
};

/* The trace with words of `to`, valid until the next call. */
const struct cn_trace *cn_translate(struct cn_translation *translation,
                                    const struct cn_trace *trace, struct cn_words *to);

/* Drop the cache, after words of `to` were taken back. */
void cn_translation_forget(struct cn_translation *translation);
void cn_translation_done(struct cn_translation *translation);

#endif
