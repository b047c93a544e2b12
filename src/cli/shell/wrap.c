#include "cli/shell/help.h"

#include <string.h>

#include "base/text.h"

void cn_wrap_add(struct cn_text *text, const char *str, size_t used, size_t indent,
                 size_t columns)
{
    bool at_start = true; /* no word on this line yet */

    if (used < indent) {
        cn_text_fill(text, ' ', indent - used);
        used = indent;
    }
    for (str += strspn(str, " \n"); *str; str += strspn(str, " \n")) {
        size_t len = strcspn(str, " \n"), width = 0;

        for (size_t i = 0; i < len; i++) /* help texts have no wide characters */
            width += ((unsigned char)str[i] & 0xc0) != 0x80;
        if (!at_start && used + 1 + width > columns) {
            cn_text_char(text, '\n');
            cn_text_fill(text, ' ', indent);
            used = indent;
            at_start = true;
        }
        if (!at_start) {
            cn_text_char(text, ' ');
            used++;
        }
        cn_text_add(text, str, len);
        used += width;
        at_start = false;
        str += len;
    }
    cn_text_char(text, '\n');
}

const char *cn_paragraph_next(const char *str, size_t *len)
{
    const char *end = strstr(str, "\n\n");

    *len = end ? (size_t)(end - str) : strlen(str);
    return end ? end + 2 : NULL;
}

void cn_wrap_add_paragraphs(struct cn_text *text, const char *str, size_t columns)
{
    while (str) {
        size_t len;
        const char *next = cn_paragraph_next(str, &len);

        if (strncmp(str, "  ", 2) == 0) {
            cn_text_add(text, str, len);
            cn_text_char(text, '\n');
        } else {
            struct cn_text paragraph = {0};

            cn_text_add(&paragraph, str, len);
            cn_wrap_add(text, cn_text_str(&paragraph), 0, 0, columns);
            cn_text_done(&paragraph);
        }
        cn_text_char(text, '\n');
        str = next;
    }
}
