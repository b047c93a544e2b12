/* The dictionary that traces speak: strings, and words made of other words, each with a
 * number.
 *
 * A word is a kind and bytes; the two together are what makes it one. Numbers begin at 1
 * and are dense; 0 is the empty text. Composite words (a method description is a class, a
 * method name and a signature) hold the numbers of their parts, each below their own.
 *
 * A zeroed dictionary is ready for use: cn_words_add(), cn_words_find(), cn_word_bytes(). One
 * that lies in a mapped file is made by cn_words_borrow() and is never added to.
 *
 * Threads: one thread adds; reading from any thread while nobody adds.
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

/* Stored in files; from 4 to 14 as the original trace store marks its words. */
enum cn_word_kind {
    CN_WORD_TEXT = 0,
    CN_WORD_KEYWORD = 4, /* attribute keys, trace types, services */
    CN_WORD_CLASS = 5,
    CN_WORD_METHOD_NAME = 6,
    CN_WORD_UUID = 7,
    CN_WORD_SIGNATURE = 8,  /* as the JVM writes them: "(Ljava/lang/String;)V" */
    CN_WORD_VALUE = 9,      /* key, then the text of a number, a boolean, null */
    CN_WORD_PAIR = 10,      /* key, value: an attribute whose value is a string */
    CN_WORD_METHOD = 11,    /* class, method name, signature */
    CN_WORD_EXCEPTION = 12, /* class, message, stack, cause: another exception or 0 */
    CN_WORD_STACK = 13,     /* frames */
    CN_WORD_FRAME = 14,     /* class, method name, file, line: a number, not a word; with
                               a method name alone: a line of a stack as it was printed */
    CN_WORD_AGENT = 15,     /* key, value: of the agent that sent a trace */
    CN_WORD_LOST = 255,     /* the number was given, its word cannot be read any more */
};

enum {
    CN_WORD_LEN_MAX = 1 << 24, /* bytes of one word */
    CN_WORD_PART_LEN = 4,      /* bytes of the number of a part */
};

struct cn_words {
    uint8_t *arena; /* the bytes of all words, one after the other */
    uint8_t *ends;  /* u32 little endian: where word i + 1 ends in the arena */
    uint8_t *kinds; /* enum cn_word_kind, a byte each */
    uint32_t count;
    size_t arena_len, arena_capacity, capacity;
    struct cn_word_slot *slots; /* open addressing; NULL: nobody looked for a word yet */
    size_t slot_count;
    bool is_borrowed; /* arena, ends and kinds belong to somebody else */
    uint64_t
        born_ns; /* when it got its first word, or lost some: whoever remembers numbers
                         of a dictionary at this address knows by it whether they still hold */
};

/* What to scan for text: word i (from 1) is bytes[end(i-1) .. end(i)]. */
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

/* CN_WORD_LOST for a number that was never given. */
static inline enum cn_word_kind cn_word_kind(const struct cn_words *words, uint32_t id)
{
    if (id == 0)
        return CN_WORD_TEXT;
    return id > words->count ? CN_WORD_LOST : (enum cn_word_kind)words->kinds[id - 1];
}

/* Borrowed until a word is added; empty for a number that was never given. */
static inline struct cn_bytes cn_word_bytes(const struct cn_words *words, uint32_t id)
{
    uint32_t begin;

    if (id == 0 || id > words->count)
        return (struct cn_bytes){(const uint8_t *)"", 0};
    begin = cn_words_end(words, id - 1);
    return (struct cn_bytes){words->arena + begin, cn_words_end(words, id) - begin};
}

/* Number of the word, 0 when there is none. The first search of a borrowed or loaded
 * dictionary makes its hash table: call cn_words_index() before sharing it. */
uint32_t cn_words_find(const struct cn_words *words, enum cn_word_kind kind,
                       struct cn_bytes bytes);
void cn_words_index(struct cn_words *words);

/* The number of the word, new or not. Bytes beyond CN_WORD_LEN_MAX are dropped; an empty
 * text is 0. */
uint32_t cn_words_add(struct cn_words *words, enum cn_word_kind kind,
                      struct cn_bytes bytes);
uint32_t cn_words_add_str(struct cn_words *words, enum cn_word_kind kind,
                          const char *str);
uint32_t cn_words_add_parts(struct cn_words *words, enum cn_word_kind kind,
                            const uint32_t *parts, size_t count);

/* The word of `from` in `words`, with everything that it is made of. */
uint32_t cn_words_copy(struct cn_words *words, const struct cn_words *from, uint32_t id);

/* The next number is given to these bytes without looking whether they are there already:
 * for reading a file of words back in order. */
void cn_words_append(struct cn_words *words, enum cn_word_kind kind,
                     struct cn_bytes bytes);

/* Forget all words but the first `count`: the dictionary is as it was then. */
void cn_words_rewind(struct cn_words *words, uint32_t count);

/* Make a dictionary of bytes that lie elsewhere and outlive it. Checks that the ends rise
 * and stay inside. */
CN_CHECK bool cn_words_borrow(struct cn_words *out, const struct cn_words_arena *arena,
                              struct cn_error *err);
struct cn_words_arena cn_words_arena(const struct cn_words *words);

/* Parts of a composite word. Numbers that are not below its own read as 0, so that no chain
 * of parts has a cycle. A CN_WORD_VALUE has one part, the key; cn_word_value_text() is what
 * follows it. */
size_t cn_word_part_count(const struct cn_words *words, uint32_t id);
uint32_t cn_word_part(const struct cn_words *words, uint32_t id, size_t part);
struct cn_bytes cn_word_value_text(const struct cn_words *words, uint32_t id);

/* The line of a CN_WORD_FRAME; negative when unknown. */
int32_t cn_word_line(const struct cn_words *words, uint32_t id);

/* The attribute word: PAIR for a string value, VALUE for the text of anything else. */
uint32_t cn_words_add_value(struct cn_words *words, uint32_t key, struct cn_bytes text);

/* A word as people read it: text as it is, a method as
 * "void com.example.Dao.update(String)", a lost one as "#1234". */
void cn_words_print(const struct cn_words *words, uint32_t id, struct cn_text *out);

/* "com.example.Dao.update": a method without types. */
void cn_words_print_method_name(const struct cn_words *words, uint32_t id,
                                struct cn_text *out);

void cn_words_done(struct cn_words *words); /* empty and usable again */

#endif
