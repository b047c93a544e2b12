#include "support/erlang_image.h"

#include <string.h>

#include "base/bytes/record.h"

enum { ENTRIES = 0x40, BLOCKS = 0x100, BLOCK_SPACE = 0x200, IMAGE_LEN = 0x800 };

/* A range with a line for each of `lines`, of one instruction each. Returns where the next begins. */
static uint8_t *put_range(uint8_t *at, uint32_t begin, uint32_t end, const char *name,
                          uint32_t first_line, uint32_t line_count)
{
    static const char file[] = "shop.erl";

    cn_u32_put(at, begin);
    cn_u32_put(at + 4, end);
    cn_u32_put(at + 8, line_count);
    cn_u16_put(at + 12, (uint16_t)(strlen(name) + 1));
    memcpy(at + 14, name, strlen(name) + 1);
    at += 16 + strlen(name) + 1;
    for (uint32_t i = 0; i < line_count; i++) {
        cn_u32_put(at, begin + 8 * i);
        cn_u32_put(at + 4, first_line + i);
        cn_u16_put(at + 8, sizeof(file));
        memcpy(at + 10, file, sizeof(file));
        at += 12 + sizeof(file);
    }
    return at;
}

/* The head of a block; returns where its ranges begin. */
static uint8_t *put_block(uint8_t *block, uint64_t begin, uint32_t len, const char *name,
                          uint32_t range_count)
{
    cn_u32_put(block, 1);
    cn_u64_put(block + 8, begin);
    cn_u32_put(block + 16, range_count);
    cn_u32_put(block + 20, len);
    cn_u16_put(block + 24, (uint16_t)(strlen(name) + 1));
    memcpy(block + 26, name, strlen(name) + 1);
    return block + 32 + strlen(name) + 1;
}

static void put_entry(uint8_t *image, uint32_t number, bool is_last, uint64_t block_len)
{
    uint8_t *entry = image + ENTRIES + 0x20 * number;

    cn_u64_put(entry, is_last ? 0 : CN_ERLANG_BASE + ENTRIES + 0x20 * (number + 1));
    cn_u64_put(entry + 16, CN_ERLANG_BASE + BLOCKS + BLOCK_SPACE * number);
    cn_u64_put(entry + 24, block_len);
}

struct cn_text cn_erlang_image(void)
{
    struct cn_text text = {0};

    cn_text_fill(&text, '\0', IMAGE_LEN);
    uint8_t *image = (uint8_t *)text.chars, *block = image + BLOCKS, *at;
    cn_u32_put(image, 1);
    cn_u64_put(image + 16, CN_ERLANG_BASE + ENTRIES);
    at = put_block(block, CN_ERLANG_CODE, 0x100, "shop", 4);
    at = put_range(at, 0, 0x20, "shop::codeHeader", 0, 0);
    at = put_range(at, 0x20, 0x40, "shop:total/1-CodeInfoPrologue", 0, 0);
    at = put_range(at, 0x40, 0x80, "shop:total/1", 12, 3);
    at = put_range(at, 0x80, 0x90, "erts_beamasm:normal_exit/0", 0, 0);
    put_entry(image, 0, false, (uint64_t)(at - block));
    block += BLOCK_SPACE;
    at = put_block(block, CN_ERLANG_SHARED, 0x40, "global", 1);
    at = put_range(at, 0, 0x40, "global::call_light_bif_shared", 0, 0);
    put_entry(image, 1, false, (uint64_t)(at - block));
    /* What it tells of itself: no module. */
    put_entry(image, 2, true, 32);
    return text;
}
