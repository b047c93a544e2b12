/* Standard output as an HTML page: text in colours of a terminal becomes preformatted text
 * with the same colours.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_PRINT_HTML_H
#define CN_CLI_PRINT_HTML_H

#include <stdbool.h>
#include <stdio.h>

#include "base/text.h"

struct cn_html {
    FILE *out; /* the stream that standard output was; NULL: it is not in use */
    bool has_begun;
    bool is_in_span;
    struct cn_text code; /* of an escape sequence that is not complete yet */
};

/* Convert what is written to stdout from now on. The page begins with the first text. False,
 * and nothing changes, without memory. */
bool cn_html_begin(struct cn_html *html);

/* End the page, and write to stdout directly again. Does nothing unless it has begun. */
void cn_html_end(struct cn_html *html);

#endif
