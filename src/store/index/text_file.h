/* The dictionary of a sealed store: text.dat, and text.idx to search it.
 *
 * text.dat is a block file (base/files/block_file.h) with the sections
 *   1 the bytes of all words, one after the other
 *   2 u32 a word: where it ends in section 1
 *   3 a byte a word: its kind (enum cn_word_kind of model/traces/words.h)
 * Words are numbered from 1. text.idx can be made again from text.dat:
 *   1 u32 a slot: the number of a word, 0 when free. There are 4/3 as many slots as words, and
 *     at least one more. A word's first slot is hash * slots >> 32, where hash is the lower half
 *     of XXH3-64 of its bytes; when taken, the next, and the first after the last
 *   2 for each of 16384 hashes of three bytes, a bit for each 64 KiB of section 1 of text.dat, the
 *     lowest first, padded to 8 bytes: some three bytes with this hash begin there or in the 256
 *     bytes that follow. The hash of b0, b1, b2 is the upper 14 bits of the lower 32 of
 *     (b0 + b1 * 2^8 + b2 * 2^16) * 0x9e3779b1. Empty when the text has 448 KiB or less
 * Threads: immutable after open.
 */
#ifndef CN_STORE_INDEX_TEXT_FILE_H
#define CN_STORE_INDEX_TEXT_FILE_H

#include "base/files/block_file.h"
#include "model/traces/words.h"

#define CN_TEXT_FILE_NAME   "text.dat"
#define CN_TEXT_INDEX_NAME  "text.idx"
#define CN_TEXT_FILE_MAGIC  UINT64_C(0x5458455454534e43) /* "CNSTTEXT" */
#define CN_TEXT_INDEX_MAGIC UINT64_C(0x4844495454534e43) /* "CNSTTIDH" */
enum {
    CN_TEXT_FILE_VERSION = 1,
    CN_TEXT_TRIGRAMS = 1 << 14,
    CN_TEXT_PIECE_LEN = 1 << 16, /* of the bytes that a bit stands for */
    CN_TEXT_OVERLAP = 256,       /* and these */
    CN_TEXT_PIECES_MIN = 8,      /* a text of fewer pieces has no bits */
};

/* Where a text is looked for first. */
uint64_t cn_text_first_slot(struct cn_bytes text, uint64_t slot_count);
uint64_t cn_text_slot_count(uint32_t word_count);

/* The hash of three bytes; how many pieces a text has, and bytes the bits of them. */
unsigned cn_text_trigram(const uint8_t three[3]);
uint64_t cn_text_piece_count(uint64_t len);
uint64_t cn_text_bits_len(uint64_t pieces);

struct cn_text_file {
    struct cn_block_file data, index;
    struct cn_words
        words; /* borrows from data; ends and kinds are checked, the text is not */
    struct cn_bytes slots, trigrams;
    bool has_index; /* false when text.idx is missing or damaged: everything is scanned */
};

/* Open both files in the folder of a store. That text.idx cannot be read is no failure. */
CN_CHECK bool cn_text_file_open(struct cn_text_file *file, const char *dir,
                                struct cn_error *err);
void cn_text_file_close(struct cn_text_file *file); /* safe when never opened */

/* Whether the text of a word, of all words, is as it was written. */
CN_CHECK bool cn_text_file_check(const struct cn_text_file *file, uint32_t word,
                                 struct cn_error *err);
CN_CHECK bool cn_text_file_check_all(const struct cn_text_file *file,
                                     struct cn_error *err);

typedef void (*cn_text_visit)(void *arg, uint32_t word);

/* Words in the order in which they were found; `words` is the owner's to free. */
struct cn_found_words {
    uint32_t *words;
    size_t count, capacity;
};

/* A cn_text_visit that notes the word in a struct cn_found_words. */
void cn_found_words_note(void *arg, uint32_t word);

/* Call `visit` for every word with these bytes, whatever its kind. */
CN_CHECK bool cn_text_file_find(const struct cn_text_file *file, struct cn_bytes text,
                                cn_text_visit visit, void *arg, struct cn_error *err);

/* Whether `needle` may begin in this piece of the text, 64 KiB each. */
bool cn_text_file_may_have(const struct cn_text_file *file, struct cn_bytes needle,
                           uint64_t piece);

/* Write both files, or text.idx alone. */
CN_CHECK bool cn_text_file_write(const struct cn_disk *disk, const char *dir,
                                 const struct cn_words *words, struct cn_error *err);
CN_CHECK bool cn_text_index_write(const struct cn_disk *disk, const char *dir,
                                  const struct cn_words *words, struct cn_error *err);

#endif
