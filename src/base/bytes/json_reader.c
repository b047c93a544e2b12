#include "base/bytes/json_reader.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/character.h"

enum json_state {
    VALUE,       /* after a colon or a comma, and at the start */
    FIRST_VALUE, /* or the end of the array */
    FIRST_KEY,   /* or the end of the object */
    KEY,         /* after a comma */
    AFTER_VALUE, /* a comma or an end */
    NOTHING,     /* the outermost value is complete */
};

enum { NUMBER_LEN_MAX = 400, EXPONENT_MAX = 400 };

struct cn_json_reader cn_json_read(struct cn_bytes bytes)
{
    struct cn_json_reader reader = {
        .bytes = bytes, .depth_max = CN_JSON_READ_DEPTH_MAX, .state = VALUE};

    if (bytes.len >= 3 && memcmp(bytes.ptr, "\xef\xbb\xbf", 3) == 0)
        reader.at = 3;
    return reader;
}

struct cn_json_reader cn_json_read_tree(struct cn_bytes bytes)
{
    struct cn_json_reader reader = cn_json_read(bytes);

    reader.depth_max = CN_JSON_TREE_DEPTH_MAX;
    return reader;
}

void cn_json_reader_done(struct cn_json_reader *reader)
{
    cn_text_done(&reader->scratch);
}

static enum cn_json_kind fail(struct cn_json_reader *reader, const char *what,
                              struct cn_error *err)
{
    if (reader->at >= reader->bytes.len)
        (void)cn_fail(err, CN_ERR_FORMAT, "JSON ends at %zu, where %s should be",
                      reader->at, what);
    else
        (void)cn_fail(err, CN_ERR_FORMAT, "JSON at %zu: byte 0x%02x where %s should be",
                      reader->at, reader->bytes.ptr[reader->at], what);
    return CN_JSON_FAIL;
}

/* The next byte that is no white space; -1 at the end. */
static int peek(struct cn_json_reader *reader)
{
    while (reader->at < reader->bytes.len) {
        uint8_t c = reader->bytes.ptr[reader->at];

        if (c != ' ' && c != '\n' && c != '\r' && c != '\t')
            return c;
        reader->at++;
    }
    return -1;
}

static int hex_digit(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Four digits at `at`; negative if one is no digit. */
static int32_t read_unit(const struct cn_json_reader *reader, size_t at)
{
    int32_t unit = 0;
    struct cn_bytes digits;

    if (!cn_bytes_slice(reader->bytes, at, 4, &digits))
        return -1;
    for (size_t i = 0; i < 4; i++) {
        int digit = hex_digit(digits.ptr[i]);

        if (digit < 0)
            return -1;
        unit = unit * 16 + digit;
    }
    return unit;
}

/* After "\u". Half a pair of surrogates is no character: U+FFFD. */
static bool add_unit(struct cn_json_reader *reader)
{
    int32_t unit = read_unit(reader, reader->at), low;

    if (unit < 0)
        return false;
    reader->at += 4;
    if (unit >= 0xd800 && unit < 0xdc00 && reader->bytes.len - reader->at >= 6 &&
        reader->bytes.ptr[reader->at] == '\\' &&
        reader->bytes.ptr[reader->at + 1] == 'u') {
        low = read_unit(reader, reader->at + 2);
        if (low >= 0xdc00 && low < 0xe000) {
            reader->at += 6;
            unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
        }
    }
    cn_text_advance(
        &reader->scratch,
        cn_character_encode(unit >= 0xd800 && unit < 0xe000 ? 0xfffd : (uint32_t)unit,
                            cn_text_room(&reader->scratch, CN_CHARACTER_LEN_MAX)));
    return true;
}

/* After a backslash. */
static bool add_escape(struct cn_json_reader *reader)
{
    static const char names[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";

    if (reader->at >= reader->bytes.len)
        return false;
    uint8_t c = reader->bytes.ptr[reader->at];
    if (c == 'u') {
        reader->at++;
        return add_unit(reader);
    }
    const char *found = c ? strchr(names, c) : NULL;
    if (!found)
        return false;
    reader->at++;
    cn_text_char(&reader->scratch, meanings[found - names]);
    return true;
}

/* Where the text that begins at `at` stops being plain. */
static size_t plain_end(struct cn_bytes bytes, size_t at)
{
    while (at < bytes.len && bytes.ptr[at] >= ' ' && bytes.ptr[at] != '"' &&
           bytes.ptr[at] != '\\')
        at++;
    return at;
}

/* The rest of a string with escapes. */
static bool read_escaped(struct cn_json_reader *reader, size_t begin,
                         struct cn_json_token *out, struct cn_error *err)
{
    const uint8_t *chars = reader->bytes.ptr;

    cn_text_clear(&reader->scratch);
    for (;;) {
        cn_text_add(&reader->scratch, (const char *)chars + begin, reader->at - begin);
        if (reader->at >= reader->bytes.len || chars[reader->at] < ' ')
            return fail(reader, "the rest of a string", err) != CN_JSON_FAIL;
        if (chars[reader->at++] == '"')
            break;
        if (!add_escape(reader))
            return fail(reader, "an escape", err) != CN_JSON_FAIL;
        begin = reader->at;
        reader->at = plain_end(reader->bytes, begin);
    }
    out->text =
        (struct cn_bytes){(const uint8_t *)reader->scratch.chars, reader->scratch.len};
    return true;
}

/* At a quote. */
static bool read_string(struct cn_json_reader *reader, struct cn_json_token *out,
                        struct cn_error *err)
{
    size_t begin = reader->at + 1;

    reader->at = plain_end(reader->bytes, begin);
    if (reader->at >= reader->bytes.len || reader->bytes.ptr[reader->at] != '"')
        return read_escaped(reader, begin, out, err);
    out->text = (struct cn_bytes){reader->bytes.ptr + begin, reader->at - begin};
    reader->at++;
    return true;
}

static enum cn_json_kind read_number(struct cn_json_reader *reader,
                                     struct cn_json_token *out, struct cn_error *err)
{
    size_t begin = reader->at;
    const uint8_t *chars = reader->bytes.ptr;
    bool has_digit = false;

    while (reader->at < reader->bytes.len) {
        uint8_t c = chars[reader->at];

        if (c >= '0' && c <= '9')
            has_digit = true;
        else if (c != '-' && c != '.' && c != '+' && c != 'e' && c != 'E')
            break;
        reader->at++;
    }
    if (!has_digit || reader->at - begin > NUMBER_LEN_MAX) {
        reader->at = begin;
        return fail(reader, "a value", err);
    }
    out->text = (struct cn_bytes){chars + begin, reader->at - begin};
    reader->state = AFTER_VALUE;
    return CN_JSON_NUMBER;
}

static enum cn_json_kind read_word(struct cn_json_reader *reader, const char *word,
                                   enum cn_json_kind kind, struct cn_error *err)
{
    struct cn_bytes found;

    if (!cn_bytes_slice(reader->bytes, reader->at, strlen(word), &found) ||
        memcmp(found.ptr, word, found.len) != 0)
        return fail(reader, "a value", err);
    reader->at += found.len;
    reader->state = AFTER_VALUE;
    return kind;
}

/* True if the innermost open level is an object. */
static bool is_in_object(const struct cn_json_reader *reader)
{
    unsigned level = reader->depth - 1;

    return reader->depth > 0 && (reader->objects[level / 64] >> level % 64 & 1) != 0;
}

static enum cn_json_kind open_level(struct cn_json_reader *reader, bool is_object,
                                    struct cn_error *err)
{
    uint64_t bit = UINT64_C(1) << reader->depth % 64, *word;

    if (reader->depth == reader->depth_max) {
        (void)cn_fail(err, CN_ERR_LIMIT, "JSON at %zu nests deeper than %u", reader->at,
                      reader->depth_max);
        return CN_JSON_FAIL;
    }
    word = &reader->objects[reader->depth / 64];
    *word = is_object ? *word | bit : *word & ~bit;
    reader->depth++;
    reader->at++;
    reader->state = is_object ? FIRST_KEY : FIRST_VALUE;
    return is_object ? CN_JSON_OBJECT : CN_JSON_ARRAY;
}

static enum cn_json_kind close_level(struct cn_json_reader *reader)
{
    bool is_object = is_in_object(reader);

    reader->depth--;
    reader->at++;
    reader->state = AFTER_VALUE;
    return is_object ? CN_JSON_OBJECT_END : CN_JSON_ARRAY_END;
}

static enum cn_json_kind read_value(struct cn_json_reader *reader, int c,
                                    struct cn_json_token *out, struct cn_error *err)
{
    switch (c) {
    case '{':
        return open_level(reader, true, err);
    case '[':
        return open_level(reader, false, err);
    case '"':
        reader->state = AFTER_VALUE;
        return read_string(reader, out, err) ? CN_JSON_STRING : CN_JSON_FAIL;
    case 't':
        return read_word(reader, "true", CN_JSON_TRUE, err);
    case 'f':
        return read_word(reader, "false", CN_JSON_FALSE, err);
    case 'n':
        return read_word(reader, "null", CN_JSON_NULL, err);
    default:
        return read_number(reader, out, err);
    }
}

static enum cn_json_kind read_key(struct cn_json_reader *reader, int c,
                                  struct cn_json_token *out, struct cn_error *err)
{
    if (c != '"')
        return fail(reader, "a key", err);
    if (!read_string(reader, out, err))
        return CN_JSON_FAIL;
    if (peek(reader) != ':')
        return fail(reader, "':'", err);
    reader->at++;
    reader->state = VALUE;
    return CN_JSON_KEY;
}

enum cn_json_kind cn_json_next(struct cn_json_reader *reader, struct cn_json_token *out,
                               struct cn_error *err)
{
    int c = peek(reader);
    bool is_object = is_in_object(reader);

    if (reader->state == AFTER_VALUE && reader->depth == 0)
        reader->state = NOTHING;
    if (reader->state == AFTER_VALUE && c == ',') {
        reader->at++;
        reader->state = is_object ? KEY : VALUE;
        c = peek(reader);
    }
    out->off = reader->at;
    switch ((enum json_state)reader->state) {
    case NOTHING:
        return c < 0 ? CN_JSON_END : fail(reader, "the end", err);
    case AFTER_VALUE:
        return c == (is_object ? '}' : ']') ? close_level(reader)
                                            : fail(reader, "',' or an end", err);
    case FIRST_KEY:
        if (c == '}')
            return close_level(reader);
        return read_key(reader, c, out, err);
    case KEY:
        return read_key(reader, c, out, err);
    case FIRST_VALUE:
        if (c == ']')
            return close_level(reader);
        return read_value(reader, c, out, err);
    case VALUE:
        break;
    }
    return read_value(reader, c, out, err);
}

bool cn_json_skip(struct cn_json_reader *reader, enum cn_json_kind kind,
                  struct cn_error *err)
{
    struct cn_json_token token;
    unsigned outside = reader->depth - 1;

    if (kind != CN_JSON_OBJECT && kind != CN_JSON_ARRAY)
        return kind > CN_JSON_END;
    while (reader->depth > outside)
        if (cn_json_next(reader, &token, err) == CN_JSON_FAIL)
            return false;
    return true;
}

bool cn_json_expect(struct cn_json_reader *reader, enum cn_json_kind kind,
                    const char *what, struct cn_error *err)
{
    struct cn_json_token token;
    enum cn_json_kind found = cn_json_next(reader, &token, err);

    if (found == CN_JSON_FAIL || found == kind)
        return found != CN_JSON_FAIL;
    return cn_fail(err, CN_ERR_FORMAT, "JSON at %" PRIu64 ": expected %s", token.off,
                   what);
}

bool cn_json_read_object(struct cn_json_reader *reader, cn_json_member_fn take, void *arg,
                         struct cn_error *err)
{
    struct cn_json_member member;

    while ((member.kind = cn_json_next(reader, &member.token, err)) == CN_JSON_KEY) {
        size_t len = member.token.text.len < CN_JSON_KEY_MAX ? member.token.text.len
                                                             : CN_JSON_KEY_MAX;

        memcpy(member.key, member.token.text.ptr, len);
        member.key[len] = '\0';
        member.kind = cn_json_next(reader, &member.token, err);
        if (member.kind != CN_JSON_STRING && member.kind != CN_JSON_NUMBER)
            member.token.text = (struct cn_bytes){(const uint8_t *)"", 0};
        if (member.kind == CN_JSON_FAIL || !take(arg, &member, err))
            return false;
    }
    return member.kind == CN_JSON_OBJECT_END;
}

bool cn_json_read_objects(struct cn_json_reader *reader, cn_json_object_fn read,
                          void *arg, struct cn_error *err)
{
    struct cn_json_token token;
    enum cn_json_kind kind;

    while ((kind = cn_json_next(reader, &token, err)) == CN_JSON_OBJECT)
        if (!read(arg, token.off, err))
            return false;
    if (kind == CN_JSON_FAIL || kind == CN_JSON_ARRAY_END)
        return kind != CN_JSON_FAIL;
    return cn_fail(err, CN_ERR_FORMAT, "JSON at %" PRIu64 ": expected an object",
                   token.off);
}

bool cn_json_fail(const struct cn_json_token *token, const char *what,
                  struct cn_error *err)
{
    return cn_fail(err, CN_ERR_FORMAT, "JSON at %" PRIu64 ": '%.*s' is not %s",
                   token->off, (int)(token->text.len < 40 ? token->text.len : 40),
                   (const char *)token->text.ptr, what);
}

bool cn_json_as_f64(struct cn_bytes text, double *out)
{
    char copy[NUMBER_LEN_MAX + 1];
    char *end;

    if (text.len == 0 || text.len > NUMBER_LEN_MAX)
        return false;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    double value = strtod(copy, &end);
    /* strtod() also reads hexadecimal numbers. */
    if (strspn(copy, "0123456789+-.eE") != text.len || *end != '\0' || value - value != 0)
        return false;
    *out = value;
    return true;
}

/* The exponent after an 'e', which may be far too large to be of use. */
static bool read_exponent(struct cn_bytes text, int *out)
{
    bool is_negative = text.len > 0 && text.ptr[0] == '-';
    size_t at = text.len > 0 && (text.ptr[0] == '-' || text.ptr[0] == '+');
    int value = 0;

    if (at == text.len)
        return false;
    for (; at < text.len; at++) {
        if (text.ptr[at] < '0' || text.ptr[at] > '9')
            return false;
        if (value < EXPONENT_MAX)
            value = value * 10 + (text.ptr[at] - '0');
    }
    *out = is_negative ? -value : value;
    return true;
}

/* Digits as a number and how many of them come after the point. Those that do not fit
 * any more are dropped when they come after the point. */
static bool read_digits(struct cn_bytes text, uint64_t *out, int *scale, int *exponent)
{
    uint64_t value = 0;
    int point = 0;
    bool after_point = false, is_full = false;

    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.ptr[i];
        uint64_t next;

        if (c == '.' && !after_point) {
            after_point = true;
        } else if (c == 'e' || c == 'E') {
            struct cn_bytes rest;

            if (!cn_bytes_from(text, i + 1, &rest) || !read_exponent(rest, exponent))
                return false;
            break;
        } else if (c < '0' || c > '9') {
            return false;
        } else if (!is_full && cn_u64_mul(value, 10, &next) &&
                   cn_u64_add(next, (uint64_t)(c - '0'), &next)) {
            value = next;
            point += after_point;
        } else {
            is_full = true;
            if (!after_point)
                return false;
        }
    }
    *out = value;
    *scale = point;
    return true;
}

bool cn_json_as_scaled(struct cn_bytes text, unsigned digits, int64_t *out)
{
    bool is_negative = text.len > 0 && text.ptr[0] == '-';
    struct cn_bytes rest;
    uint64_t value;
    int scale, exponent = 0;

    if (!cn_bytes_from(text, is_negative, &rest) || rest.len == 0 ||
        !read_digits(rest, &value, &scale, &exponent))
        return false;
    exponent += (int)digits - scale;
    for (; exponent > 0 && value > 0; exponent--)
        if (!cn_u64_mul(value, 10, &value))
            return false;
    for (; exponent < 0 && value > 0; exponent++)
        value /= 10;
    if (value > (uint64_t)INT64_MAX + is_negative)
        return false;
    *out = (int64_t)(is_negative ? 0 - value : value);
    return true;
}

bool cn_json_as_i64(struct cn_bytes text, int64_t *out)
{
    return cn_json_as_scaled(text, 0, out);
}

bool cn_json_as_u64(struct cn_bytes text, uint64_t *out)
{
    uint64_t value;
    int scale, exponent = 0;

    if (text.len == 0 || text.ptr[0] == '-' ||
        !read_digits(text, &value, &scale, &exponent) || scale != 0 || exponent != 0)
        return false;
    *out = value;
    return true;
}
