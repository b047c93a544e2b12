/* Rules for the files that recorded processes map: for the program before it starts, for
 * other files when a process requests them, and for all of them when rules change.
 * Threads: one thread at a time.
 */
#ifndef CN_LAUNCHER_RULES_MODULES_H
#define CN_LAUNCHER_RULES_MODULES_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "launcher/rules/patch_plan.h"
#include "launcher/rules/python_functions.h"

struct cn_arguments;
struct cn_module_files;
struct cn_rules;

/* Limits for all functions. */
struct cn_rule_limits {
    uint64_t time_ns; /* leave out shorter calls */
    uint32_t depth;   /* leave out deeper calls; 0: none */
};

struct cn_module_rules {
    const struct cn_rules *rules;
    struct cn_arguments *arguments;
    struct cn_shared_memory *memory;
    struct cn_module_files *files; /* gets the debug information */
    struct cn_rule_limits limits;
    struct cn_ruled_file *list;
    size_t count, capacity;
    struct cn_python_functions python;
    struct cn_patch_counts patch_counts;
};

/* Store the rules of the program, before it is started. */
CN_CHECK bool cn_module_rules_begin(struct cn_module_rules *modules, const char *program,
                                    struct cn_error *err);

/* Publish `rules` and `limits` as they are now, all at once. A failure changes nothing. */
CN_CHECK bool cn_module_rules_publish(struct cn_module_rules *modules,
                                      struct cn_error *err);

/* Answer a pending request. Fails when there are too many rules; the process continues
 * without them. */
CN_CHECK bool cn_module_rules_answer(struct cn_module_rules *modules,
                                     struct cn_error *err);
void cn_module_rules_done(struct cn_module_rules *modules);

#endif
