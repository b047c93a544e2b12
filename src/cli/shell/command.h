/* Commands of `cairn`. Parsing, --help, man pages and shell completion all come from these
 * tables.
 *
 * A command is a `const struct cn_command` in cmd_NAME.c and one line in commands.c. All
 * of it is constant.
 * Threads: immutable.
 */
#ifndef CN_CLI_SHELL_COMMAND_H
#define CN_CLI_SHELL_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct cn_args;
struct cn_text;

/* Kinds of data that commands take. */
enum cn_data_kind {
    CN_FOR_RECORDINGS = 1 << 0,
    CN_FOR_STORES = 1 << 1,
    CN_FOR_DATABASES = 1 << 2,
    CN_FOR_MEASUREMENTS = 1 << 3, /* directories of hpcrun */
    CN_FOR_SAMPLES = 1 << 4,      /* files of samples */
    CN_FOR_RECORDED = 1 << 5,     /* a program whose calls are recorded */
    CN_FOR_SAMPLED = 1 << 6,      /* a program that is sampled */

    CN_FOR_CALLS = CN_FOR_RECORDINGS | CN_FOR_STORES,
    CN_FOR_COSTS = CN_FOR_DATABASES | CN_FOR_MEASUREMENTS | CN_FOR_SAMPLES,
    CN_FOR_DATA = CN_FOR_CALLS | CN_FOR_COSTS,
};

struct cn_option {
    const char *name; /* long name, without the dashes */
    char letter;      /* short name; 0: none */
    unsigned scope;   /* enum cn_data_kind: kinds of data it is for; 0: all */

    /* NULL: a flag. "N", "FILE": placeholder of the value; see enum cn_placeholder_kind.
     * "text|json|csv": the value must be one of these words. */
    const char *value;
    const char *also;   /* further values that are accepted but not shown; NULL: none */
    const char *help;   /* lower case, no full stop */
    bool is_repeatable; /* all values count, not only the last */
    bool is_filter;     /* chooses calls */
};

/* Rows of a table of options: an option, and one whose values all count; the same for some
 * kinds of data; and those that choose calls. */
#define CN_OPTION(option, key, placeholder, text)                         \
    {                                                                     \
        .name = option, .letter = key, .value = placeholder, .help = text \
    }
#define CN_OPTION_LIST(option, key, placeholder, text)                     \
    {                                                                      \
        .name = option, .letter = key, .value = placeholder, .help = text, \
        .is_repeatable = true                                              \
    }
#define CN_OPTION_FOR(kinds, option, key, placeholder, text)                 \
    {                                                                        \
        .name = option, .letter = key, .scope = kinds, .value = placeholder, \
        .help = text                                                         \
    }
#define CN_OPTION_LIST_FOR(kinds, option, key, placeholder, text)            \
    {                                                                        \
        .name = option, .letter = key, .scope = kinds, .value = placeholder, \
        .help = text, .is_repeatable = true                                  \
    }
#define CN_FILTER_FOR(kinds, option, key, placeholder, text)                 \
    {                                                                        \
        .name = option, .letter = key, .scope = kinds, .value = placeholder, \
        .help = text, .is_filter = true                                      \
    }
#define CN_FILTER_LIST_FOR(kinds, option, key, placeholder, text)            \
    {                                                                        \
        .name = option, .letter = key, .scope = kinds, .value = placeholder, \
        .help = text, .is_repeatable = true, .is_filter = true               \
    }

/* For the option tables of commands that print data. */
#define CN_OPTION_FORMAT                    \
    CN_OPTION("format", 0, "text|json|csv", \
              "print as aligned text (the default), as JSON or as CSV")

/* For those of commands that print names of functions, which call cn_cli_fit(). */
#define CN_OPTION_WIDTH                                                            \
    CN_OPTION("width", 'w', "N",                                                   \
              "shorten names so that rows have N columns; 0: print whole names "   \
              "(default: the columns of the terminal, whole names where there is " \
              "none)")

/* For those of commands that take a store: read before the command runs. */
#define CN_OPTION_CACHE_SIZE                              \
    CN_OPTION_FOR(CN_FOR_STORES, "cache-size", 0, "SIZE", \
                  "limit of the cache of a store in object storage (default: 4G)")

struct cn_example {
    const char *command; /* as typed, without the prompt: "cairn tree run.db" */
    const char *meaning; /* lower case, no full stop */
};

enum { CN_OPERANDS_MAX = INT32_MAX }; /* operand_max of "PATH..." */

struct cn_command {
    const char *name; /* "tree"; "store search" for a part of "store" */

    /* Operands: "DB", "SRC DST", "PATH...", "[COMMAND]", "bash|zsh|fish" for one of these
     * words. Upper case is a placeholder; see enum cn_placeholder_kind. NULL: none. */
    const char *operands;
    unsigned operand_min, operand_max;
    unsigned scope; /* enum cn_data_kind: the kinds it takes; 0: it does not matter */
    /* The first operand is a program, or the name of a command, and what follows belongs to
     * it: always (""), or with this option. NULL: never. */
    const char *program;
    bool is_run_together; /* by all processes of mpirun; see ranks.h */

    const char *summary; /* one line, lower case, no full stop */

    /* Paragraphs separated by empty lines. Paragraphs are wrapped unless their lines begin
     * with two spaces. */
    const char *description;
    const struct cn_example *examples; /* ends with {0}; NULL: none */
    const struct cn_option *options;   /* ends with {0}; NULL: none */

    /* Subcommands, ended by NULL; NULL: none. If there are any, the operand is the name of
     * one. */
    const struct cn_command *const *parts;

    /* True: exit status 0. On failure, main() prints `err` and chooses the status. */
    bool (*run)(const struct cn_args *args, struct cn_error *err);
};

/* Every command, in the order in which `cairn help` lists them, by task; ends with NULL. */
extern const struct cn_command *const cn_commands[];

/* What people use the command for: the heading under which `cairn help` lists it, or the
 * command that it is a part of. NULL for others. */
const char *cn_command_task(const struct cn_command *command);

/* Options of every command; ends with {0}. */
extern const struct cn_option cn_shared_options[];

/* `cairn` without a command, and the man page cairn(1). */
extern const struct cn_command cn_program;

/* The command of this name in cn_commands or in the parts of a command. Fails with
 * CN_ERR_USAGE and suggests the nearest name. */
CN_CHECK bool cn_command_choose(const struct cn_command *const *list, const char *name,
                                const struct cn_command **out, struct cn_error *err);

/* The same for arguments that name a command and its subcommand; those after them are ignored. */
CN_CHECK bool cn_command_follow(const struct cn_command *const *list,
                                const char *const *arguments, size_t count,
                                const struct cn_command **out, struct cn_error *err);

/* Command `i`, counting each command and then its parts; NULL after the last. */
const struct cn_command *cn_command_at(size_t i);

/* Append the name of a command's man page: "store-search". */
void cn_command_page_add(struct cn_text *text, const struct cn_command *command);

/* The name of a part alone: "search". */
const char *cn_command_part_name(const struct cn_command *command);

/* Option `i` of a command: its own, then the shared ones; NULL after the last. */
const struct cn_option *cn_command_option(const struct cn_command *command, size_t i);

/* The option of this name; NULL if the command does not have it. */
const struct cn_option *cn_command_find_option(const struct cn_command *command,
                                               const char *name);

/* The kinds of data of this command that an option is for; 0: all of them. */
unsigned cn_option_scope(const struct cn_command *command,
                         const struct cn_option *option);

/* Group `i` of a command's own options: those for the same kinds of data, the ones for all
 * first. False after the last. */
bool cn_command_scope_at(const struct cn_command *command, size_t i, unsigned *scope);

/* What a shell completes for a value or an operand. */
enum cn_placeholder_kind {
    CN_PLACEHOLDER_OTHER,   /* a number, a pattern: nothing */
    CN_PLACEHOLDER_CHOICE,  /* "text|json|csv" */
    CN_PLACEHOLDER_FILE,    /* FILE, PATH, SRC, DST */
    CN_PLACEHOLDER_DIR,     /* DIR, DB: a directory */
    CN_PLACEHOLDER_COMMAND, /* COMMAND: the name of a command */
};

/* The kind of a placeholder. It ends at a blank, a '.' or a ']'. */
enum cn_placeholder_kind cn_placeholder_kind(const char *placeholder);

/* The placeholder of operand `i` in "SRC DST" or "[PATH]...", without brackets. Borrowed.
 * NULL: none. */
const char *cn_operand_at(const char *operands, size_t i);

/* Word `i` of a CN_PLACEHOLDER_CHOICE, and its length. Borrowed. NULL after the last. */
const char *cn_choice_at(const char *choices, size_t i, size_t *len);

/* True if a value is one of the words. Other placeholders have every value. */
bool cn_choice_has(const char *placeholder, const char *value);

/* Append all of them, separated by blanks. */
void cn_choices_add(struct cn_text *text, const char *choices);

#endif
