#include "base/name_filter.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/regex.h"

struct cn_name_pattern {
    struct cn_regex *regex; /* NULL for a glob */
    char *glob;
};

bool cn_name_filter_add(struct cn_name_filter *filter, const char *pattern,
                        enum cn_match match, struct cn_error *err)
{
    struct cn_name_pattern added = {0};

    if (match == CN_MATCH_GLOB)
        added.glob = cn_strdup(pattern);
    else if (!cn_regex_new(&added.regex, pattern, 0, err))
        return cn_fail_in(err, "pattern '%.100s'", pattern);
    filter->patterns =
        cn_realloc(filter->patterns, filter->count + 1, sizeof(*filter->patterns));
    filter->patterns[filter->count++] = added;
    return true;
}

bool cn_name_filter_matches(const struct cn_name_filter *filter, const char *name)
{
    for (size_t i = 0; i < filter->count; i++) {
        const struct cn_name_pattern *pattern = &filter->patterns[i];

        if (pattern->regex ? cn_regex_matches(pattern->regex, name, strlen(name))
                           : fnmatch(pattern->glob, name, 0) == 0)
            return true;
    }
    return filter->count == 0;
}

void cn_name_filter_done(struct cn_name_filter *filter)
{
    for (size_t i = 0; i < filter->count; i++) {
        cn_regex_free(filter->patterns[i].regex);
        free(filter->patterns[i].glob);
    }
    free(filter->patterns);
    *filter = (struct cn_name_filter){0};
}
