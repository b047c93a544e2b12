/* "# uftrace-option: -A fopen@arg1/s -F 'a b'" in the comments of a script. */

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/files/file.h"
#include "base/text.h"
#include "script/script.h"

enum { SCRIPT_MAX = 16 << 20, WORDS_MAX = 1000 };

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static bool add_words(struct cn_script_options *options, const char *text, size_t len,
                      struct cn_error *err)
{
    struct cn_text word = {0};
    size_t i = 0;
    bool ok = true;

    while (ok) {
        char quote = 0;

        while (i < len && is_blank(text[i]))
            i++;
        if (i == len)
            break;
        cn_text_clear(&word);
        for (; i < len && (quote || !is_blank(text[i])); i++) {
            if (quote ? text[i] == quote : text[i] == '"' || text[i] == '\'')
                quote = quote ? 0 : text[i];
            else
                cn_text_char(&word, text[i]);
        }
        if (quote)
            ok = cn_fail(err, CN_ERR_FORMAT, "uftrace-option: no closing %c", quote);
        else if (options->count == WORDS_MAX)
            ok = cn_fail(err, CN_ERR_LIMIT, "uftrace-option: more than %d words",
                         WORDS_MAX);
        if (!ok)
            break;
        CN_PUSH(options->words, options->count, options->capacity,
                cn_strdup(cn_text_str(&word)));
    }
    cn_text_done(&word);
    return ok;
}

/* The options in a line, which is a comment; NULL when there are none. */
static const char *options_in(const char *line, const char *end)
{
    static const char mark[] = "uftrace-option:";

    while (line < end && is_blank(*line))
        line++;
    if (line == end ||
        (*line != '#' && (*line != '-' || line + 1 == end || line[1] != '-')))
        return NULL;
    const char *found = memmem(line, (size_t)(end - line), mark, sizeof(mark) - 1);
    return found ? found + sizeof(mark) - 1 : NULL;
}

bool cn_script_options_read(struct cn_script_options *options, const char *path,
                            struct cn_error *err)
{
    struct cn_file file = {0};
    const char *at, *end;
    bool ok = true;

    *options = (struct cn_script_options){0};
    if (!cn_file_open(&file, path, err))
        return false;
    if (file.bytes.len > SCRIPT_MAX)
        ok = cn_fail(err, CN_ERR_LIMIT, "larger than %d MB", SCRIPT_MAX >> 20);
    at = (const char *)file.bytes.ptr;
    end = at + file.bytes.len;
    while (ok && at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        const char *found = options_in(at, stop ? stop : end);

        if (found)
            ok = add_words(options, found, (size_t)((stop ? stop : end) - found), err);
        at = stop ? stop + 1 : end;
    }
    cn_file_close(&file);
    if (ok)
        return true;
    cn_script_options_done(options);
    return cn_fail_in(err, "%s", path);
}

void cn_script_options_done(struct cn_script_options *options)
{
    for (size_t i = 0; i < options->count; i++)
        free(options->words[i]);
    free(options->words);
    *options = (struct cn_script_options){0};
}
