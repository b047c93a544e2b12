#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/files/outdir.h"
#include "base/text.h"
#include "cli/gate/gate.h"
#include "cli/shell/cli.h"

/* A program with its arguments. */
struct program {
    const char *const *words;
    size_t count;
};

static char **command_of(const char *folder, const struct program *program)
{
    static const char *const first[] = {"cairn", "record", "-q", "-d"};
    enum { FIRST = sizeof(first) / sizeof(*first) };
    char **words = cn_alloc(FIRST + program->count + 3, sizeof(*words));
    size_t count = 0;

    for (; count < FIRST; count++)
        words[count] = (char *)(uintptr_t)first[count];
    words[count++] = (char *)(uintptr_t)folder;
    words[count++] = (char *)(uintptr_t) "--";
    for (size_t i = 0; i < program->count; i++)
        words[count++] = (char *)(uintptr_t)program->words[i];
    return words;
}

/* The recorder is a process of its own: this one is still to read what it wrote. What the
 * program prints on standard output is no part of the report. */
static bool record_one(const char *folder, const struct program *program,
                       struct cn_error *err)
{
    char **words = command_of(folder, program);
    posix_spawn_file_actions_t actions;
    int status = 0, failed;
    pid_t pid;

    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY,
                                           0);
    failed = posix_spawn(&pid, "/proc/self/exe", &actions, NULL, words, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    free(words);
    if (failed) {
        errno = failed;
        return cn_fail_errno(err, "cannot start cairn record");
    }
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return cn_fail_errno(err, "cannot wait for cairn record");
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    return WIFEXITED(status) ? cn_fail(err, CN_ERR_IO, "%s: exit status %d",
                                       program->words[0], WEXITSTATUS(status))
                             : cn_fail(err, CN_ERR_IO, "%s: ended by signal %d",
                                       program->words[0], WTERMSIG(status));
}

/* The number of recorded runs of the base, before the first --. */
static size_t count_base(const struct cn_args *args)
{
    return args->separator == SIZE_MAX ? 0 : args->separator;
}

/* The programs after them. */
static bool find_programs(const struct cn_args *args, struct program out[CN_SIDES],
                          struct cn_error *err)
{
    size_t first = count_base(args), count = args->operand_count, split;

    if (first == count)
        return cn_fail(err, CN_ERR_USAGE,
                       "--record needs programs: --record -- OLD [ARGUMENT]... -- NEW "
                       "[ARGUMENT]...");
    split = first;
    while (split < count && strcmp(args->operands[split], "--") != 0)
        split++;
    out[CN_SIDE_A] = (struct program){args->operands + first, split - first};
    out[CN_SIDE_B] = out[CN_SIDE_A];
    if (split < count)
        out[CN_SIDE_B] = (struct program){args->operands + split + 1, count - split - 1};
    if (out[CN_SIDE_A].count == 0 || out[CN_SIDE_B].count == 0)
        return cn_fail(err, CN_ERR_USAGE, "there is no program %s --",
                       out[CN_SIDE_A].count == 0 ? "before the second"
                                                 : "after the last");
    if (first > 0 && split < count)
        return cn_fail(err, CN_ERR_USAGE,
                       "the base is %s: only one program can be recorded",
                       args->operands[0]);
    return true;
}

bool cn_gate_record(struct cn_gate_recordings *out, const struct cn_args *args,
                    size_t count, struct cn_sides *sides, struct cn_error *err)
{
    static const char *const names[CN_SIDES] = {"base", "new"};
    struct program programs[CN_SIDES];

    *out = (struct cn_gate_recordings){.count = count};
    if (!find_programs(args, programs, err))
        return false;
    bool has_base = count_base(args) > 0;
    out->folder = cn_temporary_make("gate", err);
    if (!out->folder)
        return false;
    for (int side = 0; side < CN_SIDES; side++)
        out->paths[side] = cn_alloc(count, sizeof(*out->paths[side]));
    for (size_t i = 0; i < count; i++)
        for (int side = has_base ? CN_SIDE_B : CN_SIDE_A; side < CN_SIDES; side++) {
            struct cn_text path = {0};

            cn_text_printf(&path, "%s/%s%zu", out->folder, names[side], i + 1);
            out->paths[side][i] = path.chars;
            if (setenv("CAIRN_SIDE", names[side], 1) != 0)
                return cn_fail_errno(err, "CAIRN_SIDE");
            if (!record_one(path.chars, &programs[side], err))
                return cn_fail_in(err, "run %zu of the %s side", i + 1, names[side]);
            cn_cli_detail(args, "recorded run %zu of the %s side", i + 1, names[side]);
        }
    for (int side = 0; side < CN_SIDES; side++) {
        sides->paths[side] = out->paths[side];
        sides->count[side] = count;
    }
    if (has_base) {
        sides->paths[CN_SIDE_A] = args->operands;
        sides->count[CN_SIDE_A] = args->separator;
    }
    return true;
}

void cn_gate_recordings_done(struct cn_gate_recordings *recordings)
{
    for (int side = 0; side < CN_SIDES && recordings->paths[side]; side++) {
        for (size_t i = 0; i < recordings->count; i++)
            free((char *)(uintptr_t)recordings->paths[side][i]);
        free(recordings->paths[side]);
    }
    if (recordings->folder)
        cn_outdir_remove(recordings->folder);
    free(recordings->folder);
    *recordings = (struct cn_gate_recordings){0};
}
