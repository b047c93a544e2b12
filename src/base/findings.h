/* Findings of a check.
 * Threads: a report function is called by one thread at a time.
 */
#ifndef CN_BASE_FINDINGS_H
#define CN_BASE_FINDINGS_H

#include <stdbool.h>
#include <stdint.h>

/* One broken rule. An error makes the data invalid; a warning is a known deviation of the
 * tools that write this format, or harmless. */
struct cn_finding {
    bool is_error;
    const char *file; /* "profile.db" */
    uint64_t off;     /* where in that file */
    const char *rule; /* short and stable: "values-sorted" */
    const char *text; /* what is wrong with which value */
};
typedef void (*cn_finding_fn)(void *arg, const struct cn_finding *finding);

#endif
