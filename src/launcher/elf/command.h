/* What a command line runs in the end, and the language of it: `env A=1 python3 x.py`,
 * `sh -c 'node x.js'`, a script with `#!`, a script of the shell that ends with `exec`.
 * Only files are read: nothing is run.
 * Threads: any thread.
 */
#ifndef CN_LAUNCHER_ELF_COMMAND_H
#define CN_LAUNCHER_ELF_COMMAND_H

#include "launcher/elf/program.h"

struct cn_command_language {
    const char *prefix;   /* names of its programs begin with this */
    const char *language; /* "Python" */
    bool is_recorded;     /* its functions are recorded, not only sampled */
};

/* The interpreter that a file is, by its name; NULL: none. */
const struct cn_command_language *cn_command_language_find(const char *path);

/* Open the program that the words, NULL at the end, run in the end. A script of the shell that
 * is named like an interpreter, as those of pyenv are, is taken for it. */
CN_CHECK bool cn_command_open(struct cn_program_file *program, const char *const *words,
                              struct cn_error *err);

/* The interpreter that they run; NULL: none, or it is not known before they run. */
const struct cn_command_language *cn_command_language_of(const char *const *words);

#endif
