#include "store/traceql/pattern.h"

#include <ctype.h>
#include <string.h>

#include "base/regex.h"
#include "base/text.h"

/* True if `at` is the end of something that repeats: the "?" after it makes it lazy. */
static bool is_lazy(const char *text, const char *at)
{
    return *at == '?' && at > text && strchr("*+?}", at[-1]) &&
           !(at - 1 > text && at[-2] == '\\');
}

/* After "(?". False if it is neither ":" nor the name of a group. */
static bool skip_group_kind(const char **at)
{
    const char *end;

    if (**at == ':') {
        ++*at;
        return true;
    }
    if (**at == 'P')
        ++*at;
    if (**at != '<' || !(end = strchr(*at, '>')))
        return false;
    *at = end + 1;
    return true;
}

/* Copy an escape: those that cn_regex would read as a plain letter are refused. */
static bool add_escape(const char **at, struct cn_text *out, struct cn_error *err)
{
    char c = (*at)[1];

    if (!c)
        return cn_fail(err, CN_ERR_USAGE, "a pattern ends with a \\");
    if (c == 'A' || c == 'z') {
        cn_text_char(out, c == 'A' ? '^' : '$');
    } else if (isalnum((unsigned char)c) && !strchr("dDwWsSbBtn", c)) {
        return cn_fail(err, CN_ERR_USAGE, "\\%c is not supported in patterns", c);
    } else {
        cn_text_char(out, '\\');
        cn_text_char(out, c);
    }
    *at += 2;
    return true;
}

static bool translate(const char *text, struct cn_text *out, struct cn_error *err)
{
    bool is_in_class = false;

    for (const char *at = text; *at;) {
        if (*at == '\\') {
            if (!add_escape(&at, out, err))
                return false;
            continue;
        }
        if (!is_in_class && at[0] == '(' && at[1] == '?') {
            cn_text_char(out, '(');
            at += 2;
            if (!skip_group_kind(&at))
                return cn_fail(err, CN_ERR_USAGE,
                               "flags and look-around inside of a pattern are not "
                               "supported");
            continue;
        }
        if (!is_in_class && is_lazy(text, at)) {
            at++;
            continue;
        }
        if (*at == '[' && !is_in_class)
            is_in_class = true;
        else if (*at == ']')
            is_in_class = false;
        cn_text_char(out, *at++);
    }
    return true;
}

/* Flags at the beginning: "(?i)", "(?s)", "(?is)". */
static const char *skip_flags(const char *text, unsigned *flags)
{
    const char *end = strchr(text, ')');

    if (strncmp(text, "(?", 2) != 0 || !end ||
        strspn(text + 2, "is") != (size_t)(end - text - 2) || end == text + 2)
        return text;
    if (memchr(text, 'i', (size_t)(end - text)))
        *flags |= CN_REGEX_IGNORE_CASE;
    return end + 1;
}

bool cn_tql_pattern(struct cn_arena *arena, struct cn_bytes text, struct cn_regex **regex,
                    const char **pattern, struct cn_error *err)
{
    struct cn_text out = {0};
    unsigned flags = 0;
    bool ok;

    if (text.len > 0 && memchr(text.ptr, '\0', text.len))
        return cn_fail(err, CN_ERR_USAGE, "a pattern has a NUL character");
    const char *copy = cn_arena_copy(arena, (const char *)text.ptr, text.len);
    const char *begin = skip_flags(copy, &flags);
    cn_text_str_add(&out, "^(");
    ok = translate(begin, &out, err);
    cn_text_str_add(&out, *begin ? ")$" : "|)$");
    ok = ok && cn_regex_new(regex, cn_text_str(&out), flags, err);
    if (ok)
        *pattern = flags ? "" : cn_arena_copy(arena, cn_text_str(&out), out.len);
    cn_text_done(&out);
    return ok || cn_fail_in(err, "pattern '%.100s'", copy);
}
