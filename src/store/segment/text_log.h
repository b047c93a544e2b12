/* The string log of a segment: every word of its dictionary once, in batches that each carry
 * a checksum (the bytes are in store/segment/log_format.h).
 * Threads: any thread; each dictionary belongs to one.
 */
#ifndef CN_STORE_SEGMENT_TEXT_LOG_H
#define CN_STORE_SEGMENT_TEXT_LOG_H

#include "base/bytes/bytes.h"
#include "base/error.h"
#include "base/files/compress.h"
#include "base/text.h"
#include "model/traces/words.h"

/* What reading found. */
struct cn_text_log_state {
    uint64_t sound_len;  /* bytes up to the end of the last sound batch */
    uint32_t lost_count; /* numbers without a word */
    uint32_t bad_count;  /* batches that were skipped */
};

/* Append the words to an empty dictionary. Damage costs its batch: the numbers of its words
 * become lost ones. Fails only when it is no string log at all. */
CN_CHECK bool cn_text_log_read(struct cn_bytes log, struct cn_words *words,
                               struct cn_text_log_state *state, struct cn_error *err);

/* The header of the log, when `text` is to be its beginning. */
void cn_text_log_header(struct cn_text *text);

/* Append the words from number `first` on, as cn_text_log_encode() takes them. */
void cn_text_log_gather(const struct cn_words *words, uint32_t first,
                        struct cn_text *plain);

/* Append `count` gathered words as a batch. */
CN_CHECK bool cn_text_log_encode(struct cn_bytes plain, uint32_t first, uint32_t count,
                                 struct cn_compressor *compressor, struct cn_text *text,
                                 struct cn_error *err);

#endif
