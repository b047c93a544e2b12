/* The text of a source file, for showing the lines around a location.
 *
 * A zeroed one is empty.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_TUI_SOURCE_TEXT_H
#define CN_CLI_TUI_SOURCE_TEXT_H

#include "base/files/file.h"
#include "base/text.h"

struct cn_tui_source_text {
    char *path;          /* as asked for; NULL: none */
    struct cn_text real; /* where it was found; empty: nowhere */
    struct cn_file file;
    size_t *line_offs; /* of all lines, and the end */
    size_t line_count;
};

enum { CN_TUI_SOURCE_LEN_MAX = 8 << 20 };

/* Find `path` inside `folder` (a database with copies of sources; or NULL), else on this
 * machine. Does nothing if that is the file it already has. */
void cn_tui_source_text_use(struct cn_tui_source_text *text, const char *folder,
                            const char *path);
void cn_tui_source_text_done(struct cn_tui_source_text *text);

/* Append line `number`, from 1, with blanks for tabs, safe to print. */
void cn_tui_source_line_add(const struct cn_tui_source_text *text, size_t number,
                            struct cn_text *out);

#endif
