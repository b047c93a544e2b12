#include "support/random_query.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "support/random_traces.h"
#include "support/trace_facts.h"

#define PICK(a) ((a)[cn_random_below(sizeof(a) / sizeof((a)[0]))])

enum op { EQ, NE, LT, LE, GT, GE, CONTAINS, STARTS, ENDS, MATCHES, NOT_MATCHES, EXISTS };
static const char *const op_names[] = {
    "=", "!=", "<", "<=", ">", ">=", "contains", "starts", "ends", "~", "!~", "exists"};

enum what {
    DURATION,
    ERRORS,
    CALLS,
    RECORDS,
    SINCE,
    ID,
    TYPE,
    SERVICE,
    ROOT,
    METHOD,
    CLASS,
    EXCEPTION,
    EXCEPTION_CLASS,
    EXCEPTION_MESSAGE,
    ATTRIBUTE,
    ROOT_ATTRIBUTE,
    TEXT,
    AND,
    OR,
    NOT
};

struct cn_random_query {
    enum what what;
    enum op op;
    uint64_t number;
    const char *name, *value;
    struct cn_random_query *left, *right;
};

static bool is_number(const char *s)
{
    char *end;

    (void)strtod(s, &end);
    return *s && !*end && strspn(s, "-0123456789.") == strlen(s);
}

static bool compare_text(const struct cn_random_query *n, const char *text)
{
    size_t len = strlen(text), want = strlen(n->value);
    int order = strcmp(text, n->value);

    switch (n->op) {
    case EQ:
    case NE:
        return order == 0;
    case LT:
    case LE:
    case GT:
    case GE:
        if (is_number(n->value)) {
            double a, b = atof(n->value);

            if (!is_number(text))
                return false;
            a = atof(text);
            order = a < b ? -1 : a > b;
        }
        return n->op == LT   ? order < 0
               : n->op == LE ? order <= 0
               : n->op == GT ? order > 0
                             : order >= 0;
    case CONTAINS:
    case MATCHES:
    case NOT_MATCHES:
        return strstr(text, n->value) != NULL;
    case STARTS:
        return strncmp(text, n->value, want) == 0;
    case ENDS:
        return len >= want && strcmp(text + len - want, n->value) == 0;
    case EXISTS:
        return true;
    }
    return false;
}

static bool compare_name(const struct cn_random_query *n, const char *name)
{
    char dotted[100];
    size_t len = strlen(name), want;

    if (compare_text(n, name))
        return true;
    (void)snprintf(dotted, sizeof(dotted), ".%s", n->value);
    want = strlen(dotted);
    return (n->op == EQ || n->op == NE) && want > 1 && len >= want &&
           strcmp(name + len - want, dotted) == 0;
}

static bool compare_number(const struct cn_random_query *n, uint64_t value)
{
    bool results[] = {value == n->number, value != n->number,
                      value<n->number, value <= n->number, value> n->number,
                      value >= n->number};

    return results[n->op];
}

static bool any_text(const struct cn_random_query *n, const struct cn_trace_facts *f)
{
    for (size_t i = 0; i < f->method_count; i++)
        if (compare_text(n, f->methods[i]))
            return true;
    for (size_t i = 0; i < f->attribute_count; i++)
        if (compare_text(n, f->attributes[i].name) ||
            compare_text(n, f->attributes[i].value))
            return true;
    for (size_t i = 0; i < f->exception_count; i++)
        if (compare_text(n, f->exception_classes[i]) ||
            (f->exception_messages[i] && compare_text(n, f->exception_messages[i])))
            return true;
    return (f->type && compare_text(n, f->type)) ||
           (f->service && compare_text(n, f->service));
}

/* Whether the comparison holds for one of the texts, and whether there are any. */
static bool text_holds(const struct cn_random_query *n, const struct cn_trace_facts *f,
                       bool *exists)
{
    bool holds = false;

    *exists = true;
    if (n->what == TYPE || n->what == SERVICE) {
        const char *word = n->what == TYPE ? f->type : f->service;

        *exists = word != NULL;
        return word && compare_text(n, word);
    }
    if (n->what == ROOT)
        return compare_name(n, f->root);
    if (n->what == TEXT)
        return any_text(n, f);
    if (n->what == METHOD || n->what == CLASS) {
        for (size_t i = 0; i < f->method_count; i++)
            holds |= compare_name(n, n->what == CLASS ? f->classes[i] : f->methods[i]);
        return holds;
    }
    *exists = false;
    if (n->what <= EXCEPTION_MESSAGE) {
        for (size_t i = 0; i < f->exception_count; i++) {
            if (n->what != EXCEPTION_MESSAGE) {
                *exists = true;
                holds |= compare_name(n, f->exception_classes[i]);
            }
            if (n->what != EXCEPTION_CLASS && f->exception_messages[i]) {
                *exists = true;
                holds |= compare_text(n, f->exception_messages[i]);
            }
        }
        return holds;
    }
    for (size_t i = 0; i < f->attribute_count; i++) {
        if (strcmp(f->attributes[i].name, n->name) != 0 ||
            (n->what == ROOT_ATTRIBUTE && !f->attributes[i].is_root))
            continue;
        *exists = true;
        holds |= compare_text(n, f->attributes[i].value);
    }
    return holds;
}

bool cn_random_query_holds(const struct cn_random_query *n,
                           const struct cn_trace_facts *f)
{
    const uint64_t numbers[] = {f->data.duration_ns, f->data.errors, f->data.calls,
                                f->data.records};
    bool exists, holds;

    if (n->what == AND)
        return cn_random_query_holds(n->left, f) && cn_random_query_holds(n->right, f);
    if (n->what == OR)
        return cn_random_query_holds(n->left, f) || cn_random_query_holds(n->right, f);
    if (n->what == NOT)
        return !cn_random_query_holds(n->left, f);
    if (n->what < SINCE)
        return compare_number(n, numbers[n->what]);
    if (n->what == SINCE)
        return f->data.time_ns >= n->number;
    if (n->what == ID)
        return f->data.trace_low == n->number;
    holds = text_holds(n, f, &exists);
    if (n->op == EXISTS)
        return exists;
    return n->op == NE || n->op == NOT_MATCHES ? exists && !holds : holds;
}

bool cn_random_query_holds_in(const struct cn_random_query *n,
                              const struct cn_trace_facts *const *spans, size_t count,
                              const struct cn_store_row *trace)
{
    const uint64_t numbers[] = {trace->duration_ns, trace->errors, trace->calls,
                                trace->records};

    if (n->what == AND)
        return cn_random_query_holds_in(n->left, spans, count, trace) &&
               cn_random_query_holds_in(n->right, spans, count, trace);
    if (n->what == OR)
        return cn_random_query_holds_in(n->left, spans, count, trace) ||
               cn_random_query_holds_in(n->right, spans, count, trace);
    if (n->what == NOT)
        return !cn_random_query_holds_in(n->left, spans, count, trace);
    if (n->what < SINCE)
        return compare_number(n, numbers[n->what]);
    for (size_t i = 0; i < count; i++)
        if (cn_random_query_holds(n, spans[i]))
            return true;
    return false;
}

static struct cn_random_query *random_leaf(size_t traces)
{
    static const char *const values[] = {
        "alice", "bob", "200",  "5",    "Dao", "/a?b=c", "x y",  "7",       "0",
        "a",     "get", "http", "shop", "com", "lo",     "true", "Dao.get", "o"};
    static const char *const names[] = {"user",       "status",     "url",    "note",
                                        "note.inner", "user.inner", "nothing"};
    struct cn_random_query *n = cn_alloc(1, sizeof(*n));

    n->what = (enum what)cn_random_below(TEXT + 1);
    n->value = PICK(values);
    n->name = PICK(names);
    n->op = (enum op)cn_random_below(n->what < SINCE ? GE + 1 : EXISTS + 1);
    n->number = cn_random_below(12);
    if (n->what == TEXT)
        n->op = CONTAINS;
    if (n->what == DURATION)
        n->number = cn_random_below(200) * 1000000;
    if (n->what == SINCE)
        n->number = cn_random_begin_ns + cn_random_below(traces) * 1000000000;
    if (n->what == ID)
        n->number = 1 + cn_random_below(traces);
    return n;
}

struct cn_random_query *cn_random_query_new(unsigned depth, size_t traces)
{
    struct cn_random_query *n;

    if (depth == 0 || cn_random_below(3) == 0)
        return random_leaf(traces);
    n = cn_alloc(1, sizeof(*n));
    n->what = (enum what)(AND + cn_random_below(3));
    n->left = cn_random_query_new(depth - 1, traces);
    n->right = n->what == NOT ? NULL : cn_random_query_new(depth - 1, traces);
    return n;
}

void cn_random_query_free(struct cn_random_query *n)
{
    if (!n)
        return;
    cn_random_query_free(n->left);
    cn_random_query_free(n->right);
    free(n);
}

static void print_leaf(const struct cn_random_query *n, struct cn_text *out)
{
    static const char *const names[] = {"duration",
                                        "errors",
                                        "calls",
                                        "records",
                                        "since",
                                        "id",
                                        "type",
                                        "service",
                                        "root",
                                        "method",
                                        "class",
                                        "exception",
                                        "exception.class",
                                        "exception.message"};
    uint64_t seconds = (n->number - cn_random_begin_ns) / 1000000000;

    if (n->what == SINCE)
        cn_text_printf(out, "since 2026-01-01T%02" PRIu64 ":%02" PRIu64 ":%02" PRIu64,
                       seconds / 3600, seconds / 60 % 60, seconds % 60);
    else if (n->what == ID)
        cn_text_printf(out, "id = %016" PRIx64 "%016" PRIx64,
                       (n->number - 1) * UINT64_C(0x9e3779b97f4a7c15) + 1, n->number);
    else if (n->what == DURATION)
        cn_text_printf(out, "duration %s %" PRIu64 "ms", op_names[n->op],
                       n->number / 1000000);
    else if (n->what < TYPE)
        cn_text_printf(out, "%s %s %" PRIu64, names[n->what], op_names[n->op], n->number);
    else if (n->what == TEXT)
        cn_text_printf(out, "\"%s\"", n->value);
    else {
        cn_text_printf(out, "%s%s %s", n->what == ROOT_ATTRIBUTE ? "root." : "",
                       n->what >= ATTRIBUTE ? n->name : names[n->what], op_names[n->op]);
        if (n->op == MATCHES || n->op == NOT_MATCHES) {
            cn_text_str_add(out, " \"");
            for (const char *c = n->value; *c; c++)
                cn_text_printf(out, strchr(".?/", *c) ? "[%c]" : "%c", *c);
            cn_text_char(out, '"');
        } else if (n->op != EXISTS) {
            cn_text_printf(out, " \"%s\"", n->value);
        }
    }
}

static void print(const struct cn_random_query *n, bool has_parentheses,
                  struct cn_text *out)
{
    if (n->what < AND) {
        print_leaf(n, out);
        return;
    }
    if (has_parentheses)
        cn_text_str_add(out, n->what == NOT ? "not (" : "(");
    print(n->left, true, out);
    if (n->what != NOT) {
        cn_text_str_add(out, n->what == OR ? " or " : cn_random_below(2) ? " and " : " ");
        print(n->right, true, out);
    }
    if (has_parentheses)
        cn_text_char(out, ')');
}

void cn_random_query_print(const struct cn_random_query *n, struct cn_text *out)
{
    print(n, n->what == NOT || cn_random_below(2), out);
}
