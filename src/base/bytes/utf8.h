/* UTF-8 from untrusted files: checked, and made safe to print.
 * Threads: any thread.
 */
#ifndef CN_BASE_BYTES_UTF8_H
#define CN_BASE_BYTES_UTF8_H

#include <stdbool.h>
#include <stddef.h>

struct cn_arena;
struct cn_text;

/* The length in bytes of the well-formed character that starts at `chars`; 0 when there
 * is none (overlong forms, surrogates and cut-off sequences are not well formed). */
size_t cn_utf8_char_len(const char *chars, size_t len);

bool cn_utf8_is_valid(const char *chars, size_t len);

/* Append `str` in a form that is safe on a terminal: control characters (as in an escape
 * sequence in a function name) and bytes that are not UTF-8 appear as \xHH. */
void cn_utf8_add_printable(struct cn_text *text, const char *str);
void cn_utf8_add_printable_chars(struct cn_text *text, const char *chars, size_t len);

/* A copy in which bytes that are not UTF-8 appear as \xHH, for files that must be
 * UTF-8. */
const char *cn_utf8_strdup(struct cn_arena *arena, const char *str);

/* Columns a terminal needs for a printable string: combining marks take none, wide
 * characters two. */
size_t cn_utf8_width(const char *str);

#endif
