#include "model/traces/words.h"

#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL /* a call takes longer than the hash of a short text */
#include <xxhash.h>

#include "base/alloc.h"
#include "base/run/clock.h"

enum { FIRST_SLOTS = 256 };

/* The table is rebuilt from the hashes alone, without touching the words. */
struct cn_word_slot {
    uint32_t hash;
    uint32_t id; /* 0: free */
};

static uint32_t hash_of(enum cn_word_kind kind, struct cn_bytes bytes)
{
    return (uint32_t)XXH3_64bits_withSeed(bytes.ptr, bytes.len, (XXH64_hash_t)kind);
}

static bool is_word(const struct cn_words *words, uint32_t id, enum cn_word_kind kind,
                    struct cn_bytes bytes)
{
    struct cn_bytes word = cn_word_bytes(words, id);

    return word.len == bytes.len && cn_word_kind(words, id) == kind &&
           (bytes.len == 0 || memcmp(word.ptr, bytes.ptr, bytes.len) == 0);
}

/* The slot of the word, or the free slot for it. */
static struct cn_word_slot *probe(const struct cn_words *words, uint32_t hash,
                                  enum cn_word_kind kind, struct cn_bytes bytes)
{
    size_t mask = words->slot_count - 1;
    size_t i = hash & mask;

    while (words->slots[i].id != 0 && (words->slots[i].hash != hash ||
                                       !is_word(words, words->slots[i].id, kind, bytes)))
        i = (i + 1) & mask;
    return &words->slots[i];
}

static void insert(struct cn_words *words, uint32_t hash, uint32_t id)
{
    size_t mask = words->slot_count - 1;
    size_t i = hash & mask;

    while (words->slots[i].id != 0)
        i = (i + 1) & mask;
    words->slots[i] = (struct cn_word_slot){hash, id};
}

/* Words are inserted in the order of their numbers, so that cn_words_rewind() can remove
 * them in the opposite order. */
static void rebuild(struct cn_words *words, size_t slot_count)
{
    free(words->slots);
    words->slot_count = slot_count;
    words->slots = cn_alloc(slot_count, sizeof(*words->slots));
    for (uint32_t id = 1; id <= words->count; id++)
        insert(words, hash_of(cn_word_kind(words, id), cn_word_bytes(words, id)), id);
}

void cn_words_index(struct cn_words *words)
{
    size_t slot_count = FIRST_SLOTS;

    if (words->slots)
        return;
    while (slot_count / 2 < words->count)
        slot_count *= 2;
    rebuild(words, slot_count);
}

uint32_t cn_words_find(const struct cn_words *words, enum cn_word_kind kind,
                       struct cn_bytes bytes)
{
    if (bytes.len == 0 && kind == CN_WORD_TEXT)
        return 0;
    if (words->slots)
        return probe(words, hash_of(kind, bytes), kind, bytes)->id;
    for (uint32_t id = 1; id <= words->count; id++)
        if (is_word(words, id, kind, bytes))
            return id;
    return 0;
}

static uint32_t store(struct cn_words *words, enum cn_word_kind kind,
                      struct cn_bytes bytes)
{
    uintptr_t own_off = (uintptr_t)bytes.ptr - (uintptr_t)words->arena;
    bool is_own = words->arena && own_off < words->arena_len;

    /* Never NULL: words without bytes also have a position in the arena. */
    words->arena = cn_grow_to(words->arena, words->arena_len + bytes.len + 1,
                              &words->arena_capacity, 1);
    words->ends =
        cn_grow(words->ends, words->count, &words->end_capacity, sizeof(uint32_t));
    CN_GROW(words->kinds, words->count, words->kind_capacity);
    if (words->count == 0)
        words->born_ns = cn_clock_ns();
    /* The bytes of a word of the same dictionary have moved. */
    if (bytes.len)
        memcpy(words->arena + words->arena_len,
               is_own ? words->arena + own_off : bytes.ptr, bytes.len);
    words->arena_len += bytes.len;
    cn_u32_put(words->ends + (size_t)words->count * sizeof(uint32_t),
               (uint32_t)words->arena_len);
    words->kinds[words->count] = (uint8_t)kind;
    return ++words->count;
}

uint32_t cn_words_add(struct cn_words *words, enum cn_word_kind kind,
                      struct cn_bytes bytes)
{
    struct cn_word_slot *slot;

    if (bytes.len > CN_WORD_LEN_MAX)
        bytes.len = CN_WORD_LEN_MAX;
    if (bytes.len == 0 && kind == CN_WORD_TEXT)
        return 0;
    cn_words_index(words);
    uint32_t hash = hash_of(kind, bytes);
    slot = probe(words, hash, kind, bytes);
    if (slot->id != 0)
        return slot->id;
    if ((size_t)words->count * 8 >= words->slot_count * 5) {
        rebuild(words, words->slot_count * 2);
        slot = probe(words, hash, kind, bytes);
    }
    *slot = (struct cn_word_slot){hash, store(words, kind, bytes)};
    return words->count;
}

uint32_t cn_words_add_str(struct cn_words *words, enum cn_word_kind kind, const char *str)
{
    return cn_words_add(words, kind, cn_bytes_of(str));
}

void cn_words_append(struct cn_words *words, enum cn_word_kind kind,
                     struct cn_bytes bytes)
{
    (void)store(words, kind, bytes);
    if (words->slots && (size_t)words->count * 8 >= words->slot_count * 5)
        rebuild(words, words->slot_count * 2);
    else if (words->slots)
        insert(words, hash_of(kind, bytes), words->count);
}

uint32_t cn_words_add_parts(struct cn_words *words, enum cn_word_kind kind,
                            const uint32_t *parts, size_t count)
{
    enum { SMALL_COUNT = 64 }; /* only stacks have more */
    uint8_t small[SMALL_COUNT * CN_WORD_PART_LEN];
    uint8_t *large = count > SMALL_COUNT ? cn_alloc(count, CN_WORD_PART_LEN) : NULL;
    uint8_t *bytes = large ? large : small;

    for (size_t i = 0; i < count; i++)
        cn_u32_put(bytes + i * CN_WORD_PART_LEN, parts[i]);
    uint32_t id =
        cn_words_add(words, kind, (struct cn_bytes){bytes, count * CN_WORD_PART_LEN});
    free(large);
    return id;
}

/* Linear probing without tombstones: removing the newest word restores the table as it was
 * before the word was added. */
static void remove_newest(struct cn_words *words)
{
    uint32_t id = words->count;
    size_t mask = words->slot_count - 1;
    size_t i = hash_of(cn_word_kind(words, id), cn_word_bytes(words, id)) & mask;

    while (words->slots[i].id != id)
        i = (i + 1) & mask;
    words->slots[i] = (struct cn_word_slot){0};
}

void cn_words_rewind(struct cn_words *words, uint32_t count)
{
    if (words->count > count)
        words->born_ns = cn_clock_ns();
    if (count == 0 && words->count > 0 && words->slots) {
        memset(words->slots, 0, words->slot_count * sizeof(*words->slots));
        words->count = 0;
        words->arena_len = 0;
    }
    while (words->count > count) {
        if (words->slots)
            remove_newest(words);
        words->arena_len = cn_words_end(words, --words->count);
    }
}

bool cn_words_borrow(struct cn_words *out, const struct cn_words_arena *arena,
                     struct cn_error *err)
{
    uint32_t before = 0;

    if (arena->kinds.len < arena->count ||
        arena->ends.len / sizeof(uint32_t) < arena->count)
        return cn_fail(err, CN_ERR_FORMAT, "%u words do not fit their tables",
                       arena->count);
    for (uint32_t i = 0; i < arena->count; i++) {
        uint32_t end = cn_u32_get(arena->ends.ptr + (size_t)i * sizeof(uint32_t));

        if (end < before || end > arena->bytes.len)
            return cn_fail(err, CN_ERR_FORMAT,
                           "word %u ends at %u, the one before at %u, of %zu bytes",
                           i + 1, end, before, arena->bytes.len);
        before = end;
    }
    *out = (struct cn_words){
        .arena = (uint8_t *)(uintptr_t)arena->bytes.ptr,
        .ends = (uint8_t *)(uintptr_t)arena->ends.ptr,
        .kinds = (uint8_t *)(uintptr_t)arena->kinds.ptr,
        .count = arena->count,
        .arena_len = before,
        .is_borrowed = true,
        .born_ns = cn_clock_ns(),
    };
    return true;
}

struct cn_words_arena cn_words_arena(const struct cn_words *words)
{
    return (struct cn_words_arena){
        .bytes = {words->arena, words->arena_len},
        .ends = {words->ends, words->count * sizeof(uint32_t)},
        .kinds = {words->kinds, words->count},
        .count = words->count,
    };
}

void cn_words_done(struct cn_words *words)
{
    if (!words->is_borrowed) {
        free(words->arena);
        free(words->ends);
        free(words->kinds);
    }
    free(words->slots);
    *words = (struct cn_words){0};
}
