#include "formats/hpctoolkit/sparse/findings.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static uint64_t shown_max(bool is_error)
{
    return is_error ? CN_HPC_FINDINGS_ERROR_MAX : CN_HPC_FINDINGS_WARNING_MAX;
}

void cn_hpc_findings_begin(struct cn_hpc_findings *f, const char *file)
{
    for (size_t i = 0; i < f->rule_count; i++) {
        const struct cn_hpc_findings_rule *rule = &f->rules[i];
        char text[64];

        if (rule->count <= shown_max(rule->is_error))
            continue;
        (void)snprintf(text, sizeof(text), "%" PRIu64 " more",
                       rule->count - shown_max(rule->is_error));
        f->report(f->arg, &(struct cn_finding){.is_error = rule->is_error,
                                               .file = f->file,
                                               .rule = rule->rule,
                                               .text = text});
    }
    f->rule_count = 0;
    f->file = file;
}

static struct cn_hpc_findings_rule *find_rule(struct cn_hpc_findings *f, const char *rule,
                                              bool is_error)
{
    for (size_t i = 0; i < f->rule_count; i++)
        if (strcmp(f->rules[i].rule, rule) == 0 && f->rules[i].is_error == is_error)
            return &f->rules[i];
    assert(f->rule_count < CN_HPC_FINDINGS_RULE_MAX);
    f->rules[f->rule_count] =
        (struct cn_hpc_findings_rule){.rule = rule, .is_error = is_error};
    return &f->rules[f->rule_count++];
}

CN_PRINTF(5, 0)
static void report(struct cn_hpc_findings *f, bool is_error, const char *rule,
                   uint64_t off, const char *fmt, va_list args)
{
    struct cn_hpc_findings_rule *known = find_rule(f, rule, is_error);
    char text[512];

    known->count++;
    f->error_count += is_error;
    if (known->count > shown_max(is_error))
        return;
    (void)vsnprintf(text, sizeof(text), fmt, args);
    f->report(f->arg, &(struct cn_finding){.is_error = is_error,
                                           .file = f->file,
                                           .off = off,
                                           .rule = rule,
                                           .text = text});
}

void cn_hpc_findings_error(struct cn_hpc_findings *f, const char *rule, uint64_t off,
                           const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    report(f, true, rule, off, fmt, args);
    va_end(args);
}

void cn_hpc_findings_warn(struct cn_hpc_findings *f, const char *rule, uint64_t off,
                          const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    report(f, false, rule, off, fmt, args);
    va_end(args);
}

void cn_hpc_set_init(struct cn_hpc_set *set, uint64_t limit)
{
    set->limit = limit;
    set->words = cn_alloc((size_t)(limit / 64 + 1), sizeof(*set->words));
}

void cn_hpc_set_done(struct cn_hpc_set *set)
{
    free(set->words);
    *set = (struct cn_hpc_set){0};
}

bool cn_hpc_set_has(const struct cn_hpc_set *set, uint64_t number)
{
    return number < set->limit && (set->words[number / 64] >> (number % 64) & 1) != 0;
}

bool cn_hpc_set_add(struct cn_hpc_set *set, uint64_t number)
{
    uint64_t bit = UINT64_C(1) << (number % 64);
    bool is_new;

    assert(number < set->limit);
    is_new = !(set->words[number / 64] & bit);
    set->words[number / 64] |= bit;
    return is_new;
}

void cn_hpc_extents_add(struct cn_hpc_extents *spans, uint64_t begin, uint64_t end)
{
    if (begin == end)
        return;
    if (spans->count > 0 && spans->list[spans->count - 1].end == begin) {
        spans->list[spans->count - 1].end = end;
        return;
    }
    spans->list =
        cn_grow(spans->list, spans->count, &spans->capacity, sizeof(*spans->list));
    spans->list[spans->count++] = (struct cn_hpc_extent){begin, end};
}

static int compare_extents(const void *a, const void *b)
{
    const struct cn_hpc_extent *x = a, *y = b;

    return (x->begin > y->begin) - (x->begin < y->begin);
}

void cn_hpc_extents_check(struct cn_hpc_findings *f, struct cn_hpc_extents *spans,
                          const char *what)
{
    uint64_t end = 0;

    if (spans->count > 1)
        qsort(spans->list, spans->count, sizeof(*spans->list), compare_extents);
    for (size_t i = 0; i < spans->count; i++) {
        uint64_t begin = spans->list[i].begin;

        if (begin < end)
            cn_hpc_findings_error(f, "blocks-overlap", begin,
                                  "%s begins before the one before it ends at 0x%" PRIx64,
                                  what, end);
        else if (i > 0 && begin > end)
            cn_hpc_findings_warn(f, "blocks-contiguous", begin,
                                 "%" PRIu64 " bytes between %s and the one before it",
                                 begin - end, what);
        if (spans->list[i].end > end)
            end = spans->list[i].end;
    }
    free(spans->list);
    *spans = (struct cn_hpc_extents){0};
}
