/* Findings of a check: broken rules, reported one by one and counted.
 *
 *     struct cn_findings f = {.report = print, .arg = out, .error_max = 20};
 *
 *     cn_findings_begin(&f, "profile.db");
 *     cn_findings_error(&f, "values-sorted", off, "metric %u after %u", id, last);
 *     cn_findings_begin(&f, NULL);
 *
 * Of each rule and file, the first findings are reported; the others are counted and
 * reported as one finding, "7 more", when the file is done.
 * Threads: one thread at a time.
 */
#ifndef CN_BASE_FINDINGS_H
#define CN_BASE_FINDINGS_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* One broken rule. An error makes the data invalid; a warning is a known deviation of the
 * tools that write this format, or harmless. */
struct cn_finding {
    bool is_error;
    const char *file; /* "profile.db" */
    uint64_t off;     /* in that file */
    const char *rule; /* short and stable: "values-sorted" */
    const char *text; /* what is wrong with which value */
};
typedef void (*cn_finding_fn)(void *arg, const struct cn_finding *finding);

enum { CN_FINDINGS_RULE_MAX = 96 }; /* rules that one file can break */

struct cn_findings_rule {
    const char *rule;
    bool is_error;
    uint64_t count;
};

/* Set `report`, `arg` and the limits; zero the rest. */
struct cn_findings {
    cn_finding_fn report;
    void *arg;
    uint64_t error_max, warning_max;     /* to report of a rule in a file; 0: all */
    uint64_t error_count, warning_count; /* of all files, unreported ones included */
    const char *file;
    struct cn_findings_rule rules[CN_FINDINGS_RULE_MAX]; /* broken in this file */
    size_t rule_count;
};

/* Report how many findings of the last file were left out; the next findings are about
 * `file`, NULL after the last one. Borrows the name until then. */
void cn_findings_begin(struct cn_findings *f, const char *file);

/* Add an error or a warning. `rule` must be a literal. */
CN_PRINTF(4, 5)
void cn_findings_error(struct cn_findings *f, const char *rule, uint64_t off,
                       const char *fmt, ...);
CN_PRINTF(4, 5)
void cn_findings_warn(struct cn_findings *f, const char *rule, uint64_t off,
                      const char *fmt, ...);
CN_PRINTF(5, 6)
void cn_findings_add(struct cn_findings *f, bool is_error, const char *rule, uint64_t off,
                     const char *fmt, ...);
CN_PRINTF(5, 0)
void cn_findings_vadd(struct cn_findings *f, bool is_error, const char *rule,
                      uint64_t off, const char *fmt, va_list args);

#endif
