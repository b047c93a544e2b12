#include "store/index/text_file.h"

#include <stdlib.h>
#include <xxhash.h>

#include "base/alloc.h"

enum { SECTION_BYTES = 1, SECTION_ENDS = 2, SECTION_KINDS = 3 };
enum { TRIGRAM_LEN = 3 };
enum { SECTION_SLOTS = 1, SECTION_TRIGRAMS = 2, SLOT_LEN = sizeof(uint32_t) };

static uint64_t first_slot(struct cn_bytes text, uint64_t slot_count)
{
    return (XXH3_64bits(text.ptr, text.len) & UINT32_MAX) * slot_count >> 32;
}

static uint64_t slot_count_of(uint32_t word_count)
{
    return word_count + (uint64_t)word_count / 3 + 1;
}

static unsigned hash_of(const uint8_t three[3])
{
    uint32_t number = three[0] | (uint32_t)three[1] << 8 | (uint32_t)three[2] << 16;

    return number * UINT32_C(0x9e3779b1) >> 18;
}

static uint64_t window_count_of(uint64_t text_len)
{
    return (text_len + CN_TEXT_WINDOW_LEN - 1) / CN_TEXT_WINDOW_LEN;
}

/* Bytes of the bits of a hash. A short text is scanned faster than its bits are. */
static uint64_t bits_len_of(uint64_t text_len)
{
    uint64_t windows = window_count_of(text_len);

    return windows < CN_TEXT_WINDOWS_MIN ? 0 : cn_align_up(windows, 64) / 8;
}

static bool open_data(struct cn_text_file *file, struct cn_file_source *source,
                      const char *dir, struct cn_error *err)
{
    struct cn_words_arena arena;

    if (!cn_block_file_open(&file->data, source, dir, CN_TEXT_FILE_NAME,
                            CN_TEXT_FILE_MAGIC, CN_TEXT_FILE_VERSION, err))
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

/* An index that is missing, or that does not fit the text, is not used. */
static void open_index(struct cn_text_file *file, struct cn_file_source *source,
                       const char *dir)
{
    struct cn_error ignored = {0};

    if (!cn_block_file_open(&file->index, source, dir, CN_TEXT_INDEX_NAME,
                            CN_TEXT_INDEX_MAGIC, CN_TEXT_FILE_VERSION, &ignored))
        return;
    file->has_index =
        cn_block_file_section(&file->index, SECTION_SLOTS, &file->slots, &ignored) &&
        cn_block_file_section(&file->index, SECTION_TRIGRAMS, &file->trigrams,
                              &ignored) &&
        file->slots.len == slot_count_of(file->words.count) * SLOT_LEN &&
        file->trigrams.len == CN_TEXT_TRIGRAMS * bits_len_of(file->words.arena_len);
}

bool cn_text_file_open(struct cn_text_file *file, struct cn_file_source *source,
                       const char *dir, struct cn_error *err)
{
    struct cn_text_file opened = {0};

    if (!open_data(&opened, source, dir, err)) {
        cn_text_file_close(&opened);
        return false;
    }
    open_index(&opened, source, dir);
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

bool cn_text_file_check_index(const struct cn_text_file *file, struct cn_error *err)
{
    return (cn_block_file_check(&file->index, file->slots, err) &&
            cn_block_file_check(&file->index, file->trigrams, err)) ||
           cn_fail_in(err, CN_TEXT_INDEX_NAME);
}

/* `is_sound` receives false if the index turns out to be damaged. */
static bool find_by_slots(const struct cn_text_file *file, struct cn_bytes text,
                          cn_text_visit visit, void *arg, bool *is_sound,
                          struct cn_error *err)
{
    uint64_t slot_count = file->slots.len / SLOT_LEN;
    uint64_t slot = first_slot(text, slot_count);
    struct cn_error ignored = {0};

    *is_sound = true;
    for (uint64_t i = 0; i < slot_count; i++) {
        struct cn_bytes at = cn_bytes_element(file->slots, slot, SLOT_LEN), bytes;

        if (!cn_block_file_check(&file->index, at, &ignored)) {
            *is_sound = false;
            return true;
        }
        uint32_t word = cn_u32_get(at.ptr);
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

void cn_found_words_note(void *arg, uint32_t word)
{
    struct cn_found_words *found = arg;

    CN_PUSH(found->words, found->count, found->capacity, word);
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
    if (!ok || is_sound)
        return ok;
    if (!cn_text_file_check_all(file, err))
        return false;
    for (uint32_t word = 1; word <= file->words.count; word++) {
        struct cn_bytes bytes = cn_word_bytes(&file->words, word);

        if (bytes.len == text.len && memcmp(bytes.ptr, text.ptr, text.len) == 0)
            visit(arg, word);
    }
    return true;
}

bool cn_text_file_may_have(const struct cn_text_file *file, struct cn_bytes needle,
                           uint64_t window)
{
    uint64_t len = bits_len_of(file->words.arena_len);
    struct cn_error ignored = {0};

    if (!file->has_index || len == 0)
        return true;
    for (size_t i = 0; i + TRIGRAM_LEN <= needle.len && i <= CN_TEXT_OVERLAP; i++) {
        struct cn_bytes bits =
            cn_bytes_element(file->trigrams, hash_of(needle.ptr + i), len);

        if (!cn_block_file_check(&file->index, bits, &ignored))
            return true;
        if (!(bits.ptr[window / 8] >> window % 8 & 1))
            return false;
    }
    return true;
}

static bool write_section(struct cn_block_writer *writer, uint32_t id,
                          struct cn_bytes bytes, struct cn_error *err)
{
    return cn_block_writer_section(writer, id, err) &&
           cn_block_writer_add(writer, bytes.ptr, bytes.len, err);
}

static uint8_t *make_slots(const struct cn_words *words, size_t *len)
{
    uint64_t slot_count = slot_count_of(words->count);
    uint8_t *slots = cn_alloc((size_t)slot_count, SLOT_LEN);

    for (uint32_t word = 1; word <= words->count; word++) {
        uint64_t slot = first_slot(cn_word_bytes(words, word), slot_count);

        while (cn_u32_get(slots + slot * SLOT_LEN) != 0)
            slot = slot + 1 < slot_count ? slot + 1 : 0;
        cn_u32_put(slots + slot * SLOT_LEN, word);
    }
    *len = (size_t)slot_count * SLOT_LEN;
    return slots;
}

static uint8_t *make_trigrams(struct cn_bytes text, size_t *len)
{
    size_t row = (size_t)bits_len_of(text.len);
    uint64_t windows = row > 0 ? window_count_of(text.len) : 0;
    uint8_t *bits = row > 0 ? cn_alloc(CN_TEXT_TRIGRAMS, row) : NULL;

    for (uint64_t window = 0; window < windows; window++) {
        size_t begin = (size_t)window * CN_TEXT_WINDOW_LEN;
        size_t end = begin + CN_TEXT_WINDOW_LEN + CN_TEXT_OVERLAP;

        for (size_t i = begin; i < end && i + TRIGRAM_LEN <= text.len; i++) {
            uint8_t *byte = bits + hash_of(text.ptr + i) * row + window / 8;

            *byte = (uint8_t)(*byte | 1U << window % 8);
        }
    }
    *len = CN_TEXT_TRIGRAMS * row;
    return bits;
}

static bool write_index(const struct cn_disk *disk, const char *dir,
                        const struct cn_words *words, struct cn_error *err)
{
    struct cn_block_writer writer = {0};
    size_t slots_len, trigrams_len;
    uint8_t *slots = make_slots(words, &slots_len);
    uint8_t *trigrams = make_trigrams(cn_words_arena(words).bytes, &trigrams_len);
    bool ok =
        cn_block_writer_open(&writer, disk, dir, CN_TEXT_INDEX_NAME, CN_TEXT_INDEX_MAGIC,
                             CN_TEXT_FILE_VERSION, err) &&
        write_section(&writer, SECTION_SLOTS, (struct cn_bytes){slots, slots_len}, err) &&
        write_section(&writer, SECTION_TRIGRAMS,
                      (struct cn_bytes){trigrams, trigrams_len}, err) &&
        cn_block_writer_commit(&writer, err);

    cn_block_writer_abandon(&writer);
    free(slots);
    free(trigrams);
    return ok;
}

bool cn_text_file_write(const struct cn_disk *disk, const char *dir,
                        const struct cn_words *words, struct cn_error *err)
{
    struct cn_words_arena arena = cn_words_arena(words);
    struct cn_block_writer writer = {0};
    bool ok = cn_block_writer_open(&writer, disk, dir, CN_TEXT_FILE_NAME,
                                   CN_TEXT_FILE_MAGIC, CN_TEXT_FILE_VERSION, err) &&
              write_section(&writer, SECTION_BYTES, arena.bytes, err) &&
              write_section(&writer, SECTION_ENDS, arena.ends, err) &&
              write_section(&writer, SECTION_KINDS, arena.kinds, err) &&
              cn_block_writer_commit(&writer, err);

    cn_block_writer_abandon(&writer);
    return ok && write_index(disk, dir, words, err);
}
