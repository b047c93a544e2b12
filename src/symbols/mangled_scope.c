#include "symbols/mangled_scope.h"

#include <stddef.h>
#include <string.h>

#include "base/text.h"

enum { DEPTH_MAX = 128 };

/* What an E ends; by the letter that it begins with, where it has one. */
enum group {
    GROUP_ARGUMENTS = 'I',
    GROUP_NESTED = 'N',
    GROUP_LOCAL = 'Z',
    GROUP_FUNCTION = 'F',
    GROUP_PACK = 'J',
    GROUP_EXPRESSION = 'X',
    GROUP_LAMBDA = 'U',
    GROUP_VALUE = 'L',
};

struct mangled {
    const char *at;
    struct cn_text *out;
    const char *last; /* the last name of the scope, for constructors */
    size_t last_len;
};

struct group_stack {
    enum group list[DEPTH_MAX];
    unsigned depth;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

/* "12_" or "_". */
static void skip_number(struct mangled *m)
{
    while (is_digit(*m->at))
        m->at++;
    m->at += *m->at == '_';
}

/* "12function_ref": its length, 0 if that is not there. */
static size_t take_source_name(struct mangled *m, const char **name)
{
    size_t len = 0;

    while (is_digit(*m->at) && len < 100000)
        len = 10 * len + (size_t)(*m->at++ - '0');
    if (strnlen(m->at, len) < len)
        return 0;
    *name = m->at;
    m->at += len;
    return len;
}

/* After S. */
static void skip_substitution(struct mangled *m)
{
    if (is_lower(*m->at)) {
        m->at++;
        return;
    }
    while (is_digit(*m->at) || (*m->at >= 'A' && *m->at <= 'Z'))
        m->at++;
    m->at += *m->at == '_';
}

/* What follows the E of a local scope: 's' for a text, or the number of a default argument. */
static void skip_local_mark(struct mangled *m)
{
    if (*m->at == 's') {
        m->at++;
    } else if (*m->at == 'd') {
        m->at++;
        skip_number(m);
    }
}

static bool push(struct group_stack *stack, enum group group)
{
    if (stack->depth == DEPTH_MAX)
        return false;
    stack->list[stack->depth++] = group;
    return true;
}

/* A literal, after L: its type and its value. */
static bool push_value(struct mangled *m, struct group_stack *stack)
{
    const char *name;

    if (strncmp(m->at, "_Z", 2) == 0) {
        m->at += 2;
        return push(stack, GROUP_LOCAL);
    }
    return push(stack, GROUP_VALUE) &&
           (!is_digit(*m->at) || take_source_name(m, &name) > 0);
}

/* After D: what contains something up to an E, or is short. */
static bool skip_d(struct mangled *m, struct group_stack *stack)
{
    char c = *m->at;

    m->at += c != '\0';
    if (c == 't' || c == 'T' || c == 'O' || c == 'w')
        return push(stack, GROUP_EXPRESSION);
    if (c == 'v')
        skip_number(m);
    return true;
}

/* After U: a lambda, a type without a name, or a qualifier. */
static bool skip_u(struct mangled *m, struct group_stack *stack)
{
    if (*m->at == 'l') {
        m->at++;
        return push(stack, GROUP_LAMBDA);
    }
    if (*m->at == 't') {
        m->at++;
        skip_number(m);
    }
    return true;
}

/* An operator of an expression, after its first letter. */
static bool skip_operator(struct mangled *m, struct group_stack *stack, char first)
{
    static const char *const lists[] = {"cl", "cp", "tl", "il", "nw", "na"};
    char op[] = {first, *m->at, '\0'};

    if (!is_lower(op[1]))
        return true;
    m->at++;
    if (strcmp(op, "fp") == 0 || strcmp(op, "fL") == 0) {
        skip_number(m);
        return true;
    }
    for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
        if (strcmp(op, lists[i]) == 0)
            return push(stack, GROUP_EXPRESSION);
    return true;
}

/* The end of a group, after its E. */
static void end_group(struct mangled *m, enum group group)
{
    if (group == GROUP_LAMBDA)
        skip_number(m);
    else if (group == GROUP_LOCAL)
        skip_local_mark(m);
}

static bool skip_one(struct mangled *m, struct group_stack *stack)
{
    enum group inside = stack->list[stack->depth - 1];
    char c = *m->at++;
    const char *name;

    if (c == 'E') {
        stack->depth--;
        end_group(m, inside);
        return true;
    }
    if (is_digit(c) && inside != GROUP_VALUE) {
        m->at--;
        return take_source_name(m, &name) > 0;
    }
    if (is_lower(c))
        return inside != GROUP_EXPRESSION || skip_operator(m, stack, c);
    switch (c) {
    case '\0':
        m->at--;
        return false;
    case 'N':
    case 'I':
    case 'X':
    case 'J':
    case 'F':
    case 'Z':
        return push(stack, (enum group)c);
    case 'L':
        return inside == GROUP_NESTED || inside == GROUP_LOCAL || push_value(m, stack);
    case 'S':
        skip_substitution(m);
        return true;
    case 'T':
        if (is_lower(*m->at))
            m->at++;
        else
            skip_number(m);
        return true;
    case 'A':
        if (is_digit(*m->at) || *m->at == '_')
            skip_number(m);
        return true;
    case 'C':
        m->at += *m->at == 'I';
        m->at += is_digit(*m->at);
        return true;
    case 'D':
        return skip_d(m, stack);
    case 'U':
        return skip_u(m, stack);
    case '_': /* "_1", "__12_": of several local names */
        if (*m->at == '_') {
            m->at++;
            skip_number(m);
        } else {
            m->at += is_digit(*m->at);
        }
        return true;
    default:
        return true;
    }
}

/* After the letter that begins a group: up to its E. */
static bool skip_group(struct mangled *m, enum group group)
{
    struct group_stack stack = {{group}, 1};

    while (stack.depth > 0)
        if (!skip_one(m, &stack))
            return false;
    return true;
}

static void add_separator(struct mangled *m, size_t begin)
{
    if (m->out->len > begin)
        cn_text_str_add(m->out, "::");
}

static bool add_source_name(struct mangled *m)
{
    m->last_len = take_source_name(m, &m->last);
    if (m->last_len == 0)
        return false;
    if (m->last_len > 10 && strncmp(m->last, "_GLOBAL__N", 10) == 0)
        cn_text_str_add(m->out, "(anonymous namespace)");
    else
        cn_text_add(m->out, m->last, m->last_len);
    return true;
}

/* "{lambda#1}" of "UlvE_", "{unnamed type#1}" of "Ut_". */
static bool add_unnamed(struct mangled *m)
{
    struct group_stack stack = {{GROUP_LAMBDA}, 1};
    bool is_lambda = m->at[1] == 'l';
    unsigned number = 1;

    if (!is_lambda && m->at[1] != 't')
        return false;
    m->at += 2;
    while (is_lambda && !(stack.depth == 1 && *m->at == 'E'))
        if (!skip_one(m, &stack))
            return false;
    m->at += is_lambda;
    if (is_digit(*m->at))
        number = 2;
    for (unsigned value = 0; is_digit(*m->at) && value < 100000;) {
        value = 10 * value + (unsigned)(*m->at++ - '0');
        number = 2 + value;
    }
    skip_number(m);
    cn_text_printf(m->out, "{%s#%u}", is_lambda ? "lambda" : "unnamed type", number);
    return true;
}

static bool add_operator(struct mangled *m)
{
    static const char names[][2][10] = {
        {"cl", "()"}, {"ix", "[]"}, {"eq", "=="}, {"ne", "!="}, {"lt", "<"},  {"gt", ">"},
        {"le", "<="}, {"ge", ">="}, {"ls", "<<"}, {"rs", ">>"}, {"pl", "+"},  {"mi", "-"},
        {"ml", "*"},  {"dv", "/"},  {"aS", "="},  {"pt", "->"}, {"de", "*"},  {"nt", "!"},
        {"pL", "+="}, {"mI", "-="}, {"pp", "++"}, {"mm", "--"}, {"ss", "<=>"}};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strncmp(m->at, names[i][0], 2) == 0) {
            m->at += 2;
            cn_text_printf(m->out, "operator%s", names[i][1]);
            return true;
        }
    return false;
}

/* After S: what the library has short names for. */
static bool add_standard(struct mangled *m)
{
    static const char *const names[] = {
        "tstd",          "astd::allocator", "bstd::basic_string", "sstd::string",
        "istd::istream", "ostd::ostream",   "dstd::iostream"};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (*m->at == names[i][0]) {
            m->at++;
            cn_text_str_add(m->out, names[i] + 1);
            return true;
        }
    return false;
}

static bool add_constructor(struct mangled *m, const char *prefix)
{
    if (m->last_len == 0 || !is_digit(m->at[1]))
        return false;
    m->at += 2;
    cn_text_str_add(m->out, prefix);
    cn_text_add(m->out, m->last, m->last_len);
    return true;
}

static bool add_component(struct mangled *m, size_t begin)
{
    const char *name;

    while (*m->at == 'L')
        m->at++;
    switch (*m->at) {
    case 'I':
        m->at++;
        if (m->out->len == begin)
            return false;
        /* "operator<< <...>" */
        cn_text_str_add(m->out,
                        m->out->chars[m->out->len - 1] == '<' ? " <...>" : "<...>");
        return skip_group(m, GROUP_ARGUMENTS);
    case 'B':
        m->at++;
        return take_source_name(m, &name) > 0;
    default:
        break;
    }
    add_separator(m, begin);
    if (is_digit(*m->at))
        return add_source_name(m);
    switch (*m->at) {
    case 'S':
        m->at++;
        return m->out->len == begin && add_standard(m);
    case 'C':
        return add_constructor(m, "");
    case 'D':
        return add_constructor(m, "~");
    case 'U':
        return add_unnamed(m);
    default:
        return add_operator(m);
    }
}

static bool add_nested(struct mangled *m, size_t begin)
{
    m->at += strspn(m->at, "rVK");
    m->at += *m->at == 'R' || *m->at == 'O';
    while (*m->at != 'E')
        if (!add_component(m, begin))
            return false;
    m->at++;
    return true;
}

/* A name of a namespace: a component, its tags and its arguments. */
static bool add_plain(struct mangled *m, size_t begin)
{
    bool is_std = strncmp(m->at, "St", 2) == 0;

    if (!add_component(m, begin) || (is_std && !add_component(m, begin)))
        return false;
    while (*m->at == 'B' || *m->at == 'I')
        if (!add_component(m, begin))
            return false;
    return true;
}

static bool add_scope(struct mangled *m, size_t begin)
{
    if (*m->at != 'N')
        return add_plain(m, begin);
    m->at++;
    return add_nested(m, begin);
}

bool cn_mangled_scope(const char *raw, struct cn_text *out)
{
    static const char characters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.$";
    struct mangled m = {.at = raw, .out = out};
    size_t begin = out->len, locals = 0;

    if (strncmp(raw, "_Z", 2) != 0 || raw[strspn(raw, characters)] != '\0')
        return false;
    m.at += 2;
    for (; *m.at == 'Z'; m.at++)
        locals++;
    if (!add_scope(&m, begin))
        return false;
    for (; locals > 0; locals--) {
        if (!skip_group(&m, GROUP_LOCAL))
            return false;
        add_separator(&m, begin);
        if (!add_scope(&m, m.out->len))
            return false;
    }
    return true;
}
