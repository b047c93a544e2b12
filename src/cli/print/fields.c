#include "cli/print/fields.h"

#include <string.h>

size_t cn_fields_find(const struct cn_output_field *fields, size_t count,
                      const char *name, size_t len)
{
    size_t i = 0;

    while (i < count &&
           (strlen(fields[i].name) != len || memcmp(fields[i].name, name, len) != 0))
        i++;
    return i;
}

bool cn_fields_fail(const struct cn_output_field *fields, size_t count, bool is_shown,
                    const char *name, size_t len, struct cn_error *err)
{
    struct cn_text names = {0};

    for (size_t i = 0; i < count; i++)
        cn_text_printf(&names, "%s, ", fields[i].name);
    cn_text_str_add(&names, is_shown ? "all, none" : "func");
    (void)cn_fail(err, CN_ERR_USAGE, "no %s '%.*s'%s; there are: %s",
                  is_shown ? "field" : "column", (int)len, name,
                  is_shown ? "" : " to sort by", cn_text_str(&names));
    cn_text_done(&names);
    return false;
}

bool cn_fields_parse(const struct cn_output_field *fields, size_t count, const char *text,
                     bool *has_field, struct cn_error *err)
{
    bool adds = !text || text[0] == '+';

    for (size_t i = 0; i < count; i++)
        has_field[i] = adds && (fields[i].flags & CN_OUTPUT_USUAL);
    if (!text || strcmp(text, "none") == 0)
        return true;
    for (const char *at = text + adds; *at;) {
        size_t len = strcspn(at, ","), field = cn_fields_find(fields, count, at, len);
        bool is_all = len == 3 && memcmp(at, "all", 3) == 0;

        for (size_t i = 0; i < count; i++)
            has_field[i] |= i == field || (is_all && !(fields[i].flags & CN_OUTPUT_RARE));
        if (field == count && !is_all)
            return cn_fields_fail(fields, count, true, at, len, err);
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

void cn_fields_heading_add(struct cn_text *out, const struct cn_output_field *fields,
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
