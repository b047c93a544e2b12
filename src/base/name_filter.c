#include "base/name_filter.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/regex.h"

struct cn_name_pattern {
    enum cn_match match;
    char *text;
    char *needed; /* of a regular expression: a name without this text cannot match */
    bool is_text; /* the expression is just that text */
    bool is_simple;
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
        /* Only part of a character may be in front of the star. */
        bool is_one_byte = ((unsigned char)pattern[i] & 0x80) == 0;
        bool is_plain = i < len && is_one_byte && !strchr(".*+?^$", pattern[i]);
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

/* Text, "." and ".*" alone, perhaps held at the begin or the end of the name. */
static bool is_simple(const char *pattern)
{
    if (strpbrk(pattern, "|(){}[]\\+?"))
        return false;
    for (size_t i = 0; pattern[i] != '\0'; i++)
        if ((pattern[i] == '*' && (i == 0 || pattern[i - 1] != '.')) ||
            (pattern[i] == '^' && i > 0) || (pattern[i] == '$' && pattern[i + 1] != '\0'))
            return false;
    return true;
}

/* The same as the regular expression, ten times as fast. After a mismatch, all that can help
 * is that what stands before the last ".*" is left as it is. */
static bool matches_simple(const char *at, const char *name)
{
    const char *retry = NULL, *retry_name = name;

    if (*at == '^')
        at++;
    else
        retry = at;
    for (;;) {
        if (at[0] == '.' && at[1] == '*') {
            at += 2;
            retry = at;
            retry_name = name;
        } else if (*at == '\0' || (*at == '$' && *name == '\0')) {
            return true;
        } else if (*name != '\0' && *at != '$' && (*at == '.' || *at == *name)) {
            at++;
            name++;
        } else if (!retry || *retry_name == '\0') {
            return false;
        } else {
            at = retry;
            name = ++retry_name;
        }
    }
}

/* To expressions, "." is a character, whatever bytes it has. */
static bool is_ascii(const char *name)
{
    while (*name != '\0' && ((unsigned char)*name & 0x80) == 0)
        name++;
    return *name == '\0';
}

static bool matches_regex(const struct cn_name_pattern *pattern, const char *name)
{
    if (!strstr(name, pattern->needed))
        return false;
    if (pattern->is_text)
        return true;
    if (pattern->is_simple && is_ascii(name))
        return matches_simple(pattern->text, name);
    return regexec(&pattern->regex, name, 0, NULL, 0) == 0;
}

static bool matches(const struct cn_name_pattern *pattern, const char *name)
{
    switch (pattern->match) {
    case CN_MATCH_GLOB:
        return fnmatch(pattern->text, name, 0) == 0;
    case CN_MATCH_REGEX:
        return matches_regex(pattern, name);
    case CN_MATCH_NAME:
    default:
        return strcmp(pattern->text, name) == 0;
    }
}

bool cn_name_filter_add(struct cn_name_filter *filter, const char *pattern,
                        enum cn_match match, struct cn_error *err)
{
    struct cn_name_pattern added = {.match = match};

    if (match == CN_MATCH_REGEX &&
        !cn_regex_compile(&added.regex, pattern, filter->repeats_left, err))
        return cn_fail_in(err, "pattern '%.100s'", pattern);
    added.text = cn_strdup(pattern);
    added.needed = match == CN_MATCH_REGEX ? needed_text(pattern) : NULL;
    added.is_simple = is_simple(pattern);
    added.is_text = added.needed && strcmp(added.needed, pattern) == 0;
    filter->patterns =
        cn_realloc(filter->patterns, filter->count + 1, sizeof(*filter->patterns));
    filter->patterns[filter->count++] = added;
    return true;
}

bool cn_name_filter_matches(const struct cn_name_filter *filter, const char *name)
{
    for (size_t i = 0; i < filter->count; i++)
        if (matches(&filter->patterns[i], name))
            return true;
    return filter->count == 0;
}

void cn_name_filter_done(struct cn_name_filter *filter)
{
    for (size_t i = 0; i < filter->count; i++) {
        free(filter->patterns[i].text);
        free(filter->patterns[i].needed);
        if (filter->patterns[i].match == CN_MATCH_REGEX)
            regfree(&filter->patterns[i].regex);
    }
    free(filter->patterns);
    *filter = (struct cn_name_filter){0};
}
