#include "store/traceql/lexer.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"

bool cn_tql_fail_at(const char *text, uint32_t at, struct cn_error *err, const char *what)
{
    unsigned column = 1;

    /* A character of several bytes is one column. */
    for (uint32_t i = 0; i < at && text[i]; i++)
        column += ((unsigned char)text[i] & 0xc0) != 0x80;
    (void)cn_fail(err, CN_ERR_USAGE, "%s", what);
    return cn_fail_in(err, "query, column %u", column);
}

static bool fail(const struct cn_tql_lexer *lexer, uint32_t at, const char *what)
{
    return cn_tql_fail_at(lexer->text, at, lexer->err, what);
}

static bool is_letter(char c)
{
    return isalpha((unsigned char)c) || c == '_' || ((unsigned char)c & 0x80);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Blanks and comments. */
static void skip(struct cn_tql_lexer *lexer)
{
    const char *at = lexer->text + lexer->at, *end;

    for (;;) {
        while (isspace((unsigned char)*at))
            at++;
        if (at[0] == '/' && at[1] == '/') {
            at += strcspn(at, "\n");
        } else if (at[0] == '/' && at[1] == '*' && (end = strstr(at + 2, "*/"))) {
            at = end + 2;
        } else {
            lexer->at = (uint32_t)(at - lexer->text);
            return;
        }
    }
}

/* True for a character of the name of an attribute outside of quotes. */
static bool is_of_name(char c)
{
    return c && !isspace((unsigned char)c) && !strchr("{}()=~!<>&|^,", c);
}

static bool take_quoted_name(struct cn_tql_lexer *lexer, struct cn_text *out)
{
    uint32_t begin = lexer->at++;

    for (char c; (c = lexer->text[lexer->at]) != '"'; lexer->at++) {
        if (!c)
            return fail(lexer, begin, "missing closing quote");
        if (c == '\\') {
            c = lexer->text[++lexer->at];
            if (c != '"' && c != '\\')
                return fail(lexer, lexer->at - 1,
                            "in a name, \\ is followed by \" or by another \\");
        }
        cn_text_char(out, c);
    }
    lexer->at++;
    return true;
}

static bool take_name(struct cn_tql_lexer *lexer, const char **out)
{
    struct cn_text name = {0};
    uint32_t begin = lexer->at;
    bool ok = true;

    while (ok && is_of_name(lexer->text[lexer->at])) {
        if (lexer->text[lexer->at] == '"')
            ok = take_quoted_name(lexer, &name);
        else
            cn_text_char(&name, lexer->text[lexer->at++]);
    }
    if (ok)
        *out = cn_arena_copy(lexer->arena, cn_text_str(&name), name.len);
    cn_text_done(&name);
    if (ok && lexer->at == begin)
        return fail(lexer, begin, "missing name of an attribute");
    return ok;
}

static bool needs_quotes(const char *name)
{
    for (; *name; name++)
        if (!is_of_name(*name) || *name == '"')
            return true;
    return false;
}

/* The text of an attribute as it is written in a query. */
static const char *text_of(struct cn_tql_lexer *lexer, const char *prefix,
                           const char *name)
{
    struct cn_text text = {0};

    cn_text_str_add(&text, prefix);
    if (!needs_quotes(name)) {
        cn_text_str_add(&text, name);
    } else {
        cn_text_char(&text, '"');
        for (; *name; name++) {
            if (*name == '"' || *name == '\\')
                cn_text_char(&text, '\\');
            cn_text_char(&text, *name);
        }
        cn_text_char(&text, '"');
    }
    const char *copy = cn_arena_copy(lexer->arena, cn_text_str(&text), text.len);
    cn_text_done(&text);
    return copy;
}

static const struct {
    const char *name; /* with the colon of its scope */
    enum cn_tql_intrinsic intrinsic;
    const char *text;
} intrinsics[] = {
    {"duration", CN_TQL_I_DURATION, "duration"},
    {"name", CN_TQL_I_NAME, "name"},
    {"status", CN_TQL_I_STATUS, "status"},
    {"statusMessage", CN_TQL_I_STATUS_MESSAGE, "statusMessage"},
    {"kind", CN_TQL_I_KIND, "kind"},
    {"rootName", CN_TQL_I_ROOT_NAME, "rootName"},
    {"rootServiceName", CN_TQL_I_ROOT_SERVICE, "rootServiceName"},
    {"traceDuration", CN_TQL_I_TRACE_DURATION, "traceDuration"},
    {"nestedSetLeft", CN_TQL_I_NESTED_LEFT, "nestedSetLeft"},
    {"nestedSetRight", CN_TQL_I_NESTED_RIGHT, "nestedSetRight"},
    {"nestedSetParent", CN_TQL_I_NESTED_PARENT, "nestedSetParent"},
    {"trace:duration", CN_TQL_I_TRACE_DURATION, "traceDuration"},
    {"trace:rootName", CN_TQL_I_ROOT_NAME, "rootName"},
    {"trace:rootService", CN_TQL_I_ROOT_SERVICE, "rootServiceName"},
    {"trace:id", CN_TQL_I_TRACE_ID, "trace:id"},
    {"span:duration", CN_TQL_I_DURATION, "duration"},
    {"span:name", CN_TQL_I_NAME, "name"},
    {"span:kind", CN_TQL_I_KIND, "kind"},
    {"span:status", CN_TQL_I_STATUS, "status"},
    {"span:statusMessage", CN_TQL_I_STATUS_MESSAGE, "statusMessage"},
    {"span:id", CN_TQL_I_SPAN_ID, "span:id"},
    {"span:parentID", CN_TQL_I_PARENT_ID, "span:parentID"},
    {"span:childCount", CN_TQL_I_CHILD_COUNT, "span:childCount"},
    {"event:name", CN_TQL_I_EVENT_NAME, "event:name"},
    {"event:timeSinceStart", CN_TQL_I_EVENT_TIME, "event:timeSinceStart"},
    {"link:traceID", CN_TQL_I_LINK_TRACE, "link:traceID"},
    {"link:spanID", CN_TQL_I_LINK_SPAN, "link:spanID"},
    {"instrumentation:name", CN_TQL_I_SCOPE_NAME, "instrumentation:name"},
    {"instrumentation:version", CN_TQL_I_SCOPE_VERSION, "instrumentation:version"},
};
enum { INTRINSICS = sizeof(intrinsics) / sizeof(intrinsics[0]) };

static const char *const words[] = {
    "count",
    "avg",
    "max",
    "min",
    "sum",
    "by",
    "coalesce",
    "select",
    "rate",
    "count_over_time",
    "min_over_time",
    "max_over_time",
    "avg_over_time",
    "sum_over_time",
    "quantile_over_time",
    "histogram_over_time",
    "compare",
    "topk",
    "bottomk",
    "with",
};
enum { WORDS = sizeof(words) / sizeof(words[0]) };

static bool find_intrinsic(const char *name, struct cn_tql_field *out)
{
    for (size_t i = 0; i < INTRINSICS; i++) {
        if (strcmp(intrinsics[i].name, name) != 0)
            continue;
        out->intrinsic = intrinsics[i].intrinsic;
        out->text = intrinsics[i].text;
        out->name = "";
        return true;
    }
    return false;
}

static bool fail_with_suggestion(struct cn_tql_lexer *lexer, uint32_t at,
                                 const char *what, const char *typed)
{
    struct cn_suggestion near = {.typed = typed};
    struct cn_text text = {0};

    for (size_t i = 0; cn_tql_word(i); i++)
        cn_suggestion_offer(&near, cn_tql_word(i));
    cn_text_printf(&text, "%s '%.100s'", what, typed);
    if (near.best)
        cn_text_printf(&text, "; did you mean %s", near.best);
    (void)fail(lexer, at, cn_text_str(&text));
    cn_text_done(&text);
    return false;
}

/* After "span:" and the like: the word that follows. */
static bool take_scoped_intrinsic(struct cn_tql_lexer *lexer, const char *scope,
                                  struct cn_tql_token *out)
{
    uint32_t begin;
    bool ok;

    skip(lexer);
    begin = lexer->at;
    while (is_letter(lexer->text[lexer->at]) || is_digit(lexer->text[lexer->at]))
        lexer->at++;
    struct cn_text name = {0};
    cn_text_printf(&name, "%s:%.*s", scope, (int)(lexer->at - begin),
                   lexer->text + begin);
    ok = find_intrinsic(cn_text_str(&name), &out->field) ||
         fail_with_suggestion(lexer, out->at, "there is no", cn_text_str(&name));
    cn_text_done(&name);
    out->kind = CN_TQL_T_FIELD;
    return ok;
}

static bool take_attribute(struct cn_tql_lexer *lexer, const char *prefix,
                           enum cn_tql_scope scope, struct cn_tql_token *out)
{
    out->kind = CN_TQL_T_FIELD;
    out->field.scope = scope;
    if (!take_name(lexer, &out->field.name))
        return false;
    out->field.text = text_of(lexer, prefix, out->field.name);
    return true;
}

/* After "parent.": an attribute, an attribute with a scope, or an intrinsic of a span. */
static bool take_of_parent(struct cn_tql_lexer *lexer, struct cn_tql_token *out)
{
    const char *at = lexer->text + lexer->at;

    out->field.is_parent = true;
    if (strncmp(at, "span.", 5) == 0) {
        lexer->at += 5;
        return take_attribute(lexer, "parent.span.", CN_TQL_OF_SPAN, out);
    }
    if (strncmp(at, "resource.", 9) == 0) {
        lexer->at += 9;
        return take_attribute(lexer, "parent.resource.", CN_TQL_OF_RESOURCE, out);
    }
    if (!take_attribute(lexer, "parent.", CN_TQL_UNSCOPED, out))
        return false;
    struct cn_tql_field plain = out->field;
    if (find_intrinsic(plain.name, &out->field) && out->field.intrinsic <= CN_TQL_I_KIND)
        out->field.text = plain.text;
    else
        out->field = plain;
    return true;
}

static const struct {
    const char *name;
    enum cn_tql_scope scope;
} scopes[] = {
    {"span", CN_TQL_OF_SPAN},   {"resource", CN_TQL_OF_RESOURCE},
    {"event", CN_TQL_OF_EVENT}, {"link", CN_TQL_OF_LINK},
    {"trace", CN_TQL_UNSCOPED}, {"instrumentation", CN_TQL_OF_INSTRUMENTATION},
};

/* "span." or "span:", with the word before it already taken; false with *is_taken false if it is
 * neither. */
static bool take_scoped(struct cn_tql_lexer *lexer, const char *word,
                        struct cn_tql_token *out, bool *is_taken)
{
    char next = lexer->text[lexer->at], prefix[24];

    *is_taken = false;
    if (next == '.' && strcmp(word, "parent") == 0) {
        *is_taken = true;
        lexer->at++;
        return take_of_parent(lexer, out);
    }
    for (size_t i = 0; i < sizeof(scopes) / sizeof(scopes[0]); i++) {
        if (strcmp(scopes[i].name, word) != 0)
            continue;
        if (next == ':' && scopes[i].scope != CN_TQL_OF_RESOURCE) {
            *is_taken = true;
            lexer->at++;
            return take_scoped_intrinsic(lexer, word, out);
        }
        if (next == '.' && scopes[i].scope != CN_TQL_UNSCOPED) {
            *is_taken = true;
            lexer->at++;
            (void)snprintf(prefix, sizeof(prefix), "%s.", word);
            return take_attribute(lexer, prefix, scopes[i].scope, out);
        }
    }
    return true;
}

static const struct {
    const char *name;
    struct cn_tql_value value;
} constants[] = {
    {"true", {.type = CN_TQL_BOOL, .boolean = true}},
    {"false", {.type = CN_TQL_BOOL}},
    {"unset", {.type = CN_TQL_STATUS, .integer = CN_TQL_UNSET}},
    {"ok", {.type = CN_TQL_STATUS, .integer = CN_TQL_OK}},
    {"error", {.type = CN_TQL_STATUS, .integer = CN_TQL_ERROR}},
    {"unspecified", {.type = CN_TQL_KIND, .integer = 0}},
    {"internal", {.type = CN_TQL_KIND, .integer = 1}},
    {"server", {.type = CN_TQL_KIND, .integer = 2}},
    {"client", {.type = CN_TQL_KIND, .integer = 3}},
    {"producer", {.type = CN_TQL_KIND, .integer = 4}},
    {"consumer", {.type = CN_TQL_KIND, .integer = 5}},
    {"minInt", {.type = CN_TQL_INT, .integer = INT64_MIN}},
    {"maxInt", {.type = CN_TQL_INT, .integer = INT64_MAX}},
};

enum { CONSTANTS = sizeof(constants) / sizeof(constants[0]) };

const char *cn_tql_word(size_t i)
{
    if (i < WORDS)
        return words[i];
    if (i - WORDS < INTRINSICS)
        return intrinsics[i - WORDS].name;
    return i - WORDS - INTRINSICS < CONSTANTS ? constants[i - WORDS - INTRINSICS].name
                                              : NULL;
}

static bool find_constant(const char *word, struct cn_tql_token *out)
{
    for (size_t i = 0; i < CONSTANTS; i++) {
        if (strcmp(constants[i].name, word) == 0) {
            out->kind = CN_TQL_T_VALUE;
            out->value = constants[i].value;
            return true;
        }
    }
    return false;
}

static bool take_word(struct cn_tql_lexer *lexer, struct cn_tql_token *out)
{
    uint32_t begin = lexer->at;
    bool is_taken;

    while (is_letter(lexer->text[lexer->at]) || is_digit(lexer->text[lexer->at]))
        lexer->at++;
    out->word = cn_arena_copy(lexer->arena, lexer->text + begin, lexer->at - begin);
    bool ok = take_scoped(lexer, out->word, out, &is_taken);
    if (is_taken)
        return ok;
    if (find_constant(out->word, out))
        return true;
    out->kind = CN_TQL_T_NAME;
    if (strcmp(out->word, "nil") == 0)
        out->kind = CN_TQL_T_NIL;
    else if (find_intrinsic(out->word, &out->field))
        out->kind = CN_TQL_T_FIELD;
    for (size_t i = 0; i < WORDS; i++)
        if (strcmp(words[i], out->word) == 0)
            out->kind = CN_TQL_T_WORD;
    return true;
}

static const struct {
    const char *name;
    double ns;
} units[] = {
    {"ns", 1},      {"us", 1e3},     {"\u00b5s", 1e3},  {"\u03bcs", 1e3},
    {"ms", 1e6},    {"s", 1e9},      {"m", 60e9},       {"h", 3600e9},
    {"d", 86400e9}, {"w", 604800e9}, {"y", 31536000e9},
};

/* The longest unit at `at`; 0 if there is none. */
static double take_unit(const char **at)
{
    double ns = 0;
    size_t best = 0;

    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        size_t len = strlen(units[i].name);

        if (len > best && strncmp(*at, units[i].name, len) == 0) {
            best = len;
            ns = units[i].ns;
        }
    }
    *at += best;
    return ns;
}

static const char *skip_decimal(const char *at)
{
    while (is_digit(*at))
        at++;
    if (*at == '.')
        at++;
    while (is_digit(*at))
        at++;
    return at;
}

/* "1h30m", "1.5s": numbers with units. False if what begins here is no duration. */
static bool take_duration(const char *begin, const char **end, int64_t *out)
{
    const char *at = begin;
    double sum = 0;

    do {
        const char *number = at;
        double value = strtod(number, NULL), unit;

        at = skip_decimal(at);
        if (at == number || (unit = take_unit(&at)) == 0)
            return false;
        sum += value * unit;
    } while (is_digit(*at) || *at == '.');
    if (is_letter(*at) || !(sum < 0x1p63))
        return false;
    *end = at;
    *out = (int64_t)llround(sum);
    return true;
}

static bool take_number(struct cn_tql_lexer *lexer, struct cn_tql_token *out)
{
    const char *begin = lexer->text + lexer->at, *end;
    int64_t ns;
    char *stop;

    out->kind = CN_TQL_T_VALUE;
    if (take_duration(begin, &end, &ns)) {
        lexer->at = (uint32_t)(end - lexer->text);
        out->value = cn_tql_duration(ns);
        return true;
    }
    end = skip_decimal(begin);
    bool is_float = memchr(begin, '.', (size_t)(end - begin)) != NULL;
    if ((*end == 'e' || *end == 'E') &&
        (is_digit(end[1]) || ((end[1] == '+' || end[1] == '-') && is_digit(end[2])))) {
        is_float = true;
        end += 2;
        while (is_digit(*end))
            end++;
    }
    lexer->at = (uint32_t)(end - lexer->text);
    if (is_letter(*end))
        return fail(lexer, out->at,
                    "not a number; durations have the units ns, us, ms, s, m, h, d, w");
    errno = 0;
    if (is_float)
        out->value = cn_tql_float(strtod(begin, &stop));
    else
        out->value = cn_tql_int(strtoll(begin, &stop, 10));
    return errno == 0 || fail(lexer, out->at, "the number is too large");
}

static bool take_digits(struct cn_tql_lexer *lexer, unsigned count, unsigned base,
                        uint32_t *out)
{
    char digits[9] = {0}, *end;

    strncpy(digits, lexer->text + lexer->at, count);
    for (unsigned i = 0; i < count; i++)
        if (!isxdigit((unsigned char)digits[i]))
            return false;
    *out = (uint32_t)strtoul(digits, &end, (int)base);
    lexer->at += count;
    return *end == '\0';
}

/* Append a character as UTF-8. */
static void add_character(uint32_t code, struct cn_text *out)
{
    unsigned more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const unsigned char lead[] = {0, 0xc0, 0xe0, 0xf0};

    cn_text_char(out, (char)(lead[more] | code >> 6 * more));
    while (more-- > 0)
        cn_text_char(out, (char)(0x80 | (code >> 6 * more & 0x3f)));
}

/* After a backslash. */
static bool take_escape(struct cn_tql_lexer *lexer, struct cn_text *out)
{
    static const char letters[] = "abfnrtv\\\"", meant[] = "\a\b\f\n\r\t\v\\\"";
    char c = lexer->text[lexer->at];
    const char *at = c ? strchr(letters, c) : NULL;
    uint32_t code = 0;

    if (at) {
        lexer->at++;
        cn_text_char(out, meant[at - letters]);
        return true;
    }
    if (c >= '0' && c <= '7') {
        if (!take_digits(lexer, 3, 8, &code) || code > 255)
            return false;
        cn_text_char(out, (char)code);
        return true;
    }
    lexer->at++;
    if (c == 'x') {
        bool ok = take_digits(lexer, 2, 16, &code);

        cn_text_char(out, (char)code);
        return ok;
    }
    if ((c != 'u' && c != 'U') || !take_digits(lexer, c == 'u' ? 4 : 8, 16, &code) ||
        code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        return false;
    add_character(code, out);
    return true;
}

static bool read_string(struct cn_tql_lexer *lexer, struct cn_text *out)
{
    uint32_t begin = lexer->at;
    char quote = lexer->text[lexer->at++], c;

    while ((c = lexer->text[lexer->at]) != quote) {
        if (!c || (c == '\n' && quote == '"'))
            return fail(lexer, begin, "missing closing quote");
        lexer->at++;
        if (c != '\\' || quote == '`')
            cn_text_char(out, c);
        else if (!take_escape(lexer, out))
            return fail(lexer, lexer->at - 1, "unknown escape in a text");
    }
    lexer->at++;
    return true;
}

static bool take_string(struct cn_tql_lexer *lexer, struct cn_tql_token *out)
{
    struct cn_text text = {0};
    bool ok = read_string(lexer, &text);

    out->kind = CN_TQL_T_VALUE;
    if (ok) {
        const char *copy = cn_arena_copy(lexer->arena, cn_text_str(&text), text.len);

        out->value = cn_tql_text((struct cn_bytes){(const uint8_t *)copy, text.len});
    }
    cn_text_done(&text);
    return ok;
}

static bool take_sign(struct cn_tql_lexer *lexer, struct cn_tql_token *out)
{
    const char *at = lexer->text + lexer->at;
    size_t best = 0;
    char what[64];

    for (enum cn_tql_op op = CN_TQL_ADD; op <= CN_TQL_BOTH_SIBLING; op++) {
        const char *sign = cn_tql_op_sign(op);
        size_t len = strlen(sign);

        if (len > best && op != CN_TQL_EXISTS && op != CN_TQL_NOT_EXISTS &&
            strncmp(at, sign, len) == 0) {
            best = len;
            out->op = op;
        }
    }
    out->kind = CN_TQL_T_OP;
    if (best == 0 && strchr("{}(),|", *at)) {
        out->kind = CN_TQL_T_SIGN;
        out->sign = *at;
        best = 1;
    }
    lexer->at += (uint32_t)best;
    (void)snprintf(what, sizeof(what),
                   isprint((unsigned char)*at) ? "unexpected '%c'" : "unexpected \\x%02x",
                   (unsigned char)*at);
    return best > 0 || fail(lexer, lexer->at, what);
}

bool cn_tql_lex(struct cn_tql_lexer *lexer, struct cn_tql_token *out)
{
    const char *at;
    bool ok;

    skip(lexer);
    *out = (struct cn_tql_token){.at = lexer->at};
    out->field.at = lexer->at;
    at = lexer->text + lexer->at;
    if (!*at)
        return true;
    if (is_letter(*at)) {
        ok = take_word(lexer, out);
    } else if (is_digit(*at) || (*at == '.' && is_digit(at[1]))) {
        ok = take_number(lexer, out);
    } else if (*at == '.') {
        lexer->at++;
        ok = take_attribute(lexer, ".", CN_TQL_UNSCOPED, out);
    } else if (*at == '"' || *at == '`') {
        ok = take_string(lexer, out);
    } else {
        ok = take_sign(lexer, out);
    }
    out->len = lexer->at - out->at;
    return ok;
}
