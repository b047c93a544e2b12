/* A command of `cairn`, described once: parsing, --help, man pages and shell completion
 * all come from these tables.
 *
 * A command is one file, cmd_NAME.c, that defines a `const struct cn_command`, and one
 * line in commands.c. Everything in a table is a constant and is never freed.
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

struct cn_option {
    const char *name; /* long name, without the dashes */
    char letter;      /* short name; 0 when there is none */

    /* NULL: a flag. "N", "FILE": a placeholder for the value; see enum cn_placeholder_kind.
     * "text|json|csv": the value is one of these words; the parser refuses others. */
    const char *value;
    const char *help;   /* lower case, no full stop */
    bool is_repeatable; /* every value counts, not only the last one */
};

/* The row that commands which print data put into their own table. */
#define CN_OPTION_FORMAT                                                  \
    {                                                                     \
        .name = "format", .value = "text|json|csv",                       \
        .help = "print as aligned text (the default), as JSON or as CSV", \
    }

struct cn_example {
    const char *command; /* as typed, without the prompt: "cairn tree run.db" */
    const char *meaning; /* lower case, no full stop */
};

enum { CN_OPERANDS_MAX = INT32_MAX }; /* operand_max of "PATH..." */

struct cn_command {
    const char *name;    /* "tree"; "store search" of a command that is part of "store" */
    const char *section; /* heading under which `cairn` lists it; CN_SECTION_* */

    /* What follows the options: "DB", "SRC DST", "PATH...", "[COMMAND]". A word with a
     * '|' in it ("bash|zsh|fish") is one of these words. Placeholders are upper case;
     * see enum cn_placeholder_kind for those the shell completes. NULL when none. */
    const char *operands;
    unsigned operand_min, operand_max;
    bool is_run_together; /* the processes of mpirun do it together; see ranks.h */

    const char *summary; /* one line, lower case, no full stop */

    /* Paragraphs, separated by empty lines. One whose lines begin with two spaces is
     * shown as it is, others are wrapped. */
    const char *description;
    const struct cn_example *examples; /* ends with {0}; NULL when none */
    const struct cn_option *options;   /* ends with {0}; NULL when none */

    /* The commands that this one is made of, ends with NULL; NULL when none. Then its
     * operand is one of their names. */
    const struct cn_command *const *parts;

    /* True ends with status 0. On failure main() prints err and chooses the status. */
    bool (*run)(const struct cn_args *args, struct cn_error *err);
};

#define CN_SECTION_RECORDING "Look at a recording"
#define CN_SECTION_VIEW      "Look at a database"
#define CN_SECTION_STORE     "Keep request traces"
#define CN_SECTION_FILES     "Work on files"
#define CN_SECTION_CAIRN     "About cairn"

/* Every command, in the order in which `cairn` lists them; ends with NULL. */
extern const struct cn_command *const cn_commands[];

/* The options that every command has besides its own; ends with {0}. */
extern const struct cn_option cn_shared_options[];

/* `cairn` itself: what it does without a command, and its page in the manual. */
extern const struct cn_command cn_program;

/* The command of this name. Fails with CN_ERR_USAGE and the nearest name. */
CN_CHECK bool cn_command_choose(const char *name, const struct cn_command **out,
                                struct cn_error *err);

/* The part `name` of a command that has parts; fails in the same way. */
CN_CHECK bool cn_command_choose_part(const struct cn_command *whole, const char *name,
                                     const struct cn_command **out, struct cn_error *err);

/* Every command and behind it its parts, from 0 on; NULL after the last. */
const struct cn_command *cn_command_at(size_t i);

/* "store-search": the name of a command in the manual. */
void cn_command_page_add(struct cn_text *text, const struct cn_command *command);

/* The name of a part without that of the whole: "search". */
const char *cn_command_part_name(const struct cn_command *command);

/* Row `i` of a command's own options followed by the shared ones; NULL after the last. */
const struct cn_option *cn_command_option(const struct cn_command *command, size_t i);

/* What the shell offers where a value or an operand is due. */
enum cn_placeholder_kind {
    CN_PLACEHOLDER_OTHER,   /* nothing: a number, a pattern */
    CN_PLACEHOLDER_CHOICE,  /* "text|json|csv" */
    CN_PLACEHOLDER_FILE,    /* FILE, PATH, SRC, DST */
    CN_PLACEHOLDER_DIR,     /* DIR, DB: a directory */
    CN_PLACEHOLDER_COMMAND, /* COMMAND: the name of a command */
};

/* The kind of a placeholder, which ends at a blank, a '.' or a ']'. */
enum cn_placeholder_kind cn_placeholder_kind(const char *placeholder);

/* The placeholder of operand `i` in "SRC DST" or "[PATH]...": what stands at its place,
 * borrowed, brackets skipped. NULL when the list is too short. */
const char *cn_operand_at(const char *operands, size_t i);

/* The `i`-th word of a CN_PLACEHOLDER_CHOICE, borrowed; its length goes to *len. NULL after the
 * last one. */
const char *cn_choice_at(const char *choices, size_t i, size_t *len);

#endif
