/* Which arguments and results are recorded: what the user asked for, turned into places
 * where the recorder finds the values, and into what readers must know about them.
 *
 * Add the options, then open a finder for each file whose functions are recorded and
 * ask it about each of them. A value whose place is not known is recorded as such.
 * Threads: one thread at a time.
 */
#ifndef CN_LAUNCHER_ARGUMENTS_H
#define CN_LAUNCHER_ARGUMENTS_H

#include <stddef.h>

#include "base/error.h"
#include "base/text.h"
#include "formats/uftrace/text/value_rules.h"

struct cn_argument_finder;
struct cn_elf_file;
struct cn_elf_symbol;
struct cn_rec_rule;
struct cn_shared_memory;

/* What was asked for, and what the finders add to it. */
struct cn_arguments {
    struct cn_uft_values values;
    struct cn_text texts[2]; /* the rules as text, for readers: arguments, results */
    struct cn_text known[2]; /* the same for well-known functions */
    bool is_glob;
    bool needs_debug; /* some function is recorded as its debug information says */
    bool needs_lines; /* readers are to know where functions are defined */
};

/* "FUNCTION@arg1/i32,arg2/s", or "FUNCTION" alone; the text must outlive `arguments`. */
CN_CHECK bool cn_arguments_add(struct cn_arguments *arguments, const char *text,
                               bool is_result, struct cn_error *err);
bool cn_arguments_is_empty(const struct cn_arguments *arguments);
bool cn_arguments_has_debug(const struct cn_arguments *arguments); /* NAME.dbg */
void cn_arguments_done(struct cn_arguments *arguments);

/* For the functions of one file, built for this machine (EM_*). */
struct cn_argument_finder *cn_argument_finder_open(struct cn_arguments *arguments,
                                                   const char *path, unsigned machine,
                                                   struct cn_shared_memory *memory);

/* Add the values to record to the rule for a function with this demangled name. */
void cn_argument_finder_find(struct cn_argument_finder *finder,
                             const struct cn_elf_symbol *symbol, const char *name,
                             struct cn_rec_rule *rule);

/* Append what readers need to know: the content of NAME.dbg. */
void cn_argument_finder_print(const struct cn_argument_finder *finder,
                              const struct cn_elf_file *elf, struct cn_text *text);
void cn_argument_finder_close(struct cn_argument_finder *finder); /* NULL is fine */

#endif
