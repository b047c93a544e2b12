/* The dictionary of the original trace store: text-*.wal as it is written, text-*.fmi packed.
 *
 * Both hold records "number, text"; what a text is made of, its first byte tells. The words
 * keep their numbers. A file that is damaged gives the words before the damage.
 * Threads: any thread.
 */
#ifndef CN_FORMATS_ZORKA_JAVA_TEXT_H
#define CN_FORMATS_ZORKA_JAVA_TEXT_H

#include "base/bytes/bytes.h"
#include "base/error.h"
#include "model/traces/words.h"

/* Words by their number, to be collected from several files. A zeroed one is ready for use. */
struct cn_java_words {
    struct cn_java_word *list;
    size_t count, capacity;
    struct cn_words_bytes *blocks; /* the bytes they point into */
};

void cn_java_words_done(struct cn_java_words *words);

/* Add the words of a file. Fails at damage, with the words before it added. */
CN_CHECK bool cn_java_wal_read(struct cn_bytes file, struct cn_java_words *words,
                               struct cn_error *err);
CN_CHECK bool cn_java_fmi_read(struct cn_bytes file, struct cn_java_words *words,
                               struct cn_error *err);

/* Make a dictionary of them: numbers that no file gave become lost words. */
void cn_java_words_finish(struct cn_java_words *words, struct cn_words *out);

#endif
