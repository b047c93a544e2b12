/* Files of the original trace store: the dictionary (text-*.wal as it is written, text-*.fmi
 * packed) and the index of chunks (qmeta.idx).
 *
 * Dictionary files contain records "number, text"; the first byte of a text is its kind. Words
 * keep their numbers.
 * Threads: any thread.
 */
#ifndef CN_FORMATS_ZORKA_JAVA_STORE_H
#define CN_FORMATS_ZORKA_JAVA_STORE_H

#include "base/bytes/bytes.h"
#include "base/error.h"
#include "model/traces/words.h"

/* Words of several files. A zeroed collection is empty. */
struct cn_java_words {
    struct cn_java_word *list;
    size_t count, capacity;
    struct cn_words_bytes *blocks; /* the bytes of the words */
};

void cn_java_words_done(struct cn_java_words *words);

/* Add the words of a file. Fails at damage, with the words before it added. */
CN_CHECK bool cn_java_wal_read(struct cn_bytes file, struct cn_java_words *words,
                               struct cn_error *err);
CN_CHECK bool cn_java_fmi_read(struct cn_bytes file, struct cn_java_words *words,
                               struct cn_error *err);

/* Append the words to a dictionary. Missing numbers become lost words. */
void cn_java_words_finish(struct cn_java_words *words, struct cn_words *out);

/* The slots (cn_java_meta_slot) of a qmeta.idx. */
CN_CHECK bool cn_java_meta_slots(struct cn_bytes file, struct cn_bytes *slots,
                                 struct cn_error *err);

#endif
