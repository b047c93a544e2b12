/* How to record all parameters and the result of a function, from its debug information.
 * Threads: one thread at a time.
 */
#ifndef CN_LAUNCHER_RULES_AUTOMATIC_VALUES_H
#define CN_LAUNCHER_RULES_AUTOMATIC_VALUES_H

#include "base/text.h"
#include "launcher/rules/calling.h"
#include "record/shared.h"
#include "symbols/program/prototypes.h"

/* Unknown values are stored as the only member of this enum. */
#define CN_ARGUMENT_UNKNOWN      "cairn_unknown"
#define CN_ARGUMENT_UNKNOWN_ENUM "enum " CN_ARGUMENT_UNKNOWN " {unknown}"

struct cn_automatic_values {
    struct cn_rec_value arguments[CN_PARAMETERS_MAX], result;
    struct cn_text texts[2]; /* "arg1/d32,arg2/s" and "retval/p" */
};

/* When the hook of a function runs. */
enum cn_hook_time {
    CN_HOOK_FIRST,       /* first: arguments are where they were passed */
    CN_HOOK_FIRST_CLONE, /* the same, but the compiler removed or changed parameters */
    CN_HOOK_LATER,       /* later: arguments may have moved */
};

/* Find the values of a function. */
void cn_automatic_values_find(struct cn_automatic_values *out,
                              enum cn_calling_machine machine,
                              const struct cn_prototype *prototype,
                              enum cn_hook_time time, bool has_result);
void cn_automatic_values_done(struct cn_automatic_values *values);

/* Find the argument that was passed in this piece, when the hook runs later. False when
 * it is unknown. */
bool cn_automatic_values_moved(enum cn_calling_machine machine,
                               const struct cn_prototype *prototype,
                               const struct cn_rec_piece *passed,
                               struct cn_rec_value *out);

#endif
