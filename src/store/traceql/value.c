#include "store/traceql/value.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/arena.h"
#include "base/duration.h"
#include "base/regex.h"

bool cn_tql_op_takes(enum cn_tql_op op, enum cn_tql_type type)
{
    bool is_equality = op == CN_TQL_EQ || op == CN_TQL_NE;
    bool is_order = op >= CN_TQL_LT && op <= CN_TQL_GE;

    switch (type) {
    case CN_TQL_ATTRIBUTE:
    case CN_TQL_LIST:
        return true;
    case CN_TQL_BOOL:
        return is_equality || op == CN_TQL_AND || op == CN_TQL_OR || op == CN_TQL_NOT;
    case CN_TQL_INT:
    case CN_TQL_FLOAT:
    case CN_TQL_DURATION:
        return is_equality || is_order || (op >= CN_TQL_ADD && op <= CN_TQL_POW) ||
               op == CN_TQL_NEGATE;
    case CN_TQL_STRING:
        return is_equality || is_order || op == CN_TQL_RE || op == CN_TQL_NRE;
    case CN_TQL_NIL:
    case CN_TQL_STATUS:
    case CN_TQL_KIND:
        return is_equality;
    }
    return false;
}

bool cn_tql_types_meet(enum cn_tql_type a, enum cn_tql_type b)
{
    return a == b || a == CN_TQL_ATTRIBUTE || b == CN_TQL_ATTRIBUTE || a == CN_TQL_NIL ||
           b == CN_TQL_NIL || (cn_tql_is_numeric(a) && cn_tql_is_numeric(b));
}

double cn_tql_as_float(const struct cn_tql_value *value)
{
    if (value->type == CN_TQL_FLOAT)
        return value->real;
    if (value->type == CN_TQL_INT || value->type == CN_TQL_DURATION)
        return (double)value->integer;
    if (value->type == CN_TQL_LIST && value->count > 0 && value->is_any)
        return cn_tql_as_float(&value->list[0]);
    return (double)NAN;
}

/* Integers wrap around as those of two's complement. */
static struct cn_tql_value int_arithmetic(enum cn_tql_op op, int64_t a, int64_t b)
{
    uint64_t x = (uint64_t)a, y = (uint64_t)b;

    switch ((int)op) {
    case CN_TQL_ADD:
        return cn_tql_int((int64_t)(x + y));
    case CN_TQL_SUB:
        return cn_tql_int((int64_t)(x - y));
    case CN_TQL_MUL:
        return cn_tql_int((int64_t)(x * y));
    case CN_TQL_DIV:
        return b == 0 ? cn_tql_nil() : cn_tql_int(b == -1 ? (int64_t)-x : a / b);
    case CN_TQL_MOD:
        return b == 0 ? cn_tql_nil() : cn_tql_int(b == -1 ? 0 : a % b);
    default:
        break;
    }
    double power = pow((double)a, (double)b);
    return power >= -0x1p63 && power < 0x1p63 ? cn_tql_int((int64_t)power)
                                              : cn_tql_float(power);
}

static struct cn_tql_value float_arithmetic(enum cn_tql_op op, double a, double b)
{
    switch ((int)op) {
    case CN_TQL_ADD:
        return cn_tql_float(a + b);
    case CN_TQL_SUB:
        return cn_tql_float(a - b);
    case CN_TQL_MUL:
        return cn_tql_float(a * b);
    case CN_TQL_DIV:
        return cn_tql_float(a / b);
    case CN_TQL_MOD:
        return cn_tql_float(fmod(a, b));
    default:
        return cn_tql_float(pow(a, b));
    }
}

static int order_of_bytes(struct cn_bytes a, struct cn_bytes b)
{
    size_t len = a.len < b.len ? a.len : b.len;
    int order = len > 0 ? memcmp(a.ptr, b.ptr, len) : 0;

    if (order != 0)
        return order < 0 ? -1 : 1;
    return a.len < b.len ? -1 : a.len > b.len;
}

static bool holds_for_order(enum cn_tql_op op, int order)
{
    switch ((int)op) {
    case CN_TQL_EQ:
        return order == 0;
    case CN_TQL_NE:
        return order != 0;
    case CN_TQL_LT:
        return order < 0;
    case CN_TQL_LE:
        return order <= 0;
    case CN_TQL_GT:
        return order > 0;
    case CN_TQL_GE:
        return order >= 0;
    default:
        return false;
    }
}

static bool floats_compare(enum cn_tql_op op, double a, double b)
{
    if (isnan(a) || isnan(b))
        return op == CN_TQL_NE;
    return holds_for_order(op, a < b ? -1 : a > b);
}

static int64_t bits_of(const struct cn_tql_value *value)
{
    return value->type == CN_TQL_BOOL ? value->boolean : value->integer;
}

/* Two scalars of types that can meet. */
static bool scalars_compare(enum cn_tql_op op, const struct cn_tql_value *a,
                            const struct cn_tql_value *b, struct cn_regex *regex)
{
    if (a->type == CN_TQL_NIL || b->type == CN_TQL_NIL ||
        !cn_tql_types_meet(a->type, b->type) || !cn_tql_op_takes(op, a->type) ||
        !cn_tql_op_takes(op, b->type))
        return false;
    if (op == CN_TQL_RE || op == CN_TQL_NRE)
        return regex && cn_regex_matches(regex, (const char *)a->text.ptr, a->text.len) ==
                            (op == CN_TQL_RE);
    if (a->type == CN_TQL_STRING)
        return holds_for_order(op, order_of_bytes(a->text, b->text));
    if (a->type == CN_TQL_FLOAT || b->type == CN_TQL_FLOAT)
        return floats_compare(op, cn_tql_as_float(a), cn_tql_as_float(b));
    int64_t x = bits_of(a), y = bits_of(b);
    return holds_for_order(op, x < y ? -1 : x > y);
}

static bool compare_each(enum cn_tql_op op, const struct cn_tql_value *a,
                         const struct cn_tql_value *b, struct cn_regex *regex);

/* The list is the left operand unless `is_right`. Lists of events may have lists in them. */
static bool compare_list(enum cn_tql_op op, const struct cn_tql_value *list,
                         const struct cn_tql_value *other, bool is_right,
                         struct cn_regex *regex)
{
    bool needs_all = !list->is_any && (op == CN_TQL_NE || op == CN_TQL_NRE);

    for (uint32_t i = 0; i < list->count; i++) {
        const struct cn_tql_value *element = &list->list[i];
        bool holds = is_right ? compare_each(op, other, element, regex)
                              : compare_each(op, element, other, regex);

        if (holds != needs_all)
            return holds;
    }
    return needs_all && list->count > 0;
}

static bool compare_each(enum cn_tql_op op, const struct cn_tql_value *a,
                         const struct cn_tql_value *b, struct cn_regex *regex)
{
    if (a->type == CN_TQL_LIST)
        return compare_list(op, a, b, false, regex);
    if (b->type == CN_TQL_LIST)
        return compare_list(op, b, a, true, regex);
    return scalars_compare(op, a, b, regex);
}

/* Of the values of several events, the first. */
static const struct cn_tql_value *first_of(const struct cn_tql_value *value)
{
    return value->type == CN_TQL_LIST && value->is_any && value->count > 0 ? value->list
                                                                           : value;
}

struct cn_tql_value cn_tql_apply(enum cn_tql_op op, const struct cn_tql_value *a,
                                 const struct cn_tql_value *b, struct cn_regex *regex)
{
    if (op == CN_TQL_AND)
        return cn_tql_bool(cn_tql_is_true(a) && cn_tql_is_true(b));
    if (op == CN_TQL_OR)
        return cn_tql_bool(cn_tql_is_true(a) || cn_tql_is_true(b));
    if (cn_tql_is_comparison(op))
        return cn_tql_bool(compare_each(op, a, b, regex));
    a = first_of(a);
    b = first_of(b);
    if (!cn_tql_is_numeric(a->type) || !cn_tql_is_numeric(b->type))
        return cn_tql_nil();
    if (a->type == CN_TQL_INT && b->type == CN_TQL_INT)
        return int_arithmetic(op, a->integer, b->integer);
    return float_arithmetic(op, cn_tql_as_float(a), cn_tql_as_float(b));
}

struct cn_tql_value cn_tql_apply_unary(enum cn_tql_op op, const struct cn_tql_value *a)
{
    struct cn_tql_value result = *a;

    switch ((int)op) {
    case CN_TQL_EXISTS:
        return cn_tql_bool(a->type != CN_TQL_NIL);
    case CN_TQL_NOT_EXISTS:
        return cn_tql_bool(a->type == CN_TQL_NIL);
    case CN_TQL_NOT:
        return a->type == CN_TQL_BOOL ? cn_tql_bool(!a->boolean) : cn_tql_nil();
    default:
        break;
    }
    if (!cn_tql_is_numeric(a->type))
        return cn_tql_nil();
    if (a->type == CN_TQL_FLOAT)
        result.real = -a->real;
    else
        result.integer = (int64_t) - (uint64_t)a->integer;
    return result;
}

int cn_tql_compare(const struct cn_tql_value *a, const struct cn_tql_value *b)
{
    if (a->type != b->type && cn_tql_is_numeric(a->type) && cn_tql_is_numeric(b->type)) {
        double x = cn_tql_as_float(a), y = cn_tql_as_float(b);

        return x < y ? -1 : x > y;
    }
    return cn_tql_order(a, b);
}

static int order_of_lists(const struct cn_tql_value *a, const struct cn_tql_value *b)
{
    for (uint32_t i = 0; i < a->count && i < b->count; i++) {
        int order = cn_tql_order(&a->list[i], &b->list[i]);

        if (order != 0)
            return order;
    }
    return a->count < b->count ? -1 : a->count > b->count;
}

int cn_tql_order(const struct cn_tql_value *a, const struct cn_tql_value *b)
{
    if (a->type != b->type)
        return a->type < b->type ? -1 : 1;
    switch (a->type) {
    case CN_TQL_NIL:
    case CN_TQL_ATTRIBUTE:
        return 0;
    case CN_TQL_STRING:
        return order_of_bytes(a->text, b->text);
    case CN_TQL_LIST:
        return order_of_lists(a, b);
    case CN_TQL_FLOAT:
        return a->real < b->real ? -1 : a->real > b->real;
    case CN_TQL_INT:
    case CN_TQL_BOOL:
    case CN_TQL_DURATION:
    case CN_TQL_STATUS:
    case CN_TQL_KIND:
        break;
    }
    return bits_of(a) < bits_of(b) ? -1 : bits_of(a) > bits_of(b);
}

uint64_t cn_tql_hash(const struct cn_tql_value *value)
{
    uint64_t seed = (uint64_t)value->type * 0x9e3779b97f4a7c15;

    switch (value->type) {
    case CN_TQL_NIL:
    case CN_TQL_ATTRIBUTE:
        return seed;
    case CN_TQL_STRING:
        return XXH3_64bits_withSeed(value->text.ptr, value->text.len, seed);
    case CN_TQL_LIST:
        for (uint32_t i = 0; i < value->count; i++)
            seed = seed * 31 + cn_tql_hash(&value->list[i]);
        return seed;
    case CN_TQL_FLOAT:
        return XXH3_64bits_withSeed(&value->real, sizeof(value->real), seed);
    case CN_TQL_INT:
    case CN_TQL_BOOL:
    case CN_TQL_DURATION:
    case CN_TQL_STATUS:
    case CN_TQL_KIND:
        break;
    }
    int64_t bits = bits_of(value);
    return XXH3_64bits_withSeed(&bits, sizeof(bits), seed);
}

struct cn_tql_value cn_tql_keep(struct cn_arena *arena, const struct cn_tql_value *value)
{
    struct cn_tql_value kept = *value;

    if (value->type == CN_TQL_STRING)
        kept.text.ptr = (const uint8_t *)cn_arena_copy(
            arena, (const char *)value->text.ptr, value->text.len);
    if (value->type == CN_TQL_LIST) {
        struct cn_tql_value *list =
            cn_arena_alloc(arena, value->count + 1, sizeof(*list));

        for (uint32_t i = 0; i < value->count; i++)
            list[i] = cn_tql_keep(arena, &value->list[i]);
        kept.list = list;
    }
    return kept;
}

const char *cn_tql_status_name(int64_t status)
{
    static const char *const names[] = {"unset", "ok", "error"};

    return status >= 0 && status <= CN_TQL_ERROR ? names[status] : NULL;
}

const char *cn_tql_kind_name(int64_t kind)
{
    static const char *const names[] = {"unspecified", "internal", "server",
                                        "client",      "producer", "consumer"};

    return kind >= 0 && kind < 6 ? names[kind] : NULL;
}

static void print_list(const struct cn_tql_value *value, struct cn_text *out)
{
    cn_text_char(out, '[');
    for (uint32_t i = 0; i < value->count; i++) {
        const char *quote = value->list[i].type == CN_TQL_STRING ? "\"" : "";

        cn_text_printf(out, "%s%s", i > 0 ? ", " : "", quote);
        cn_tql_print(&value->list[i], out);
        cn_text_str_add(out, quote);
    }
    cn_text_char(out, ']');
}

static void print_duration(int64_t ns, struct cn_text *out)
{
    if (ns < 0)
        cn_text_char(out, '-');
    cn_duration_print_exactly(out, ns < 0 ? -(uint64_t)ns : (uint64_t)ns);
}

/* As few digits as tell it from others, and a point, which tells it from a whole number. */
static void print_float(double number, struct cn_text *out)
{
    enum { DIGITS_MIN = 15, DIGITS_MAX = 17 };
    char text[40];

    for (int digits = DIGITS_MIN; digits <= DIGITS_MAX; digits++) {
        (void)snprintf(text, sizeof(text), "%.*g", digits, number);
        if (strtod(text, NULL) == number)
            break;
    }
    cn_text_str_add(out, text);
    if (!strpbrk(text, ".eni"))
        cn_text_str_add(out, ".0");
}

void cn_tql_print(const struct cn_tql_value *value, struct cn_text *out)
{
    const char *name = NULL;

    switch (value->type) {
    case CN_TQL_NIL:
    case CN_TQL_ATTRIBUTE:
        name = "nil";
        break;
    case CN_TQL_INT:
        cn_text_printf(out, "%" PRId64, value->integer);
        return;
    case CN_TQL_FLOAT:
        print_float(value->real, out);
        return;
    case CN_TQL_STRING:
        cn_text_add(out, (const char *)value->text.ptr, value->text.len);
        return;
    case CN_TQL_BOOL:
        name = value->boolean ? "true" : "false";
        break;
    case CN_TQL_DURATION:
        print_duration(value->integer, out);
        return;
    case CN_TQL_STATUS:
        name = cn_tql_status_name(value->integer);
        break;
    case CN_TQL_KIND:
        name = cn_tql_kind_name(value->integer);
        break;
    case CN_TQL_LIST:
        if (value->is_any && value->count > 0)
            cn_tql_print(&value->list[0], out);
        else
            print_list(value, out);
        return;
    }
    cn_text_str_add(out, name ? name : "unknown");
}

const char *cn_tql_op_sign(enum cn_tql_op op)
{
    static const char *const signs[] = {
        [CN_TQL_ADD] = "+",
        [CN_TQL_SUB] = "-",
        [CN_TQL_MUL] = "*",
        [CN_TQL_DIV] = "/",
        [CN_TQL_MOD] = "%",
        [CN_TQL_POW] = "^",
        [CN_TQL_EQ] = "=",
        [CN_TQL_NE] = "!=",
        [CN_TQL_LT] = "<",
        [CN_TQL_LE] = "<=",
        [CN_TQL_GT] = ">",
        [CN_TQL_GE] = ">=",
        [CN_TQL_RE] = "=~",
        [CN_TQL_NRE] = "!~",
        [CN_TQL_AND] = "&&",
        [CN_TQL_OR] = "||",
        [CN_TQL_NOT] = "!",
        [CN_TQL_NEGATE] = "-",
        [CN_TQL_EXISTS] = "!= nil",
        [CN_TQL_NOT_EXISTS] = "= nil",
        [CN_TQL_DESCENDANT] = ">>",
        [CN_TQL_ANCESTOR] = "<<",
        [CN_TQL_SIBLING] = "~",
        [CN_TQL_NOT_CHILD] = "!>",
        [CN_TQL_NOT_PARENT] = "!<",
        [CN_TQL_NOT_DESCENDANT] = "!>>",
        [CN_TQL_NOT_ANCESTOR] = "!<<",
        [CN_TQL_BOTH_CHILD] = "&>",
        [CN_TQL_BOTH_PARENT] = "&<",
        [CN_TQL_BOTH_DESCENDANT] = "&>>",
        [CN_TQL_BOTH_ANCESTOR] = "&<<",
        [CN_TQL_BOTH_SIBLING] = "&~",
    };

    return signs[op] ? signs[op] : "";
}
