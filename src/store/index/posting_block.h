/* The layout of a block of postings, and its reader: for a range of rows, every key that occurs
 * and the rows that have it.
 *
 *   header -> lists -> entries -> samples
 *
 * Entries are sorted by key. An entry is two varints (base/bytes/varint.h): the difference to the
 * key before (in the first entry of a group the key itself), and 4 x value + form:
 *   form 0: value bytes of lists, varints: the first row, then steps to the next row, all >= 1
 *   form 1: value is the only row
 *   form 2: value bytes of lists: a bit per row of the block, the lowest first
 *   form 3: every row, if value is 0; otherwise value bytes of lists (store/index/posting_steps.h), in
 *           files only
 * Rows count from the first row of the block. Lists are in the order of the entries. A sample
 * describes a group of CN_POSTING_GROUP entries: its first key and where its entries and lists
 * begin.
 *
 * The log of an open segment is a sequence of blocks. A sealed segment has one block for all rows
 * in a file of its own, which is checked where it is read.
 * Threads: immutable after decoding; each walk belongs to one thread at a time.
 */
#ifndef CN_STORE_INDEX_POSTING_BLOCK_H
#define CN_STORE_INDEX_POSTING_BLOCK_H

#include "base/bytes/bytes.h"
#include "base/bytes/record.h"
#include "base/error.h"
#include "model/step.h"
#include "store/index/postings.h"

struct cn_block_file;
struct cn_rows;

#define CN_POSTING_HEADER(F)                                     \
    F(0x00, u32, magic, "\"CNPO\" or \"CNPB\"")                  \
    F(0x04, u32, first_row, "of the rows described")             \
    F(0x08, u32, row_count, "how many they are")                 \
    F(0x0c, u32, key_count, "entries")                           \
    F(0x10, u64, lists_len, "bytes")                             \
    F(0x18, u64, entries_len, "bytes")                           \
    F(0x20, u64, samples_len, "bytes")                           \
    F(0x28, u32, checksum, "CRC-32C of lists, entries, samples") \
    F(0x2c, u32, header_checksum, "CRC-32C of the header before it")
CN_RECORD(cn_posting_header, CN_POSTING_HEADER, 0x30);

#define CN_POSTING_SAMPLE(F)                             \
    F(0x00, u64, key, "of the first entry of the group") \
    F(0x08, u64, entries_off, "where the group begins")  \
    F(0x10, u64, lists_off, "where its lists begin")
CN_RECORD(cn_posting_sample, CN_POSTING_SAMPLE, 0x18);

enum {
    CN_POSTING_MAGIC = 0x42504e43,     /* "CNPB": rows also have keys of spans inside */
    CN_POSTING_OWN_MAGIC = 0x4f504e43, /* "CNPO": without them */
    CN_POSTING_GROUP = 64,
};

enum cn_posting_form {
    CN_POSTING_LIST = 0,
    CN_POSTING_ONE = 1,
    CN_POSTING_BITS = 2,
    CN_POSTING_ALL = 3,
    CN_POSTING_STEPS, /* stored as the one before, with bytes */
};

struct cn_posting_block {
    uint32_t first_row, row_count, key_count;
    bool is_own; /* rows have no keys of spans inside that have rows */
    struct cn_bytes lists, entries, samples;
    const struct cn_block_file
        *file; /* to check bytes before use; NULL: all are checked */
};

struct cn_posting_entry {
    cn_posting_key key;
    enum cn_posting_form form;
    uint32_t row;         /* CN_POSTING_ONE */
    struct cn_bytes list; /* of others, except CN_POSTING_ALL; unchecked */
};

/* Take a block with its header from the front of `rest` and check it. Fails and leaves `rest`
 * unchanged if there is no whole, sound block. */
CN_CHECK bool cn_posting_block_take(struct cn_bytes *rest, struct cn_posting_block *out,
                                    struct cn_error *err);

struct cn_posting_walk {
    const struct cn_posting_block *block;
    uint64_t group, group_count;
    struct cn_bytes entries; /* of the group, not read yet */
    uint64_t lists_off;
    cn_posting_key from, key; /* the first wanted key; that of the last entry */
    bool is_first;            /* the next entry is the first of its group */
};

/* Walk over the entries from key `from` on. */
CN_CHECK bool cn_posting_walk_begin(struct cn_posting_walk *walk,
                                    const struct cn_posting_block *block,
                                    cn_posting_key from, struct cn_error *err);
CN_CHECK enum cn_step cn_posting_walk_next(struct cn_posting_walk *walk,
                                           struct cn_posting_entry *out,
                                           struct cn_error *err);

/* Find the entry of a key; `is_found` receives false if no row has it. */
CN_CHECK bool cn_posting_block_find(const struct cn_posting_block *block,
                                    cn_posting_key key, struct cn_posting_entry *out,
                                    bool *is_found, struct cn_error *err);

/* Add the rows of an entry to a set of all rows of the segment. */
CN_CHECK bool cn_posting_rows_add(const struct cn_posting_block *block,
                                  const struct cn_posting_entry *entry,
                                  struct cn_rows *rows, struct cn_error *err);

/* Call `visit` for each row of an entry, in ascending order. */
typedef void (*cn_posting_visit)(void *arg, uint32_t row);
CN_CHECK bool cn_posting_rows_walk(const struct cn_posting_block *block,
                                   const struct cn_posting_entry *entry,
                                   cn_posting_visit visit, void *arg,
                                   struct cn_error *err);

#endif
