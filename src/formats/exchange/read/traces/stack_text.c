#include "formats/exchange/read/traces/stack_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "model/traces/words.h"

enum { LINE_DIGITS_MAX = 9 }; /* these fit into 31 bits */

static struct cn_bytes head_of(struct cn_bytes text, size_t len)
{
    return (struct cn_bytes){text.ptr, len < text.len ? len : text.len};
}

static struct cn_bytes rest_of(struct cn_bytes text, size_t off)
{
    struct cn_bytes rest = {text.ptr, 0};

    (void)cn_bytes_from(text, off, &rest);
    return rest;
}

static bool skip_bytes(struct cn_bytes *text, struct cn_bytes start)
{
    if (start.len == 0 || text->len < start.len ||
        memcmp(text->ptr, start.ptr, start.len) != 0)
        return false;
    *text = rest_of(*text, start.len);
    return true;
}

static bool skip_str(struct cn_bytes *text, const char *str)
{
    return skip_bytes(text, (struct cn_bytes){(const uint8_t *)str, strlen(str)});
}

/* The index of the last such character; `len` if there is none. */
static size_t find_last(struct cn_bytes text, char c)
{
    for (size_t i = text.len; i > 0; i--)
        if (text.ptr[i - 1] == (uint8_t)c)
            return i - 1;
    return text.len;
}

static bool is_blank(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Remove the first line, and return it without its end and the blanks around it. */
static struct cn_bytes take_line(struct cn_bytes *text)
{
    struct cn_bytes line;

    (void)cn_bytes_take_until(text, '\n', &line);
    while (line.len > 0 && is_blank(line.ptr[line.len - 1]))
        line.len--;
    while (line.len > 0 && is_blank(line.ptr[0]))
        line = rest_of(line, 1);
    return line;
}

/* Cut the line number off "Dao.java:40"; -1 if there is none in this form. */
static int32_t take_number(struct cn_bytes *source)
{
    size_t colon = find_last(*source, ':');
    struct cn_bytes digits = rest_of(*source, colon + 1);
    int32_t line = 0;

    if (digits.len == 0 || digits.len > LINE_DIGITS_MAX ||
        (digits.ptr[0] == '0' && digits.len > 1))
        return -1;
    for (size_t i = 0; i < digits.len; i++) {
        if (digits.ptr[i] < '0' || digits.ptr[i] > '9')
            return -1;
        line = line * 10 + (digits.ptr[i] - '0');
    }
    *source = head_of(*source, colon);
    return line;
}

static uint32_t add_line(struct cn_words *words, struct cn_bytes line)
{
    uint32_t parts[4] = {0, cn_words_add(words, CN_WORD_TEXT, line), 0, UINT32_MAX};

    return cn_words_add_parts(words, CN_WORD_FRAME, parts, 4);
}

/* "class.method(source)", or any other line. */
static uint32_t add_frame(struct cn_words *words, struct cn_bytes line)
{
    const uint8_t *open = memchr(line.ptr, '(', line.len);
    struct cn_bytes name = head_of(line, open ? (size_t)(open - line.ptr) : 0);
    size_t dot = find_last(name, '.');
    struct cn_bytes source;
    uint32_t parts[4];

    if (dot == 0 || dot + 1 >= name.len || memchr(name.ptr, ' ', name.len) ||
        line.ptr[line.len - 1] != ')')
        return add_line(words, line);
    source = rest_of(head_of(line, line.len - 1), name.len + 1);
    parts[3] = (uint32_t)take_number(&source);
    parts[0] = cn_words_add(words, CN_WORD_CLASS, head_of(name, dot));
    parts[1] = cn_words_add(words, CN_WORD_METHOD_NAME, rest_of(name, dot + 1));
    parts[2] = cn_words_add(words, CN_WORD_TEXT, source);
    return cn_words_add_parts(words, CN_WORD_FRAME, parts, 4);
}

static uint32_t add_stack(struct cn_words *words, struct cn_bytes text)
{
    uint32_t *frames = cn_alloc(CN_STACK_FRAME_MAX + 1, sizeof(*frames)), stack = 0;
    struct cn_text more = {0};
    size_t count = 0, skipped = 0;

    while (text.len > 0) {
        struct cn_bytes line = take_line(&text);

        (void)skip_str(&line, "at ");
        if (line.len > 0 && count == CN_STACK_FRAME_MAX)
            skipped++;
        else if (line.len > 0)
            frames[count++] = add_frame(words, line);
    }
    if (skipped > 0) {
        cn_text_printf(&more, "... %zu more lines", skipped);
        frames[count++] =
            add_line(words, (struct cn_bytes){(const uint8_t *)more.chars, more.len});
    }
    if (count > 0)
        stack = cn_words_add_parts(words, CN_WORD_STACK, frames, count);
    cn_text_done(&more);
    free(frames);
    return stack;
}

/* Read class and message from "java.io.IOException: closed" at the start of the text. */
static void take_head(struct cn_words *words, struct cn_bytes *text, uint32_t parts[4])
{
    struct cn_bytes line = take_line(text), message;
    size_t colon = 0;

    while (colon < line.len && line.ptr[colon] != ':')
        colon++;
    message = rest_of(line, colon + 1);
    (void)skip_str(&message, " ");
    parts[0] = cn_words_add(words, CN_WORD_CLASS, head_of(line, colon));
    parts[1] = cn_words_add(words, CN_WORD_TEXT, message);
}

/* Skip class and message if the text begins with them. */
static void skip_head(const struct cn_words *words, struct cn_bytes *text,
                      const uint32_t parts[4])
{
    struct cn_bytes rest = *text;

    if (!skip_bytes(&rest, cn_word_bytes(words, parts[0])))
        return;
    if (skip_str(&rest, ": "))
        (void)skip_bytes(&rest, cn_word_bytes(words, parts[1]));
    if (rest.len > 0 && take_line(&rest).len > 0)
        return; /* another text with the same beginning */
    *text = rest;
}

/* Split the text at its causes; returns the number of sections. */
static size_t split(struct cn_bytes text, struct cn_bytes sections[CN_STACK_CAUSE_MAX])
{
    struct cn_bytes rest = text;
    size_t count = 0, begin = 0;

    while (rest.len > 0 && count + 1 < CN_STACK_CAUSE_MAX) {
        size_t at = text.len - rest.len;
        struct cn_bytes line = take_line(&rest);

        if (!skip_str(&line, "Caused by: "))
            continue;
        sections[count++] = rest_of(head_of(text, at), begin);
        begin = (size_t)(line.ptr - text.ptr);
    }
    sections[count++] = rest_of(text, begin);
    return count;
}

uint32_t cn_stack_text_add(struct cn_words *words, uint32_t class, uint32_t message,
                           struct cn_bytes text)
{
    struct cn_bytes sections[CN_STACK_CAUSE_MAX];
    uint32_t cause = 0;

    /* A cause has a lower number than the exception it caused. */
    for (size_t i = split(text, sections); i-- > 0;) {
        uint32_t parts[4] = {class, message, 0, cause};

        if (i > 0 || (class == 0 && message == 0))
            take_head(words, &sections[i], parts);
        else
            skip_head(words, &sections[i], parts);
        parts[2] = add_stack(words, sections[i]);
        cause = cn_words_add_parts(words, CN_WORD_EXCEPTION, parts, 4);
    }
    return cause;
}

static void print_frames(const struct cn_words *words, uint32_t stack,
                         struct cn_text *out)
{
    for (size_t i = 0; stack != 0 && i < cn_word_part_count(words, stack); i++) {
        uint32_t frame = cn_word_part(words, stack, i);

        cn_text_str_add(out, cn_word_part(words, frame, 0) != 0 ? "\tat " : "");
        cn_words_print(words, frame, out);
        cn_text_char(out, '\n');
    }
}

void cn_stack_text_print(const struct cn_words *words, uint32_t exception,
                         struct cn_text *out)
{
    print_frames(words, cn_word_part(words, exception, 2), out);
    for (unsigned i = 1; i < CN_STACK_CAUSE_MAX; i++) {
        exception = cn_word_part(words, exception, 3);
        if (exception == 0 || cn_word_kind(words, exception) != CN_WORD_EXCEPTION)
            return;
        cn_text_str_add(out, "Caused by: ");
        cn_words_print(words, cn_word_part(words, exception, 0), out);
        cn_text_str_add(out, ": ");
        cn_words_print(words, cn_word_part(words, exception, 1), out);
        cn_text_char(out, '\n');
        print_frames(words, cn_word_part(words, exception, 2), out);
    }
}
