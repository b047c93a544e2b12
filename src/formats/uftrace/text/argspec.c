#include "formats/uftrace/text/argspec.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "formats/uftrace/text/scan.h"

/* "5", "-3", "0x10" */
static bool scan_value(struct cn_bytes *text, int64_t *out)
{
    bool is_negative = cn_uft_scan_literal(text, "-");
    uint64_t value;

    if (cn_uft_scan_literal(text, "0x") ? !cn_uft_scan_hex(text, &value)
                                        : !cn_uft_scan_dec(text, &value))
        return false;
    *out = is_negative ? (int64_t)(0 - value) : (int64_t)value;
    return true;
}

static struct cn_bytes trimmed(struct cn_bytes text)
{
    (void)cn_uft_scan_spaces(&text);
    while (text.len > 0 &&
           (text.ptr[text.len - 1] == ' ' || text.ptr[text.len - 1] == '\t'))
        text.len--;
    return text;
}

static void read_members(struct cn_enum *enumeration, struct cn_bytes body,
                         struct cn_arena *arena)
{
    struct cn_bytes item, name;
    int64_t value = 0;
    size_t count = 0, count_max = 1;

    for (size_t i = 0; i < body.len; i++)
        count_max += body.ptr[i] == ',';
    struct cn_enum_member *members = cn_arena_alloc(arena, count_max, sizeof(*members));
    while (cn_uft_scan_until(&body, ',', &item)) {
        if (!cn_uft_scan_until(&item, '=', &name) || trimmed(name).len == 0)
            continue;
        item = trimmed(item);
        if (item.len > 0 && !scan_value(&item, &value))
            continue;
        members[count++] = (struct cn_enum_member){
            .name = cn_uft_text_copy(arena, trimmed(name)), .value = value};
        value = (int64_t)((uint64_t)value + 1);
    }
    CN_SORT(members, count, CN_UP(struct cn_enum_member, value));
    enumeration->members = members;
    enumeration->count = count;
}

static const struct cn_enum **place_of(struct cn_uft_enums *enums, const char *name)
{
    uint32_t id = cn_names_add(&enums->names, name);

    if (id == enums->count) {
        CN_PUSH(enums->list, enums->count, enums->capacity, NULL);
    }
    return &enums->list[id];
}

void cn_uft_enums_add(struct cn_uft_enums *enums, struct cn_bytes text,
                      struct cn_arena *arena)
{
    struct cn_enum *enumeration;
    struct cn_bytes one, name;

    while (cn_uft_scan_until(&text, '}', &one)) {
        (void)cn_uft_scan_literal(&one, ";");
        one = trimmed(one);
        if (!cn_uft_scan_literal(&one, "enum ") || !cn_uft_scan_until(&one, '{', &name))
            continue;
        enumeration = cn_arena_alloc(arena, 1, sizeof(*enumeration));
        enumeration->name = cn_uft_text_copy(arena, trimmed(name));
        read_members(enumeration, one, arena);
        *place_of(enums, enumeration->name) = enumeration;
    }
}

const struct cn_enum *cn_uft_enums_find(struct cn_uft_enums *enums, const char *name)
{
    return *place_of(enums, name);
}

void cn_uft_enums_done(struct cn_uft_enums *enums)
{
    cn_names_done(&enums->names);
    free(enums->list);
}

/* "arg2", "fparg1", "retval" */
static bool scan_what(struct cn_bytes *text, struct cn_argument_spec *spec)
{
    uint64_t index;

    if (cn_uft_scan_literal(text, "retval"))
        return true;
    spec->is_float = cn_uft_scan_literal(text, "fp");
    if (!cn_uft_scan_literal(text, "arg") || !cn_uft_scan_dec(text, &index) ||
        index == 0 || index > UINT8_MAX)
        return false;
    spec->index = (uint8_t)index;
    return true;
}

/* The size after a format letter: bytes of a struct, else bits. */
static bool scan_size(struct cn_bytes *text, struct cn_argument_spec *spec)
{
    uint64_t size;

    if (!cn_uft_scan_dec(text, &size))
        return true;
    if (spec->format == 't') {
        if (size > CN_UFT_PAYLOAD_MAX)
            return false;
        spec->size = (uint16_t)size;
        return true;
    }
    if (size != 8 && size != 16 && size != 32 && size != 64 && size != 80)
        return false;
    if (spec->format != 's' && spec->format != 'S')
        spec->size = (uint16_t)(size / 8);
    return true;
}

static bool scan_format(const struct cn_uft_spec_parser *parser, struct cn_bytes *text,
                        struct cn_argument_spec *spec)
{
    struct cn_bytes letter, name;

    if (text->len > 0 && memchr("diuxoscfSpet", text->ptr[0], 12)) {
        (void)cn_bytes_take(text, 1, &letter);
        spec->format = (char)letter.ptr[0];
        spec->size = (uint16_t)parser->word_len;
        if (spec->format == 'c')
            spec->size = 1;
        else if (spec->format == 's' || spec->format == 'S' || spec->format == 't')
            spec->size = 0;
        else if (spec->format == 'f') {
            spec->size = sizeof(double);
            spec->is_float = true; /* "arg1/f64" is "fparg1/64" */
        }
    }
    if (!scan_size(text, spec))
        return false;
    if (cn_uft_scan_literal(text, ":")) {
        (void)(cn_uft_scan_until(text, '%', &name) || cn_bytes_slice(*text, 0, 0, &name));
        spec->type_name = cn_uft_text_copy(parser->arena, name);
        if (spec->format == 'e')
            spec->enumeration = cn_uft_enums_find(parser->enums, spec->type_name);
        *text = (struct cn_bytes){0};
    }
    return true;
}

bool cn_uft_spec_parse(const struct cn_uft_spec_parser *parser, struct cn_bytes text,
                       struct cn_argument_spec *out)
{
    struct cn_bytes whole = text;
    struct cn_argument_spec spec = {.type_name = ""};

    if (!scan_what(&text, &spec))
        return false;
    spec.format = spec.is_float ? 'f' : 'd';
    spec.size = (uint16_t)(spec.is_float ? sizeof(double) : parser->word_len);
    if (cn_uft_scan_literal(&text, "/") && !scan_format(parser, &text, &spec))
        return false;
    if (text.len > 0 && text.ptr[0] != '%')
        return false;
    spec.text = cn_uft_text_copy(parser->arena, whole);
    *out = spec;
    return true;
}

/* Specs that name a register or a stack slot are compared by that, others by their
 * number. */
static bool is_same_argument(const struct cn_argument_spec *a,
                             const struct cn_argument_spec *b)
{
    const char *x = strchr(a->text, '%'), *y = strchr(b->text, '%');

    if (x || y)
        return x && y && strcmp(x, y) == 0;
    return a->is_float == b->is_float && a->index == b->index;
}

void cn_uft_specs_add(struct cn_uft_specs *specs, const struct cn_argument_spec *spec,
                      bool is_exact)
{
    for (size_t at = 0; at < specs->count; at++) {
        if (!is_same_argument(&specs->list[at], spec))
            continue;
        if (is_exact)
            specs->list[at] = *spec;
        return;
    }
    if (specs->count < CN_UFT_SPECS_MAX)
        specs->list[specs->count++] = *spec;
}

struct cn_argument_specs cn_uft_specs_copy(const struct cn_uft_specs *specs,
                                           struct cn_arena *arena)
{
    if (specs->count == 0)
        return (struct cn_argument_specs){0};
    struct cn_argument_spec *list = cn_arena_alloc(arena, specs->count, sizeof(*list));
    memcpy(list, specs->list, specs->count * sizeof(*list));
    return (struct cn_argument_specs){list, specs->count};
}
