#include "cli/print/write.h"

#include <string.h>

#include "base/bytes/utf8.h"
#include "base/text.h"

void cn_csv_add_quoted(struct cn_text *text, const char *value)
{
    cn_text_char(text, '"');
    for (; *value; value++) {
        if (*value == '"')
            cn_text_char(text, '"');
        cn_text_char(text, *value);
    }
    cn_text_char(text, '"');
}

void cn_csv_add(struct cn_text *text, const char *value)
{
    struct cn_text printable = {0};
    const char *chars;
    size_t plain = 0;

    while (value[plain] >= ' ' && value[plain] <= '~' && !strchr(",\"", value[plain]))
        plain++;
    if (value[plain] == '\0') {
        cn_text_add(text, value, plain);
        return;
    }
    cn_utf8_add_printable(&printable, value);
    chars = cn_text_str(&printable);
    if (strpbrk(chars, ",\""))
        cn_csv_add_quoted(text, chars);
    else
        cn_text_str_add(text, chars);
    cn_text_done(&printable);
}

void cn_text_flush(struct cn_text *text, FILE *to)
{
    if (text->len > 0)
        (void)fwrite(text->chars, 1, text->len, to);
    cn_text_clear(text);
}
