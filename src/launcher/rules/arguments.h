/* Arguments and results to record: turns the options -A, -R and -a into instructions for
 * the recorder (struct cn_rec_value) and into the text that readers need.
 *
 * Add the options, then open a finder for each recorded file and call
 * cn_argument_finder_find() for each of its functions. A value that cannot be found is
 * recorded as unknown.
 * Threads: one thread at a time.
 */
#ifndef CN_LAUNCHER_RULES_ARGUMENTS_H
#define CN_LAUNCHER_RULES_ARGUMENTS_H

#include <stddef.h>

#include "base/error.h"
#include "base/text.h"
#include "formats/uftrace/text/value_rules.h"
#include "launcher/rules/rules.h"

struct cn_elf_symbol;
struct cn_rec_rule;

/* The rules of the user, and what the finders add for readers. */
struct cn_arguments {
    struct cn_uft_values values;
    struct cn_text texts[2]; /* the rules as text: arguments, results */
    struct cn_text known[2]; /* the same for well-known functions */
    bool is_glob;
    bool needs_debug; /* a rule refers to debug information */
    bool needs_lines; /* readers need the locations of functions */
    struct cn_named_module *modules;
    size_t module_count, module_capacity;
    size_t quiet_counts[2]; /* of the rules, the last ones */
};

/* Add "FUNCTION@arg1/i32,arg2/s", or "FUNCTION" alone. The text must outlive
 * `arguments`. */
CN_CHECK bool cn_arguments_add(struct cn_arguments *arguments, const char *text,
                               bool is_result, struct cn_error *err);
/* The same for values that need not be there: that a rule applies to no function is not
 * reported. After all others. */
CN_CHECK bool cn_arguments_add_quietly(struct cn_arguments *arguments, const char *text,
                                       bool is_result, struct cn_error *err);
/* Fail if a word after an '@' can be neither a spec nor a module. */
CN_CHECK bool cn_arguments_check_modules(const struct cn_arguments *arguments,
                                         const char *program, struct cn_error *err);

/* Call `report` for each rule that applied to no function. */
void cn_arguments_report(const struct cn_arguments *arguments, cn_rules_fn report,
                         void *arg);
bool cn_arguments_is_empty(const struct cn_arguments *arguments);
bool cn_arguments_has_debug(
    const struct cn_arguments *arguments); /* NAME.dbg is written */
void cn_arguments_done(struct cn_arguments *arguments);

/* A finder for the functions of one file, built for this machine (EM_*). With
 * `needs_prototypes`, it reads debug information even if no value depends on it. */
struct cn_argument_finder *cn_argument_finder_open(struct cn_arguments *arguments,
                                                   const char *path, unsigned machine,
                                                   bool needs_prototypes,
                                                   struct cn_shared_memory *memory);

/* Add the values of a function with this demangled name to its rule. */
void cn_argument_finder_find(struct cn_argument_finder *finder,
                             const struct cn_elf_symbol *symbol, const char *name,
                             struct cn_rec_rule *rule);

/* Store how to read an argument as a number; sets `index` to that of its value. False
 * when that is unknown. */
bool cn_argument_finder_number(struct cn_argument_finder *finder,
                               const struct cn_elf_symbol *symbol, const char *name,
                               uint8_t argument, uint32_t *index);

/* The source file of a function; NULL when unknown. Borrowed from the finder. */
const char *cn_argument_finder_file(struct cn_argument_finder *finder,
                                    const struct cn_elf_symbol *symbol);

/* Append the content of NAME.dbg. */
void cn_argument_finder_print(const struct cn_argument_finder *finder,
                              const struct cn_elf_file *elf, struct cn_text *text);
void cn_argument_finder_close(struct cn_argument_finder *finder); /* NULL is fine */

#endif
