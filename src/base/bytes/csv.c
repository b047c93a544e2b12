#include "base/bytes/csv.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes/utf8.h"
#include "base/text.h"

static bool is_formula(const char *value)
{
    char *end;

    if (value[0] == '\0' || !strchr("=+-@", value[0]))
        return false;
    (void)strtod(value, &end);
    return *end != '\0' || end == value;
}

static void add_cell(struct cn_text *text, const char *value, bool is_quoted)
{
    if (is_quoted)
        cn_text_char(text, '"');
    if (is_formula(value))
        cn_text_char(text, '\'');
    for (; *value; value++) {
        if (*value == '"')
            cn_text_char(text, '"');
        cn_text_char(text, *value);
    }
    if (is_quoted)
        cn_text_char(text, '"');
}

void cn_csv_add_quoted(struct cn_text *text, const char *value)
{
    struct cn_text printable = {0};

    cn_utf8_add_printable(&printable, value);
    add_cell(text, cn_text_str(&printable), true);
    cn_text_done(&printable);
}

void cn_csv_add(struct cn_text *text, const char *value)
{
    struct cn_text printable = {0};
    size_t plain = 0;

    while (value[plain] >= ' ' && value[plain] <= '~' && !strchr(",\"", value[plain]))
        plain++;
    if (value[plain] == '\0') {
        add_cell(text, value, false);
        return;
    }
    cn_utf8_add_printable(&printable, value);
    const char *chars = cn_text_str(&printable);
    add_cell(text, chars, strpbrk(chars, ",\"") != NULL);
    cn_text_done(&printable);
}
