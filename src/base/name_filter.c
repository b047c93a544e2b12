#include "base/name_filter.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/regex.h"
#include "base/text.h"

struct cn_name_pattern {
    enum cn_match match;
    struct cn_regex *regex;
    char *text; /* of a glob or a name */
};

enum cn_match cn_match_of_path(const char *pattern, enum cn_match match)
{
    const char *special = match == CN_MATCH_GLOB ? "*?[" : "?*+^$|()[]{}\\";

    return strpbrk(pattern, special) ? match : CN_MATCH_PATH;
}

static bool add_regex(struct cn_name_filter *filter, struct cn_name_pattern *added,
                      const char *pattern, struct cn_error *err)
{
    if (!cn_regex_new(&added->regex, pattern, 0, err))
        return false;
    size_t size = cn_regex_size(added->regex);
    if (!filter->size_left)
        return true;
    if (size > *filter->size_left) {
        cn_regex_free(added->regex);
        return cn_fail(err, CN_ERR_LIMIT, "all patterns together are too large");
    }
    *filter->size_left -= size;
    return true;
}

bool cn_name_filter_add(struct cn_name_filter *filter, const char *pattern,
                        enum cn_match match, struct cn_error *err)
{
    struct cn_name_pattern added = {.match = match};

    if (match != CN_MATCH_REGEX)
        added.text = cn_strdup(pattern);
    else if (!add_regex(filter, &added, pattern, err))
        return cn_fail_in(err, "pattern '%.100s'", pattern);
    filter->patterns =
        cn_realloc(filter->patterns, filter->count + 1, sizeof(*filter->patterns));
    filter->patterns[filter->count++] = added;
    return true;
}

static bool ends_with(const char *path, const char *end)
{
    size_t len = strlen(path), end_len = strlen(end);

    return len >= end_len && strcmp(path + len - end_len, end) == 0 &&
           (len == end_len || path[len - end_len - 1] == '/');
}

static bool matches(const struct cn_name_pattern *pattern, const char *name)
{
    switch (pattern->match) {
    case CN_MATCH_GLOB:
        return fnmatch(pattern->text, name, 0) == 0;
    case CN_MATCH_REGEX:
        return cn_regex_matches(pattern->regex, name, strlen(name));
    case CN_MATCH_PATH:
        return ends_with(name, pattern->text);
    case CN_MATCH_NAME:
    default:
        return strcmp(pattern->text, name) == 0;
    }
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
        cn_regex_free(filter->patterns[i].regex);
        free(filter->patterns[i].text);
    }
    free(filter->patterns);
    *filter = (struct cn_name_filter){0};
}
