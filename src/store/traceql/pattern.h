/* Patterns of TraceQL, which are those of Go (RE2): the whole text has to match.
 *
 * Groups without a number, names of groups, lazy repetition and a leading (?i) or (?s) are translated;
 * classes of Unicode (\pL), \Q, \C and flags inside of a pattern are refused.
 * Threads: any thread; each pattern belongs to one.
 */
#ifndef CN_STORE_TRACEQL_PATTERN_H
#define CN_STORE_TRACEQL_PATTERN_H

#include "base/arena.h"
#include "base/bytes/bytes.h"
#include "base/error.h"

struct cn_regex;

/* `pattern` receives the expression as base/regex.h has it, "" if it ignores case; the caller frees
 * the regular expression. */
CN_CHECK bool cn_tql_pattern(struct cn_arena *arena, struct cn_bytes text,
                             struct cn_regex **regex, const char **pattern,
                             struct cn_error *err);

#endif
