/* The index of a segment: its columns, words and postings.
 *
 * A sealed segment has postings in a file, an open one in its log. For rows that no sound block
 * covers, the traces are read and postings are built in memory. So an index always covers every
 * row, and damage costs time only, unless the traces are damaged as well: cn_store_index_check().
 *
 * The index borrows from its segment, which must outlive it; do not move an open index. The words
 * of the segment are opened when they are needed: many searches do not need them. So are the
 * postings of a segment in object storage, by cn_store_index_postings().
 * Threads: immutable after open; any thread may ask for the postings.
 */
#ifndef CN_STORE_SEGMENT_INDEX_H
#define CN_STORE_SEGMENT_INDEX_H

#include "base/files/blocks.h"
#include "base/files/file.h"
#include "base/run/once.h"
#include "base/text.h"
#include "model/traces/words.h"
#include "store/index/columns.h"
#include "store/index/posting_block.h"
#include "store/index/posting_file.h"
#include "store/index/rows.h"
#include "store/index/text_file.h"
#include "store/segment/reader.h"

/* Traces that arrived in several parts. Each part has a row; a search returns only that of the
 * first part.
 *
 * A match in a later part counts for the first. The numbers of the trace are those of all parts
 * that have arrived. A part whose first part is not in the segment is never found. Records are
 * summed: a call that continues in a later part counts in both.
 * Threads: immutable after open.
 */

/* The row of a later part, and that of the first; CN_NONE if it is missing. */
struct cn_joined_part {
    uint32_t row, first;
};

/* The numbers of all parts of a trace. */
struct cn_joined_trace {
    uint32_t row;
    uint32_t records, errors, flags;
    uint64_t duration_ns, calls;
};

struct cn_joined {
    struct cn_joined_part *parts;
    struct cn_joined_trace *traces; /* by row */
    size_t part_count, trace_count, part_capacity, trace_capacity;
};

CN_CHECK bool cn_joined_open(struct cn_joined *joined, const struct cn_columns *columns,
                             struct cn_error *err);
void cn_joined_close(struct cn_joined *joined); /* safe when never opened */

/* Add the rows of first parts for all later parts in the set. */
void cn_joined_fold(const struct cn_joined *joined, struct cn_rows *rows);

/* Remove the rows of later parts from the set. */
void cn_joined_drop(const struct cn_joined *joined, struct cn_rows *rows);

/* The number of a field for all parts of a trace; `value` if it has only one part. */
uint64_t cn_joined_number(const struct cn_joined *joined, enum cn_store_field field,
                          uint32_t row, uint64_t value);

/* Replace all numbers of row `number` in this way. */
void cn_joined_complete(const struct cn_joined *joined, uint32_t number,
                        struct cn_store_row *row);

struct cn_store_index {
    const struct cn_segment *segment;
    struct cn_words extra; /* words of this index alone, numbered after the segment's */
    const struct cn_columns *columns;
    struct cn_joined joined;         /* traces that arrived in parts */
    struct cn_posting_block *blocks; /* in the order of their rows */
    size_t block_count;
    uint64_t first_ns, last_ns; /* of its rows; the first is above the last without any */
    uint32_t built_count;       /* rows whose postings were built */
    uint32_t unread_count;  /* of these cannot be read: searches by content miss them */
    struct cn_error unread; /* why the first of them cannot be read */

    bool uses_file; /* of postings; false: all are built */
    struct cn_once postings_once;
    bool has_postings;
    struct cn_error failure; /* why not */

    /* Memory of the blocks. */
    struct cn_posting_file file;
    struct cn_file log;
    struct cn_text built;
};

CN_CHECK bool cn_store_index_open(struct cn_store_index *index,
                                  const struct cn_segment *segment, struct cn_error *err);

/* Make blocks and words of the index usable: before a search by content. */
CN_CHECK bool cn_store_index_postings(const struct cn_store_index *index,
                                      struct cn_error *err);

/* True if rows may also have keys of spans inside them that have rows: in postings of an earlier
 * version. */
bool cn_store_index_is_nested(const struct cn_store_index *index);

/* Remove the rows of `rows` that have no keys of other rows. */
CN_CHECK bool cn_store_index_keep_nested(const struct cn_store_index *index,
                                         struct cn_rows *rows, struct cn_error *err);

/* An index whose postings are those of some rows alone, built from their traces. It borrows from
 * `index`, and is closed before that with cn_store_index_close_rows(). */
CN_CHECK bool cn_store_index_open_rows(struct cn_store_index *out,
                                       const struct cn_store_index *index,
                                       const struct cn_rows *rows, struct cn_error *err);
void cn_store_index_close_rows(struct cn_store_index *index);

/* Build all postings again, after a search found damage in post.dat. */
CN_CHECK bool cn_store_index_rebuild(struct cn_store_index *index, struct cn_error *err);
static inline bool cn_store_index_has_file(const struct cn_store_index *index)
{
    return index->block_count == 1 && index->blocks[0].file != NULL;
}
void cn_store_index_close(struct cn_store_index *index); /* safe when never opened */

/* Fails if damage is known because of which a search may find too little; see
 * cn_segment_check(). */
CN_CHECK bool cn_store_index_check(const struct cn_store_index *index,
                                   struct cn_error *err);

/* Release the mapped pages of its postings. */
void cn_store_index_forget(const struct cn_store_index *index);

/* The bytes of a word, after their checksum was checked. */
CN_CHECK bool cn_store_index_text(const struct cn_store_index *index, uint32_t word,
                                  struct cn_bytes *out, struct cn_error *err);

/* Append the text of a word; methods as "com.example.Dao.query". */
CN_CHECK bool cn_store_index_print(const struct cn_store_index *index, uint32_t word,
                                   struct cn_text *out, struct cn_error *err);

/* True if a word is a text, not made of other words. */
bool cn_store_index_is_text(const struct cn_store_index *index, uint32_t word);

/* Call `visit` for every text with these bytes, of the segment and of the index. */
CN_CHECK bool cn_store_index_find(const struct cn_store_index *index,
                                  struct cn_bytes text, cn_text_visit visit, void *arg,
                                  struct cn_error *err);

/* The highest number of a word. */
static inline uint32_t cn_store_index_word_count(const struct cn_store_index *index)
{
    return cn_segment_words(index->segment)->count + index->extra.count;
}

#endif
