/* Filters and triggers as users type them, "FUNC@MODULE,depth=2,if:arg1>3": for the recorder
 * and for views.
 * Threads: any thread.
 */
#ifndef CN_MODEL_CALLS_TRIGGER_H
#define CN_MODEL_CALLS_TRIGGER_H

#include <stdint.h>

#include "base/error.h"
#include "base/text.h"

/* Bits of cn_call_trigger.actions. */
enum {
    CN_ACT_ONLY = 1 << 0,
    CN_ACT_NOT = 1 << 1,
    CN_ACT_CALLER = 1 << 2,
    CN_ACT_HIDE = 1 << 3,
    CN_ACT_DEPTH = 1 << 4,
    CN_ACT_TIME = 1 << 5,
    CN_ACT_TRACE = 1 << 6, /* shown even if it is short */
    CN_ACT_ON = 1 << 7,
    CN_ACT_OFF = 1 << 8,
    CN_ACT_BACKTRACE = 1 << 9,
    CN_ACT_COLOR = 1 << 10,
    CN_ACT_SIZE = 1 << 11,
    CN_ACT_FINISH = 1 << 12,
    CN_ACT_SITE = 1 << 13,
    CN_ACT_RECOVER = 1 << 14, /* has no effect: the recorder always does */
    CN_ACT_VALUES = 1 << 15,  /* see `values` */
    CN_ACT_AUTO_ARGS = 1 << 16,
    CN_ACT_READ_STATM = 1 << 17,
    CN_ACT_READ_FAULTS = 1 << 18,
    CN_ACT_READ_CYCLES = 1 << 19,
    CN_ACT_READ_CACHE = 1 << 20,
    CN_ACT_READ_BRANCHES = 1 << 21,
};

enum cn_compare {
    CN_COMPARE_EQUAL,
    CN_COMPARE_UNEQUAL,
    CN_COMPARE_LESS,
    CN_COMPARE_LESS_EQUAL,
    CN_COMPARE_MORE,
    CN_COMPARE_MORE_EQUAL,
    CN_COMPARE_BITS,
};

/* "if:arg1 > 3"; argument 0: no condition. */
struct cn_call_condition {
    uint8_t argument;
    enum cn_compare compare;
    int64_t value;
};

struct cn_call_trigger {
    char *pattern, *module; /* the module is "" when none is named */
    char *color;            /* NULL: none */
    uint32_t actions;       /* CN_ACT_* */
    uint16_t depth;
    uint32_t size_min;
    uint64_t time_ns;
    struct cn_call_condition condition;
    struct cn_text values[2]; /* "arg1,arg2/s" and "retval/x" */
};

/* Parse "FUNC" or "FUNC@WORD,WORD". A word that is no action names a module. To be released
 * either way. */
CN_CHECK bool cn_call_trigger_parse(struct cn_call_trigger *trigger, const char *text,
                                    struct cn_error *err);
void cn_call_trigger_done(struct cn_call_trigger *trigger);

/* True for an action without a value, such as "trace_on". */
bool cn_call_trigger_is_action(const char *word);

/* The names of all actions, for messages. */
extern const char cn_call_trigger_actions[];

/* True if a module is the one that a pattern names: "plt" and "kernel" are functions of a
 * type, other names are the begin of the file's name ("libc" for libc.so.6). */
bool cn_call_module_matches(const char *wanted, const char *module, char type);

/* The size of a function for -Z and size=: of a library call that of its PLT entry. */
static inline uint64_t cn_call_filtered_size(uint64_t size, char type)
{
    return type == 'P' ? 16 : size;
}

#endif
