/* A pattern that names of functions are compared with: a name, a regular expression or a
 * glob.
 * Threads: one thread at a time.
 */
#ifndef CN_LAUNCHER_PATTERN_H
#define CN_LAUNCHER_PATTERN_H

#include <stddef.h>

#include "base/error.h"

struct cn_regex;

struct cn_pattern {
    char *text;
    struct cn_regex *regex; /* NULL for names and globs */
    bool is_name;
};

/* A text without special characters is a name. */
CN_CHECK bool cn_pattern_init(struct cn_pattern *pattern, const char *text, size_t len,
                              bool is_glob, struct cn_error *err);
void cn_pattern_done(struct cn_pattern *pattern);

bool cn_pattern_matches(const struct cn_pattern *pattern, const char *name);

/* Whether a name means itself where a pattern is expected. */
bool cn_pattern_is_name(const char *text, bool is_glob);

#endif
