#include "cli/print/write.h"

#include <inttypes.h>

#include "base/text.h"

void cn_indent_add(struct cn_text *text, uint64_t depth)
{
    cn_text_fill(text, ' ', 2 * (depth < CN_INDENT_MAX ? depth : CN_INDENT_MAX));
    if (depth > CN_INDENT_MAX)
        cn_text_printf(text, "[%" PRIu64 "] ", depth);
}

void cn_text_flush(struct cn_text *text, FILE *to)
{
    if (text->len > 0)
        (void)fwrite(text->chars, 1, text->len, to);
    cn_text_clear(text);
}
