#include "model/origin.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"

enum { LINE_MAX_LEN = 1 << 20 };

#define TEXT(name)                                     \
    {                                                  \
#name, offsetof(struct cn_origin, name), false \
    }
#define NUMBER(name)                                  \
    {                                                 \
#name, offsetof(struct cn_origin, name), true \
    }

static const struct origin_field {
    const char *key;
    size_t off;
    bool is_number;
} fields[] = {
    TEXT(program),        TEXT(command),
    TEXT(writer),         TEXT(host),
    TEXT(kernel),         TEXT(machine),
    TEXT(processor),      NUMBER(processor_count),
    NUMBER(memory_bytes), NUMBER(start_ns),
    TEXT(stacks),         TEXT(refusal),
    NUMBER(stack_count),  NUMBER(whole_count),
    NUMBER(kernel_count), NUMBER(unnamed_count),
    NUMBER(lost_count),   TEXT(filters),
};

enum { FIELD_COUNT = sizeof(fields) / sizeof(fields[0]) };

static const char *text_of(const struct cn_origin *origin,
                           const struct origin_field *field)
{
    const char *text;

    memcpy(&text, (const char *)origin + field->off, sizeof(text));
    return text;
}

static uint64_t number_of(const struct cn_origin *origin,
                          const struct origin_field *field)
{
    uint64_t number;

    memcpy(&number, (const char *)origin + field->off, sizeof(number));
    return number;
}

static void set_text(struct cn_origin *origin, const struct origin_field *field,
                     const char *text)
{
    memcpy((char *)origin + field->off, &text, sizeof(text));
}

static void set_number(struct cn_origin *origin, const struct origin_field *field,
                       uint64_t number)
{
    memcpy((char *)origin + field->off, &number, sizeof(number));
}

void cn_origin_each(const struct cn_origin *origin, cn_origin_visit visit, void *arg)
{
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        const struct origin_field *field = &fields[i];

        if (field->is_number && number_of(origin, field) > 0)
            visit(arg, field->key, NULL, number_of(origin, field));
        else if (!field->is_number && text_of(origin, field))
            visit(arg, field->key, text_of(origin, field), 0);
    }
}

static void note(void *arg, const char *key, const char *text, uint64_t number)
{
    (void)key;
    (void)text;
    (void)number;
    *(bool *)arg = true;
}

bool cn_origin_is_known(const struct cn_origin *origin)
{
    bool is_known = false;

    cn_origin_each(origin, note, &is_known);
    return is_known;
}

static void add_line(void *arg, const char *key, const char *text, uint64_t number)
{
    struct cn_text *out = arg;

    cn_text_printf(out, "%s=", key);
    for (; text && *text; text++)
        cn_text_char(out, *text == '\n' ? ' ' : *text);
    if (!text)
        cn_text_printf(out, "%" PRIu64, number);
    cn_text_char(out, '\n');
}

void cn_origin_encode(const struct cn_origin *origin, struct cn_text *out)
{
    cn_origin_each(origin, add_line, out);
}

static void decode_line(struct cn_origin *origin, char *line, struct cn_arena *arena)
{
    char *value = strchr(line, '=');

    if (!value)
        return;
    *value++ = '\0';
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        if (strcmp(line, fields[i].key) != 0)
            continue;
        if (fields[i].is_number)
            set_number(origin, &fields[i], strtoull(value, NULL, 10));
        else
            set_text(origin, &fields[i], cn_arena_strdup(arena, value));
    }
}

void cn_origin_decode(struct cn_origin *origin, struct cn_bytes lines,
                      struct cn_arena *arena)
{
    size_t len = lines.len < LINE_MAX_LEN ? lines.len : LINE_MAX_LEN;
    struct cn_text copy = {0};
    char *rest, *line;

    cn_text_add(&copy, (const char *)lines.ptr, len);
    rest = copy.chars;
    while ((line = strsep(&rest, "\n")))
        decode_line(origin, line, arena);
    cn_text_done(&copy);
    if (origin->whole_count > origin->stack_count)
        origin->whole_count = origin->stack_count;
    if (origin->kernel_count > origin->stack_count)
        origin->kernel_count = origin->stack_count;
    if (origin->unnamed_count > origin->stack_count)
        origin->unnamed_count = origin->stack_count;
}

struct cn_origin cn_origin_copy(const struct cn_origin *origin, struct cn_arena *arena)
{
    struct cn_origin to = *origin;

    for (size_t i = 0; i < FIELD_COUNT; i++)
        if (!fields[i].is_number && text_of(origin, &fields[i]))
            set_text(&to, &fields[i],
                     cn_arena_strdup(arena, text_of(origin, &fields[i])));
    return to;
}
