#include "store/traceql/condition.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/digits.h"
#include "store/traceql/program.h"

enum { CONDITION_LEN_MAX = 4096 }; /* longer ones say less */

/* How the text of a condition has to be combined with others. */
enum form { FORM_TERM, FORM_AND, FORM_OR };

/* What is known of a value on the stack of an expression. */
struct part {
    enum { PART_UNKNOWN, PART_VALUE, PART_FIELD, PART_CONDITION, PART_NEVER } kind;
    const char *text; /* of a condition; "" is every span */
    enum form form;
    bool is_exact;
    const char
        *doubt; /* spans of this condition may not match although it is exact; "": none */
    const struct cn_tql_value *value;
    const struct cn_tql_field *field;
};

static const struct part every_span = {.kind = PART_CONDITION, .text = "", .doubt = ""};

static struct part condition(struct cn_arena *arena, struct cn_text *text, enum form form,
                             bool is_exact)
{
    struct part part = {
        .kind = PART_CONDITION, .form = form, .is_exact = is_exact, .doubt = ""};

    part.text = cn_arena_copy(arena, cn_text_str(text), text->len);
    cn_text_done(text);
    return part;
}

static void add_quoted(struct cn_text *out, const char *chars, size_t len)
{
    cn_text_char(out, '"');
    for (size_t i = 0; i < len; i++) {
        if (chars[i] == '"' || chars[i] == '\\')
            cn_text_char(out, '\\');
        cn_text_char(out, chars[i]);
    }
    cn_text_char(out, '"');
}

static bool is_plain_text(const struct cn_tql_value *value)
{
    return value->type == CN_TQL_STRING && value->text.len > 0 &&
           !memchr(value->text.ptr, '\0', value->text.len);
}

/* The other language compares texts that look like numbers as numbers. */
static bool looks_like_number(struct cn_bytes text)
{
    return text.len > 0 &&
           (text.ptr[0] == '-' || (text.ptr[0] >= '0' && text.ptr[0] <= '9'));
}

/* Append the comparison of an attribute in the index with a number: values are indexed as text. */
static bool add_number(struct cn_text *out, const char *key, enum cn_tql_op op,
                       const struct cn_tql_value *value)
{
    double number = cn_tql_as_float(value);
    bool is_more = op == CN_TQL_GT || op == CN_TQL_GE;

    if (!(fabs(number) < 0x1p53) || (op == CN_TQL_EQ && number == 0))
        return false;
    if (op == CN_TQL_EQ) {
        cn_text_printf(out, "%s = \"%.17g\"", key, number);
        return true;
    }
    if (op < CN_TQL_LT || op > CN_TQL_GE)
        return false;
    cn_text_printf(out, "%s %s %.17g or %s = %s", key, cn_tql_op_sign(op), number, key,
                   is_more ? "inf" : "-inf");
    return true;
}

/* Append the comparison of an attribute in the index; false if it cannot be said. */
static bool add_comparison(struct cn_text *out, const char *key, enum cn_tql_op op,
                           const struct cn_tql_value *value, const char *pattern)
{
    if (cn_tql_is_numeric(value->type))
        return add_number(out, key, op, value);
    if (op == CN_TQL_EQ && value->type == CN_TQL_BOOL) {
        cn_text_printf(out, "%s = %s", key, value->boolean ? "true" : "false");
        return true;
    }
    if (op == CN_TQL_RE && pattern && *pattern) {
        cn_text_printf(out, "%s ~ ", key);
        add_quoted(out, pattern, strlen(pattern));
        return true;
    }
    if (!is_plain_text(value) || op == CN_TQL_NE || op == CN_TQL_RE || op == CN_TQL_NRE ||
        (op != CN_TQL_EQ && looks_like_number(value->text)))
        return false;
    cn_text_printf(out, "%s %s ", key, cn_tql_op_sign(op));
    add_quoted(out, (const char *)value->text.ptr, value->text.len);
    return true;
}

/* A comparison as part of another: what is compared, and with what. */
struct comparison {
    struct cn_arena *arena;
    const struct cn_tql_field *field;
    enum cn_tql_op op;
    const struct cn_tql_value *value; /* NULL: there is any */
    const char *pattern;
};

static void add_key(struct cn_text *out, const struct comparison *c, const char *key)
{
    cn_text_str_add(out, out->len > 0 ? " or " : "");
    if (!c->value || !add_comparison(out, key, c->op, c->value, c->pattern))
        cn_text_printf(out, "%s exists", key);
}

static const char *const prefixes[] = {
    [CN_TQL_OF_SPAN] = "",
    [CN_TQL_OF_RESOURCE] = "resource.",
    [CN_TQL_OF_EVENT] = "event.",
    [CN_TQL_OF_LINK] = "links.",
    [CN_TQL_OF_INSTRUMENTATION] = "scope.",
};

static bool is_service(const struct cn_tql_field *field)
{
    return strcmp(field->name, "service.name") == 0 &&
           (field->scope == CN_TQL_UNSCOPED || field->scope == CN_TQL_OF_RESOURCE);
}

/* The service is a column, of texts alone. */
static struct part of_service(const struct comparison *c)
{
    struct cn_text text = {0};
    bool is_exact = !c->value;

    if (!c->value) {
        cn_text_str_add(&text, "service exists");
    } else if (is_plain_text(c->value) && c->op == CN_TQL_NE) {
        cn_text_str_add(&text, "service != ");
        add_quoted(&text, (const char *)c->value->text.ptr, c->value->text.len);
        is_exact = true;
    } else if (c->op == CN_TQL_NRE && *c->pattern) {
        cn_text_str_add(&text, "service !~ ");
        add_quoted(&text, c->pattern, strlen(c->pattern));
        is_exact = true;
    } else if (c->value->type == CN_TQL_STRING &&
               add_comparison(&text, "service", c->op, c->value, c->pattern)) {
        is_exact = true;
    } else {
        cn_text_str_add(&text, "service exists");
    }
    return condition(c->arena, &text, FORM_TERM, is_exact);
}

/* Names of the index that are not those of attributes of a span. */
static bool is_reserved(const char *name)
{
    static const char *const prefixed[] = {"event.", "resource.", "scope.", "link.",
                                           "links."};
    static const char *const whole[] = {"event",       "annotation",     "links",
                                        "status.code", "status.message", "trace_state"};

    for (size_t i = 0; i < sizeof(prefixed) / sizeof(prefixed[0]); i++)
        if (strncmp(name, prefixed[i], strlen(prefixed[i])) == 0)
            return true;
    for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++)
        if (strcmp(name, whole[i]) == 0)
            return true;
    return false;
}

/* A text that is no other value as well: the index has them all as text. */
static bool is_text_alone(const struct cn_tql_value *value)
{
    static const char *const others[] = {"true", "false", "null", "inf", "nan"};

    if (!is_plain_text(value) || looks_like_number(value->text))
        return false;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (value->text.len == strlen(others[i]) &&
            memcmp(value->text.ptr, others[i], value->text.len) == 0)
            return false;
    return true;
}

/* An attribute of the span that equals a text is what the index has, unless the resource has one of the
 * same name. */
static void make_exact(const struct comparison *c, struct part *part)
{
    if (c->field->scope != CN_TQL_OF_SPAN || !c->value || c->op != CN_TQL_EQ ||
        !is_text_alone(c->value) || is_reserved(c->field->name))
        return;
    part->is_exact = true;
    part->doubt = cn_arena_printf(c->arena, "root.resource.%s exists", c->field->name);
}

/* An attribute under each key of the index that it may have. */
static struct part of_attribute(const struct comparison *c)
{
    enum cn_tql_scope first = c->field->scope, last = c->field->scope;
    struct cn_text text = {0};

    if (c->field->name[strcspn(c->field->name, " \t\r\n\v\f()\"'=<>~!")])
        return every_span;
    if (is_service(c->field) && c->field->scope == CN_TQL_OF_RESOURCE)
        return of_service(c);
    if (is_service(c->field))
        cn_text_str_add(&text, of_service(c).text);
    if (c->field->scope == CN_TQL_UNSCOPED) {
        first = CN_TQL_OF_SPAN;
        last = CN_TQL_OF_INSTRUMENTATION;
    }
    for (enum cn_tql_scope scope = first; scope <= last; scope++) {
        char *key = cn_strprintf("root.%s%s", prefixes[scope], c->field->name);

        add_key(&text, c, key);
        free(key);
    }
    struct part part = condition(
        c->arena, &text, strstr(cn_text_str(&text), " or ") ? FORM_OR : FORM_TERM, false);
    make_exact(c, &part);
    return part;
}

static struct part of_key(const struct comparison *c, const char *key)
{
    struct cn_text text = {0};

    add_key(&text, c, key);
    return condition(c->arena, &text, FORM_OR, false);
}

static struct part of_duration(const struct comparison *c)
{
    struct cn_text text = {0};
    int64_t ns = c->value ? c->value->integer : -1;

    if (!c->value ||
        (c->value->type != CN_TQL_DURATION && c->value->type != CN_TQL_INT) || ns < 0 ||
        ns >= INT64_C(1) << 53 || c->op > CN_TQL_GE)
        return every_span;
    cn_text_printf(&text, "duration %s %" PRId64 "ns", cn_tql_op_sign(c->op), ns);
    return condition(c->arena, &text, FORM_TERM, true);
}

static struct part of_name(const struct comparison *c)
{
    if (!c->value || c->op == CN_TQL_NE || c->op == CN_TQL_NRE)
        return every_span;
    struct part part = of_key(c, "root");
    return strcmp(part.text, "root exists") == 0 ? every_span : part;
}

static struct part of_kind(const struct comparison *c)
{
    struct cn_text text = {0};
    int64_t kind = c->value ? c->value->integer : 0;
    enum form form = FORM_TERM;

    if (!c->value || c->value->type != CN_TQL_KIND || c->op > CN_TQL_NE)
        return every_span;
    if (kind > 0) {
        cn_text_printf(&text, "%stype = %s", c->op == CN_TQL_NE ? "not " : "",
                       cn_tql_kind_name(kind));
    } else {
        cn_text_str_add(&text, c->op == CN_TQL_EQ ? "not (" : "");
        for (kind = 1; cn_tql_kind_name(kind); kind++)
            cn_text_printf(&text, "%stype = %s", kind > 1 ? " or " : "",
                           cn_tql_kind_name(kind));
        cn_text_str_add(&text, c->op == CN_TQL_EQ ? ")" : "");
        form = c->op == CN_TQL_EQ ? FORM_TERM : FORM_OR;
    }
    return condition(c->arena, &text, form, true);
}

static struct part of_status(const struct comparison *c)
{
    struct cn_text text = {0};
    int64_t status = c->value ? c->value->integer : CN_TQL_UNSET;

    if (!c->value || c->value->type != CN_TQL_STATUS || c->op > CN_TQL_NE ||
        (c->op == CN_TQL_EQ) == (status == CN_TQL_UNSET))
        return every_span;
    if (c->op == CN_TQL_NE && status != CN_TQL_UNSET)
        return every_span;
    if (status == CN_TQL_ERROR)
        cn_text_str_add(&text, "errors");
    else
        cn_text_printf(&text, "root.status.code = ok%s",
                       c->op == CN_TQL_NE ? " or errors" : "");
    return condition(c->arena, &text, FORM_OR, false);
}

static struct part of_id(const struct comparison *c, const char *name, size_t digits)
{
    struct cn_text text = {0};
    bool is_text = c->value && c->value->type == CN_TQL_STRING;

    if (!is_text || c->op != CN_TQL_EQ || c->value->text.len == 0)
        return every_span;
    if (c->value->text.len > digits ||
        !cn_hex_is((const char *)c->value->text.ptr, c->value->text.len))
        return (struct part){.kind = PART_NEVER, .is_exact = true, .doubt = ""};
    cn_text_printf(&text, "%s = %.*s", name, (int)c->value->text.len,
                   (const char *)c->value->text.ptr);
    return condition(c->arena, &text, FORM_TERM, false);
}

static struct part of_field(const struct comparison *c)
{
    if (c->field->is_parent)
        return every_span;
    switch (c->field->intrinsic) {
    case CN_TQL_NO_INTRINSIC:
        return of_attribute(c);
    case CN_TQL_I_DURATION:
        return of_duration(c);
    case CN_TQL_I_NAME:
        return of_name(c);
    case CN_TQL_I_STATUS:
        return of_status(c);
    case CN_TQL_I_STATUS_MESSAGE:
        return c->value && c->value->type == CN_TQL_STRING && c->value->text.len > 0 &&
                       c->op == CN_TQL_EQ
                   ? of_key(c, "root.status.message")
                   : every_span;
    case CN_TQL_I_KIND:
        return of_kind(c);
    case CN_TQL_I_SPAN_ID:
        return of_id(c, "span", 16);
    case CN_TQL_I_PARENT_ID:
        return of_id(c, "parent", 16);
    case CN_TQL_I_TRACE_ID:
        return of_id(c, "id", 32);
    case CN_TQL_I_EVENT_NAME:
        return of_key(c, "root.event");
    case CN_TQL_I_LINK_TRACE:
        return of_key(c, "root.links.trace");
    case CN_TQL_I_LINK_SPAN:
        return of_key(c, "root.links.span");
    case CN_TQL_I_SCOPE_NAME:
        return of_key(c, "root.scope.name");
    case CN_TQL_I_SCOPE_VERSION:
        return of_key(c, "root.scope.version");
    case CN_TQL_I_EVENT_TIME:
    case CN_TQL_I_CHILD_COUNT:
    case CN_TQL_I_ROOT_NAME:
    case CN_TQL_I_ROOT_SERVICE:
    case CN_TQL_I_TRACE_DURATION:
    case CN_TQL_I_NESTED_LEFT:
    case CN_TQL_I_NESTED_RIGHT:
    case CN_TQL_I_NESTED_PARENT:
        break;
    }
    return every_span;
}

/* A value on the stack as a condition: a field is one that is true. */
static struct part as_condition(struct cn_arena *arena, const struct part *part)
{
    static const struct cn_tql_value yes = {.type = CN_TQL_BOOL, .boolean = true};
    struct comparison c = {arena, part->field, CN_TQL_EQ, &yes, NULL};
    struct part all = every_span;

    switch (part->kind) {
    case PART_FIELD:
        return of_field(&c);
    case PART_VALUE:
        all.is_exact = true;
        return cn_tql_is_true(part->value)
                   ? all
                   : (struct part){.kind = PART_NEVER, .is_exact = true, .doubt = ""};
    case PART_CONDITION:
    case PART_NEVER:
        return *part;
    case PART_UNKNOWN:
        break;
    }
    return all;
}

/* What is in doubt on either side. */
static const char *doubts(struct cn_arena *arena, const struct part *a,
                          const struct part *b)
{
    if (!a->doubt[0] || !b->doubt[0] || strcmp(a->doubt, b->doubt) == 0)
        return a->doubt[0] ? a->doubt : b->doubt;
    return cn_arena_printf(arena, "%s or %s", a->doubt, b->doubt);
}

static struct part join(struct cn_arena *arena, const struct part *a,
                        const struct part *b, bool is_both)
{
    struct cn_text text = {0};
    enum form form = is_both ? FORM_AND : FORM_OR;
    const struct part *sides[] = {a, b};

    if (strlen(a->text) + strlen(b->text) + strlen(a->doubt) + strlen(b->doubt) >
        CONDITION_LEN_MAX) {
        struct part less = is_both ? *a : every_span;

        less.is_exact = false;
        return less;
    }
    for (size_t i = 0; i < 2; i++) {
        bool is_wrapped = is_both && sides[i]->form == FORM_OR;

        cn_text_printf(&text, "%s%s%s%s", i > 0 ? (is_both ? " and " : " or ") : "",
                       is_wrapped ? "(" : "", sides[i]->text, is_wrapped ? ")" : "");
    }
    struct part part = condition(arena, &text, form, a->is_exact && b->is_exact);
    part.doubt = part.is_exact ? doubts(arena, a, b) : "";
    return part;
}

static struct part both(struct cn_arena *arena, const struct part *a,
                        const struct part *b)
{
    struct part one;

    if (a->kind == PART_NEVER || b->kind == PART_NEVER)
        return a->kind == PART_NEVER ? *a : *b;
    if (a->text[0] && b->text[0])
        return join(arena, a, b, true);
    one = a->text[0] ? *a : *b;
    one.is_exact = a->is_exact && b->is_exact;
    one.doubt = one.is_exact ? doubts(arena, a, b) : "";
    return one;
}

static struct part either(struct cn_arena *arena, const struct part *a,
                          const struct part *b)
{
    struct part all = every_span;

    if (a->kind == PART_NEVER)
        return *b;
    if (b->kind == PART_NEVER)
        return *a;
    if (a->text[0] && b->text[0])
        return join(arena, a, b, false);
    all.is_exact = (!a->text[0] && a->is_exact) || (!b->text[0] && b->is_exact);
    return all;
}

static struct part inverse(struct cn_arena *arena, const struct part *a)
{
    struct part all = every_span;
    struct cn_text text = {0};

    all.is_exact = a->is_exact && !a->doubt[0];
    if (!all.is_exact || a->kind == PART_NEVER)
        return all;
    if (!a->text[0])
        return (struct part){.kind = PART_NEVER, .is_exact = true, .doubt = ""};
    cn_text_printf(&text, "not (%s)", a->text);
    return condition(arena, &text, FORM_TERM, true);
}

/* The comparison with its sides exchanged. */
static enum cn_tql_op flip(enum cn_tql_op op)
{
    switch ((int)op) {
    case CN_TQL_LT:
        return CN_TQL_GT;
    case CN_TQL_LE:
        return CN_TQL_GE;
    case CN_TQL_GT:
        return CN_TQL_LT;
    case CN_TQL_GE:
        return CN_TQL_LE;
    default:
        return op;
    }
}

static struct part compare(struct cn_arena *arena, const struct cn_tql_step *step,
                           const struct part *a, const struct part *b)
{
    struct comparison c = {arena, a->field, step->op, b->value, step->pattern};

    if (a->kind == PART_VALUE && b->kind == PART_FIELD)
        c = (struct comparison){arena, b->field, flip(step->op), a->value, NULL};
    else if (a->kind != PART_FIELD || b->kind != PART_VALUE)
        return (struct part){.kind = PART_UNKNOWN};
    if (c.op == CN_TQL_RE || c.op == CN_TQL_NRE)
        return step->pattern && c.value == b->value ? of_field(&c) : every_span;
    return of_field(&c);
}

static struct part apply_binary(struct cn_arena *arena, const struct cn_tql_step *step,
                                const struct part *a, const struct part *b)
{
    struct part left, right;

    if (cn_tql_is_comparison(step->op))
        return compare(arena, step, a, b);
    if (step->op != CN_TQL_AND && step->op != CN_TQL_OR)
        return (struct part){.kind = PART_UNKNOWN};
    left = as_condition(arena, a);
    right = as_condition(arena, b);
    return step->op == CN_TQL_AND ? both(arena, &left, &right)
                                  : either(arena, &left, &right);
}

static struct part apply_unary(struct cn_arena *arena, enum cn_tql_op op,
                               const struct part *a)
{
    struct comparison c = {arena, a->field, CN_TQL_EQ, NULL, NULL};

    if (op == CN_TQL_NOT && a->kind != PART_FIELD) {
        struct part part = as_condition(arena, a);

        return inverse(arena, &part);
    }
    if (op == CN_TQL_EXISTS && a->kind == PART_FIELD)
        return of_field(&c);
    return op == CN_TQL_NOT || op == CN_TQL_EXISTS || op == CN_TQL_NOT_EXISTS
               ? every_span
               : (struct part){.kind = PART_UNKNOWN};
}

static struct part translate(struct cn_tql_program *program,
                             const struct cn_tql_expr *expr)
{
    struct part *stack = cn_alloc(expr->count + 1, sizeof(*stack)), all = every_span;
    size_t depth = 0;

    for (uint32_t i = expr->first; i < expr->first + expr->count; i++) {
        const struct cn_tql_step *step = &program->steps[i];

        switch (step->kind) {
        case CN_TQL_PUSH:
            stack[depth++] = (struct part){.kind = PART_VALUE, .value = &step->value};
            break;
        case CN_TQL_FIELD:
            stack[depth++] =
                (struct part){.kind = PART_FIELD, .field = &program->fields[step->field]};
            break;
        case CN_TQL_UNARY:
            stack[depth - 1] = apply_unary(&program->arena, step->op, &stack[depth - 1]);
            break;
        case CN_TQL_BINARY:
            depth--;
            stack[depth - 1] =
                apply_binary(&program->arena, step, &stack[depth - 1], &stack[depth]);
            break;
        case CN_TQL_SKIP:
            break;
        }
    }
    all.is_exact = expr->count == 0;
    if (expr->count > 0)
        all = as_condition(&program->arena, &stack[0]);
    free(stack);
    return all;
}

static bool needs_trace(const struct cn_tql_program *program,
                        const struct cn_tql_expr *expr)
{
    for (uint32_t i = expr->first; i < expr->first + expr->count; i++) {
        const struct cn_tql_step *step = &program->steps[i];

        if (step->kind == CN_TQL_FIELD &&
            cn_tql_field_needs_trace(&program->fields[step->field]))
            return true;
    }
    return false;
}

void cn_tql_conditions(struct cn_tql_program *program)
{
    for (size_t i = 0; i < program->filter_count; i++) {
        struct cn_tql_filter *filter = &program->filters[i];
        struct part part = translate(program, &filter->expr);

        filter->condition = part.kind == PART_CONDITION ? part.text : "";
        filter->is_none = part.kind == PART_NEVER;
        filter->is_exact = part.is_exact;
        filter->doubt = part.is_exact && part.doubt ? part.doubt : "";
        filter->needs_trace = needs_trace(program, &filter->expr);
    }
}
