#include "formats/uftrace/text/scan.h"

#include <inttypes.h>
#include <string.h>

#include "formats/uftrace/format.h"

void cn_uft_lines_begin(struct cn_uft_lines *lines, struct cn_bytes file)
{
    *lines = (struct cn_uft_lines){.rest = file};
}

enum cn_step cn_uft_lines_next(struct cn_uft_lines *lines, struct cn_bytes *out,
                               struct cn_error *err)
{
    struct cn_bytes line;

    if (lines->rest.len == 0)
        return CN_END;
    bool has_end = cn_bytes_take_until(&lines->rest, '\n', &line);
    lines->number++;
    lines->off = lines->next_off;
    lines->next_off += line.len + has_end;
    if (line.len > CN_UFT_LINE_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "line %" PRIu64 ": %zu bytes long, at most %d",
                       lines->number, line.len, CN_UFT_LINE_MAX);
    *out = line;
    return CN_ITEM;
}

static void skip(struct cn_bytes *text, size_t len)
{
    struct cn_bytes skipped;

    (void)cn_bytes_take(text, len, &skipped);
}

bool cn_uft_lines_fail(const struct cn_uft_lines *lines, struct cn_bytes line,
                       struct cn_error *err)
{
    enum { SHOWN_MAX = 80 };

    return cn_fail(err, CN_ERR_FORMAT, "line %" PRIu64 ": cannot be parsed: \"%.*s\"",
                   lines->number, (int)(line.len < SHOWN_MAX ? line.len : SHOWN_MAX),
                   (const char *)line.ptr);
}

enum cn_step cn_uft_lines_scan(struct cn_uft_lines *lines, cn_uft_scan_fn scan, void *out,
                               struct cn_error *err)
{
    struct cn_bytes line;
    enum cn_step step = cn_uft_lines_next(lines, &line, err);

    if (step == CN_ITEM && !scan(line, out))
        return cn_uft_lines_fail(lines, line, err);
    return step;
}

bool cn_uft_scan_literal(struct cn_bytes *text, const char *literal)
{
    size_t len = strlen(literal);

    if (text->len < len || memcmp(text->ptr, literal, len) != 0)
        return false;
    skip(text, len);
    return true;
}

bool cn_uft_scan_spaces(struct cn_bytes *text)
{
    size_t len = 0;

    while (len < text->len && (text->ptr[len] == ' ' || text->ptr[len] == '\t'))
        len++;
    skip(text, len);
    return len > 0;
}

static unsigned digit_value(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - (unsigned)'0';
    if (c >= 'a' && c <= 'f')
        return c - (unsigned)'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - (unsigned)'A' + 10;
    return UINT8_MAX;
}

static bool scan_number(struct cn_bytes *text, unsigned base, uint64_t *out)
{
    uint64_t value = 0;
    size_t len = 0;

    while (len < text->len && digit_value(text->ptr[len]) < base) {
        if (!cn_u64_mul(value, base, &value) ||
            !cn_u64_add(value, digit_value(text->ptr[len]), &value))
            return false;
        len++;
    }
    if (len == 0)
        return false;
    skip(text, len);
    *out = value;
    return true;
}

bool cn_uft_scan_dec(struct cn_bytes *text, uint64_t *out)
{
    return scan_number(text, 10, out);
}

bool cn_uft_scan_u32(struct cn_bytes *text, uint32_t *out)
{
    struct cn_bytes rest = *text;
    uint64_t value;

    if (!scan_number(&rest, 10, &value) || value > UINT32_MAX)
        return false;
    *text = rest;
    *out = (uint32_t)value;
    return true;
}

bool cn_uft_scan_hex(struct cn_bytes *text, uint64_t *out)
{
    return scan_number(text, 16, out);
}

bool cn_uft_scan_time(struct cn_bytes *text, uint64_t *time_ns)
{
    enum { NS_DIGITS = 9 };
    struct cn_bytes rest = *text;
    uint64_t seconds, total, nanoseconds;

    if (!scan_number(&rest, 10, &seconds) || !cn_uft_scan_literal(&rest, "."))
        return false;
    size_t before = rest.len;
    if (!scan_number(&rest, 10, &nanoseconds) || before - rest.len > NS_DIGITS)
        return false;
    for (size_t digits = before - rest.len; digits < NS_DIGITS; digits++)
        nanoseconds *= 10;
    if (!cn_u64_mul(seconds, 1000000000, &total) ||
        !cn_u64_add(total, nanoseconds, &total))
        return false;
    *text = rest;
    *time_ns = total;
    return true;
}

bool cn_uft_scan_quoted(struct cn_bytes *text, struct cn_bytes *out)
{
    struct cn_bytes rest = *text;

    if (!cn_uft_scan_literal(&rest, "\"") || rest.len == 0)
        return false;
    /* A path may contain quotes, so the last one ends it. */
    const uint8_t *end = memrchr(rest.ptr, '"', rest.len);
    if (!end)
        return false;
    (void)cn_bytes_take(&rest, (size_t)(end - rest.ptr), out);
    skip(&rest, 1);
    *text = rest;
    return true;
}

bool cn_uft_scan_word(struct cn_bytes *text, struct cn_bytes *out)
{
    size_t len = 0;

    while (len < text->len && text->ptr[len] != ' ' && text->ptr[len] != '\t')
        len++;
    return len > 0 && cn_bytes_take(text, len, out);
}

bool cn_uft_scan_until(struct cn_bytes *text, char end, struct cn_bytes *out)
{
    if (text->len == 0)
        return false;
    (void)cn_bytes_take_until(text, end, out);
    return true;
}

bool cn_uft_text_equals(struct cn_bytes text, const char *string)
{
    return text.len == strlen(string) && memcmp(text.ptr, string, text.len) == 0;
}

bool cn_uft_text_ends(struct cn_bytes text, const char *end)
{
    size_t len = strlen(end);

    return text.len >= len && memcmp(text.ptr + (text.len - len), end, len) == 0;
}

char *cn_uft_text_copy(struct cn_arena *arena, struct cn_bytes text)
{
    return cn_arena_copy(arena, (const char *)text.ptr, text.len);
}
