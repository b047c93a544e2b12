#include "support/jit_files.h"

#include <string.h>

#include "base/text.h"
#include "symbols/jitdump_format.h"

enum { CODE_LEN = 0x20 };

static void put_u32(struct cn_text *text, uint32_t value)
{
    cn_u32_put((uint8_t *)cn_text_room(text, sizeof(value)), value);
    cn_text_advance(text, sizeof(value));
}

static void put_u64(struct cn_text *text, uint64_t value)
{
    cn_u64_put((uint8_t *)cn_text_room(text, sizeof(value)), value);
    cn_text_advance(text, sizeof(value));
}

static void put_head(struct cn_text *text, enum cn_jitdump_type type, size_t len,
                     uint64_t time_ns)
{
    put_u32(text, type);
    put_u32(text, (uint32_t)(cn_jitdump_head_size + len));
    put_u64(text, time_ns);
}

static void put_load(struct cn_text *text, const char *name, uint64_t number,
                     uint64_t time_ns)
{
    size_t name_len = strlen(name) + 1;

    put_head(text, CN_JITDUMP_CODE_LOAD,
             cn_jitdump_load_size - cn_jitdump_head_size + name_len + CODE_LEN, time_ns);
    put_u64(text, 0); /* pid, tid */
    put_u64(text, 0x5000);
    put_u64(text, 0x5000);
    put_u64(text, CODE_LEN);
    put_u64(text, number);
    cn_text_add(text, name, name_len);
    cn_text_fill(text, '\x90', CODE_LEN);
}

static void put_line(struct cn_text *text, uint64_t address, uint32_t line,
                     const char *file)
{
    put_u64(text, address);
    put_u32(text, line);
    put_u32(text, 0);
    cn_text_add(text, file, strlen(file) + 1);
}

uint8_t *cn_test_jitdump(size_t *len)
{
    struct cn_text text = {0};

    put_u32(&text, CN_JITDUMP_MAGIC);
    put_u32(&text, 1);
    put_u32(&text, cn_jitdump_header_size);
    put_u32(&text, 62);
    put_u32(&text, 0);
    put_u32(&text, 4711);
    put_u64(&text, 1);
    put_u64(&text, 0);
    put_head(&text, CN_JITDUMP_DEBUG_INFO, 16 + 16 + 5 + 16 + 2, 99);
    put_u64(&text, 0x5000);
    put_u64(&text, 2);
    put_line(&text, 0x5000, 11, "a.js");
    put_line(&text, 0x5010, 12, CN_JITDUMP_SAME_FILE);
    put_load(&text, "first", 0, 100);
    put_load(&text, "second", 1, 200);
    put_head(&text, CN_JITDUMP_CODE_MOVE, cn_jitdump_move_size - cn_jitdump_head_size,
             300);
    put_u64(&text, 0);
    put_u64(&text, 0);
    put_u64(&text, 0x5000);
    put_u64(&text, 0x7000);
    put_u64(&text, CODE_LEN);
    put_u64(&text, 0);
    put_head(&text, CN_JITDUMP_CODE_CLOSE, 0, 400);
    *len = text.len;
    return (uint8_t *)text.chars;
}
