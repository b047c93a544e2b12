#include "formats/uftrace/verify/verify.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "formats/uftrace/directory/directory.h"
#include "formats/uftrace/directory/open.h"

enum { SHOWN_MAX = 8 };

static void flush(struct cn_uft_checking *c)
{
    char text[80];

    for (size_t i = 0; i < c->rule_count; i++) {
        if (c->rules[i].count <= SHOWN_MAX)
            continue;
        (void)snprintf(text, sizeof(text), "%" PRIu64 " more like these",
                       c->rules[i].count - SHOWN_MAX);
        c->report(c->arg, &(struct cn_finding){.is_error = c->rules[i].is_error,
                                               .file = c->file,
                                               .rule = c->rules[i].rule,
                                               .text = text});
    }
    c->rule_count = 0;
}

void cn_uft_check_file(struct cn_uft_checking *c, const char *file)
{
    flush(c);
    c->file = file;
}

void cn_uft_check_found(struct cn_uft_checking *c, bool is_error, const char *rule,
                        uint64_t off, const char *fmt, ...)
{
    size_t i = 0;
    char text[512];
    va_list args;

    while (i < c->rule_count && strcmp(c->rules[i].rule, rule) != 0)
        i++;
    if (i == c->rule_count) {
        assert(i < sizeof(c->rules) / sizeof(*c->rules));
        c->rules[c->rule_count].rule = rule;
        c->rules[c->rule_count].is_error = is_error;
        c->rules[c->rule_count++].count = 0;
    }
    if (++c->rules[i].count > SHOWN_MAX)
        return;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    c->report(c->arg, &(struct cn_finding){.is_error = is_error,
                                           .file = c->file,
                                           .off = off,
                                           .rule = rule,
                                           .text = text});
}

bool cn_uft_verify(const char *path, const struct cn_progress *progress,
                   cn_finding_fn report, void *arg, struct cn_error *err)
{
    struct cn_uft_checking c = {.report = report, .arg = arg, .file = "info"};
    struct cn_recording *rec;
    struct cn_error problem = {0};
    bool ok;

    if (!cn_uft_open(&rec, path, NULL, &problem)) {
        if (problem.kind != CN_ERR_FORMAT && problem.kind != CN_ERR_VERSION) {
            *err = problem;
            return false;
        }
        cn_uft_check_found(&c, true, "info-header", 0, "%s", problem.text);
        return true;
    }
    c.dir = cn_uft_directory_of(rec);
    cn_uft_check_texts(&c);
    ok = cn_uft_check_records(&c, progress, err);
    flush(&c);
    cn_recording_close(rec);
    return ok;
}
