/* Filters and triggers: turns patterns of function names into rules about addresses, which
 * is all that the recorder knows.
 *
 * Add the options with cn_rules_add() and cn_rules_add_file(), then call cn_rules_store()
 * for each file.
 * Threads: one thread at a time.
 */
#ifndef CN_LAUNCHER_RULES_RULES_H
#define CN_LAUNCHER_RULES_RULES_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "model/format.h"

struct cn_argument_finder;
struct cn_call_trigger;
struct cn_elf_file;
struct cn_pattern_rule;
struct cn_shared_memory;

struct cn_rules {
    struct cn_pattern_rule *list;
    size_t count, capacity;
    bool is_glob;              /* patterns are globs, else regular expressions */
    bool has_files;            /* only functions of chosen source files are recorded */
    bool needs_lines;          /* source files of functions are needed */
    bool has_conditions;       /* on arguments */
    bool has_sizes;            /* size_min changes while the program runs */
    enum cn_demangle demangle; /* names that patterns match */
    uint64_t size_min;         /* leave out functions with fewer bytes */
};

/* Add a rule for the functions that match: `actions` (CN_REC_RULE_*) and those of the
 * trigger. `option` must outlive the rules. */
CN_CHECK bool cn_rules_add(struct cn_rules *rules, const char *option,
                           const struct cn_call_trigger *trigger, const char *text,
                           uint32_t actions, struct cn_error *err);

/* The same for a pattern of source files: "a.c" or "a.c@hide". */
CN_CHECK bool cn_rules_add_file(struct cn_rules *rules, const char *option,
                                const char *text, struct cn_error *err);

/* Remove `actions` of earlier rules from functions that the trigger matches. */
CN_CHECK bool cn_rules_add_clear(struct cn_rules *rules, const char *option,
                                 const struct cn_call_trigger *trigger, const char *text,
                                 uint32_t actions, struct cn_error *err);

/* Fail if a word after an '@' can be neither an action nor a module, or if the machine does
 * not have the counters that a trigger reads. */
CN_CHECK bool cn_rules_check(const struct cn_rules *rules, const char *program,
                             struct cn_error *err);

/* True if a word may name a module of this program, or of one that it starts. */
bool cn_module_name_is_plausible(const char *word, const char *program);

/* Append the rules for the functions of a file to those in memory, with values unless
 * the finder is NULL. Sets `count` to the number of new rules; fails when there are
 * too many. */
CN_CHECK bool cn_rules_store(const struct cn_rules *rules, const char *path,
                             const struct cn_elf_file *elf,
                             struct cn_argument_finder *finder,
                             struct cn_shared_memory *memory, uint32_t *count,
                             struct cn_error *err);

/* True if every function is to be patched: also those that a stripped file does not name. */
bool cn_rules_patch_all(const struct cn_rules *rules);

/* True if functions of a file that a pattern names are to be patched. */
bool cn_rules_patch_module(const struct cn_rules *rules, const char *path);

/* The union of all actions, CN_REC_RULE_*. */
uint32_t cn_rules_actions(const struct cn_rules *rules);

/* True if some rule removes actions of earlier ones. */
bool cn_rules_clear_some(const struct cn_rules *rules);

/* Remove the rules from number `count` on. */
void cn_rules_cut(struct cn_rules *rules, size_t count);

/* Call `report` for each pattern that matched nothing, or whose condition is unknown. */
typedef void (*cn_rules_fn)(void *arg, const char *option, const char *text,
                            const char *what);
void cn_rules_report(const struct cn_rules *rules, cn_rules_fn report, void *arg);

void cn_rules_done(struct cn_rules *rules);

#endif
