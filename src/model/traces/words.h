/* A dictionary for traces: strings, and words composed of other words, each with a number.
 *
 * A word is a kind and bytes; no two words are equal in both. Numbers begin at 1 and are
 * dense; 0 is the empty text. Composite words (a method is a class, a method name and a
 * signature) contain the numbers of their parts, each smaller than their own.
 *
 * A zeroed dictionary is ready for use: cn_words_add(), cn_words_find(), cn_word_bytes().
 * cn_words_borrow() makes one of a mapped file, to which no words can be added.
 *
 * Threads: one thread adds; any thread may read while no thread adds.
 */
#ifndef CN_MODEL_TRACES_WORDS_H
#define CN_MODEL_TRACES_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes/bytes.h"
#include "base/bytes/record.h"
#include "base/error.h"

struct cn_text;

/* Stored in files; 4 to 14 are the marks of the original trace store. */
enum cn_word_kind {
    CN_WORD_TEXT = 0,
    CN_WORD_KEYWORD = 4, /* attribute keys, trace types, services */
    CN_WORD_CLASS = 5,
    CN_WORD_METHOD_NAME = 6,
    CN_WORD_UUID = 7,
    CN_WORD_SIGNATURE = 8,  /* of the JVM: "(Ljava/lang/String;)V" */
    CN_WORD_VALUE = 9,      /* key, then the text of a number, a boolean, null */
    CN_WORD_PAIR = 10,      /* key, value: an attribute with a string value */
    CN_WORD_METHOD = 11,    /* class, method name, signature */
    CN_WORD_EXCEPTION = 12, /* class, message, stack, cause: another exception or 0 */
    CN_WORD_STACK = 13,     /* frames */
    CN_WORD_FRAME = 14,     /* class, method name, file, line: a number, not a word; with
                               only a method name: a line of a stack as printed */
    CN_WORD_AGENT = 15,     /* key, value: of the agent that sent a trace */
    CN_WORD_BYTES = 16,     /* a value that is bytes, not a text */
    CN_WORD_SCALAR =
        17, /* a byte of enum cn_trace_value_kind, then 8: a number, a boolean */
    CN_WORD_LIST = 18, /* values: texts, and words from CN_WORD_BYTES to CN_WORD_MAP */
    CN_WORD_MAP = 19,  /* key, value, key, value, ... */
    CN_WORD_RESOURCE =
        20, /* schema URL, dropped attributes (CN_WORD_SCALAR), key, value, ... */
    CN_WORD_SCOPE = 21, /* name, version, then as a resource */
    CN_WORD_LOST = 255, /* a word that cannot be read any more */
};

enum {
    CN_WORD_LEN_MAX = 1 << 24, /* bytes of one word */
    CN_WORD_PART_LEN = 4,      /* bytes of the number of a part */
};

struct cn_words {
    uint8_t *arena; /* the bytes of all words, one after the other */
    uint8_t *ends;  /* u32 little endian: the end of word i + 1 in the arena */
    uint8_t *kinds; /* enum cn_word_kind, a byte each */
    uint32_t count;
    size_t arena_len, arena_capacity, end_capacity, kind_capacity;
    struct cn_word_slot *slots; /* open addressing; NULL before the first search */
    size_t slot_count;
    bool is_borrowed; /* arena, ends and kinds are not released */
    /* When the first word was added, or words were last removed. A cache of numbers is
     * valid while the dictionary at this address has the same time. */
    uint64_t born_ns;
};

/* The arrays of a dictionary: word i (from 1) is bytes[end(i-1) .. end(i)]. */
struct cn_words_arena {
    struct cn_bytes bytes;
    struct cn_bytes ends; /* u32 little endian each */
    struct cn_bytes kinds;
    uint32_t count;
};

static inline uint32_t cn_words_end(const struct cn_words *words, uint32_t id)
{
    return id == 0 ? 0 : cn_u32_get(words->ends + (size_t)(id - 1) * sizeof(uint32_t));
}

/* CN_WORD_LOST for a number without a word. */
static inline enum cn_word_kind cn_word_kind(const struct cn_words *words, uint32_t id)
{
    if (id == 0)
        return CN_WORD_TEXT;
    return id > words->count ? CN_WORD_LOST : (enum cn_word_kind)words->kinds[id - 1];
}

/* Valid until a word is added; empty for a number without a word. */
static inline struct cn_bytes cn_word_bytes(const struct cn_words *words, uint32_t id)
{
    uint32_t begin;

    if (id == 0 || id > words->count)
        return (struct cn_bytes){(const uint8_t *)"", 0};
    begin = cn_words_end(words, id - 1);
    return (struct cn_bytes){words->arena + begin, cn_words_end(words, id) - begin};
}

/* The number of the word; 0 if there is none. A scan, unless cn_words_index() or adding has
 * made the hash table. */
uint32_t cn_words_find(const struct cn_words *words, enum cn_word_kind kind,
                       struct cn_bytes bytes);
void cn_words_index(struct cn_words *words);

/* The number of the word, added if it is new. Bytes beyond CN_WORD_LEN_MAX are dropped; the
 * empty text is 0. */
uint32_t cn_words_add(struct cn_words *words, enum cn_word_kind kind,
                      struct cn_bytes bytes);
uint32_t cn_words_add_str(struct cn_words *words, enum cn_word_kind kind,
                          const char *str);
uint32_t cn_words_add_parts(struct cn_words *words, enum cn_word_kind kind,
                            const uint32_t *parts, size_t count);

/* Copy a word of `from`, with its parts, to `words`. */
uint32_t cn_words_copy(struct cn_words *words, const struct cn_words *from, uint32_t id);

/* Give these bytes the next number, without a search: for reading a file of words in
 * order. */
void cn_words_append(struct cn_words *words, enum cn_word_kind kind,
                     struct cn_bytes bytes);

/* Remove all words except the first `count`. */
void cn_words_rewind(struct cn_words *words, uint32_t count);

/* Make a dictionary of arrays that outlive it. Fails unless the ends ascend and are inside
 * the bytes. */
CN_CHECK bool cn_words_borrow(struct cn_words *out, const struct cn_words_arena *arena,
                              struct cn_error *err);
struct cn_words_arena cn_words_arena(const struct cn_words *words);

/* The parts of a composite word. A number that is not smaller than its own is 0, so parts
 * have no cycles. A CN_WORD_VALUE has one part, the key; cn_word_value_text() is the rest. */
size_t cn_word_part_count(const struct cn_words *words, uint32_t id);
uint32_t cn_word_part(const struct cn_words *words, uint32_t id, size_t part);
struct cn_bytes cn_word_value_text(const struct cn_words *words, uint32_t id);

/* The line of a CN_WORD_FRAME; negative if unknown. */
int32_t cn_word_line(const struct cn_words *words, uint32_t id);

/* Append a word in readable form: a method is "void com.example.Dao.update(String)", a lost
 * word "#1234". */
void cn_words_print(const struct cn_words *words, uint32_t id, struct cn_text *out);

/* Append a method without types: "com.example.Dao.update". */
void cn_words_print_method_name(const struct cn_words *words, uint32_t id,
                                struct cn_text *out);

void cn_words_done(struct cn_words *words); /* leaves it empty and ready for use */

#endif
