#include "base/findings.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static uint64_t unreported(const struct cn_findings *f,
                           const struct cn_findings_rule *rule)
{
    uint64_t max = rule->is_error ? f->error_max : f->warning_max;

    return max > 0 && rule->count > max ? rule->count - max : 0;
}

static void report(const struct cn_findings *f, const struct cn_findings_rule *rule,
                   uint64_t off, const char *text)
{
    f->report(f->arg, &(struct cn_finding){.is_error = rule->is_error,
                                           .file = f->file,
                                           .off = off,
                                           .rule = rule->rule,
                                           .text = text});
}

void cn_findings_begin(struct cn_findings *f, const char *file)
{
    for (size_t i = 0; i < f->rule_count; i++) {
        uint64_t count = unreported(f, &f->rules[i]);
        char text[64];

        (void)snprintf(text, sizeof(text), "%" PRIu64 " more", count);
        if (count > 0)
            report(f, &f->rules[i], 0, text);
    }
    f->rule_count = 0;
    f->file = file;
}

void cn_findings_vadd(struct cn_findings *f, bool is_error, const char *rule,
                      uint64_t off, const char *fmt, va_list args)
{
    struct cn_findings_rule *known = f->rules;
    char text[512];

    while (known < f->rules + f->rule_count &&
           (known->is_error != is_error || strcmp(known->rule, rule) != 0))
        known++;
    if (known == f->rules + f->rule_count) {
        assert(f->rule_count < CN_FINDINGS_RULE_MAX);
        *known = (struct cn_findings_rule){.rule = rule, .is_error = is_error};
        f->rule_count++;
    }
    known->count++;
    *(is_error ? &f->error_count : &f->warning_count) += 1;
    if (unreported(f, known) > 0)
        return;
    (void)vsnprintf(text, sizeof(text), fmt, args);
    report(f, known, off, text);
}

void cn_findings_add(struct cn_findings *f, bool is_error, const char *rule, uint64_t off,
                     const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    cn_findings_vadd(f, is_error, rule, off, fmt, args);
    va_end(args);
}

void cn_findings_error(struct cn_findings *f, const char *rule, uint64_t off,
                       const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    cn_findings_vadd(f, true, rule, off, fmt, args);
    va_end(args);
}

void cn_findings_warn(struct cn_findings *f, const char *rule, uint64_t off,
                      const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    cn_findings_vadd(f, false, rule, off, fmt, args);
    va_end(args);
}
