#include "base/regex_program.h"

#include <ctype.h>
#include <limits.h>
#include <string.h>

#include "base/alloc.h"
#include "base/character.h"
#include "base/search.h"

enum { CODE_POINT_MAX = 0x10ffff };

struct compiler {
    struct cn_regex_program *program;
    const char *text, *at;
    unsigned depth;
    bool ignores_case;
    struct cn_error *err;
};

static bool fail(const struct compiler *c, const char *reason)
{
    return cn_fail(c->err, CN_ERR_USAGE, "column %zu: %s", (size_t)(c->at - c->text) + 1,
                   reason);
}

static bool emit(struct compiler *c, struct cn_regex_code code)
{
    struct cn_regex_program *p = c->program;

    if (p->count == CN_REGEX_SIZE_MAX)
        return fail(c, "the expression is too large");
    CN_PUSH(p->code, p->count, p->capacity, code);
    return true;
}

static bool emit_jump(struct compiler *c, enum cn_regex_op op, size_t to)
{
    return emit(c,
                (struct cn_regex_code){.op = op, .to = (int)to - (int)c->program->count});
}

/* Insert a SPLIT before the code emitted since `begin`, with `to` relative to it. */
static bool insert_split(struct compiler *c, size_t begin, size_t to)
{
    struct cn_regex_program *p = c->program;

    if (!emit(c, (struct cn_regex_code){0}))
        return false;
    memmove(p->code + begin + 1, p->code + begin,
            (p->count - 1 - begin) * sizeof(*p->code));
    p->code[begin] = (struct cn_regex_code){.op = CN_REGEX_SPLIT, .to = (int)to};
    return true;
}

static void set_add_symbol(uint64_t *set, unsigned symbol)
{
    set[symbol / 64] |= UINT64_C(1) << symbol % 64;
}

static void set_add_range(const struct compiler *c, uint64_t *set, uint32_t first,
                          uint32_t last)
{
    const struct cn_regex_program *p = c->program;

    for (uint32_t i = first; i <= last && i < 0x80; i++)
        set_add_symbol(set, i);
    for (size_t i = 0; i <= p->bound_count; i++) {
        uint32_t begin = i == 0 ? 0x80 : p->bounds[i - 1];

        if (begin >= first && begin <= last)
            set_add_symbol(set, CN_REGEX_CLASSES + (unsigned)i);
    }
}

static void set_invert(uint64_t *set)
{
    for (unsigned i = 0; i < CN_REGEX_SYMBOLS / 64; i++)
        set[i] = ~set[i];
}

/* Letters A to Z have symbols 32 below those of a to z, in the same word. */
static void set_add_other_case(uint64_t *set)
{
    const uint64_t letters = UINT64_C(0x07fffffe);

    set[1] |= (set[1] & letters) << 32 | (set[1] >> 32 & letters);
}

bool cn_regex_is_word(unsigned symbol)
{
    return symbol < 0x80 ? isalnum((int)symbol) || symbol == '_'
                         : symbol != CN_REGEX_INVALID;
}

/* \d, \w, \s, the opposites, or the character itself. */
static void set_add_escape(const struct compiler *c, uint64_t *set, uint32_t letter)
{
    uint64_t added[CN_REGEX_SYMBOLS / 64] = {0};

    switch (letter) {
    case 'd':
    case 'D':
        set_add_range(c, added, '0', '9');
        break;
    case 'w':
    case 'W':
        for (unsigned i = 0; i < CN_REGEX_SYMBOLS; i++)
            if (cn_regex_is_word(i))
                set_add_symbol(added, i);
        break;
    case 's':
    case 'S':
        set_add_range(c, added, '\t', '\r');
        set_add_symbol(added, ' ');
        break;
    case 't':
        set_add_symbol(added, '\t');
        break;
    case 'n':
        set_add_symbol(added, '\n');
        break;
    default:
        set_add_range(c, added, letter, letter);
        break;
    }
    if (letter == 'D' || letter == 'W' || letter == 'S')
        set_invert(added);
    for (unsigned i = 0; i < CN_REGEX_SYMBOLS / 64; i++)
        set[i] |= added[i];
}

/* The next character of the expression; a byte that is not UTF-8 gives none. */
static bool take_character(struct compiler *c, uint32_t *out)
{
    size_t len = cn_character_decode(c->at, strnlen(c->at, 4), out);

    if (len == 0)
        return fail(c, "not UTF-8");
    c->at += len;
    return true;
}

/* "[:alpha:]", from its name on. */
static bool parse_class(struct compiler *c, uint64_t *set)
{
    static const struct {
        const char *name;
        int (*contains)(int);
        bool has_letters;
    } classes[] = {
        {"alpha", isalpha, true},  {"alnum", isalnum, true},  {"digit", isdigit, false},
        {"upper", isupper, false}, {"lower", islower, false}, {"space", isspace, false},
        {"blank", isblank, false}, {"punct", ispunct, false}, {"cntrl", iscntrl, false},
        {"print", isprint, true},  {"graph", isgraph, true},  {"xdigit", isxdigit, false},
    };

    for (size_t i = 0; i < sizeof(classes) / sizeof(*classes); i++) {
        size_t len = strlen(classes[i].name);

        if (strncmp(c->at, classes[i].name, len) != 0 || c->at[len] != ':' ||
            c->at[len + 1] != ']')
            continue;
        for (int symbol = 0; symbol < 0x80; symbol++)
            if (classes[i].contains(symbol))
                set_add_symbol(set, (unsigned)symbol);
        if (classes[i].has_letters)
            set_add_range(c, set, 0x80, CODE_POINT_MAX);
        c->at += len + 2;
        return true;
    }
    return fail(c, "unknown class; known are [:alpha:], [:digit:] and so on");
}

/* A character between brackets: "a", "\]", or "[.-.]" and "[=a=]", which mean a character
 * each. A class or an escaped set is added to the set and `is_one` is false. */
static bool parse_set_item(struct compiler *c, uint64_t *set, uint32_t *out, bool *is_one)
{
    char kind = c->at[0] == '[' ? c->at[1] : '\0';

    *is_one = false;
    if (kind == ':') {
        c->at += 2;
        return parse_class(c, set);
    }
    if (c->at[0] == '\\' && c->at[1]) {
        c->at++;
        if (!take_character(c, out))
            return false;
        set_add_escape(c, set, *out);
        return true;
    }
    *is_one = true;
    if (kind != '.' && kind != '=')
        return take_character(c, out);
    c->at += 2;
    if (!take_character(c, out))
        return false;
    if (c->at[0] != kind || c->at[1] != ']')
        return fail(c, "more than one character between [. and .]");
    c->at += 2;
    return true;
}

/* The text between '[' and ']'. */
static bool parse_set(struct compiler *c, uint64_t *set)
{
    bool is_inverted = *c->at == '^';
    const char *first;

    c->at += is_inverted;
    for (first = c->at; *c->at != ']' || c->at == first;) {
        uint32_t low, high;
        bool is_one;

        if (!*c->at)
            return fail(c, "'[' without ']'");
        if (!parse_set_item(c, set, &low, &is_one))
            return false;
        if (!is_one)
            continue;
        high = low;
        if (c->at[0] == '-' && c->at[1] != ']' && c->at[1] != '\0') {
            c->at++;
            if (!parse_set_item(c, set, &high, &is_one))
                return false;
            if (!is_one)
                return fail(c, "a range needs a character at its end");
        }
        if (high < low)
            return fail(c, "the range runs backwards");
        set_add_range(c, set, low, high);
    }
    c->at++;
    if (c->ignores_case)
        set_add_other_case(set);
    if (is_inverted)
        set_invert(set);
    return true;
}

static bool parse_alternatives(struct compiler *c);

static bool parse_group(struct compiler *c)
{
    const char *begin = c->at++;

    if (++c->depth > CN_REGEX_DEPTH_MAX)
        return fail(c, "parentheses nest too deeply");
    if (!parse_alternatives(c))
        return false;
    if (*c->at != ')') {
        c->at = begin;
        return fail(c, "'(' without ')'");
    }
    c->at++;
    c->depth--;
    return true;
}

/* "^", "$", "\\b" and the like; false if there is none. */
static bool find_assertion(const char *at, enum cn_regex_op *out)
{
    static const struct {
        const char *text;
        enum cn_regex_op op;
    } assertions[] = {
        {"^", CN_REGEX_BEGIN},  {"$", CN_REGEX_END},          {"\\`", CN_REGEX_BEGIN},
        {"\\'", CN_REGEX_END},  {"\\<", CN_REGEX_WORD_BEGIN}, {"\\>", CN_REGEX_WORD_END},
        {"\\b", CN_REGEX_EDGE}, {"\\B", CN_REGEX_NO_EDGE},
    };

    for (size_t i = 0; i < sizeof(assertions) / sizeof(*assertions); i++) {
        if (strncmp(at, assertions[i].text, strlen(assertions[i].text)) == 0) {
            *out = assertions[i].op;
            return true;
        }
    }
    return false;
}

static bool parse_atom(struct compiler *c)
{
    struct cn_regex_code code = {.op = CN_REGEX_SET};
    uint32_t character;

    switch (*c->at) {
    case '(':
        return parse_group(c);
    case '*':
    case '+':
    case '?':
    case '{':
        return fail(c, "nothing to repeat");
    case '.':
        c->at++;
        set_invert(code.set);
        break;
    case '[':
        c->at++;
        if (!parse_set(c, code.set))
            return false;
        break;
    case '\\':
        if (!c->at[1])
            return fail(c, "nothing after '\\'");
        if (c->at[1] >= '1' && c->at[1] <= '9')
            return fail(c, "back-references are not supported");
        c->at++;
        if (!take_character(c, &character))
            return false;
        set_add_escape(c, code.set, character);
        break;
    default:
        if (!take_character(c, &character))
            return false;
        set_add_range(c, code.set, character, character);
        break;
    }
    if (c->ignores_case)
        set_add_other_case(code.set);
    return emit(c, code);
}

/* Repeat the code emitted since `begin`; `max` is UINT_MAX for no limit. */
static bool repeat(struct compiler *c, size_t begin, unsigned min, unsigned max)
{
    size_t len = c->program->count - begin, from = begin;
    bool is_endless = max == UINT_MAX;

    if (max == 0) {
        c->program->count = begin;
        return true;
    }
    if (is_endless)
        max = min > 1 ? min : 1;
    if (min == 0 && !insert_split(c, from++, len + 1 + is_endless))
        return false;
    for (unsigned copy = 1; copy < max; copy++) {
        if (copy >= min && !emit_jump(c, CN_REGEX_SPLIT, c->program->count + len + 1))
            return false;
        for (size_t i = 0; i < len; i++)
            if (!emit(c, c->program->code[from + i]))
                return false;
    }
    return !is_endless || emit_jump(c, CN_REGEX_SPLIT, c->program->count - len);
}

/* Digits up to the first other character; `missing` if there are none. */
static unsigned take_count(struct compiler *c, unsigned missing)
{
    unsigned value = 0;

    if (!isdigit((unsigned char)*c->at))
        return missing;
    for (; isdigit((unsigned char)*c->at); c->at++)
        if (value <= CN_REGEX_SIZE_MAX)
            value = value * 10 + (unsigned)(*c->at - '0');
    return value;
}

/* "{2}", "{2,}", "{,5}" or "{2,5}". */
static bool parse_interval(struct compiler *c, unsigned *min, unsigned *max)
{
    const char *begin = c->at++;

    *max = *min = take_count(c, *c->at == ',' ? 0 : UINT_MAX);
    if (*c->at == ',') {
        c->at++;
        *max = take_count(c, UINT_MAX);
    }
    if (*c->at != '}' || *min > *max || *min == UINT_MAX) {
        c->at = begin;
        return fail(c, "expected a number of repetitions such as {2,5}");
    }
    c->at++;
    if (*min > CN_REGEX_SIZE_MAX || (*max > CN_REGEX_SIZE_MAX && *max != UINT_MAX))
        return fail(c, "too many repetitions");
    return true;
}

/* An atom and the repetitions after it. */
static bool parse_repeated(struct compiler *c)
{
    size_t begin = c->program->count;
    enum cn_regex_op assertion;
    bool ok;

    if (find_assertion(c->at, &assertion)) {
        c->at += *c->at == '\\' ? 2 : 1;
        return emit(c, (struct cn_regex_code){.op = assertion});
    }
    for (ok = parse_atom(c); ok && *c->at && strchr("*+?{", *c->at);) {
        unsigned min = *c->at == '+', max = *c->at == '?' ? 1 : UINT_MAX;

        if (*c->at == '{')
            ok = parse_interval(c, &min, &max);
        else
            c->at++;
        ok = ok && repeat(c, begin, min, max);
    }
    return ok;
}

/* Branches with '|' between them, up to ')' or the end. */
static bool parse_alternatives(struct compiler *c)
{
    size_t begin = c->program->count;

    for (;;) {
        size_t branch = c->program->count;

        while (*c->at && *c->at != '|' && *c->at != ')') {
            if (!parse_repeated(c))
                return false;
        }
        if (branch > begin) /* complete the jump over this branch */
            c->program->code[branch - 1].to = (int)(c->program->count - branch) + 1;
        if (*c->at != '|')
            return true;
        c->at++;
        if (!insert_split(c, begin, c->program->count - begin + 2) ||
            !emit(c, (struct cn_regex_code){.op = CN_REGEX_JUMP}))
            return false;
    }
}

/* Every character beyond ASCII in the expression begins a class, and so does the next. */
static bool find_classes(struct compiler *c)
{
    struct cn_regex_program *p = c->program;
    uint32_t character;

    while (*c->at) {
        if (!take_character(c, &character))
            return false;
        if (character < 0x80)
            continue;
        for (uint32_t bound = character; bound <= character + 1; bound++) {
            size_t slot = cn_search_u32(p->bounds, p->bound_count, sizeof(bound), bound);

            if (bound == 0x80 || (slot > 0 && p->bounds[slot - 1] == bound))
                continue;
            if (p->bound_count == CN_REGEX_BOUNDS_MAX)
                return fail(c, "too many different characters beyond ASCII");
            memmove(p->bounds + slot + 1, p->bounds + slot,
                    (p->bound_count++ - slot) * sizeof(bound));
            p->bounds[slot] = bound;
        }
    }
    c->at = c->text;
    return true;
}

bool cn_regex_compile(struct cn_regex_program *program, const char *text, unsigned flags,
                      struct cn_error *err)
{
    struct compiler c = {
        .program = program,
        .text = text,
        .at = text,
        .ignores_case = (flags & CN_REGEX_IGNORE_CASE) != 0,
        .err = err,
    };

    *program = (struct cn_regex_program){0};
    if (strlen(text) > CN_REGEX_LEN_MAX)
        return cn_fail(err, CN_ERR_USAGE, "the expression has %zu bytes, the limit is %d",
                       strlen(text), CN_REGEX_LEN_MAX);
    if (!find_classes(&c) || !parse_alternatives(&c))
        return false;
    if (*c.at)
        return fail(&c, "')' without '('");
    return emit(&c, (struct cn_regex_code){.op = CN_REGEX_MATCH});
}

unsigned cn_regex_symbol(const struct cn_regex_program *program, const char *text,
                         size_t text_len, size_t *len)
{
    uint32_t character;

    *len = cn_character_decode(text, text_len, &character);
    if (*len == 0) {
        *len = 1;
        return CN_REGEX_INVALID;
    }
    if (character < 0x80)
        return character;
    return CN_REGEX_CLASSES +
           (unsigned)cn_search_u32(program->bounds, program->bound_count,
                                   sizeof(*program->bounds), character);
}
