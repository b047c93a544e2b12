/* Prints why some calls of a function are slow: sentences, then a table of contexts.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_RECORDING_WHY_PRINT_H
#define CN_CLI_RECORDING_WHY_PRINT_H

#include "analyze/calls/why.h"
#include "analyze/calls/why_others.h"
#include "analyze/calls/why_rows.h"
#include "analyze/calls/why_signs.h"
#include "analyze/calls/why_times.h"

struct cn_args;

struct cn_why_answer {
    const char *function, *data;
    const struct cn_recording *rec;
    struct cn_why_options options;
    struct cn_why why;
    struct cn_why_rows rows;
    struct cn_signs signs;
    struct cn_signs others; /* what other tasks did */
    struct cn_why_times times;
    bool is_of_one; /* one call is explained, not the slowest ones */
    bool shows_all; /* contexts, not only those that explain 90 % */
    /* Append a command that shows a call; NULL: cairn replay. */
    void (*add_command)(void *arg, const struct cn_why_call *call, struct cn_text *text);
    void *arg;
    double slow_share; /* of all calls; 0: those of `why` are all */
    const char *note;  /* one more sentence; NULL: none */
};

/* As --format says. */
void cn_why_print(const struct cn_args *args, const struct cn_why_answer *answer);

#endif
