#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "formats/hpctoolkit/v4/verify/verify_parts.h"

static struct cn_verify_rule *find_rule(struct cn_verify *v, const char *rule,
                                        bool is_error)
{
    for (size_t i = 0; i < v->rule_count; i++)
        if (strcmp(v->rules[i].rule, rule) == 0 && v->rules[i].is_error == is_error)
            return &v->rules[i];
    assert(v->rule_count < CN_VERIFY_RULE_MAX);
    v->rules[v->rule_count] =
        (struct cn_verify_rule){.file = v->file, .rule = rule, .is_error = is_error};
    return &v->rules[v->rule_count++];
}

CN_PRINTF(5, 0)
static void report(struct cn_verify *v, bool is_error, const char *rule, uint64_t off,
                   const char *fmt, va_list args)
{
    struct cn_verify_rule *known = find_rule(v, rule, is_error);
    char text[512];

    known->count++;
    if (is_error) {
        v->file_errors++;
        v->all_errors++;
    }
    if (known->count > (is_error ? CN_VERIFY_ERROR_MAX : CN_VERIFY_WARNING_MAX))
        return;
    (void)vsnprintf(text, sizeof(text), fmt, args);
    v->report(v->arg, &(struct cn_finding){.is_error = is_error,
                                           .file = v->file,
                                           .off = off,
                                           .rule = rule,
                                           .text = text});
}

void cn_verify_error(struct cn_verify *v, const char *rule, uint64_t off, const char *fmt,
                     ...)
{
    va_list args;

    va_start(args, fmt);
    report(v, true, rule, off, fmt, args);
    va_end(args);
}

void cn_verify_warn(struct cn_verify *v, const char *rule, uint64_t off, const char *fmt,
                    ...)
{
    va_list args;

    va_start(args, fmt);
    report(v, false, rule, off, fmt, args);
    va_end(args);
}

void cn_verify_begin_file(struct cn_verify *v, const char *file)
{
    cn_verify_flush(v);
    v->file = file;
    v->file_errors = 0;
}

void cn_verify_flush(struct cn_verify *v)
{
    for (size_t i = 0; i < v->rule_count; i++) {
        const struct cn_verify_rule *rule = &v->rules[i];
        uint64_t shown = rule->is_error ? CN_VERIFY_ERROR_MAX : CN_VERIFY_WARNING_MAX;
        char text[64];

        if (rule->count <= shown)
            continue;
        (void)snprintf(text, sizeof(text), "%" PRIu64 " more", rule->count - shown);
        v->report(v->arg, &(struct cn_finding){.is_error = rule->is_error,
                                               .file = rule->file,
                                               .rule = rule->rule,
                                               .text = text});
    }
    v->rule_count = 0;
}

void cn_verify_set_init(struct cn_verify_set *set, uint64_t limit)
{
    set->limit = limit;
    set->words = cn_alloc((size_t)(limit / 64 + 1), sizeof(*set->words));
}

void cn_verify_set_done(struct cn_verify_set *set)
{
    free(set->words);
    *set = (struct cn_verify_set){0};
}

bool cn_verify_set_has(const struct cn_verify_set *set, uint64_t number)
{
    return number < set->limit && (set->words[number / 64] >> (number % 64) & 1) != 0;
}

bool cn_verify_set_add(struct cn_verify_set *set, uint64_t number)
{
    uint64_t bit = UINT64_C(1) << (number % 64);
    bool is_new = !(set->words[number / 64] & bit);

    assert(number < set->limit);
    set->words[number / 64] |= bit;
    return is_new;
}

void cn_verify_spans_add(struct cn_verify_spans *spans, uint64_t begin, uint64_t end)
{
    enum { PADDING = 8 };
    struct cn_verify_span *last = spans->count ? &spans->list[spans->count - 1] : NULL;

    if (begin == end)
        return;
    if (last && begin >= last->end && begin - last->end < PADDING) {
        last->end = end;
        return;
    }
    spans->list =
        cn_grow(spans->list, spans->count, &spans->capacity, sizeof(*spans->list));
    spans->list[spans->count++] = (struct cn_verify_span){begin, end};
}

static int compare_spans(const void *a, const void *b)
{
    const struct cn_verify_span *x = a, *y = b;

    return (x->begin > y->begin) - (x->begin < y->begin);
}

void cn_verify_spans_check(struct cn_verify *v, struct cn_verify_spans *spans,
                           const char *rule, const char *what)
{
    uint64_t end = 0;

    if (spans->count > 1)
        qsort(spans->list, spans->count, sizeof(*spans->list), compare_spans);
    for (size_t i = 0; i < spans->count; i++) {
        if (spans->list[i].begin < end)
            cn_verify_error(v, rule, spans->list[i].begin,
                            "%s begins before the one before it ends at 0x%" PRIx64, what,
                            end);
        if (spans->list[i].end > end)
            end = spans->list[i].end;
    }
    free(spans->list);
    *spans = (struct cn_verify_spans){0};
}
