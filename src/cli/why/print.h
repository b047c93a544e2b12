/* Prints why some calls of a function are slow: sentences, then a table of contexts.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_WHY_PRINT_H
#define CN_CLI_WHY_PRINT_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/why/gpu.h"
#include "analyze/why/memory.h"
#include "analyze/why/others.h"
#include "analyze/why/rows.h"
#include "analyze/why/signs.h"
#include "analyze/why/times.h"
#include "analyze/why/why.h"
#include "base/text.h"

struct cn_args;
struct cn_why_answer;
struct cn_why_call;

struct cn_why_answer {
    const char *function, *data;
    const struct cn_recording *rec;
    struct cn_why_options options;
    struct cn_why why;
    struct cn_why_rows rows;
    struct cn_signs signs;
    struct cn_signs others; /* what other tasks did */
    struct cn_why_times times;
    struct cn_why_gpu gpu;
    struct cn_why_memory memory;
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

/* Why some calls of a function are slow, in sentences; and the numbers and names in them. */

enum {
    CN_WHY_SENTENCES_MAX = 16,
    CN_WHY_PATH_MAX = 100, /* characters of a path in text */
};

struct cn_why_sentences {
    struct cn_text list[CN_WHY_SENTENCES_MAX];
    size_t count;
};

/* The caller releases the texts. */
void cn_why_tell(struct cn_why_sentences *sentences, const struct cn_why_answer *answer);

/* Append a duration, a share as a percentage, a number of calls. */
void cn_why_ns_add(struct cn_text *text, double ns);
void cn_why_percent_add(struct cn_text *text, double share);
void cn_why_times_add(struct cn_text *text, double calls);

/* Append "parse > read > (blocked)": a context below the function. The middle of a path
 * longer than `len_max` is left out. */
void cn_why_path_add(struct cn_text *text, const struct cn_why_answer *answer,
                     uint32_t context, size_t len_max);

/* Append a command that shows a call. */
void cn_why_command_add(struct cn_text *text, const struct cn_why_answer *answer,
                        const struct cn_why_call *call);

#endif
