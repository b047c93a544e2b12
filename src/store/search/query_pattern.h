/* Patterns of text (regular expressions) that anybody may hand in: matching takes time in
 * proportion to the text, whatever the pattern, and memory has a limit.
 *
 * Understood as in extended regular expressions: . [abc] [^a-z] ^ $ | ( ) * + ? {m} {m,} {m,n},
 * \d \w \s \D \W \S, and \ before a character that means something. Characters are bytes: a dot
 * is half of a two-byte character. A pattern is searched for anywhere in the text.
 * Threads: one thread at a time; matching remembers what it has worked out.
 */
#ifndef CN_STORE_SEARCH_QUERY_PATTERN_H
#define CN_STORE_SEARCH_QUERY_PATTERN_H

#include "base/bytes/bytes.h"
#include "base/error.h"

enum {
    CN_QUERY_PATTERN_LEN_MAX = 1024,
    CN_QUERY_PATTERN_SIZE_MAX = 1024, /* instructions, repetitions written out */
    CN_QUERY_PATTERN_DEPTH_MAX = 32,  /* of parentheses */
};

struct cn_query_pattern;

CN_CHECK bool cn_query_pattern_new(struct cn_query_pattern **out, const char *text,
                                   struct cn_error *err);
void cn_query_pattern_free(struct cn_query_pattern *pattern); /* NULL is fine */

bool cn_query_pattern_matches(struct cn_query_pattern *pattern, struct cn_bytes text);

#endif
