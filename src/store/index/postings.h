/* What occurs in which row of a store: postings, collected while traces are added.
 *
 * A row is described by keys: a method that is called in it, an attribute with its value, the
 * class or message of an exception. The numbers in a key are words of the store's dictionary.
 * Type, service, times and counts are in the row itself and have no keys.
 *
 * The collector holds the rows of one block. When it is full (or at the end), it is encoded as
 * a block (store/index/posting_block.h) and appended to the posting log (store/segment/posting_log.h). Rows
 * that no block covers are found by reading their traces, so a block that was never written
 * costs time, not results; seal merges all blocks.
 *
 *     cn_postings_begin(&postings, row);               the first row of the block
 *     cn_postings_add(&postings, row, key);            rows in ascending order
 *     cn_postings_end_row(&postings);                  the row is complete
 *     cn_postings_encode(&postings, &text);            when cn_postings_is_full()
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
    CN_POSTING_METHOD = 0,            /* a method that is called */
    CN_POSTING_ROOT_ATTRIBUTE = 1,    /* an attribute of the first call */
    CN_POSTING_ATTRIBUTE = 2,         /* an attribute of any other call */
    CN_POSTING_EXCEPTION_CLASS = 3,   /* of an exception or one of its causes */
    CN_POSTING_EXCEPTION_MESSAGE = 4, /* the same */
};

enum {
    CN_POSTING_NAME_BITS = 29,
    CN_POSTING_NAME_MAX =
        (1 << CN_POSTING_NAME_BITS) - 1, /* the highest attribute name */
    CN_POSTINGS_ROWS = 512,              /* of a full block */
};

/* `name` is the word of an attribute's name and 0 for the other kinds, `word` that of the
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
    cn_posting_key key;
    uint32_t row;
};

struct cn_postings {
    uint32_t first_row, row_count;
    struct cn_posting_pair *pairs, *spare; /* spare: as long, for sorting */
    size_t count, capacity, spare_capacity;
    uint32_t *seen; /* per method word: 1 + the last row it was added for */
    size_t seen_count;
};

/* A zeroed collector is ready for this; what it held before is forgotten. */
void cn_postings_begin(struct cn_postings *postings, uint32_t first_row);
void cn_postings_done(struct cn_postings *postings);

/* Note that `row` has the key; it may be noted more than once. */
void cn_postings_add(struct cn_postings *postings, uint32_t row, cn_posting_key key);

/* The same for CN_POSTING_METHOD, quicker for methods that a row calls again and again. */
void cn_postings_add_method(struct cn_postings *postings, uint32_t row, uint32_t method);

/* The row is complete, with or without keys. */
static inline void cn_postings_end_row(struct cn_postings *postings)
{
    postings->row_count++;
}

static inline bool cn_postings_is_full(const struct cn_postings *postings)
{
    return postings->row_count >= CN_POSTINGS_ROWS;
}

/* Append the complete rows as a block. The collector's pairs get sorted. */
void cn_postings_encode(struct cn_postings *postings, struct cn_text *out);

#endif
