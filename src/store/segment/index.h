/* What a search runs on: the columns, words and postings of one segment, wherever they are.
 *
 * A sealed segment has them in files. Of a segment that is written to, postings come from its
 * log, and the traces of rows that no sound block describes are read and described now; the same
 * happens to segments that have no postings at all. So an index always describes every row, and
 * a damaged one costs time only.
 *
 * The index borrows from its segment, which outlives it; it must not be moved once open. Words are
 * asked of the segment when they are needed: many searches do without.
 * Threads: immutable after open.
 */
#ifndef CN_STORE_SEGMENT_INDEX_H
#define CN_STORE_SEGMENT_INDEX_H

#include "base/files/block_file.h"
#include "base/files/file.h"
#include "base/text.h"
#include "model/traces/words.h"
#include "store/index/columns.h"
#include "store/index/posting_block.h"
#include "store/index/posting_file.h"
#include "store/index/text_file.h"
#include "store/segment/joined.h"
#include "store/segment/reader.h"

struct cn_segment;

struct cn_store_index {
    const struct cn_segment *segment;
    struct cn_words extra; /* words that only this index has, numbered behind */
    const struct cn_columns *columns;
    struct cn_joined joined;         /* rows of traces that came in parts */
    struct cn_posting_block *blocks; /* in the order of their rows */
    size_t block_count;
    uint64_t first_ns, last_ns; /* times of its rows; first above last without any */
    uint32_t built_count;       /* rows that were described now */

    /* What the above may point to. */
    struct cn_posting_file file;
    struct cn_file log;
    struct cn_text built;
};

CN_CHECK bool cn_store_index_open(struct cn_store_index *index,
                                  const struct cn_segment *segment, struct cn_error *err);

/* Describe all rows again, without post.dat: for when a search has met damage in it. */
CN_CHECK bool cn_store_index_rebuild(struct cn_store_index *index, struct cn_error *err);
static inline bool cn_store_index_has_file(const struct cn_store_index *index)
{
    return index->block_count == 1 && index->blocks[0].file != NULL;
}
void cn_store_index_close(struct cn_store_index *index); /* safe when never opened */

/* Give back the mapped pages of its postings. */
void cn_store_index_forget(const struct cn_store_index *index);

/* The bytes of a word of the index, found sound. A composite word has none to compare. */
CN_CHECK bool cn_store_index_text(const struct cn_store_index *index, uint32_t word,
                                  struct cn_bytes *out, struct cn_error *err);

/* Append a word as people read it; methods as "com.example.Dao.query". */
CN_CHECK bool cn_store_index_print(const struct cn_store_index *index, uint32_t word,
                                   struct cn_text *out, struct cn_error *err);

/* Whether a word is a text, and not made of other words. */
bool cn_store_index_is_text(const struct cn_store_index *index, uint32_t word);

/* Call `visit` for every text with these bytes, of the segment and of the index. */
CN_CHECK bool cn_store_index_find(const struct cn_store_index *index,
                                  struct cn_bytes text, cn_text_visit visit, void *arg,
                                  struct cn_error *err);

/* Numbers of words are 0 up to this one. */
static inline uint32_t cn_store_index_word_count(const struct cn_store_index *index)
{
    return cn_segment_words(index->segment)->count + index->extra.count;
}

#endif
