/* The dictionary of a sealed segment: text.dat, and text.idx to search it.
 *
 * text.dat is a block file (base/files/blocks.h) with the sections
 *   1 the bytes of all words, concatenated
 *   2 u32 per word: its end in section 1
 *   3 u8 per word: its kind (enum cn_word_kind of model/traces/words.h)
 * Words are numbered from 1. text.idx can be rebuilt from text.dat:
 *   1 u32 per slot: the number of a word, 0 if free. There are 4/3 as many slots as words, and
 *     at least one more. The first slot of a word is hash * slots >> 32, where hash is the lower
 *     half of XXH3-64 of its bytes; if taken, the next slot, after the last one the first
 *   2 for each of 16384 hashes of three bytes, a bit for each window of 64 KiB of section 1 of
 *     text.dat, the lowest first, padded to 8 bytes: three bytes with this hash begin in the
 *     window or in the 256 bytes after it. The hash of b0, b1, b2 is the upper 14 bits of the
 *     lower 32 of (b0 + b1 * 2^8 + b2 * 2^16) * 0x9e3779b1. Empty if the text has 448 KiB or less
 * Threads: immutable after open.
 */
#ifndef CN_STORE_INDEX_TEXT_FILE_H
#define CN_STORE_INDEX_TEXT_FILE_H

#include "base/files/blocks.h"
#include "model/traces/words.h"

#define CN_TEXT_FILE_NAME   "text.dat"
#define CN_TEXT_INDEX_NAME  "text.idx"
#define CN_TEXT_FILE_MAGIC  UINT64_C(0x5458455454534e43) /* "CNSTTEXT" */
#define CN_TEXT_INDEX_MAGIC UINT64_C(0x4844495454534e43) /* "CNSTTIDH" */
enum {
    CN_TEXT_FILE_VERSION = 1,
    CN_TEXT_TRIGRAMS = 1 << 14,
    CN_TEXT_WINDOW_LEN = 1 << 16, /* bytes that a bit stands for */
    CN_TEXT_OVERLAP = 256,        /* bytes after them that it also stands for */
    CN_TEXT_WINDOWS_MIN = 8,      /* a text of fewer windows has no bits */
};

struct cn_text_file {
    struct cn_block_file data, index;
    struct cn_words words; /* borrows from data; the text itself is not checked */
    struct cn_bytes slots, trigrams;
    bool has_index; /* false if text.idx is missing or damaged: everything is scanned */
};

/* Open both files of a source or, if that is NULL, in the folder of a segment. A text.idx that
 * cannot be read is no failure. */
CN_CHECK bool cn_text_file_open(struct cn_text_file *file, struct cn_file_source *source,
                                const char *dir, struct cn_error *err);
void cn_text_file_close(struct cn_text_file *file); /* safe when never opened */

/* Check the text of one word or of all words against its checksums. */
CN_CHECK bool cn_text_file_check(const struct cn_text_file *file, uint32_t word,
                                 struct cn_error *err);
CN_CHECK bool cn_text_file_check_all(const struct cn_text_file *file,
                                     struct cn_error *err);

/* Check all of the index, which can be read. */
CN_CHECK bool cn_text_file_check_index(const struct cn_text_file *file,
                                       struct cn_error *err);

typedef void (*cn_text_visit)(void *arg, uint32_t word);

/* Words in the order in which they were found. The owner frees `words`. */
struct cn_found_words {
    uint32_t *words;
    size_t count, capacity;
};

/* A cn_text_visit that appends the word to a struct cn_found_words. */
void cn_found_words_note(void *arg, uint32_t word);

/* Call `visit` for every word with these bytes, whatever its kind. */
CN_CHECK bool cn_text_file_find(const struct cn_text_file *file, struct cn_bytes text,
                                cn_text_visit visit, void *arg, struct cn_error *err);

/* False if `needle` certainly does not begin in this window. */
bool cn_text_file_may_have(const struct cn_text_file *file, struct cn_bytes needle,
                           uint64_t window);

/* Write both files. */
CN_CHECK bool cn_text_file_write(const struct cn_disk *disk, const char *dir,
                                 const struct cn_words *words, struct cn_error *err);

#endif
