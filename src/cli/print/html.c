#include "cli/print/html.h"

#include <stdlib.h>
#include <string.h>

static const char head[] =
    "<!DOCTYPE html>\n<html>\n<head><meta charset='utf-8'></head>\n"
    "<body style='background-color:black;color:white;'>\n<pre>\n";
static const char foot[] = "</pre>\n</body>\n</html>\n";

/* What the code of an escape sequence means: "31" of "\x1b[31m". NULL for others, which end
 * a colour. */
static const char *style_of(const char *code)
{
    static const struct {
        const char *code, *style;
    } styles[] = {
        {"1", "font-weight:bold"},  {"2", "color:gray"},    {"31", "color:red"},
        {"32", "color:lightgreen"}, {"33", "color:yellow"}, {"34", "color:dodgerblue"},
    };

    for (size_t i = 0; i < sizeof(styles) / sizeof(styles[0]); i++)
        if (strcmp(styles[i].code, code) == 0)
            return styles[i].style;
    return NULL;
}

/* The sequence is complete. */
static void change_style(struct cn_html *html)
{
    const char *style = style_of(html->code.chars + 2);

    if (html->is_in_span)
        (void)fputs("</span>", html->out);
    if (style)
        (void)fprintf(html->out, "<span style='%s'>", style);
    html->is_in_span = style != NULL;
    cn_text_clear(&html->code);
}

static void put_char(struct cn_html *html, char c)
{
    if (c == '<')
        (void)fputs("&lt;", html->out);
    else if (c == '>')
        (void)fputs("&gt;", html->out);
    else if (c == '&')
        (void)fputs("&amp;", html->out);
    else
        (void)fputc(c, html->out);
}

static ssize_t write_page(void *arg, const char *chars, size_t len)
{
    struct cn_html *html = arg;

    if (!html->has_begun)
        (void)fputs(head, html->out);
    html->has_begun = true;
    for (size_t i = 0; i < len; i++) {
        if (html->code.len > 0 && chars[i] == 'm')
            change_style(html);
        else if (html->code.len > 0 || chars[i] == '\x1b')
            cn_text_char(&html->code, chars[i]);
        else
            put_char(html, chars[i]);
    }
    return ferror(html->out) ? 0 : (ssize_t)len;
}

bool cn_html_begin(struct cn_html *html)
{
    FILE *page = fopencookie(html, "w", (cookie_io_functions_t){.write = write_page});

    *html = (struct cn_html){.out = page ? stdout : NULL};
    if (page)
        stdout = page;
    return page != NULL;
}

void cn_html_end(struct cn_html *html)
{
    FILE *page = stdout;

    if (!html->out)
        return;
    stdout = html->out;
    (void)fclose(page);
    if (html->has_begun)
        (void)fputs(foot, html->out);
    cn_text_done(&html->code);
    html->out = NULL;
}
