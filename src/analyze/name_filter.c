#include "analyze/name_filter.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/regex.h"

struct cn_name_pattern {
    enum cn_match match;
    char *glob;
    char *needed; /* of a regular expression: a name without this text cannot match */
    bool is_text; /* the expression is just that text */
    regex_t regex;
};

/* The longest text that every match of a simple expression holds; "" for others. Looking
 * for it is many times faster than the expression. */
static char *needed_text(const char *pattern)
{
    size_t begin = 0, best = 0, best_len = 0, len = strlen(pattern);
    char *text;

    if (strpbrk(pattern, "|(){}[]\\"))
        return cn_strdup("");
    for (size_t i = 0; i <= len; i++) {
        bool is_plain = i < len && !strchr(".*+?^$", pattern[i]);
        /* "b+*" is optional, too. */
        char mark = is_plain ? pattern[i + 1 + strspn(pattern + i + 1, "+")] : '\0';
        bool is_optional = mark == '*' || mark == '?';

        if (is_plain && !is_optional)
            continue;
        if (i - begin > best_len) {
            best = begin;
            best_len = i - begin;
        }
        begin = i + 1;
    }
    text = cn_alloc(best_len + 1, 1);
    memcpy(text, pattern + best, best_len);
    return text;
}

bool cn_name_filter_add(struct cn_name_filter *filter, const char *pattern,
                        enum cn_match match, struct cn_error *err)
{
    struct cn_name_pattern added = {.match = match};

    if (match == CN_MATCH_REGEX && !cn_regex_compile(&added.regex, pattern, NULL, err))
        return cn_fail_in(err, "pattern '%.100s'", pattern);
    added.glob = cn_strdup(pattern);
    added.needed = match == CN_MATCH_REGEX ? needed_text(pattern) : NULL;
    added.is_text = added.needed && strcmp(added.needed, pattern) == 0;
    filter->patterns =
        cn_realloc(filter->patterns, filter->count + 1, sizeof(*filter->patterns));
    filter->patterns[filter->count++] = added;
    return true;
}

bool cn_name_filter_matches(const struct cn_name_filter *filter, const char *name)
{
    for (size_t i = 0; i < filter->count; i++) {
        const struct cn_name_pattern *pattern = &filter->patterns[i];
        if (pattern->match == CN_MATCH_REGEX
                ? strstr(name, pattern->needed) &&
                      (pattern->is_text ||
                       regexec(&pattern->regex, name, 0, NULL, 0) == 0)
                : fnmatch(pattern->glob, name, 0) == 0)
            return true;
    }
    return filter->count == 0;
}

void cn_name_filter_done(struct cn_name_filter *filter)
{
    for (size_t i = 0; i < filter->count; i++) {
        free(filter->patterns[i].glob);
        free(filter->patterns[i].needed);
        if (filter->patterns[i].match == CN_MATCH_REGEX)
            regfree(&filter->patterns[i].regex);
    }
    free(filter->patterns);
    *filter = (struct cn_name_filter){0};
}
