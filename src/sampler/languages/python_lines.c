#include "sampler/languages/python.h"

/* Numbers of 6 bits in each byte, the lowest first. */
static bool varint_take(struct cn_bytes *rest, int64_t *out)
{
    uint64_t value = 0;

    for (unsigned shift = 0; shift < 36; shift += 6) {
        struct cn_bytes byte;

        if (!cn_bytes_take(rest, 1, &byte))
            return false;
        value |= (uint64_t)(byte.ptr[0] & 0x3f) << shift;
        if (!(byte.ptr[0] & 0x40)) {
            *out = (int64_t)value;
            return true;
        }
    }
    return false;
}

/* The change of the line by an entry; false if its code has none. */
static bool location_delta(unsigned kind, struct cn_bytes *rest, int64_t *delta)
{
    enum { ONE_LINE = 10, NO_COLUMN = 13, LONG = 14 };
    int64_t value = 0;

    *delta = kind >= ONE_LINE && kind < NO_COLUMN ? kind - ONE_LINE : 0;
    if (kind == NO_COLUMN || kind == LONG) {
        if (!varint_take(rest, &value))
            return false;
        *delta = value & 1 ? -(value >> 1) : value >> 1;
    }
    return kind <= LONG;
}

static int64_t line_by_locations(struct cn_bytes rest, int64_t line, int64_t instruction)
{
    int64_t end = 0;
    struct cn_bytes byte;

    while (cn_bytes_take(&rest, 1, &byte)) {
        int64_t delta = 0;
        bool has_line = location_delta(byte.ptr[0] >> 3 & 0xf, &rest, &delta);

        line += delta;
        end += 2 * (1 + (byte.ptr[0] & 7));
        if (instruction < end)
            return has_line ? line : 0;
        /* The first byte of an entry has the highest bit. */
        while (rest.len > 0 && !(rest.ptr[0] & 0x80))
            (void)cn_bytes_take(&rest, 1, &byte);
    }
    return 0;
}

uint64_t cn_python_lines_len(struct cn_bytes lines)
{
    uint64_t len = 0;

    for (size_t i = 0; i < lines.len; i++)
        if (lines.ptr[i] & 0x80)
            len += 2 * (1 + (uint64_t)(lines.ptr[i] & 7));
    return len;
}

/* Pairs: bytes of code, change of the line. */
static int64_t line_by_lines(struct cn_bytes rest, int64_t line, int64_t instruction)
{
    enum { NO_LINE = -128 };
    int64_t end = 0;
    struct cn_bytes pair;

    while (cn_bytes_take(&rest, 2, &pair)) {
        int8_t delta = (int8_t)pair.ptr[1];

        line += delta == NO_LINE ? 0 : delta;
        end += pair.ptr[0];
        if (instruction < end)
            return delta == NO_LINE ? 0 : line;
    }
    return 0;
}

/* Pairs: bytes of code before the change of the line, change. */
static int64_t line_by_lnotab(struct cn_bytes rest, int64_t line, int64_t instruction)
{
    int64_t begin = 0;
    struct cn_bytes pair;

    while (cn_bytes_take(&rest, 2, &pair)) {
        begin += pair.ptr[0];
        if (begin > instruction)
            break;
        line += (int8_t)pair.ptr[1];
    }
    return line;
}

uint32_t cn_python_line(const struct cn_python_code *code, enum cn_python_lines format,
                        int64_t instruction)
{
    int64_t line = 0;

    /* A call that has not begun. */
    if (instruction < 0)
        return code->first_line;
    if (format == CN_PYTHON_LNOTAB)
        line = line_by_lnotab(code->lines, code->first_line, instruction);
    else if (format == CN_PYTHON_LINES)
        line = line_by_lines(code->lines, code->first_line, instruction);
    else
        line = line_by_locations(code->lines, code->first_line, instruction);
    return line > 0 && line <= INT32_MAX ? (uint32_t)line : 0;
}
