#include "store/search/query.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/regex.h"
#include "base/text.h"
#include "store/index/rows.h"

struct query_parser {
    struct cn_query *query;
    const char *text, *at;
    uint64_t now_ns;
    unsigned depth;
    struct cn_error *err;
};

static bool fail_at(const struct query_parser *p, const char *at)
{
    return cn_fail_in(p->err, "query, column %d", (int)(at - p->text) + 1);
}

static bool fail(const struct query_parser *p, const char *at, const char *what)
{
    (void)cn_fail(p->err, CN_ERR_USAGE, "%s", what);
    return fail_at(p, at);
}

static void skip_blanks(struct query_parser *p)
{
    while (isspace((unsigned char)*p->at))
        p->at++;
}

/* The length of a name: up to a blank, a parenthesis or an operator. */
static size_t name_len(const char *at)
{
    return strcspn(at, " \t\r\n\v\f()\"'=<>~!");
}

static bool is_word(const char *at, const char *word)
{
    size_t len = strlen(word);

    return strncasecmp(at, word, len) == 0 && name_len(at) == len;
}

static bool take_word(struct query_parser *p, const char *word)
{
    skip_blanks(p);
    if (!is_word(p->at, word))
        return false;
    p->at += strlen(word);
    return true;
}

static bool add_step(struct query_parser *p, const struct cn_query_step *step,
                     const char *at)
{
    struct cn_query *query = p->query;

    if (query->count == CN_QUERY_STEPS_MAX)
        return fail(p, at, "too many conditions");
    CN_PUSH(query->steps, query->count, query->capacity, *step);
    return true;
}

static bool take_quoted(struct query_parser *p, char **out)
{
    char quote = *p->at;
    const char *begin = p->at++;
    struct cn_text text = {0};

    while (*p->at && *p->at != quote) {
        if (*p->at == '\\' && (p->at[1] == quote || p->at[1] == '\\'))
            p->at++;
        cn_text_char(&text, *p->at++);
    }
    *out = cn_arena_copy(&p->query->arena, cn_text_str(&text), text.len);
    cn_text_done(&text);
    if (!*p->at)
        return fail(p, begin, "missing closing quote");
    p->at++;
    return true;
}

/* The value after an operator: in quotes, or up to a blank or a ')'. */
static bool take_value(struct query_parser *p, const char *operator_at,
                       const char **begin, char **out)
{
    size_t len;

    skip_blanks(p);
    *begin = p->at;
    if (*p->at == '"' || *p->at == '\'')
        return take_quoted(p, out);
    len = strcspn(p->at, " \t\r\n\v\f)");
    if (len == 0)
        return fail(p, operator_at, "missing value");
    *out = cn_arena_copy(&p->query->arena, p->at, len);
    p->at += len;
    return true;
}

static bool take_operator(struct query_parser *p, enum cn_query_op *op, bool *is_negated)
{
    static const struct {
        const char *sign;
        enum cn_query_op op;
        bool is_negated;
    } signs[] = {
        {"<=", CN_QUERY_LESS_EQUAL, false}, {">=", CN_QUERY_GREATER_EQUAL, false},
        {"!=", CN_QUERY_EQUAL, true},       {"!~", CN_QUERY_MATCHES, true},
        {"=", CN_QUERY_EQUAL, false},       {"<", CN_QUERY_LESS, false},
        {">", CN_QUERY_GREATER, false},     {"~", CN_QUERY_MATCHES, false},
    };
    static const struct {
        const char *word;
        enum cn_query_op op;
    } words[] = {
        {"contains", CN_QUERY_CONTAINS},
        {"starts", CN_QUERY_STARTS},
        {"ends", CN_QUERY_ENDS},
        {"exists", CN_QUERY_EXISTS},
    };

    skip_blanks(p);
    *is_negated = false;
    for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
        size_t len = strlen(signs[i].sign);

        if (strncmp(p->at, signs[i].sign, len) != 0)
            continue;
        p->at += len;
        *op = signs[i].op;
        *is_negated = signs[i].is_negated;
        return true;
    }
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        *op = words[i].op;
        if (take_word(p, words[i].word))
            return true;
    }
    return false;
}

/* `begin` is that of the condition, which ends where the parser is; `at` is for messages. */
static bool add_term(struct query_parser *p, const char *begin, const char *at,
                     const char *name, enum cn_query_op op, bool is_negated,
                     const char *value)
{
    struct cn_query_step step = {
        .kind = CN_QUERY_STEP_TERM,
        .term = {.op = op, .is_negated = is_negated},
        .text = cn_arena_copy(&p->query->arena, begin, (size_t)(p->at - begin)),
        .is_top = p->depth == 0,
    };

    if (!cn_query_term_init(&step.term, name, value, p->now_ns, p->err))
        return fail_at(p, at);
    step.at = (uint32_t)(begin - p->text);
    if (step.term.name)
        step.at += (uint32_t)(step.term.name - name);
    if (!add_step(p, &step, at)) {
        cn_regex_free(step.term.regex);
        return false;
    }
    return true;
}

/* An operator, and its value unless it needs none, for an attribute with a name in quotes. */
static bool parse_attribute(struct query_parser *p)
{
    const char *begin = p->at++, *operator_at, *value_at;
    enum cn_query_op op;
    bool is_negated;
    char *text, *name, *value = NULL;

    if (!take_quoted(p, &text))
        return false;
    name = cn_arena_alloc(&p->query->arena, strlen(text) + 2, 1);
    name[0] = '@';
    memcpy(name + 1, text, strlen(text));
    skip_blanks(p);
    operator_at = value_at = p->at;
    if (!take_operator(p, &op, &is_negated))
        return fail(p, operator_at, "missing operator after the name of an attribute");
    return (op == CN_QUERY_EXISTS || take_value(p, operator_at, &value_at, &value)) &&
           add_term(p, begin, value_at, name, op, is_negated, value);
}

static bool parse_term(struct query_parser *p)
{
    const char *begin = p->at, *operator_at, *value_at;
    size_t len = name_len(p->at);
    enum cn_query_op op = CN_QUERY_CONTAINS;
    bool is_negated;
    char *name, *value;

    if (*p->at == '"' || *p->at == '\'')
        return take_quoted(p, &value) &&
               add_term(p, begin, begin, "text", CN_QUERY_CONTAINS, false, value);
    if (len == 0)
        return fail(p, begin, "missing condition");
    if (*p->at == '@' && (p->at[1] == '"' || p->at[1] == '\''))
        return parse_attribute(p);
    name = cn_arena_copy(&p->query->arena, p->at, len);
    p->at += len;
    /* A name and a value without an operator. */
    if (is_word(name, "since") || is_word(name, "until") || is_word(name, "last")) {
        if (is_word(name, "last"))
            p->query->now_ns = p->now_ns;
        return take_value(p, begin, &value_at, &value) &&
               add_term(p, begin, value_at, name, CN_QUERY_EQUAL, false, value);
    }
    skip_blanks(p);
    operator_at = p->at;
    if (!take_operator(p, &op, &is_negated)) {
        p->at = begin + len;
        if (is_word(name, "errors"))
            return add_term(p, begin, begin, name, CN_QUERY_GREATER, false, "0");
        return add_term(p, begin, begin, "text", CN_QUERY_CONTAINS, false, name);
    }
    if (op == CN_QUERY_EXISTS)
        return add_term(p, begin, begin, name, op, false, NULL);
    return take_value(p, operator_at, &value_at, &value) &&
           add_term(p, begin, value_at, name, op, is_negated, value);
}

static bool parse_either(struct query_parser *p);

static bool parse_not(struct query_parser *p)
{
    static const struct cn_query_step inversion = {.kind = CN_QUERY_STEP_NOT};
    bool is_inverted = false;

    while (take_word(p, "not"))
        is_inverted = !is_inverted;
    skip_blanks(p);
    const char *begin = p->at;
    if (*p->at != '(') {
        if (!parse_term(p))
            return false;
        p->query->steps[p->query->count - 1].is_top &= !is_inverted;
        return !is_inverted || add_step(p, &inversion, begin);
    }
    if (++p->depth > CN_QUERY_DEPTH_MAX)
        return fail(p, begin, "parentheses nest too deeply");
    p->at++;
    if (!parse_either(p))
        return false;
    skip_blanks(p);
    if (*p->at != ')')
        return fail(p, begin, "'(' without ')'");
    p->at++;
    p->depth--;
    return !is_inverted || add_step(p, &inversion, begin);
}

static bool has_another(struct query_parser *p)
{
    skip_blanks(p);
    return *p->at && *p->at != ')' && !is_word(p->at, "or");
}

static bool parse_both(struct query_parser *p)
{
    static const struct cn_query_step both = {.kind = CN_QUERY_STEP_AND};
    static const struct cn_query_step skip = {.kind = CN_QUERY_STEP_SKIP};

    if (!parse_not(p))
        return false;
    while (has_another(p)) {
        const char *begin = p->at;
        size_t at = p->query->count;

        (void)take_word(p, "and");
        if (!add_step(p, &skip, begin) || !parse_not(p) || !add_step(p, &both, begin))
            return false;
        p->query->steps[at].target = (uint32_t)p->query->count;
    }
    return true;
}

static void clear_top(struct cn_query *query)
{
    for (size_t i = 0; i < query->count; i++)
        query->steps[i].is_top = false;
}

static bool parse_either(struct query_parser *p)
{
    static const struct cn_query_step either = {.kind = CN_QUERY_STEP_OR};

    if (!parse_both(p))
        return false;
    for (;;) {
        skip_blanks(p);
        const char *begin = p->at;
        if (!take_word(p, "or"))
            return true;
        if (!parse_both(p) || !add_step(p, &either, begin))
            return false;
        if (p->depth == 0)
            clear_top(p->query);
    }
}

/* A superset of what matches. */
struct scope {
    uint64_t first_ns, last_ns; /* traces from these times */
    bool has_id;                /* only this trace */
    struct cn_query_number id;
};

static const struct scope everything = {.last_ns = UINT64_MAX};

static struct scope scope_of_both(const struct scope *a, const struct scope *b)
{
    struct scope both = a->has_id ? *a : *b;

    both.first_ns = a->first_ns > b->first_ns ? a->first_ns : b->first_ns;
    both.last_ns = a->last_ns < b->last_ns ? a->last_ns : b->last_ns;
    return both;
}

static struct scope scope_of_either(const struct scope *a, const struct scope *b)
{
    struct scope either = *a;

    if (a->first_ns > a->last_ns)
        return *b;
    if (b->first_ns > b->last_ns)
        return *a;
    either.first_ns = a->first_ns < b->first_ns ? a->first_ns : b->first_ns;
    either.last_ns = a->last_ns > b->last_ns ? a->last_ns : b->last_ns;
    either.has_id =
        a->has_id && b->has_id && a->id.high == b->id.high && a->id.low == b->id.low;
    return either;
}

static struct scope scope_of_term(const struct cn_query_term *term)
{
    struct scope scope = everything;

    if (term->is_negated)
        return scope;
    if (term->field == CN_QUERY_TIME) {
        scope.first_ns = term->first.low;
        scope.last_ns = term->last.low;
    }
    if (term->field == CN_QUERY_ID && term->first.high == term->last.high &&
        term->first.low == term->last.low) {
        scope.has_id = true;
        scope.id = term->first;
    }
    return scope;
}

static struct scope scope_of(const struct cn_query *query)
{
    struct scope *stack = cn_alloc(query->count + 1, sizeof(*stack)), all;
    size_t depth = 0;

    stack[0] = everything;
    for (size_t i = 0; i < query->count; i++) {
        const struct cn_query_step *step = &query->steps[i];

        switch (step->kind) {
        case CN_QUERY_STEP_TERM:
            stack[depth++] = scope_of_term(&step->term);
            break;
        case CN_QUERY_STEP_AND:
            depth--;
            stack[depth - 1] = scope_of_both(&stack[depth - 1], &stack[depth]);
            break;
        case CN_QUERY_STEP_OR:
            depth--;
            stack[depth - 1] = scope_of_either(&stack[depth - 1], &stack[depth]);
            break;
        case CN_QUERY_STEP_NOT:
            stack[depth - 1] = everything;
            break;
        case CN_QUERY_STEP_SKIP:
            break;
        }
    }
    all = stack[0];
    free(stack);
    return all;
}

static bool is_time(const struct cn_query_step *step)
{
    return step->is_top && step->term.field == CN_QUERY_TIME;
}

/* Times that must all hold are one condition: a span between them. */
static void join_times(struct cn_query *query)
{
    struct cn_text all = {0};

    for (size_t i = 0; i < query->count; i++)
        if (is_time(&query->steps[i]))
            cn_text_printf(&all, "%s%s", all.len > 0 ? " " : "", query->steps[i].text);
    const char *text = cn_arena_strdup(&query->arena, cn_text_str(&all));
    for (size_t i = 0; i < query->count; i++)
        if (is_time(&query->steps[i]))
            query->steps[i].text = text;
    cn_text_done(&all);
}

static bool joins(const struct cn_query *query)
{
    const char *first = NULL;
    bool has_others = false, has_both = false;

    for (size_t i = 0; i < query->count; i++) {
        const struct cn_query_step *step = &query->steps[i];

        if (step->kind == CN_QUERY_STEP_NOT)
            return true;
        has_both |= step->kind == CN_QUERY_STEP_AND;
        if (step->kind != CN_QUERY_STEP_TERM)
            continue;
        if (cn_query_term_is_of_trace(&step->term))
            return true;
        has_others |= first && first != step->text;
        first = step->text;
    }
    return has_others && has_both;
}

bool cn_query_parse(struct cn_query **out, const char *text, uint64_t now_ns,
                    struct cn_error *err)
{
    struct query_parser p = {.text = text, .at = text, .now_ns = now_ns, .err = err};
    bool ok = true;

    if (strlen(text) > CN_QUERY_LEN_MAX)
        return cn_fail(err, CN_ERR_USAGE, "the query has %zu bytes, the limit is %d",
                       strlen(text), CN_QUERY_LEN_MAX);
    struct cn_query *query = cn_alloc(1, sizeof(*query));
    query->text = cn_arena_strdup(&query->arena, text);
    p.query = query;
    skip_blanks(&p);
    if (*p.at)
        ok = parse_either(&p);
    if (ok && *p.at)
        ok = fail(&p, p.at, "')' without '('");
    if (!ok) {
        cn_query_free(query);
        return false;
    }
    join_times(query);
    query->joins = joins(query);
    struct scope scope = scope_of(query);
    query->first_ns = scope.first_ns;
    query->last_ns = scope.last_ns;
    query->has_id = scope.has_id;
    query->id = scope.id;
    *out = query;
    return true;
}

static void done_found(struct cn_query_found *found)
{
    for (size_t i = 0; i < found->count; i++)
        cn_rows_done(&found->rows[i]);
    free(found->rows);
    free(found->segments);
    free(found);
}

void cn_query_free(struct cn_query *query)
{
    if (!query)
        return;
    for (size_t i = 0; i < query->count; i++)
        cn_regex_free(query->steps[i].term.regex);
    if (query->found)
        done_found(query->found);
    free(query->steps);
    cn_arena_done(&query->arena);
    free(query);
}

struct cn_query *cn_query_of_found(const struct cn_query_found *found, const char *text,
                                   uint64_t first_ns, uint64_t last_ns)
{
    struct cn_query *query = cn_alloc(1, sizeof(*query));

    query->text = cn_arena_strdup(&query->arena, text);
    query->first_ns = first_ns;
    query->last_ns = last_ns;
    query->found = cn_alloc(1, sizeof(*query->found));
    *query->found = *found;
    struct cn_query_step step = {
        .kind = CN_QUERY_STEP_TERM,
        .term = {.field = CN_QUERY_FOUND, .found = query->found},
        .text = query->text,
        .is_top = true,
    };
    CN_PUSH(query->steps, query->count, query->capacity, step);
    return query;
}

static struct cn_query_found copy_found(const struct cn_query_found *found)
{
    struct cn_query_found copy = *found;

    copy.segments = cn_alloc(found->count + 1, sizeof(*copy.segments));
    copy.rows = cn_alloc(found->count + 1, sizeof(*copy.rows));
    for (size_t i = 0; i < found->count; i++) {
        copy.segments[i] = found->segments[i];
        if (!found->rows[i].words)
            continue;
        cn_rows_init(&copy.rows[i], found->rows[i].count);
        cn_rows_or(&copy.rows[i], &found->rows[i]);
    }
    return copy;
}

bool cn_query_copy(struct cn_query **out, const struct cn_query *query,
                   struct cn_error *err)
{
    if (!query->found)
        return cn_query_parse(out, query->text, query->now_ns, err);
    struct cn_query_found found = copy_found(query->found);
    *out = cn_query_of_found(&found, query->text, query->first_ns, query->last_ns);
    return true;
}

bool cn_query_of_step(struct cn_query **out, const struct cn_query *query,
                      const struct cn_query_step *step, struct cn_error *err)
{
    return query->found ? cn_query_copy(out, query, err)
                        : cn_query_parse(out, step->text, query->now_ns, err);
}
