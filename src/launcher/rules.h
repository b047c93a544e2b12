/* Filters and triggers: turns patterns of function names into rules about addresses, which
 * is all that the recorder knows.
 *
 * Add the options with cn_rules_add() and cn_rules_add_trigger(), then call
 * cn_rules_store() for each file.
 * Threads: one thread at a time.
 */
#ifndef CN_LAUNCHER_RULES_H
#define CN_LAUNCHER_RULES_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "model/format.h"

struct cn_argument_finder;
struct cn_elf_file;
struct cn_pattern_rule;
struct cn_shared_memory;

struct cn_rules {
    struct cn_pattern_rule *list;
    size_t count, capacity;
    bool is_glob;              /* patterns are globs, else regular expressions */
    enum cn_demangle demangle; /* names that patterns match */
    uint64_t size_min;         /* leave out functions with fewer bytes */
};

/* Add `actions` for functions that match; text without special characters is a name. */
CN_CHECK bool cn_rules_add(struct cn_rules *rules, const char *pattern, uint32_t actions,
                           struct cn_error *err);

/* Add a trigger, "FUNCTION@trace_on,depth=3"; see CN_REC_RULE_* in record/shared.h. */
CN_CHECK bool cn_rules_add_trigger(struct cn_rules *rules, const char *text,
                                   struct cn_error *err);

/* Append the rules for the functions of `elf` to those in memory, with values unless
 * the finder is NULL. Sets `count` to the number of new rules; fails when there are
 * too many. */
CN_CHECK bool cn_rules_store(const struct cn_rules *rules, const struct cn_elf_file *elf,
                             struct cn_argument_finder *finder,
                             struct cn_shared_memory *memory, uint32_t *count,
                             struct cn_error *err);

/* The union of all actions, CN_REC_RULE_*. */
uint32_t cn_rules_actions(const struct cn_rules *rules);

/* True if the pattern of rule `i`, in the order of adding, matched a function. */
bool cn_rules_has_matched(const struct cn_rules *rules, size_t i);

void cn_rules_done(struct cn_rules *rules);

#endif
