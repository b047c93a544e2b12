/* The program to record: finding it, checking it, and starting it with the recorder.
 * Threads: one thread at a time.
 */
#ifndef CN_LAUNCHER_ELF_PROGRAM_H
#define CN_LAUNCHER_ELF_PROGRAM_H

#include <limits.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/error.h"
#include "launcher/elf/file.h"
#include "record/shared.h"

struct cn_program_file {
    char *path; /* absolute */
    char *
        started_as; /* by which it is run: a script, or a program of several names, looks at it */
    struct cn_elf_file elf;
    bool is_script; /* not an ELF file: its interpreter and children are recorded */
    enum cn_rec_exec_kind kind; /* of it, or of the interpreter */
};

/* Find `name` as execvp() does, and read its ELF file. */
CN_CHECK bool cn_program_file_open(struct cn_program_file *program, const char *name,
                                   struct cn_error *err);
void cn_program_file_close(struct cn_program_file *program);

/* The first two words after "#!" of a script; empty if there are none. */
void cn_program_first_line(const char *script, char path[PATH_MAX], char word[NAME_MAX]);

/* Fail when the program cannot be recorded; the message says how to build it. `is_patched`:
 * functions without hooks are to be patched. */
CN_CHECK bool cn_program_file_check(const struct cn_program_file *program,
                                    bool has_libcalls, bool is_patched,
                                    struct cn_error *err);

/* True if the program is built for another processor, and runs in an emulator. */
bool cn_program_is_foreign(const struct cn_program_file *program);

/* The path of the recorder for the program's processor, or of the one that records memory as well.
 * Release it with free(). */
CN_CHECK bool cn_program_recorder_find(const struct cn_program_file *program,
                                       bool has_memory, char **out, struct cn_error *err);

/* Settings of the process that the program must find as they were. */
struct cn_program_settings {
    mode_t mask;
    struct rlimit file_size;
    struct sigaction on_file_size;
};

/* Change them for the launcher: its files are readable by their owner alone, and no limit
 * of the size of files ends it. cn_program_settings_restore() undoes it. */
void cn_program_settings_change(struct cn_program_settings *before);
void cn_program_settings_restore(const struct cn_program_settings *before);

/* Something to do with the process before it runs the program; NULL: nothing. */
struct cn_program_preparation {
    bool (*prepare)(void *arg, pid_t pid, struct cn_error *err);
    void *arg;
};

/* --keep-pid: the process that the user started becomes the program. */
struct cn_program_kept {
    pid_t pid;   /* that process; 0: not used */
    int channel; /* to it */
    int end;     /* pidfd: readable when it has ended */
};

/* Go on in another process, which is no child of this one. This one waits until the program
 * is started, and runs it; it ends with status 1 if that does not happen. Call it before
 * anything is opened or changed. */
CN_CHECK bool cn_program_split(struct cn_program_kept *kept, const char *const *words,
                               struct cn_error *err);
void cn_program_kept_close(struct cn_program_kept *kept);

/* How a program is started. Everything is borrowed. */
struct cn_program_start {
    const struct cn_program_settings *settings;
    const char *library, *shared_path; /* the recorder, and the memory that it shares */
    const char *const *words;
    struct cn_program_preparation before;
    const struct cn_program_kept *kept; /* the process to use, if any */
};

CN_CHECK bool cn_program_file_start(const struct cn_program_file *program,
                                    const struct cn_program_start *start, pid_t *out,
                                    struct cn_error *err);

#endif
