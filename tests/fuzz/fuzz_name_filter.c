/* Any text as a pattern and a name, a line each: the pattern is refused, or takes little memory and
 * matches what the C library says it matches. */

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/name_filter.h"
#include "base/regex.h"
#include "support/fuzz.h"

static void compare(const char *pattern, const char *name)
{
    struct cn_name_filter filter = {0};
    struct cn_error err = {0};
    regex_t regex;

    if (cn_name_filter_add(&filter, pattern, CN_MATCH_REGEX, &err)) {
        assert(cn_regex_compile(&regex, pattern, NULL, &err));
        assert(cn_name_filter_matches(&filter, name) ==
               (regexec(&regex, name, 0, NULL, 0) == 0));
        regfree(&regex);
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
