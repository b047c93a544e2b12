#include "store/search/query_program.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum { REPEAT_MAX = 255, WORK_MAX = 1 << 16 };

struct compiler {
    const char *text, *at;
    struct cn_query_pattern_code *code;
    size_t count;
    unsigned depth;
    unsigned work; /* pieces parsed, repetitions included */
    struct cn_error *err;
};

static bool fail(const struct compiler *c, const char *what)
{
    return cn_fail(c->err, CN_ERR_USAGE, "pattern, character %d: %s",
                   (int)(c->at - c->text) + 1, what);
}

static bool emit(struct compiler *c, struct cn_query_pattern_code code)
{
    if (c->count == CN_QUERY_PATTERN_SIZE_MAX)
        return fail(c, "the pattern is too large");
    c->code[c->count++] = code;
    return true;
}

/* Put an instruction before what was emitted since `begin`. */
static bool insert(struct compiler *c, size_t begin, struct cn_query_pattern_code code)
{
    if (!emit(c, code))
        return false;
    memmove(c->code + begin + 1, c->code + begin,
            (c->count - 1 - begin) * sizeof(*c->code));
    c->code[begin] = code;
    return true;
}

static void set_add(struct cn_query_pattern_set *set, unsigned char byte)
{
    set->bits[byte / 64] |= UINT64_C(1) << byte % 64;
}

static void set_add_range(struct cn_query_pattern_set *set, unsigned first, unsigned last)
{
    for (unsigned byte = first; byte <= last; byte++)
        set_add(set, (unsigned char)byte);
}

static void set_invert(struct cn_query_pattern_set *set)
{
    for (unsigned i = 0; i < 4; i++)
        set->bits[i] = ~set->bits[i];
}

/* \d, \w, \s, their opposites, or the character itself. */
static void set_add_escape(struct cn_query_pattern_set *set, char letter)
{
    struct cn_query_pattern_set added = {0};

    switch (letter) {
    case 'd':
    case 'D':
        set_add_range(&added, '0', '9');
        break;
    case 'w':
    case 'W':
        set_add_range(&added, '0', '9');
        set_add_range(&added, 'A', 'Z');
        set_add_range(&added, 'a', 'z');
        set_add(&added, '_');
        break;
    case 's':
    case 'S':
        set_add_range(&added, '\t', '\r');
        set_add(&added, ' ');
        break;
    case 't':
        set_add(&added, '\t');
        break;
    case 'n':
        set_add(&added, '\n');
        break;
    default:
        set_add(&added, (unsigned char)letter);
        break;
    }
    if (letter == 'D' || letter == 'W' || letter == 'S')
        set_invert(&added);
    for (unsigned i = 0; i < 4; i++)
        set->bits[i] |= added.bits[i];
}

/* What stands between [ and ]. */
static bool parse_set(struct compiler *c, struct cn_query_pattern_set *set)
{
    bool is_inverted = *c->at == '^';
    const char *first;

    c->at += is_inverted;
    for (first = c->at; *c->at != ']' || c->at == first;) {
        unsigned char low = (unsigned char)*c->at, high = low;

        if (low == '\0')
            return fail(c, "a '[' without its ']'");
        c->at++;
        if (low == '\\') {
            if (!*c->at)
                return fail(c, "nothing after a '\\'");
            set_add_escape(set, *c->at++);
            continue;
        }
        if (c->at[0] == '-' && c->at[1] != ']' && c->at[1] != '\0') {
            high = (unsigned char)c->at[1];
            c->at += 2;
        }
        if (high < low)
            return fail(c, "a range that runs backwards");
        set_add_range(set, low, high);
    }
    c->at++;
    if (is_inverted)
        set_invert(set);
    return true;
}

static bool parse_either(struct compiler *c);

static bool parse_group(struct compiler *c)
{
    if (++c->depth > CN_QUERY_PATTERN_DEPTH_MAX)
        return fail(c, "nested too deeply");
    if (!parse_either(c))
        return false;
    if (*c->at != ')')
        return fail(c, "a '(' without its ')'");
    c->at++;
    c->depth--;
    return true;
}

static bool parse_atom(struct compiler *c)
{
    struct cn_query_pattern_code code = {.op = CN_QUERY_PATTERN_SET};

    if (++c->work > WORK_MAX)
        return fail(c, "the pattern is too large");
    switch (*c->at) {
    case '(':
        c->at++;
        return parse_group(c);
    case '^':
        c->at++;
        return emit(c, (struct cn_query_pattern_code){.op = CN_QUERY_PATTERN_BEGIN});
    case '$':
        c->at++;
        return emit(c, (struct cn_query_pattern_code){.op = CN_QUERY_PATTERN_END});
    case '*':
    case '+':
    case '?':
    case '{':
        return fail(c, "nothing to repeat");
    case '.':
        set_invert(&code.set);
        c->at++;
        break;
    case '[':
        c->at++;
        if (!parse_set(c, &code.set))
            return false;
        break;
    case '\\':
        if (!c->at[1])
            return fail(c, "nothing after a '\\'");
        set_add_escape(&code.set, c->at[1]);
        c->at += 2;
        break;
    default:
        set_add(&code.set, (unsigned char)*c->at++);
        break;
    }
    return emit(c, code);
}

/* Zero or more of what was emitted since `begin`. */
static bool wrap_star(struct compiler *c, size_t begin)
{
    int len = (int)(c->count - begin);

    return insert(c, begin,
                  (struct cn_query_pattern_code){.op = CN_QUERY_PATTERN_SPLIT,
                                                 .to = len + 2}) &&
           emit(c, (struct cn_query_pattern_code){.op = CN_QUERY_PATTERN_JUMP,
                                                  .to = -(len + 1)});
}

static bool wrap_optional(struct compiler *c, size_t begin)
{
    int len = (int)(c->count - begin);

    return insert(
        c, begin,
        (struct cn_query_pattern_code){.op = CN_QUERY_PATTERN_SPLIT, .to = len + 1});
}

static bool parse_count(struct compiler *c, unsigned *out)
{
    unsigned value = 0;

    if (*c->at < '0' || *c->at > '9')
        return fail(c, "a number is missing");
    for (; *c->at >= '0' && *c->at <= '9'; c->at++) {
        value = value * 10 + (unsigned)(*c->at - '0');
        if (value > REPEAT_MAX)
            return fail(c, "more than 255 repetitions");
    }
    *out = value;
    return true;
}

/* Up to `max` copies, the first `min` of which have to be there: the atom is parsed again for
 * each. UINT_MAX is no limit. */
static bool repeat(struct compiler *c, const char *atom, size_t begin, unsigned min,
                   unsigned max)
{
    const char *behind = c->at;

    c->count = begin;
    for (unsigned i = 0; i < min || (i < max && max <= REPEAT_MAX); i++) {
        size_t copy = c->count;

        c->at = atom;
        if (!parse_atom(c) || (i >= min && !wrap_optional(c, copy)))
            return false;
    }
    if (max > REPEAT_MAX) {
        size_t copy = c->count;

        c->at = atom;
        if (!parse_atom(c) || !wrap_star(c, copy))
            return false;
    }
    c->at = behind;
    return true;
}

static bool parse_braces(struct compiler *c, unsigned *min, unsigned *max)
{
    if (!parse_count(c, min))
        return false;
    *max = *min;
    if (*c->at == ',') {
        c->at++;
        *max = REPEAT_MAX + 1;
        if (*c->at != '}' && !parse_count(c, max))
            return false;
    }
    if (*c->at != '}' || *max < *min)
        return fail(c, "not a number of repetitions like {2,5}");
    c->at++;
    return true;
}

static bool parse_repeated(struct compiler *c)
{
    const char *atom = c->at;
    size_t begin = c->count;
    unsigned min, max;

    if (!parse_atom(c))
        return false;
    switch (*c->at) {
    case '*':
        c->at++;
        return wrap_star(c, begin);
    case '?':
        c->at++;
        return wrap_optional(c, begin);
    case '+':
        c->at++;
        return repeat(c, atom, begin, 1, REPEAT_MAX + 1);
    case '{':
        c->at++;
        return parse_braces(c, &min, &max) && repeat(c, atom, begin, min, max);
    default:
        return true;
    }
}

static bool parse_either(struct compiler *c)
{
    size_t begin = c->count;

    while (*c->at && *c->at != '|' && *c->at != ')') {
        if (!parse_repeated(c))
            return false;
    }
    while (*c->at == '|') {
        size_t right;
        int len = (int)(c->count - begin);

        c->at++;
        if (!insert(c, begin,
                    (struct cn_query_pattern_code){.op = CN_QUERY_PATTERN_SPLIT,
                                                   .to = len + 2}) ||
            !emit(c, (struct cn_query_pattern_code){.op = CN_QUERY_PATTERN_JUMP}))
            return false;
        right = c->count;
        while (*c->at && *c->at != '|' && *c->at != ')') {
            if (!parse_repeated(c))
                return false;
        }
        c->code[right - 1].to = (int)(c->count - right) + 1;
    }
    return true;
}

bool cn_query_pattern_compile(struct cn_query_program *program, const char *text,
                              struct cn_error *err)
{
    struct compiler c = {.text = text, .at = text, .err = err};
    bool ok;

    if (strlen(text) > CN_QUERY_PATTERN_LEN_MAX)
        return cn_fail(err, CN_ERR_USAGE, "a pattern of %zu bytes, the limit is %d",
                       strlen(text), CN_QUERY_PATTERN_LEN_MAX);
    c.code = cn_alloc(CN_QUERY_PATTERN_SIZE_MAX, sizeof(*c.code));
    ok = parse_either(&c);
    if (ok && *c.at)
        ok = fail(&c, "a ')' without its '('");
    ok = ok && emit(&c, (struct cn_query_pattern_code){.op = CN_QUERY_PATTERN_MATCH});
    if (!ok) {
        free(c.code);
        return false;
    }
    *program = (struct cn_query_program){c.code, c.count};
    return true;
}
