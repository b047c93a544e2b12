#include "cli/print/fields.h"

#include <string.h>

static bool no_field(const struct cn_field *fields, size_t count, const char *name,
                     size_t len, struct cn_error *err)
{
    struct cn_text names = {0};

    for (size_t i = 0; i < count; i++)
        cn_text_printf(&names, "%s, ", fields[i].name);
    (void)cn_fail(err, CN_ERR_USAGE, "no field '%.*s'; there are: %snone", (int)len, name,
                  cn_text_str(&names));
    cn_text_done(&names);
    return false;
}

static bool add_field(const struct cn_field *fields, size_t count, const char *name,
                      size_t len, bool *has_field, struct cn_error *err)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(fields[i].name) == len && memcmp(fields[i].name, name, len) == 0) {
            has_field[i] = true;
            return true;
        }
    return no_field(fields, count, name, len, err);
}

bool cn_fields_parse(const struct cn_field *fields, size_t count, const char *text,
                     bool *has_field, struct cn_error *err)
{
    bool keeps = !text || text[0] == '+';

    for (size_t i = 0; i < count; i++)
        has_field[i] = keeps && fields[i].is_usual;
    if (!text || strcmp(text, "none") == 0)
        return true;
    for (const char *at = text + keeps; *at;) {
        size_t len = strcspn(at, ",");

        if (!add_field(fields, count, at, len, has_field, err))
            return false;
        at += len + (at[len] == ',');
    }
    return true;
}

bool cn_fields_any(const bool *has_field, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (has_field[i])
            return true;
    return false;
}

void cn_fields_heading_add(struct cn_text *out, const struct cn_field *fields,
                           size_t count, const bool *has_field, size_t first,
                           bool has_srcline)
{
    size_t begin = out->len;

    if (!cn_fields_any(has_field, count))
        return;
    if (first < count)
        cn_text_str_add(out, fields[first].heading);
    for (size_t i = 0; i < count; i++)
        if (has_field[i] && i != first)
            cn_text_str_add(out, fields[i].heading);
    out->chars[begin] = '#';
    cn_text_str_add(out, has_srcline ? "   FUNCTION [SOURCE]\n" : "   FUNCTION\n");
}
