/* The string log of a segment, text.log: every word of its dictionary once, in batches with
 * checksums. The layout is in store/segment/log_format.h.
 * Threads: any thread; each dictionary belongs to one.
 */
#ifndef CN_STORE_SEGMENT_TEXT_LOG_H
#define CN_STORE_SEGMENT_TEXT_LOG_H

#include "base/bytes/bytes.h"
#include "base/error.h"
#include "base/files/compress.h"
#include "base/text.h"
#include "model/traces/words.h"

/* The result of reading. */
struct cn_text_log_state {
    uint64_t sound_len; /* end of the last sound batch; what follows is torn or damaged */
    uint64_t bad_off;   /* of the first damaged batch before that */
    uint32_t bad_count; /* damaged batches before that */
    uint32_t lost_count; /* numbers without a word */
    bool is_header_bad;
};

/* Append the words to an empty dictionary. The words of a damaged batch are lost. Fails only if it
 * is not a string log: neither its header nor a batch is sound. */
CN_CHECK bool cn_text_log_read(struct cn_bytes log, struct cn_words *words,
                               struct cn_text_log_state *state, struct cn_error *err);

/* Append the header of a log. */
void cn_text_log_header(struct cn_text *text);

/* Append the words from number `first` on to `plain`, for cn_text_log_encode(). */
void cn_text_log_gather(const struct cn_words *words, uint32_t first,
                        struct cn_text *plain);

/* Append `count` words of `plain` as a batch. */
CN_CHECK bool cn_text_log_encode(struct cn_bytes plain, uint32_t first, uint32_t count,
                                 struct cn_compressor *compressor, struct cn_text *text,
                                 struct cn_error *err);

#endif
