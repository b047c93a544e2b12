#include "support/fuzz_blocks.h"

#include "base/files/blocks.h"
#include "base/files/crc32c.h"

enum { BLOCK_LEN = 256, PLACE_LEN = 5 };

static void add(struct cn_text *out, const void *data, size_t len)
{
    cn_text_add(out, data, len);
}

void cn_fuzz_blocks_place(struct cn_text *out, unsigned id, size_t off, size_t len)
{
    uint8_t place[PLACE_LEN] = {(uint8_t)id};

    cn_u16_put(place + 1, (uint16_t)off);
    cn_u16_put(place + 3, (uint16_t)len);
    add(out, place, sizeof(place));
}

void cn_fuzz_blocks_wrap(struct cn_bytes data, uint64_t magic, uint32_t version,
                         struct cn_text *out)
{
    struct cn_block_file_header head = {magic, version, BLOCK_LEN};
    struct cn_block_file_footer foot = {.magic = magic};
    uint8_t bytes[cn_block_file_section_size];
    struct cn_bytes count, places = {0}, covered;
    size_t begin;

    cn_block_file_header_encode(&head, bytes);
    add(out, bytes, cn_block_file_header_size);
    if (cn_bytes_take(&data, 1, &count)) {
        foot.section_count = count.ptr[0] % 40;
        if (!cn_bytes_take(&data, foot.section_count * (size_t)PLACE_LEN, &places))
            foot.section_count = 0;
    }
    add(out, data.ptr, data.len);
    foot.checksums_off = out->len;
    for (begin = 0; begin < foot.checksums_off; begin += BLOCK_LEN) {
        size_t rest = (size_t)foot.checksums_off - begin;
        struct cn_bytes block = {(const uint8_t *)out->chars + begin,
                                 rest < BLOCK_LEN ? rest : BLOCK_LEN};

        cn_u32_put(bytes, cn_crc32c(block));
        add(out, bytes, sizeof(uint32_t));
    }
    for (uint32_t i = 0; i < foot.section_count; i++) {
        const uint8_t *place = places.ptr + i * (size_t)PLACE_LEN;
        struct cn_block_file_section section = {place[0], cn_u16_get(place + 1),
                                                cn_u16_get(place + 3)};

        cn_block_file_section_encode(&section, bytes);
        add(out, bytes, sizeof(bytes));
    }
    covered = (struct cn_bytes){(const uint8_t *)out->chars + foot.checksums_off,
                                out->len - (size_t)foot.checksums_off};
    foot.checksum = cn_crc32c_add(cn_crc32c((struct cn_bytes){(const uint8_t *)out->chars,
                                                              cn_block_file_header_size}),
                                  covered);
    cn_block_file_footer_encode(&foot, bytes);
    add(out, bytes, cn_block_file_footer_size);
}
