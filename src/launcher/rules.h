/* Filters and triggers, turned from patterns into rules about addresses: a program that is
 * recorded knows no names.
 *
 * Add the options with cn_rules_add_*(), then cn_rules_store() looks up which functions
 * of the program they are about.
 * Threads: one thread at a time.
 */
#ifndef CN_LAUNCHER_RULES_H
#define CN_LAUNCHER_RULES_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct cn_argument_finder;
struct cn_elf_file;
struct cn_pattern_rule;
struct cn_shared_memory;

struct cn_rules {
    struct cn_pattern_rule *list;
    size_t count, capacity;
    bool is_glob;      /* how patterns are meant; else regular expressions */
    uint64_t size_min; /* functions with fewer bytes are left out */
};

/* `actions` for functions that match; a pattern without special characters is a name. */
CN_CHECK bool cn_rules_add(struct cn_rules *rules, const char *pattern, uint32_t actions,
                           struct cn_error *err);

/* "FUNCTION@trace_on,depth=3": see enum in record/shared.h. */
CN_CHECK bool cn_rules_add_trigger(struct cn_rules *rules, const char *text,
                                   struct cn_error *err);

/* Put what is known about the functions of `elf` behind the other rules, with their
 * arguments unless the finder is NULL; how many rules there are. Fails when that is too
 * much. */
CN_CHECK bool cn_rules_store(const struct cn_rules *rules, const struct cn_elf_file *elf,
                             struct cn_argument_finder *finder,
                             struct cn_shared_memory *memory, uint32_t *count,
                             struct cn_error *err);

/* All that they may do, CN_REC_RULE_*. */
uint32_t cn_rules_actions(const struct cn_rules *rules);

/* True if the pattern of rule `i`, in the order of adding, matched a function. */
bool cn_rules_has_matched(const struct cn_rules *rules, size_t i);

void cn_rules_done(struct cn_rules *rules);

#endif
