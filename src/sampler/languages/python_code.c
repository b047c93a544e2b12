#include "sampler/languages/python_code.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/record.h"
#include "base/text.h"

enum {
    CODES_MAX = 1 << 16,
    TEXTS_LEN_MAX = 64 << 20,
    TEXT_CHARS_MAX = 2048,
    LINES_LEN_MAX = 64 << 10,
    COMPACT = 8, /* bits of the state of a text, after those of the width of characters */
    ASCII = 16,
};

#define MODULE "<module>"

void cn_python_codes_done(struct cn_python_codes *codes)
{
    cn_map_done(&codes->number_of);
    cn_arena_done(&codes->arena);
    free(codes->list);
    *codes = (struct cn_python_codes){0};
}

/* A character as UTF-8; '?' for half of a pair. */
static void add_char(struct cn_text *text, uint32_t c)
{
    if (c < 0x80) {
        cn_text_char(text, (char)c);
    } else if (c < 0x800) {
        cn_text_char(text, (char)(0xc0 | c >> 6));
        cn_text_char(text, (char)(0x80 | (c & 0x3f)));
    } else if (c < 0x10000 && (c < 0xd800 || c > 0xdfff)) {
        cn_text_char(text, (char)(0xe0 | c >> 12));
        cn_text_char(text, (char)(0x80 | (c >> 6 & 0x3f)));
        cn_text_char(text, (char)(0x80 | (c & 0x3f)));
    } else if (c >= 0x10000 && c < 0x110000) {
        cn_text_char(text, (char)(0xf0 | c >> 18));
        cn_text_char(text, (char)(0x80 | (c >> 12 & 0x3f)));
        cn_text_char(text, (char)(0x80 | (c >> 6 & 0x3f)));
        cn_text_char(text, (char)(0x80 | (c & 0x3f)));
    } else {
        cn_text_char(text, '?');
    }
}

bool cn_python_text_read(struct cn_memory *memory, const struct cn_python_layout *layout,
                         uint64_t address, size_t most, struct cn_text *out)
{
    uint8_t chars[4 * TEXT_CHARS_MAX];
    uint64_t len;
    uint32_t state;

    if (!cn_memory_u64(memory, address + layout->text_len, &len) ||
        !cn_memory_u32(memory, address + layout->text_state, &state))
        return false;
    state >>= layout->text_kind;
    size_t width = state & 7;
    if ((width != 1 && width != 2 && width != 4) || !(state & COMPACT) ||
        len > INT32_MAX || (state & ASCII && width != 1))
        return false;
    most = most < TEXT_CHARS_MAX ? most : TEXT_CHARS_MAX;
    len = len < most ? len : most;
    uint32_t off = state & ASCII ? layout->text_ascii : layout->text_other;
    if (len > 0 && !cn_memory_read(memory, address + off, chars, len * width))
        return false;
    for (size_t i = 0; i < len; i++) {
        uint32_t c = width == 1   ? chars[i]
                     : width == 2 ? cn_u16_get(chars + 2 * i)
                                  : cn_u32_get(chars + 4 * i);

        add_char(out, c == 0 ? '?' : c);
    }
    return true;
}

bool cn_python_text_is(struct cn_memory *memory, const struct cn_python_layout *layout,
                       uint64_t address, const char *text)
{
    struct cn_text read = {0};
    uint64_t len;
    bool is_it = cn_memory_u64(memory, address + layout->text_len, &len) &&
                 len == strlen(text) &&
                 cn_python_text_read(memory, layout, address, len, &read) &&
                 strcmp(cn_text_str(&read), text) == 0;

    cn_text_done(&read);
    return is_it;
}

static const char *keep(struct cn_python_codes *codes, struct cn_text *text)
{
    const char *copy = cn_arena_strdup(&codes->arena, cn_text_str(text));

    codes->text_len += text->len + 1;
    cn_text_done(text);
    return copy;
}

/* A string object, cut after a number of characters; NULL if it is none. */
static const char *read_text(struct cn_python_codes *codes, struct cn_memory *memory,
                             const struct cn_python_layout *layout, uint64_t address)
{
    struct cn_text text = {0};

    if (!cn_python_text_read(memory, layout, address, TEXT_CHARS_MAX, &text)) {
        cn_text_done(&text);
        return NULL;
    }
    return keep(codes, &text);
}

/* Code of a module has the same name in all: that of its file tells them apart, and of a package
 * that of its folder. */
static const char *name_module(struct cn_python_codes *codes, const char *file)
{
    const char *name = strrchr(file, '/');
    struct cn_text text = {0};

    if (name && (strcmp(name, "/__init__.py") == 0 || strcmp(name, "/__main__.py") == 0))
        while (name > file && name[-1] != '/')
            name--;
    else
        name = name ? name + 1 : file;
    cn_text_printf(&text, MODULE " %s", name);
    return keep(codes, &text);
}

/* The table of lines; without one that can be read there are no lines. */
static struct cn_bytes read_lines(struct cn_python_codes *codes, struct cn_memory *memory,
                                  const struct cn_python_layout *layout, uint64_t address)
{
    uint64_t len;

    if (!cn_memory_u64(memory, address + layout->bytes_len, &len) || len == 0 ||
        len > LINES_LEN_MAX)
        return (struct cn_bytes){0};
    uint8_t *bytes = cn_arena_alloc(&codes->arena, len, 1);
    codes->text_len += len;
    if (!cn_memory_read(memory, address + layout->bytes_data, bytes, len))
        return (struct cn_bytes){0};
    return (struct cn_bytes){bytes, len};
}

static bool find_instructions(struct cn_memory *memory,
                              const struct cn_python_layout *layout,
                              struct cn_python_code *code)
{
    uint64_t bytes, len;

    if (layout->code_instructions > 0) {
        code->begin = code->address + layout->code_instructions;
        code->end = code->begin + cn_python_lines_len(code->lines);
        return true;
    }
    if (!cn_memory_u64(memory, code->address + layout->code_bytes, &bytes) ||
        !cn_memory_u64(memory, bytes + layout->bytes_len, &len) || len > INT32_MAX)
        return false;
    code->begin = bytes + layout->bytes_data;
    code->end = code->begin + len;
    return true;
}

static bool read_code(struct cn_python_codes *codes, struct cn_memory *memory,
                      const struct cn_python_layout *layout, struct cn_python_code *code)
{
    code->function = read_text(codes, memory, layout, code->key[0]);
    code->file = read_text(codes, memory, layout, code->key[1]);
    code->lines = read_lines(codes, memory, layout, code->key[2]);
    if (code->function && code->file && strcmp(code->function, MODULE) == 0)
        code->function = name_module(codes, code->file);
    return code->function && code->file && find_instructions(memory, layout, code);
}

uint64_t cn_python_code_sum(const struct cn_python_code *code)
{
    return code->key[0] + code->key[1] + code->key[2];
}

const struct cn_python_code *cn_python_code_find(const struct cn_python_codes *codes,
                                                 uint64_t address, uint64_t sum)
{
    uint32_t at = cn_map_find(&codes->number_of, address, UINT32_MAX);

    return at != UINT32_MAX && cn_python_code_sum(&codes->list[at]) == sum
               ? &codes->list[at]
               : NULL;
}

const struct cn_python_code *cn_python_code_at(struct cn_python_codes *codes,
                                               struct cn_memory *memory,
                                               const struct cn_python_layout *layout,
                                               uint64_t code_type, uint64_t address)
{
    struct cn_python_code code = {.address = address};
    uint64_t type;

    if (!cn_memory_u64(memory, address + layout->object_type, &type) ||
        type != code_type ||
        !cn_memory_u64(memory, address + layout->code_name, &code.key[0]) ||
        !cn_memory_u64(memory, address + layout->code_file, &code.key[1]) ||
        !cn_memory_u64(memory, address + layout->code_lines, &code.key[2]) ||
        !cn_memory_u32(memory, address + layout->code_first_line, &code.first_line))
        return NULL;
    code.key[3] = code.first_line;
    uint32_t at = cn_map_find(&codes->number_of, address, UINT32_MAX);
    if (at != UINT32_MAX && !codes->list[at].is_partial &&
        memcmp(codes->list[at].key, code.key, sizeof(code.key)) == 0)
        return &codes->list[at];
    if (codes->count >= CODES_MAX || codes->text_len >= TEXTS_LEN_MAX) {
        cn_python_codes_done(codes);
        at = UINT32_MAX;
    }
    if (!read_code(codes, memory, layout, &code))
        return NULL;
    code.is_partial = memory->copies.len > 0 && code.lines.len == 0;
    if (at == UINT32_MAX) {
        at = *cn_map_at(&codes->number_of, address, (uint32_t)codes->count);
        CN_PUSH(codes->list, codes->count, codes->capacity, code);
    }
    codes->list[at] = code;
    return &codes->list[at];
}
