/* Postings: which key occurs in which row. This collects them while traces are added.
 *
 * A row has the keys of its span alone: what is inside a span that has a row is found there.
 * Versions before 2 of the store also added the keys of such spans to the rows around them.
 *
 * A key is a method that is called in the row, an attribute with its value, or the class or
 * message of an exception. The numbers in a key are words of the segment's dictionary. Type,
 * service, times and counts are in the row itself and have no keys.
 *
 * The collector contains the rows of one block. A full block is encoded
 * (store/index/posting_block.h) and appended to the posting log (store/segment/posting_log.h).
 * The traces of rows without a block are read instead, so a lost block costs time, not results.
 *
 *     cn_postings_begin(&postings, row);               the first row of the block
 *     cn_postings_add(&postings, row, key);            rows in ascending order
 *     cn_postings_end_row(&postings);                  the row is complete
 *     cn_postings_encode(&postings, row, &text);       when cn_postings_is_full()
 *     cn_postings_begin(&postings, row); ...
 * Threads: one thread at a time.
 */
#ifndef CN_STORE_INDEX_POSTINGS_H
#define CN_STORE_INDEX_POSTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cn_text;

typedef uint64_t cn_posting_key;

/* The values are stored in files: they are the upper three bits of a key. */
enum cn_posting_kind {
    CN_POSTING_METHOD = 0,            /* a method that was called */
    CN_POSTING_ROOT_ATTRIBUTE = 1,    /* an attribute of the first call */
    CN_POSTING_ATTRIBUTE = 2,         /* an attribute of any other call */
    CN_POSTING_EXCEPTION_CLASS = 3,   /* of an exception or one of its causes */
    CN_POSTING_EXCEPTION_MESSAGE = 4, /* likewise */
};

enum {
    CN_POSTING_NAME_BITS = 29,
    CN_POSTING_NAME_MAX = (1 << CN_POSTING_NAME_BITS) - 1, /* highest attribute name */
    CN_POSTINGS_ROWS = 4096,                               /* of a full block */
};

/* `name` is the word of the name of an attribute, 0 for other kinds; `word` is that of the
 * value, method, class or message. */
static inline cn_posting_key cn_posting_key_of(enum cn_posting_kind kind, uint32_t name,
                                               uint32_t word)
{
    return (uint64_t)kind << 61 | (uint64_t)name << 32 | word;
}

static inline enum cn_posting_kind cn_posting_kind(cn_posting_key key)
{
    return (enum cn_posting_kind)(key >> 61);
}

static inline uint32_t cn_posting_name(cn_posting_key key)
{
    return (uint32_t)(key >> 32) & CN_POSTING_NAME_MAX;
}

static inline uint32_t cn_posting_word(cn_posting_key key)
{
    return (uint32_t)key;
}

struct cn_posting_pair {
    uint32_t id; /* of the key */
    uint32_t row;
};

struct cn_posting_known {
    cn_posting_key key;
    uint32_t after_row; /* 1 + the last row that has it */
};

struct cn_postings {
    uint32_t first_row, row_count;
    struct cn_posting_pair *pairs; /* by row */
    size_t count, capacity;
    struct cn_posting_known *keys; /* by id */
    size_t key_count, key_capacity;
    uint32_t *ids; /* 1 + that of a key, by its hash; 0: free */
    size_t id_slots;
};

/* Begin a block in a zeroed or used collector; its previous content is dropped. */
void cn_postings_begin(struct cn_postings *postings, uint32_t first_row);
void cn_postings_done(struct cn_postings *postings);

/* Add a key of a row; it may be added more than once. */
void cn_postings_add(struct cn_postings *postings, uint32_t row, cn_posting_key key);

/* End a row, with or without keys. */
static inline void cn_postings_end_row(struct cn_postings *postings)
{
    postings->row_count++;
}

static inline bool cn_postings_is_full(const struct cn_postings *postings)
{
    return postings->row_count >= CN_POSTINGS_ROWS;
}

/* Append the rows from `first_row` on, all of them complete, as a block. */
void cn_postings_encode(const struct cn_postings *postings, uint32_t first_row,
                        struct cn_text *out);

#endif
