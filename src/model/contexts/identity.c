#include "model/contexts/identity.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/text.h"

enum { BY_INDEX = -1 };

struct identity_range {
    uint64_t first, last;
};

struct cn_filter_term {
    int kind; /* or BY_INDEX */
    struct identity_range *ranges;
    size_t range_count, range_capacity;
};

void cn_identity_print(const struct cn_identity_tuple *tuple,
                       const struct cn_kinds *kinds, struct cn_text *text)
{
    for (size_t i = 0; i < tuple->count; i++) {
        const struct cn_identity *id = &tuple->ids[i];

        if (i > 0)
            cn_text_char(text, ' ');
        if (id->kind < kinds->count)
            cn_text_printf(text, "%s ", kinds->list[id->kind]);
        else
            cn_text_printf(text, "KIND%u ", id->kind);
        if (id->is_physical)
            cn_text_printf(text, "0x%" PRIx64, id->physical);
        else
            cn_text_u64(text, id->logical);
    }
}

static const char *skip_space(const char *at)
{
    while (isspace((unsigned char)*at))
        at++;
    return at;
}

static size_t word_len(const char *at)
{
    return strcspn(at, " \t\r\n=,");
}

/* A decimal or "0x" hexadecimal number. */
static bool parse_number(const char **at, uint64_t *out, struct cn_error *err)
{
    bool is_hex = strncasecmp(*at, "0x", 2) == 0;
    const char *digits = *at + (is_hex ? 2 : 0);
    char *end;

    if (!(is_hex ? isxdigit((unsigned char)*digits) : isdigit((unsigned char)*digits)))
        return cn_fail(err, CN_ERR_USAGE, "'%.*s' is not a number or a range of numbers",
                       (int)word_len(*at), *at);
    errno = 0;
    *out = strtoull(digits, &end, is_hex ? 16 : 10);
    if (errno == ERANGE)
        return cn_fail(err, CN_ERR_USAGE, "number '%.*s' is too large",
                       (int)word_len(*at), *at);
    *at = end;
    return true;
}

static bool parse_range(const char **at, struct identity_range *out, struct cn_error *err)
{
    const char *start = *at;

    if (!parse_number(at, &out->first, err))
        return false;
    out->last = out->first;
    if (**at == '-') {
        (*at)++;
        if (!parse_number(at, &out->last, err))
            return false;
    }
    if (**at != '\0' && **at != ',' && !isspace((unsigned char)**at))
        return cn_fail(err, CN_ERR_USAGE, "'%.*s' is not a number or a range of numbers",
                       (int)word_len(start), start);
    if (out->last < out->first)
        return cn_fail(err, CN_ERR_USAGE, "range '%.*s' ends before it begins",
                       (int)word_len(start), start);
    return true;
}

static bool parse_ranges(const char **at, struct cn_filter_term *term,
                         struct cn_error *err)
{
    for (;;) {
        struct identity_range range;

        *at = skip_space(*at);
        if (!parse_range(at, &range, err))
            return false;
        CN_PUSH(term->ranges, term->range_count, term->range_capacity, range);
        *at = skip_space(*at);
        if (**at != ',')
            return true;
        (*at)++;
    }
}

static bool parse_kind(const char **at, const struct cn_kinds *kinds, int *out,
                       struct cn_error *err)
{
    const char *word = *at;
    size_t len = word_len(word);
    struct cn_text known = {0};

    if (isdigit((unsigned char)*word)) {
        *out = BY_INDEX;
        return true;
    }
    for (size_t i = 0; i < kinds->count; i++) {
        if (strlen(kinds->list[i]) != len || strncasecmp(kinds->list[i], word, len) != 0)
            continue;
        *at = skip_space(word + len);
        *at += **at == '=';
        if (*skip_space(*at) == '\0')
            return cn_fail(err, CN_ERR_USAGE, "no number after '%.*s'", (int)len, word);
        *out = (int)i;
        return true;
    }
    for (size_t i = 0; i < kinds->count; i++)
        cn_text_printf(&known, "%s%s", i > 0 ? ", " : "", kinds->list[i]);
    (void)cn_fail(err, CN_ERR_USAGE, "unknown kind of thread id '%.*s'; there are: %s",
                  (int)(len > 80 ? 80 : len), word, cn_text_str(&known));
    cn_text_done(&known);
    return false;
}

static bool parse_terms(struct cn_thread_filter *filter, const char *text,
                        const struct cn_kinds *kinds, struct cn_error *err)
{
    const char *at = skip_space(text);

    if (*at == '\0')
        return cn_fail(err, CN_ERR_USAGE, "the selection of threads is empty");
    while (*at != '\0') {
        if (filter->count == CN_FILTER_TERM_MAX)
            return cn_fail(err, CN_ERR_USAGE, "more than %d terms select threads",
                           CN_FILTER_TERM_MAX);
        struct cn_filter_term *term = &filter->terms[filter->count++];
        if (!parse_kind(&at, kinds, &term->kind, err) || !parse_ranges(&at, term, err))
            return false;
        at = skip_space(at);
    }
    return true;
}

bool cn_thread_filter_parse(struct cn_thread_filter *out, const char *text,
                            const struct cn_kinds *kinds, struct cn_error *err)
{
    struct cn_thread_filter filter = {
        .terms = cn_alloc(CN_FILTER_TERM_MAX, sizeof(*filter.terms)),
    };

    if (!parse_terms(&filter, text, kinds, err)) {
        cn_thread_filter_done(&filter);
        return cn_fail_in(err, "thread selection '%.80s'", text);
    }
    *out = filter;
    return true;
}

static bool has_number(const struct cn_filter_term *term, uint64_t number)
{
    for (size_t i = 0; i < term->range_count; i++)
        if (number >= term->ranges[i].first && number <= term->ranges[i].last)
            return true;
    return false;
}

static bool term_matches(const struct cn_filter_term *term, uint32_t index,
                         const struct cn_identity_tuple *tuple)
{
    bool found = term->kind == BY_INDEX && has_number(term, index);

    for (size_t i = 0; i < tuple->count && !found; i++) {
        const struct cn_identity *id = &tuple->ids[i];

        found = id->kind == term->kind &&
                (has_number(term, id->logical) ||
                 (id->is_physical && has_number(term, id->physical)));
    }
    return found;
}

bool cn_thread_filter_matches(const struct cn_thread_filter *filter, uint32_t index,
                              const struct cn_identity_tuple *tuple)
{
    for (size_t i = 0; i < filter->count; i++)
        if (!term_matches(&filter->terms[i], index, tuple))
            return false;
    return true;
}

void cn_thread_filter_done(struct cn_thread_filter *filter)
{
    for (size_t i = 0; i < filter->count; i++)
        free(filter->terms[i].ranges);
    free(filter->terms);
    *filter = (struct cn_thread_filter){0};
}
