/* The arguments after a command's name, parsed by the command's option table.
 *
 * Accepts --name=value, --name value, -x value, -xvalue, bundled flags (-qv), unique
 * prefixes of long names, options and operands in any order, and "--" to end the options.
 * The name of a program to run ends them as well: what follows belongs to the program.
 *
 * Options are looked up by their long name: cn_args_has(args, "quiet"). An option that the
 * command does not have was not given; a name that no command has fails an assertion. Words
 * and returned strings belong to the caller of cn_args_parse().
 * Threads: immutable after parsing.
 */
#ifndef CN_CLI_SHELL_ARGS_H
#define CN_CLI_SHELL_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct cn_command;
struct cn_option;
struct cn_cli_session;

struct cn_args {
    const struct cn_command *command;
    struct cn_cli_session *session; /* colour and pager; set by main(), see cli.h */
    /* The options given, with their values (NULL for a flag): those of one option are
     * next to each other, in the order of the command line. */
    const struct cn_option **given;
    const char **values;
    size_t given_count;
    size_t *places; /* of the options, in the order of the command line */
    const char **operands;
    size_t operand_count;
    size_t separator; /* operands before the first "--"; SIZE_MAX: there is none */
};

/* Fails with CN_ERR_USAGE and leaves nothing to release. With --help, wrong ones are no
 * failure. */
CN_CHECK bool cn_args_parse(struct cn_args *args, const struct cn_command *command,
                            size_t argument_count, const char *const *arguments,
                            struct cn_error *err);
void cn_args_done(struct cn_args *args);

/* The options of `first` and then those of `then`, with the operands of the latter. */
void cn_args_join(struct cn_args *out, const struct cn_args *first,
                  const struct cn_args *then);

/* Arguments that are not on a command line: begin with none and room for so many, add
 * options and operands, and check what cn_args_parse() checks. */
void cn_args_begin(struct cn_args *args, const struct cn_command *command,
                   size_t option_max, size_t operand_max);
CN_CHECK bool cn_args_add(struct cn_args *args, const struct cn_option *option,
                          const char *value, struct cn_error *err);
void cn_args_add_operand(struct cn_args *args, const char *word);
CN_CHECK bool cn_args_check(const struct cn_args *args, struct cn_error *err);

bool cn_args_has(const struct cn_args *args, const char *name);

/* The last value; NULL if the option was not given. */
const char *cn_args_value(const struct cn_args *args, const char *name);

/* All values of a repeatable option, in the order given. */
struct cn_values {
    const char *const *list;
    size_t count;
};
struct cn_values cn_args_values(const struct cn_args *args, const char *name);

/* Option `i` in the order of the command line: its long name, and its value. NULL after the
 * last. */
const char *cn_args_at(const struct cn_args *args, size_t i, const char **value);

/* The first option given that chooses calls; NULL: none. */
const struct cn_option *cn_args_find_filter(const struct cn_args *args);

/* Fails with CN_ERR_USAGE if both options were given. */
CN_CHECK bool cn_args_exclusive(const struct cn_args *args, const char *a, const char *b,
                                struct cn_error *err);

/* After a failure. If something was not found because the option has a name that does not
 * exist, the kind of the failure becomes CN_ERR_USAGE. Always false. */
bool cn_args_misnamed(const struct cn_args *args, const char *name, struct cn_error *err);

/* The arguments that are neither options nor their values. */
size_t cn_args_count(const struct cn_args *args);
const char *cn_args_operand(const struct cn_args *args, size_t i);
const char *cn_args_find_operand(const struct cn_args *args, size_t i); /* or NULL */

/* The value as a number from `min` to `max`; `otherwise` if it was not given. */
CN_CHECK bool cn_args_u64(const struct cn_args *args, const char *name, uint64_t min,
                          uint64_t max, uint64_t otherwise, uint64_t *out,
                          struct cn_error *err);
CN_CHECK bool cn_args_f64(const struct cn_args *args, const char *name, double min,
                          double max, double otherwise, double *out,
                          struct cn_error *err);

#endif
