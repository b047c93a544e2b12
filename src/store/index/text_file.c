#include "store/index/text_file.h"

#include <stdlib.h>
#include <xxhash.h>

#include "base/alloc.h"

enum { SECTION_BYTES = 1, SECTION_ENDS = 2, SECTION_KINDS = 3 };
enum { TRIGRAM_LEN = 3 };
enum { SECTION_SLOTS = 1, SECTION_TRIGRAMS = 2, SLOT_LEN = sizeof(uint32_t) };

static uint32_t hash_of(struct cn_bytes text)
{
    return (uint32_t)XXH3_64bits(text.ptr, text.len);
}

uint64_t cn_text_first_slot(struct cn_bytes text, uint64_t slot_count)
{
    return hash_of(text) * slot_count >> 32;
}

uint64_t cn_text_slot_count(uint32_t word_count)
{
    return word_count + (uint64_t)word_count / 3 + 1;
}

unsigned cn_text_trigram(const uint8_t three[3])
{
    uint32_t number = three[0] | (uint32_t)three[1] << 8 | (uint32_t)three[2] << 16;

    return number * UINT32_C(0x9e3779b1) >> 18;
}

uint64_t cn_text_piece_count(uint64_t len)
{
    return (len + CN_TEXT_PIECE_LEN - 1) / CN_TEXT_PIECE_LEN;
}

uint64_t cn_text_bits_len(uint64_t pieces)
{
    /* A short text is scanned sooner than its bits are looked at. */
    if (pieces < CN_TEXT_PIECES_MIN)
        return 0;
    return cn_align_up(pieces, 64) / 8;
}

static bool open_data(struct cn_text_file *file, const char *dir, struct cn_error *err)
{
    struct cn_words_arena arena;

    if (!cn_block_file_open(&file->data, dir, CN_TEXT_FILE_NAME, CN_TEXT_FILE_MAGIC,
                            CN_TEXT_FILE_VERSION, err))
        return false;
    if (!cn_block_file_section(&file->data, SECTION_BYTES, &arena.bytes, err) ||
        !cn_block_file_section(&file->data, SECTION_ENDS, &arena.ends, err) ||
        !cn_block_file_section(&file->data, SECTION_KINDS, &arena.kinds, err) ||
        !cn_block_file_check(&file->data, arena.ends, err) ||
        !cn_block_file_check(&file->data, arena.kinds, err))
        return cn_fail_in(err, "%s/" CN_TEXT_FILE_NAME, dir);
    arena.count = (uint32_t)(arena.ends.len / sizeof(uint32_t));
    if (arena.kinds.len != arena.count)
        return cn_fail(err, CN_ERR_FORMAT,
                       "%s/" CN_TEXT_FILE_NAME ": %zu kinds of %u words", dir,
                       arena.kinds.len, arena.count);
    return cn_words_borrow(&file->words, &arena, err) ||
           cn_fail_in(err, "%s/" CN_TEXT_FILE_NAME, dir);
}

/* An index that is not there, or not that of this text, is done without. */
static void open_index(struct cn_text_file *file, const char *dir)
{
    struct cn_error ignored = {0};
    uint64_t pieces = cn_text_piece_count(file->words.arena_len);

    if (!cn_block_file_open(&file->index, dir, CN_TEXT_INDEX_NAME, CN_TEXT_INDEX_MAGIC,
                            CN_TEXT_FILE_VERSION, &ignored))
        return;
    file->has_index =
        cn_block_file_section(&file->index, SECTION_SLOTS, &file->slots, &ignored) &&
        cn_block_file_section(&file->index, SECTION_TRIGRAMS, &file->trigrams,
                              &ignored) &&
        file->slots.len == cn_text_slot_count(file->words.count) * SLOT_LEN &&
        file->trigrams.len == CN_TEXT_TRIGRAMS * cn_text_bits_len(pieces);
}

bool cn_text_file_open(struct cn_text_file *file, const char *dir, struct cn_error *err)
{
    struct cn_text_file opened = {0};

    if (!open_data(&opened, dir, err)) {
        cn_text_file_close(&opened);
        return false;
    }
    open_index(&opened, dir);
    *file = opened;
    return true;
}

void cn_text_file_close(struct cn_text_file *file)
{
    cn_words_done(&file->words);
    cn_block_file_close(&file->data);
    cn_block_file_close(&file->index);
    *file = (struct cn_text_file){0};
}

bool cn_text_file_check(const struct cn_text_file *file, uint32_t word,
                        struct cn_error *err)
{
    struct cn_bytes text = cn_word_bytes(&file->words, word);

    return word == 0 || word > file->words.count ||
           cn_block_file_check(&file->data, text, err) ||
           cn_fail_in(err, CN_TEXT_FILE_NAME);
}

bool cn_text_file_check_all(const struct cn_text_file *file, struct cn_error *err)
{
    struct cn_bytes all = cn_words_arena(&file->words).bytes;

    return cn_block_file_check(&file->data, all, err) ||
           cn_fail_in(err, CN_TEXT_FILE_NAME);
}

/* False when the index cannot be used after all. */
static bool find_by_slots(const struct cn_text_file *file, struct cn_bytes text,
                          cn_text_visit visit, void *arg, bool *is_sound,
                          struct cn_error *err)
{
    uint64_t slot_count = file->slots.len / SLOT_LEN;
    uint64_t slot = cn_text_first_slot(text, slot_count);
    struct cn_error ignored = {0};

    *is_sound = true;
    for (uint64_t i = 0; i < slot_count; i++) {
        struct cn_bytes at = cn_bytes_element(file->slots, slot, SLOT_LEN), bytes;
        uint32_t word;

        if (!cn_block_file_check(&file->index, at, &ignored)) {
            *is_sound = false;
            return true;
        }
        word = cn_u32_get(at.ptr);
        if (word == 0)
            return true;
        bytes = cn_word_bytes(&file->words, word);
        if (bytes.len == text.len) {
            if (!cn_text_file_check(file, word, err))
                return false;
            if (memcmp(bytes.ptr, text.ptr, text.len) == 0)
                visit(arg, word);
        }
        slot = slot + 1 < slot_count ? slot + 1 : 0;
    }
    return true;
}

static bool find_by_scan(const struct cn_text_file *file, struct cn_bytes text,
                         cn_text_visit visit, void *arg, struct cn_error *err)
{
    if (!cn_text_file_check_all(file, err))
        return false;
    for (uint32_t word = 1; word <= file->words.count; word++) {
        struct cn_bytes bytes = cn_word_bytes(&file->words, word);

        if (bytes.len == text.len && memcmp(bytes.ptr, text.ptr, text.len) == 0)
            visit(arg, word);
    }
    return true;
}

void cn_found_words_note(void *arg, uint32_t word)
{
    struct cn_found_words *found = arg;

    if (found->count == found->capacity)
        found->words =
            cn_grow(found->words, found->count, &found->capacity, sizeof(*found->words));
    found->words[found->count++] = word;
}

bool cn_text_file_find(const struct cn_text_file *file, struct cn_bytes text,
                       cn_text_visit visit, void *arg, struct cn_error *err)
{
    struct cn_found_words found = {0};
    bool is_sound = false, ok = true;

    if (text.len == 0)
        return true;
    if (file->has_index)
        ok = find_by_slots(file, text, cn_found_words_note, &found, &is_sound, err);
    if (ok && is_sound) {
        for (size_t i = 0; i < found.count; i++)
            visit(arg, found.words[i]);
    }
    free(found.words);
    return ok && (is_sound || find_by_scan(file, text, visit, arg, err));
}

bool cn_text_file_may_have(const struct cn_text_file *file, struct cn_bytes needle,
                           uint64_t piece)
{
    uint64_t len = cn_text_bits_len(cn_text_piece_count(file->words.arena_len));
    struct cn_error ignored = {0};

    if (!file->has_index || len == 0)
        return true;
    for (size_t i = 0; i + TRIGRAM_LEN <= needle.len && i <= CN_TEXT_OVERLAP; i++) {
        struct cn_bytes bits =
            cn_bytes_element(file->trigrams, cn_text_trigram(needle.ptr + i), len);

        if (!cn_block_file_check(&file->index, bits, &ignored))
            return true;
        if (!(bits.ptr[piece / 8] >> piece % 8 & 1))
            return false;
    }
    return true;
}
