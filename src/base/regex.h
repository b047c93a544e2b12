/* Regular expressions that users, files and requests supply. Matching takes time linear in
 * the text, whatever the expression, and memory is bounded.
 *
 *     cn_regex_new(&regex, "^net_(read|write)", 0, err)
 *     cn_regex_matches(regex, name, strlen(name))
 *     cn_regex_free(regex)
 *
 * The syntax is that of POSIX extended expressions, anchors anywhere, with the GNU escapes
 * \w \W \s \S \b \B \< \> \` \' and \d \D \t \n; any other escaped character stands for
 * itself, also in brackets. There are no back-references. A character is one of UTF-8, or a
 * byte that is not part of any; letters beyond ASCII are alphabetic, without case.
 * Threads: one thread at a time; matching caches states.
 */
#ifndef CN_BASE_REGEX_H
#define CN_BASE_REGEX_H

#include <stddef.h>

#include "base/error.h"

enum {
    CN_REGEX_LEN_MAX = 4096,  /* bytes of the expression */
    CN_REGEX_SIZE_MAX = 4096, /* instructions, repetitions written out */
    CN_REGEX_DEPTH_MAX = 64,  /* of parentheses */
};

enum cn_regex_flag { CN_REGEX_IGNORE_CASE = 1 };

struct cn_regex;

/* The message gives the reason and its column, but not the expression. */
CN_CHECK bool cn_regex_new(struct cn_regex **out, const char *text, unsigned flags,
                           struct cn_error *err);
void cn_regex_free(struct cn_regex *regex); /* NULL is fine */

/* True if the expression matches anywhere in the text. */
bool cn_regex_matches(struct cn_regex *regex, const char *text, size_t len);

/* Where an expression matches: of the matches at or after `from` that with the earliest begin, and of
 * these the longest, which may be empty. Time is linear in the text. */
struct cn_regex_finder;
CN_CHECK bool cn_regex_finder_new(struct cn_regex_finder **out, const char *text,
                                  unsigned flags, struct cn_error *err);
void cn_regex_finder_free(struct cn_regex_finder *finder); /* NULL is fine */
bool cn_regex_find(struct cn_regex_finder *finder, const char *text, size_t len,
                   size_t from, size_t *begin, size_t *end);

/* Instructions, a measure of memory and time. */
size_t cn_regex_size(const struct cn_regex *regex);

#endif
