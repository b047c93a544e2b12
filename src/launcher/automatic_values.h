/* All parameters and the result of a function, from its debug information: how they are
 * recorded, and the specifications that say so.
 * Threads: one thread at a time.
 */
#ifndef CN_LAUNCHER_AUTOMATIC_VALUES_H
#define CN_LAUNCHER_AUTOMATIC_VALUES_H

#include "base/text.h"
#include "launcher/calling.h"
#include "record/shared.h"
#include "symbols/prototypes.h"

/* The name of an enum with the one member "unknown", and its definition. */
#define CN_ARGUMENT_UNKNOWN      "cairn_unknown"
#define CN_ARGUMENT_UNKNOWN_ENUM "enum " CN_ARGUMENT_UNKNOWN " {unknown}"

struct cn_automatic_values {
    struct cn_rec_value arguments[CN_PARAMETERS_MAX], result;
    struct cn_text texts[2]; /* "arg1/d32,arg2/s" and "retval/p" */
};

/* How the hook of a function finds its arguments. */
enum cn_hook_time {
    CN_HOOK_FIRST,       /* as they were passed */
    CN_HOOK_FIRST_CLONE, /* the same, but the compiler changed which ones */
    CN_HOOK_LATER,       /* where debug information says; results may be lost */
};

/* The values of a function. */
void cn_automatic_values_find(struct cn_automatic_values *out,
                              enum cn_calling_machine machine,
                              const struct cn_prototype *prototype,
                              enum cn_hook_time time, bool has_result);
void cn_automatic_values_done(struct cn_automatic_values *values);

/* The value that lies where an argument of this piece was passed, when the hook comes
 * later. False when nobody knows. */
bool cn_automatic_values_moved(enum cn_calling_machine machine,
                               const struct cn_prototype *prototype,
                               const struct cn_rec_piece *passed,
                               struct cn_rec_value *out);

#endif
