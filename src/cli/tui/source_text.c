#include "cli/tui/tui.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/utf8.h"

enum { TAB = 8, LINE_LEN_MAX = 1000 };

void cn_tui_source_text_done(struct cn_tui_source_text *text)
{
    free(text->path);
    free(text->line_offs);
    cn_text_done(&text->real);
    cn_file_close(&text->file);
    *text = (struct cn_tui_source_text){0};
}

static bool try_open(struct cn_tui_source_text *text, const char *path)
{
    struct cn_error err;

    if (!cn_file_open(&text->file, path, &err))
        return false;
    if (text->file.bytes.len > CN_TUI_SOURCE_LEN_MAX) {
        cn_file_close(&text->file);
        return false;
    }
    cn_text_str_add(&text->real, path);
    return true;
}

/* A copy inside the database; its paths must not lead out of it. */
static bool open_copy(struct cn_tui_source_text *text, const char *folder,
                      const char *path)
{
    char joined[PATH_MAX], real_folder[PATH_MAX], real_file[PATH_MAX];

    if (snprintf(joined, sizeof(joined), "%s/%s", folder, path) >= (int)sizeof(joined) ||
        !realpath(folder, real_folder) || !realpath(joined, real_file))
        return false;
    size_t len = strlen(real_folder);
    return strncmp(real_folder, real_file, len) == 0 && real_file[len] == '/' &&
           try_open(text, real_file);
}

static void find_lines(struct cn_tui_source_text *text)
{
    struct cn_bytes rest = text->file.bytes, line;
    size_t capacity = 0;

    do
        CN_PUSH(text->line_offs, text->line_count, capacity,
                text->file.bytes.len - rest.len);
    while (cn_bytes_take_until(&rest, '\n', &line));
}

void cn_tui_source_text_use(struct cn_tui_source_text *text, const char *folder,
                            const char *path)
{
    if (text->path && strcmp(text->path, path) == 0)
        return;
    cn_tui_source_text_done(text);
    text->path = cn_strdup(path);
    if ((folder && open_copy(text, folder, path)) || try_open(text, path))
        find_lines(text);
}

void cn_tui_source_line_add(const struct cn_tui_source_text *text, size_t number,
                            struct cn_text *out)
{
    struct cn_bytes bytes = text->file.bytes;
    size_t at = text->line_offs[number - 1], begin = at, column = 0;

    while (at < bytes.len && bytes.ptr[at] != '\n' && bytes.ptr[at] != '\r' &&
           column < LINE_LEN_MAX) {
        if (bytes.ptr[at] != '\t') {
            column++;
            at++;
            continue;
        }
        cn_utf8_add_printable_chars(out, (const char *)bytes.ptr + begin, at - begin);
        cn_text_fill(out, ' ', TAB - column % TAB);
        column += TAB - column % TAB;
        begin = ++at;
    }
    cn_utf8_add_printable_chars(out, (const char *)bytes.ptr + begin, at - begin);
}
