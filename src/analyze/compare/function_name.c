#include "analyze/compare/function_name.h"

#include <ctype.h>
#include <string.h>

#include "base/text.h"

/* What compilers append after a dot, with a number after some of them. */
static const char *const clones[] = {
    "constprop",  "isra",     "part", "cold",    "lto_priv", "llvm",   "clone",
    "localalias", "unlikely", "warm", "startup", "exit",     "resume", "destroy",
};

/* The length of a name without clone suffixes: ".isra.0", ".cold". */
static size_t without_clones(const char *name, size_t len)
{
    for (;;) {
        size_t end = len, dot;

        while (end > 0 && isdigit((unsigned char)name[end - 1]))
            end--;
        if (end > 0 && end < len && name[end - 1] == '.')
            end--;
        else
            end = len;
        dot = end;
        while (dot > 0 && name[dot - 1] != '.' && name[dot - 1] != ')')
            dot--;
        if (dot < 2 || name[dot - 1] != '.')
            return len;
        for (size_t i = 0;; i++) {
            if (i == sizeof(clones) / sizeof(*clones))
                return len;
            if (strlen(clones[i]) == end - dot &&
                memcmp(clones[i], name + dot, end - dot) == 0)
                break;
        }
        len = dot - 1;
    }
}

/* The length without " [clone .isra.0]", also several of them. */
static size_t without_brackets(const char *name, size_t len)
{
    static const char begin[] = " [clone ";

    while (len > 0 && name[len - 1] == ']') {
        size_t at = len;

        while (at > 0 && name[at - 1] != '[')
            at--;
        if (at < 2 || at - 2 + sizeof(begin) - 1 > len ||
            memcmp(name + at - 2, begin, sizeof(begin) - 1) != 0)
            return len;
        len = at - 2;
    }
    return len;
}

/* The length without "::h0123456789abcdef". */
static size_t without_hash(const char *name, size_t len)
{
    enum { DIGITS = 16, HASH = 3 + DIGITS };

    if (len <= HASH || memcmp(name + len - HASH, "::h", 3) != 0)
        return len;
    for (size_t i = len - DIGITS; i < len; i++)
        if (!isxdigit((unsigned char)name[i]))
            return len;
    return len - HASH;
}

/* True if the name ends with "+0x2f00"; `*out` is the length before it. */
static bool is_address(const char *name, size_t len, size_t *out)
{
    size_t at = len;

    while (at > 0 && isxdigit((unsigned char)name[at - 1]))
        at--;
    if (at == len || at < 4 || memcmp(name + at - 3, "+0x", 3) != 0)
        return false;
    *out = at - 3;
    return true;
}

static size_t without_anonymous(const char **name)
{
    static const char begin[] = "<anonymous at ";
    size_t len = strlen(*name);

    if (strncmp(*name, begin, sizeof(begin) - 1) != 0 || (*name)[len - 1] != '>')
        return len;
    *name += sizeof(begin) - 1;
    return len - sizeof(begin);
}

void cn_function_name_add(struct cn_text *text, const char *name)
{
    static const char tag[] = "[abi:";
    size_t len = without_anonymous(&name), bare;

    if (is_address(name, len, &bare)) {
        cn_text_add(text, name, bare);
        cn_text_str_add(text, "+?");
        return;
    }
    len = without_clones(name, without_brackets(name, len));
    len = without_hash(name, len);
    while (len > 0) {
        const char *at = memmem(name, len, tag, sizeof(tag) - 1);
        const char *end = at ? memchr(at, ']', len - (size_t)(at - name)) : NULL;

        if (!end) {
            cn_text_add(text, name, len);
            return;
        }
        cn_text_add(text, name, (size_t)(at - name));
        size_t used = (size_t)(end + 1 - name);
        name += used;
        len -= used;
    }
}
