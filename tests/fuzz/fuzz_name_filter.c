/* Any text as a pattern and a name, a line each: the pattern is refused or can be matched. The
 * result of a simple one is that of the C library. */

#include <assert.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/name_filter.h"
#include "support/fuzz.h"

/* One that the C library matches correctly, in little time. */
static bool is_simple(const char *pattern)
{
    size_t len = strlen(pattern);

    return len <= 16 && strspn(pattern, "ab.*+?|()") == len;
}

static void compare(const char *pattern, const char *name)
{
    struct cn_name_filter filter = {0};
    struct cn_error err = {0};
    regex_t regex;

    if (cn_name_filter_add(&filter, pattern, CN_MATCH_REGEX, &err)) {
        bool is_match = cn_name_filter_matches(&filter, name);

        assert(cn_name_filter_matches(&filter, name) == is_match);
        if (is_simple(pattern)) {
            assert(regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB) == 0);
            assert((regexec(&regex, name, 0, NULL, 0) == 0) == is_match);
            regfree(&regex);
        }
    } else {
        assert(err.text[0] != '\0');
    }
    cn_name_filter_done(&filter);
    assert(cn_name_filter_add(&filter, pattern, CN_MATCH_GLOB, &err));
    (void)cn_name_filter_matches(&filter, name);
    cn_name_filter_done(&filter);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    char *text = cn_alloc(len + 1, 1);
    char *name;

    if (len > 0)
        memcpy(text, data, len);
    name = strchr(text, '\n');
    if (name)
        *name++ = '\0';
    compare(text, name ? name : "std::vector<int>::push_back");
    free(text);
    return 0;
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    static const char *const seeds[] = {
        "push_b*ack\nstd::push_ack",         "ab+*c\nac",
        "^std::(vector|list)<.*>::[a-z_]+$", "[[:alpha:]]{2,5}\\(x\\)?",
        "((a{9}){9})+b|c\naaaaaaaab",        "net_[!a-c]*\nnet_d",
    };

    for (size_t i = 0; i < sizeof(seeds) / sizeof(seeds[0]); i++)
        emit((const uint8_t *)seeds[i], strlen(seeds[i]));
}
