/* Scripts and recordings: the calls of a recording for a script, and recording with the
 * options that a script asks for.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_RECORDING_SCRIPT_CALLS_H
#define CN_CLI_RECORDING_SCRIPT_CALLS_H

#include "cli/recording/options.h"
#include "script/script.h"

/* What uftrace_begin() is told, besides the version. */
struct cn_script_run {
    struct cn_script *script;
    bool is_record;               /* the program was recorded just now */
    const char *const *arguments; /* of the program, or of the script */
    size_t argument_count;
};

/* Call the functions of a script for the calls of a recording; `arg` is a struct
 * cn_script_run. Fails if the script does. */
CN_CHECK bool cn_script_show(struct cn_recording_setup *setup, void *arg,
                             struct cn_error *err);

/* The same for the program that was recorded into `dir` with `args`. */
CN_CHECK bool cn_script_show_recorded(const struct cn_args *args, const char *dir,
                                      struct cn_script *script, struct cn_error *err);

/* The arguments of a command that records, with those that the script of --script asks for
 * before them. Without --script, the script is NULL. Borrows from `args`. */
struct cn_scripted {
    struct cn_args args;
    struct cn_script *script;
    struct cn_script_options options;
};

/* On failure, close it as well. */
CN_CHECK bool cn_scripted_open(struct cn_scripted *scripted, const struct cn_args *args,
                               struct cn_error *err);
void cn_scripted_close(struct cn_scripted *scripted);

/* Record as cairn record does, and run the script (NULL: none) on the recording. `wait_status` is set when the program ran. In cmd_record.c. */
CN_CHECK bool cn_record_run(const struct cn_args *args, struct cn_script *script,
                            int *wait_status, struct cn_error *err);

#endif
