/* Why some calls of a function are slow, in sentences; and the numbers and names in them.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_RECORDING_WHY_TELL_H
#define CN_CLI_RECORDING_WHY_TELL_H

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

struct cn_why_answer;
struct cn_why_call;

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
