/* A filter for names: patterns as users type them.
 * Threads: one thread at a time, as base/regex.h.
 */
#ifndef CN_BASE_NAME_FILTER_H
#define CN_BASE_NAME_FILTER_H

#include <stddef.h>

#include "base/error.h"

enum cn_match {
    CN_MATCH_GLOB,  /* "solve*": the whole name */
    CN_MATCH_REGEX, /* base/regex.h, anywhere in the name */
    CN_MATCH_NAME,  /* the name itself */
    CN_MATCH_PATH,  /* "a.c", "src/a.c": paths that end so */
};

struct cn_name_pattern;

/* A zeroed filter has no patterns and matches every name. */
struct cn_name_filter {
    struct cn_name_pattern *patterns;
    size_t count;
    /* Instructions left for regular expressions (cn_regex_size); NULL: no limit. */
    size_t *size_left;
};

/* How to match a pattern for source files: text without special characters is a path. */
enum cn_match cn_match_of_path(const char *pattern, enum cn_match match);

/* Add a pattern; a name matches if any pattern does. */
CN_CHECK bool cn_name_filter_add(struct cn_name_filter *filter, const char *pattern,
                                 enum cn_match match, struct cn_error *err);

bool cn_name_filter_matches(const struct cn_name_filter *filter, const char *name);
void cn_name_filter_done(struct cn_name_filter *filter);

#endif
