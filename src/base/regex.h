/* Regular expressions from people, files and requests: POSIX extended ones that take little
 * memory and time.
 *
 * The C library copies what is repeated, so that "((a{99}){99}){99}" takes gigabytes and every
 * "+" around another doubles it; it follows parentheses by recursion and back-references by
 * trial, and takes for ever where anchors and repetitions of what may be empty come together
 * ("^(a*)*" twenty times). What would do harm is refused.
 * Threads: any thread.
 */
#ifndef CN_BASE_REGEX_H
#define CN_BASE_REGEX_H

#include <regex.h>
#include <stdint.h>

#include "base/error.h"

/* All but the depth are counted after copying. */
enum {
    CN_REGEX_SIZE_MAX = 5000,   /* characters and sets to match */
    CN_REGEX_REPEATS_MAX = 200, /* "*", "?", "+" and "{}" */
    CN_REGEX_ANCHORS_MAX = 8,   /* "^", "$", "\b" and the like, of the branch with most */
    CN_REGEX_DEPTH_MAX = 64,    /* of parentheses */
};

/* To be released with regfree(). `repeats_left` (NULL: one of few) is what all expressions may
 * have together; those of this one are taken off. The message is the reason alone. */
CN_CHECK bool cn_regex_compile(regex_t *out, const char *pattern, uint64_t *repeats_left,
                               struct cn_error *err);

#endif
