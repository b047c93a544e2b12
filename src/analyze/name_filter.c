#include "analyze/name_filter.h"

#include <fnmatch.h>
#include <regex.h>
#include <stdlib.h>

#include "base/alloc.h"

struct cn_name_pattern {
    enum cn_match match;
    char *glob;
    regex_t regex;
};

bool cn_name_filter_add(struct cn_name_filter *filter, const char *pattern,
                        enum cn_match match, struct cn_error *err)
{
    struct cn_name_pattern added = {.match = match};
    char reason[128];
    int code = 0;

    if (match == CN_MATCH_REGEX)
        code = regcomp(&added.regex, pattern, REG_EXTENDED | REG_NOSUB);
    if (code != 0) {
        (void)regerror(code, &added.regex, reason, sizeof(reason));
        return cn_fail(err, CN_ERR_USAGE, "pattern '%s': %s", pattern, reason);
    }
    added.glob = cn_strdup(pattern);
    filter->patterns =
        cn_realloc(filter->patterns, filter->count + 1, sizeof(*filter->patterns));
    filter->patterns[filter->count++] = added;
    return true;
}

bool cn_name_filter_matches(const struct cn_name_filter *filter, const char *name)
{
    for (size_t i = 0; i < filter->count; i++) {
        const struct cn_name_pattern *pattern = &filter->patterns[i];
        int mismatch = pattern->match == CN_MATCH_REGEX
                           ? regexec(&pattern->regex, name, 0, NULL, 0)
                           : fnmatch(pattern->glob, name, 0);

        if (mismatch == 0)
            return true;
    }
    return filter->count == 0;
}

void cn_name_filter_done(struct cn_name_filter *filter)
{
    for (size_t i = 0; i < filter->count; i++) {
        free(filter->patterns[i].glob);
        if (filter->patterns[i].match == CN_MATCH_REGEX)
            regfree(&filter->patterns[i].regex);
    }
    free(filter->patterns);
    *filter = (struct cn_name_filter){0};
}
