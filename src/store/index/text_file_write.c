#include <stdlib.h>

#include "base/alloc.h"
#include "store/index/text_file.h"

enum { SECTION_BYTES = 1, SECTION_ENDS = 2, SECTION_KINDS = 3 };
enum { SECTION_SLOTS = 1, SECTION_TRIGRAMS = 2, SLOT_LEN = sizeof(uint32_t) };
enum { TRIGRAM_LEN = 3 };

static bool write_section(struct cn_block_writer *writer, uint32_t id,
                          struct cn_bytes bytes, struct cn_error *err)
{
    return cn_block_writer_section(writer, id, err) &&
           cn_block_writer_add(writer, bytes.ptr, bytes.len, err);
}

static uint8_t *make_slots(const struct cn_words *words, size_t *len)
{
    uint64_t slot_count = cn_text_slot_count(words->count);
    uint8_t *slots = cn_alloc((size_t)slot_count, SLOT_LEN);

    for (uint32_t word = 1; word <= words->count; word++) {
        uint64_t slot = cn_text_first_slot(cn_word_bytes(words, word), slot_count);

        while (cn_u32_get(slots + slot * SLOT_LEN) != 0)
            slot = slot + 1 < slot_count ? slot + 1 : 0;
        cn_u32_put(slots + slot * SLOT_LEN, word);
    }
    *len = (size_t)slot_count * SLOT_LEN;
    return slots;
}

static uint8_t *make_trigrams(struct cn_bytes text, size_t *len)
{
    uint64_t pieces = cn_text_piece_count(text.len), row = cn_text_bits_len(pieces);
    uint8_t *bits = row > 0 ? cn_alloc(CN_TEXT_TRIGRAMS, (size_t)row) : NULL;

    for (uint64_t piece = 0; row > 0 && piece < pieces; piece++) {
        size_t begin = (size_t)piece * CN_TEXT_PIECE_LEN;
        size_t end = begin + CN_TEXT_PIECE_LEN + CN_TEXT_OVERLAP;

        for (size_t i = begin; i < end && i + TRIGRAM_LEN <= text.len; i++) {
            uint8_t *byte = bits + cn_text_trigram(text.ptr + i) * row + piece / 8;

            *byte = (uint8_t)(*byte | 1U << piece % 8);
        }
    }
    *len = CN_TEXT_TRIGRAMS * (size_t)row;
    return bits;
}

bool cn_text_index_write(const struct cn_disk *disk, const char *dir,
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
    return ok && cn_text_index_write(disk, dir, words, err);
}
