#include "store/search/query.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/bytes/digits.h"
#include "base/date.h"
#include "base/duration.h"
#include "base/regex.h"

static const char root_prefix[] = "root.";

static const struct {
    const char *name;
    enum cn_query_field field;
} fields[] = {
    {"time", CN_QUERY_TIME},
    {"duration", CN_QUERY_DURATION},
    {"errors", CN_QUERY_ERRORS},
    {"calls", CN_QUERY_CALLS},
    {"records", CN_QUERY_RECORDS},
    {"id", CN_QUERY_ID},
    {"span", CN_QUERY_SPAN},
    {"parent", CN_QUERY_PARENT},
    {"type", CN_QUERY_TYPE},
    {"service", CN_QUERY_SERVICE},
    {"root", CN_QUERY_ROOT},
    {"method", CN_QUERY_METHOD},
    {"class", CN_QUERY_CLASS},
    {"exception", CN_QUERY_EXCEPTION},
    {"exception.class", CN_QUERY_EXCEPTION_CLASS},
    {"exception.message", CN_QUERY_EXCEPTION_MESSAGE},
    {"text", CN_QUERY_TEXT},
};

const char *cn_query_field_name(size_t i)
{
    return i < sizeof(fields) / sizeof(fields[0]) ? fields[i].name : NULL;
}

/* "@name" is always an attribute. */
static void choose_field(struct cn_query_term *term, const char *name)
{
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        if (strcmp(fields[i].name, name) == 0) {
            term->field = fields[i].field;
            return;
        }
    }
    term->field = CN_QUERY_ATTRIBUTE;
    term->name = name[0] == '@' ? name + 1 : name;
    if (strncmp(name, root_prefix, strlen(root_prefix)) == 0) {
        term->field = CN_QUERY_ROOT_ATTRIBUTE;
        term->name = name + strlen(root_prefix);
    }
}

/* Set the range of values that compare with first..last as the operator requires. */
static bool set_range(struct cn_query_term *term, uint64_t first, uint64_t last,
                      struct cn_error *err)
{
    static const struct cn_query_number none_first = {0, 1}, none_last = {0, 0};

    term->first.low = 0;
    term->last.low = UINT64_MAX;
    switch (term->op) {
    case CN_QUERY_EQUAL:
        term->first.low = first;
        term->last.low = last;
        return true;
    case CN_QUERY_LESS_EQUAL:
        term->last.low = last;
        return true;
    case CN_QUERY_GREATER_EQUAL:
        term->first.low = first;
        return true;
    case CN_QUERY_LESS:
        term->last.low = first - 1;
        if (first == 0) {
            term->first = none_first;
            term->last = none_last;
        }
        return true;
    case CN_QUERY_GREATER:
        term->first.low = last + 1;
        if (last == UINT64_MAX) {
            term->first = none_first;
            term->last = none_last;
        }
        return true;
    case CN_QUERY_EXISTS:
        return true;
    case CN_QUERY_CONTAINS:
    case CN_QUERY_STARTS:
    case CN_QUERY_ENDS:
    case CN_QUERY_MATCHES:
        break;
    }
    return cn_fail(err, CN_ERR_USAGE,
                   "a number can be compared with =, !=, <, <=, > or >= only");
}

static bool parse_count(const char *value, uint64_t *out, struct cn_error *err)
{
    char *end;
    double number = strtod(value, &end);

    if (end == value || *end || !(number >= 0 && number < 1e18) ||
        number != floor(number))
        return cn_fail(err, CN_ERR_USAGE, "'%s' is not a whole number", value);
    *out = (uint64_t)number;
    return true;
}

static struct cn_query_number number_of(const char digits[static 33])
{
    char high[17] = {0};

    memcpy(high, digits, 16);
    return (struct cn_query_number){strtoull(high, NULL, 16),
                                    strtoull(digits + 16, NULL, 16)};
}

/* An id of `digits` hexadecimal digits, or with "starts" the first of them. */
static bool parse_id(struct cn_query_term *term, const char *value, unsigned digits,
                     struct cn_error *err)
{
    bool is_prefix = term->op == CN_QUERY_STARTS;
    char first[33] = {0}, last[33] = {0};

    if (term->op == CN_QUERY_EXISTS) {
        term->first.low = 1; /* 0 is none */
        term->last = (struct cn_query_number){UINT64_MAX, UINT64_MAX};
        return true;
    }
    if (term->op != CN_QUERY_EQUAL && !is_prefix)
        return cn_fail(err, CN_ERR_USAGE,
                       "an id can be compared with =, != or starts only");
    size_t len = strlen(value);
    if (len == 0 || len > digits)
        return cn_fail(err, CN_ERR_USAGE, "'%s' is not an id of %u digits", value,
                       digits);
    if (!cn_hex_is(value, len))
        return cn_fail(err, CN_ERR_USAGE, "'%s' is not a hexadecimal number", value);
    /* Leading zeros may be missing; of a prefix, the last digits are unknown. */
    size_t at = 32 - (is_prefix ? digits : len);
    memset(first, '0', 32);
    memset(last, '0', 32);
    memset(last + 32 - digits, is_prefix ? 'f' : '0', digits);
    memcpy(first + at, value, len);
    memcpy(last + at, value, len);
    term->first = number_of(first);
    term->last = number_of(last);
    term->op = CN_QUERY_EQUAL;
    return true;
}

/* Whole numbers that a double represents exactly: most of those in attributes. */
static bool parse_whole(struct cn_bytes text, double *out)
{
    enum { DIGITS_MAX = 15 };
    uint64_t value = 0;

    if (text.len > DIGITS_MAX)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return false;
        value = value * 10 + (uint64_t)(text.ptr[i] - '0');
    }
    *out = (double)value;
    return text.len > 0;
}

/* False if a text is not a number. */
static bool parse_number(struct cn_bytes text, double *out)
{
    enum { NUMBER_LEN_MAX = 40 };
    char copy[NUMBER_LEN_MAX + 1], *end;

    if (parse_whole(text, out))
        return true;
    /* strtod() also accepts names, hexadecimal digits and blanks. */
    if (text.len == 0 || text.len > NUMBER_LEN_MAX ||
        (text.ptr[0] != '-' && (text.ptr[0] < '0' || text.ptr[0] > '9')))
        return false;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    if (strspn(copy, "0123456789.eE+-") != text.len)
        return false;
    *out = strtod(copy, &end);
    return *end == '\0' && end != copy;
}

static bool set_text(struct cn_query_term *term, const char *value, struct cn_error *err)
{
    if (term->op == CN_QUERY_EXISTS)
        return true;
    term->text = cn_bytes_of(value);
    term->is_number = parse_number(term->text, &term->number);
    return term->op != CN_QUERY_MATCHES || cn_regex_new(&term->regex, value, 0, err) ||
           cn_fail_in(err, "pattern '%.100s'", value);
}

static bool set_number(struct cn_query_term *term, const char *value,
                       struct cn_error *err)
{
    uint64_t first = 0, last = UINT64_MAX;
    bool ok = true;

    if (term->op == CN_QUERY_EXISTS)
        return set_range(term, first, last, err);
    if (term->field == CN_QUERY_TIME) {
        ok = cn_date_parse(value, &first, &last, err);
    } else {
        ok = term->field == CN_QUERY_DURATION
                 ? cn_duration_parse(value, CN_BARE_S, &first, err)
                 : parse_count(value, &first, err);
        last = first;
    }
    return ok && set_range(term, first, last, err);
}

/* "since", "until", "last". */
static bool set_time_word(struct cn_query_term *term, const char *name, const char *value,
                          uint64_t now_ns, struct cn_error *err)
{
    uint64_t ns;

    term->field = CN_QUERY_TIME;
    if (strcasecmp(name, "last") != 0) {
        term->op =
            strcasecmp(name, "since") == 0 ? CN_QUERY_GREATER_EQUAL : CN_QUERY_LESS_EQUAL;
        return set_number(term, value, err);
    }
    if (!cn_duration_parse(value, CN_BARE_S, &ns, err))
        return false;
    term->op = CN_QUERY_GREATER_EQUAL;
    return set_range(term, now_ns > ns ? now_ns - ns : 0, 0, err);
}

bool cn_query_term_init(struct cn_query_term *term, const char *name, const char *value,
                        uint64_t now_ns, struct cn_error *err)
{
    if (value && (strcasecmp(name, "since") == 0 || strcasecmp(name, "until") == 0 ||
                  strcasecmp(name, "last") == 0))
        return set_time_word(term, name, value, now_ns, err);
    choose_field(term, name);
    switch (term->field) {
    case CN_QUERY_TIME:
    case CN_QUERY_DURATION:
    case CN_QUERY_ERRORS:
    case CN_QUERY_CALLS:
    case CN_QUERY_RECORDS:
        return set_number(term, value, err);
    case CN_QUERY_ID:
        return parse_id(term, value, 32, err);
    case CN_QUERY_SPAN:
    case CN_QUERY_PARENT:
        return parse_id(term, value, 16, err);
    case CN_QUERY_TYPE:
    case CN_QUERY_SERVICE:
    case CN_QUERY_ROOT:
    case CN_QUERY_METHOD:
    case CN_QUERY_CLASS:
    case CN_QUERY_EXCEPTION:
    case CN_QUERY_EXCEPTION_CLASS:
    case CN_QUERY_EXCEPTION_MESSAGE:
    case CN_QUERY_ATTRIBUTE:
    case CN_QUERY_ROOT_ATTRIBUTE:
    case CN_QUERY_TEXT:
        return set_text(term, value, err);
    case CN_QUERY_FOUND:
        break;
    }
    return false;
}

/* Order a text and the value of the term. A number compares with numbers only. */
static bool compare(const struct cn_query_term *term, struct cn_bytes text, int *order)
{
    size_t len = text.len < term->text.len ? text.len : term->text.len;
    double number;

    if (term->is_number) {
        if (!parse_number(text, &number))
            return false;
        *order = number < term->number ? -1 : number > term->number;
        return true;
    }
    *order = len > 0 ? memcmp(text.ptr, term->text.ptr, len) : 0;
    if (*order == 0)
        *order = text.len < term->text.len ? -1 : text.len > term->text.len;
    return true;
}

static bool is_equal(struct cn_bytes a, struct cn_bytes b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

bool cn_query_text_matches(const struct cn_query_term *term, struct cn_bytes text)
{
    struct cn_bytes wanted = term->text, part;
    int order;

    switch (term->op) {
    case CN_QUERY_EXISTS:
        return true;
    case CN_QUERY_EQUAL:
        return is_equal(text, wanted);
    case CN_QUERY_LESS:
        return compare(term, text, &order) && order < 0;
    case CN_QUERY_LESS_EQUAL:
        return compare(term, text, &order) && order <= 0;
    case CN_QUERY_GREATER:
        return compare(term, text, &order) && order > 0;
    case CN_QUERY_GREATER_EQUAL:
        return compare(term, text, &order) && order >= 0;
    case CN_QUERY_CONTAINS:
        return memmem(text.ptr, text.len, wanted.ptr, wanted.len) != NULL;
    case CN_QUERY_STARTS:
        return cn_bytes_slice(text, 0, wanted.len, &part) && is_equal(part, wanted);
    case CN_QUERY_ENDS:
        return text.len >= wanted.len &&
               cn_bytes_from(text, text.len - wanted.len, &part) &&
               is_equal(part, wanted);
    case CN_QUERY_MATCHES:
        return cn_regex_matches(term->regex, (const char *)text.ptr, text.len);
    }
    return false;
}

bool cn_query_name_matches(const struct cn_query_term *term, struct cn_bytes name)
{
    struct cn_bytes end;

    if (cn_query_text_matches(term, name))
        return true;
    return term->op == CN_QUERY_EQUAL && term->text.len > 0 &&
           name.len > term->text.len && name.ptr[name.len - term->text.len - 1] == '.' &&
           cn_bytes_from(name, name.len - term->text.len, &end) &&
           is_equal(end, term->text);
}
