#include "launcher/pattern.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/regex.h"

bool cn_pattern_is_name(const char *text, bool is_glob)
{
    return strpbrk(text, is_glob ? "*?[]{}" : ".?*+-^$|()[]{}") == NULL;
}

bool cn_pattern_init(struct cn_pattern *pattern, const char *text, size_t len,
                     bool is_glob, struct cn_error *err)
{
    *pattern = (struct cn_pattern){.text = cn_alloc(len + 1, 1)};
    memcpy(pattern->text, text, len);
    pattern->is_name = cn_pattern_is_name(pattern->text, is_glob);
    if (pattern->is_name || is_glob)
        return true;
    if (cn_regex_new(&pattern->regex, pattern->text, 0, err))
        return true;
    (void)cn_fail_in(err, "'%s' is no regular expression", pattern->text);
    cn_pattern_done(pattern);
    return false;
}

void cn_pattern_done(struct cn_pattern *pattern)
{
    cn_regex_free(pattern->regex);
    free(pattern->text);
    *pattern = (struct cn_pattern){0};
}

bool cn_pattern_matches(const struct cn_pattern *pattern, const char *name)
{
    if (pattern->is_name)
        return strcmp(pattern->text, name) == 0;
    if (pattern->regex)
        return cn_regex_matches(pattern->regex, name, strlen(name));
    return fnmatch(pattern->text, name, 0) == 0;
}
