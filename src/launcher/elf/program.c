#include "launcher/elf/program.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/host/library.h"
#include "base/path.h"
#include "base/text.h"
#include "launcher/code/prologue.h"

/* The processors that there are recorders for. */
static const struct program_machine {
    unsigned number; /* EM_* */
    const char *name, *triplet, *debian;
} machines[] = {
    {EM_X86_64, "x86_64", "x86_64-linux-gnu", "amd64"},
    {EM_AARCH64, "aarch64", "aarch64-linux-gnu", "arm64"},
};

static const struct program_machine *find_machine(unsigned number)
{
    for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
        if (machines[i].number == number)
            return &machines[i];
    return NULL;
}

static bool is_program(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

static char *find_in_path(const char *name)
{
    const char *folders = getenv("PATH");
    struct cn_text path = {0};

    if (!folders)
        folders = "/usr/local/bin:/usr/bin:/bin";
    for (;;) {
        size_t len = strcspn(folders, ":");

        cn_text_clear(&path);
        cn_text_add(&path, len ? folders : ".", len ? len : 1);
        cn_text_printf(&path, "/%s", name);
        if (is_program(cn_text_str(&path)))
            return path.chars;
        if (!folders[len])
            break;
        folders += len + 1;
    }
    cn_text_done(&path);
    return NULL;
}

static bool is_setuid(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 &&
           (((status.st_mode & S_ISUID) && status.st_uid != getuid()) ||
            ((status.st_mode & S_ISGID) && (status.st_mode & S_IXGRP) &&
             status.st_gid != getgid()));
}

static enum cn_rec_exec_kind kind_of(const char *path, const struct cn_elf_file *elf)
{
    if (is_setuid(path))
        return CN_REC_EXEC_SETUID;
    if (elf->is_static)
        return CN_REC_EXEC_STATIC;
    return !elf->loader || cn_rec_is_known_loader(elf->loader) ? CN_REC_EXEC_LOADED
                                                               : CN_REC_EXEC_LIBC;
}

void cn_program_first_line(const char *script, char path[PATH_MAX], char word[NAME_MAX])
{
    FILE *file = fopen(script, "re");

    path[0] = word[0] = '\0';
    if (!file)
        return;
    if (getc(file) == '#' && getc(file) == '!')
        (void)!fscanf(file, "%*[ \t]");
    else
        (void)fseek(file, 0, SEEK_END);
    (void)!fscanf(file, "%4095[^ \t\n]%*[ \t]%254[^ \t\n]", path, word);
    (void)fclose(file);
}

/* What the interpreter in the first line of a script is. */
static enum cn_rec_exec_kind kind_of_script(const char *script)
{
    enum cn_rec_exec_kind kind = CN_REC_EXEC_UNKNOWN;
    struct cn_elf_file elf = {0};
    struct cn_error ignored = {0};
    char path[PATH_MAX], word[NAME_MAX];

    cn_program_first_line(script, path, word);
    if (path[0] && cn_elf_file_open(&elf, path, false, &ignored))
        kind = kind_of(path, &elf);
    cn_elf_file_close(&elf);
    return kind;
}

bool cn_program_file_open(struct cn_program_file *program, const char *name,
                          struct cn_error *err)
{
    struct cn_error ignored = {0};
    char *found = strchr(name, '/') ? cn_strdup(name) : find_in_path(name);

    *program = (struct cn_program_file){0};
    if (!found)
        return cn_fail(err, CN_ERR_NOT_FOUND, "no program '%s' in PATH", name);
    program->path = realpath(found, NULL);
    if (!program->path || !is_program(program->path)) {
        (void)cn_fail(err, CN_ERR_NOT_FOUND, "'%s' is not an executable program", found);
        free(found);
        cn_program_file_close(program);
        return false;
    }
    program->started_as = found;
    program->is_script = !cn_elf_file_open(&program->elf, program->path, false, &ignored);
    if (program->is_script) {
        program->elf.byte_order = ELFDATA2LSB;
        program->elf.word_class = ELFCLASS64;
        program->kind = kind_of_script(program->path);
    } else {
        program->kind = kind_of(program->path, &program->elf);
    }
    return true;
}

void cn_program_file_close(struct cn_program_file *program)
{
    free(program->path);
    free(program->started_as);
    cn_elf_file_close(&program->elf);
    *program = (struct cn_program_file){0};
}

bool cn_program_file_check(const struct cn_program_file *program, bool has_libcalls,
                           bool is_patched, struct cn_error *err)
{
    unsigned usable = CN_ELF_MCOUNT | CN_ELF_FENTRY | CN_ELF_INSTRUMENT |
                      CN_ELF_PATCHABLE | (has_libcalls ? CN_ELF_LIBCALLS : 0);
    const struct cn_elf_file *elf = &program->elf;

    if (program->is_script)
        return true;
    if (elf->word_class != ELFCLASS64)
        return cn_fail(err, CN_ERR_USAGE,
                       "'%s' is a 32-bit program, whose calls cannot be recorded: build "
                       "it for 64 bits, or sample it: cairn sample",
                       program->path);
    if (!find_machine(elf->machine))
        return cn_fail(err, CN_ERR_USAGE,
                       "'%s' is built for another processor than x86_64 and aarch64",
                       program->path);
    if (elf->is_static)
        return cn_fail(err, CN_ERR_USAGE,
                       "'%s' is linked statically: link it without -static",
                       program->path);
    if (is_patched && (elf->hooks & usable & ~(unsigned)CN_ELF_LIBCALLS) == 0 &&
        !cn_prologue_is_known(elf->machine))
        return cn_fail(
            err, CN_ERR_USAGE,
            "'%s' is not instrumented, and -P cannot patch its functions: cairn "
            "was built without libcapstone",
            program->path);
    if (!(elf->hooks & usable) && !is_patched)
        return cn_fail(
            err, CN_ERR_USAGE,
            "'%s' is not instrumented: build it with -pg, "
            "-finstrument-functions or -fpatchable-function-entry=5, patch its "
            "functions with -P ., or use --force",
            program->path);
    return true;
}

bool cn_program_is_foreign(const struct cn_program_file *program)
{
    return !program->is_script && program->elf.machine != CN_REC_MACHINE;
}

bool cn_program_recorder_find(const struct cn_program_file *program, bool has_memory,
                              char **out, struct cn_error *err)
{
    const char *name = has_memory ? CN_REC_MEMORY_LIBRARY : CN_REC_LIBRARY;
    const struct program_machine *machine = find_machine(program->elf.machine);
    struct cn_error missing = {0};

    if (!cn_program_is_foreign(program) || !machine)
        return cn_own_library_find(name, out, err);
    if (cn_own_library_find_for(machine->triplet, name, out, &missing))
        return true;
    return cn_fail(err, CN_ERR_USAGE,
                   "'%s' is built for %s, and the recorder of that processor is missing "
                   "(package cairn-record:%s)",
                   program->path, machine->name, machine->debian);
}

/* Prepend the recorder to LD_PRELOAD, after a sanitizer, which must be first. */
static void set_environment(const struct cn_program_file *program, const char *library,
                            const char *shared_path)
{
    const char *before = getenv("LD_PRELOAD");
    struct cn_text preload = {0};

    if (program->kind == CN_REC_EXEC_LIBC)
        return;
    if (program->elf.sanitizer)
        cn_text_printf(&preload, "%s:", program->elf.sanitizer);
    cn_text_str_add(&preload, library);
    if (before && *before)
        cn_text_printf(&preload, ":%s", before);
    (void)setenv("LD_PRELOAD", cn_text_str(&preload), 1);
    (void)setenv(CN_REC_ENV, shared_path, 1);
    cn_text_done(&preload);
}

void cn_program_settings_change(struct cn_program_settings *before)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct rlimit most = {RLIM_INFINITY, RLIM_INFINITY};

    before->mask = umask(S_IRWXG | S_IRWXO);
    (void)sigaction(SIGXFSZ, &ignore, &before->on_file_size);
    (void)getrlimit(RLIMIT_FSIZE, &before->file_size);
    if (setrlimit(RLIMIT_FSIZE, &most) != 0) {
        most = (struct rlimit){before->file_size.rlim_max, before->file_size.rlim_max};
        (void)setrlimit(RLIMIT_FSIZE, &most);
    }
}

void cn_program_settings_restore(const struct cn_program_settings *before)
{
    (void)umask(before->mask);
    (void)setrlimit(RLIMIT_FSIZE, &before->file_size);
    (void)sigaction(SIGXFSZ, &before->on_file_size, NULL);
}

/* What the kept process needs to run the program. */
struct program_order {
    char path[PATH_MAX], library[PATH_MAX], shared_path[PATH_MAX], sanitizer[PATH_MAX];
    enum cn_rec_exec_kind kind;
};

/* Read an order and obey it. */
static _Noreturn void become_program(int channel, const char *const *words)
{
    struct program_order *order = cn_alloc(1, sizeof(*order));
    struct cn_program_file program = {.path = order->path};
    ssize_t len;
    int error;

    do
        len = recv(channel, order, sizeof(*order), MSG_WAITALL);
    while (len < 0 && errno == EINTR);
    if (len != (ssize_t)sizeof(*order))
        _exit(1);
    program.elf.sanitizer = order->sanitizer[0] ? order->sanitizer : NULL;
    program.kind = order->kind;
    set_environment(&program, order->library, order->shared_path);
    (void)execv(program.path, (char *const *)(uintptr_t)words);
    error = errno;
    (void)!send(channel, &error, sizeof(error), MSG_NOSIGNAL);
    _exit(127);
}

bool cn_program_split(struct cn_program_kept *kept, const char *const *words,
                      struct cn_error *err)
{
    pid_t self = getpid(), between;
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return cn_fail_errno(err, "--keep-pid: cannot create a socket");
    between = fork();
    if (between < 0) {
        (void)cn_fail_errno(err, "--keep-pid: cannot start a process");
        (void)close(ends[0]);
        (void)close(ends[1]);
        return false;
    }
    if (between > 0) {
        /* The program must not find a child that it did not start. */
        while (waitpid(between, NULL, 0) < 0 && errno == EINTR)
            continue;
        (void)close(ends[0]);
        become_program(ends[1], words);
    }
    if (fork() != 0)
        _exit(0);
    (void)close(ends[1]);
    *kept = (struct cn_program_kept){
        .pid = self,
        .channel = ends[0],
        .end = (int)syscall(SYS_pidfd_open, self, 0),
    };
    if (kept->end >= 0)
        return true;
    (void)cn_fail_errno(err, "--keep-pid: cannot watch a process (pidfd_open)");
    cn_program_kept_close(kept);
    return false;
}

void cn_program_kept_close(struct cn_program_kept *kept)
{
    if (kept->pid == 0)
        return;
    (void)close(kept->channel);
    if (kept->end >= 0)
        (void)close(kept->end);
    *kept = (struct cn_program_kept){0};
}

/* The program was not started: errno says why. */
static bool fail_to_run(const struct cn_program_file *program, struct cn_error *err)
{
    if (errno == ENOEXEC && cn_program_is_foreign(program))
        return cn_fail(err, CN_ERR_IO,
                       "cannot run '%s': no emulator is set up for the programs of its "
                       "processor (package qemu-user-static)",
                       program->path);
    return cn_fail_errno(err, "cannot run '%s'", program->path);
}

static bool start_kept(const struct cn_program_file *program,
                       const struct cn_program_start *start, struct cn_error *err)
{
    const struct cn_program_kept *kept = start->kept;
    struct program_order *order = cn_alloc(1, sizeof(*order));
    const char *sanitizer = program->elf.sanitizer ? program->elf.sanitizer : "";
    int error;
    bool ok;

    order->kind = program->kind;
    (void)snprintf(order->path, sizeof(order->path), "%s", program->started_as);
    (void)snprintf(order->library, sizeof(order->library), "%s", start->library);
    (void)snprintf(order->shared_path, sizeof(order->shared_path), "%s",
                   start->shared_path);
    (void)snprintf(order->sanitizer, sizeof(order->sanitizer), "%s", sanitizer);
    ok = send(kept->channel, order, sizeof(*order), MSG_NOSIGNAL) ==
             (ssize_t)sizeof(*order) ||
         cn_fail(err, CN_ERR_IO, "cannot start '%s': process %d has ended", program->path,
                 (int)kept->pid);
    /* The channel ends when the program runs. */
    if (ok && recv(kept->channel, &error, sizeof(error), MSG_WAITALL) == sizeof(error)) {
        errno = error;
        ok = fail_to_run(program, err);
    }
    free(order);
    return ok;
}

/* In the new process: run the program when a byte arrives at `go_fds`, if they are open. The reason
 * why that failed is written to `error_fd`, which closes when the program runs. */
static _Noreturn void run_program(const struct cn_program_file *program,
                                  const struct cn_program_start *start,
                                  const int go_fds[2], int error_fd)
{
    int error;
    char go;

    set_environment(program, start->library, start->shared_path);
    cn_program_settings_restore(start->settings);
    if (start->before.prepare) {
        (void)close(go_fds[1]);
        if (read(go_fds[0], &go, 1) != 1)
            _exit(127);
    }
    (void)execv(program->started_as, (char *const *)(uintptr_t)start->words);
    error = errno;
    (void)!write(error_fd, &error, sizeof(error));
    _exit(127);
}

/* Prepare the new process, let it run the program, and wait until it does. */
static bool let_run(const struct cn_program_file *program,
                    const struct cn_program_start *start, pid_t pid, const int go_fds[2],
                    int error_fd, struct cn_error *err)
{
    const struct cn_program_preparation *before = &start->before;
    int error;

    if (before->prepare) {
        bool ok = before->prepare(before->arg, pid, err);

        if (ok)
            (void)!write(go_fds[1], "", 1);
        (void)close(go_fds[0]);
        (void)close(go_fds[1]);
        if (!ok)
            return false;
    }
    if (read(error_fd, &error, sizeof(error)) != sizeof(error))
        return true;
    errno = error;
    return fail_to_run(program, err);
}

bool cn_program_file_start(const struct cn_program_file *program,
                           const struct cn_program_start *start, pid_t *out,
                           struct cn_error *err)
{
    const struct cn_program_preparation *before = &start->before;
    int error_fds[2], go_fds[2] = {-1, -1};
    bool ok;

    if (start->kept->pid > 0) {
        *out = start->kept->pid;
        return (!before->prepare || before->prepare(before->arg, *out, err)) &&
               start_kept(program, start, err);
    }
    if (pipe2(error_fds, O_CLOEXEC) != 0)
        return cn_fail_errno(err, "cannot start '%s'", program->path);
    if (before->prepare && pipe2(go_fds, O_CLOEXEC) != 0) {
        (void)cn_fail_errno(err, "cannot start '%s'", program->path);
        (void)close(error_fds[0]);
        (void)close(error_fds[1]);
        return false;
    }
    *out = fork();
    if (*out == 0)
        run_program(program, start, go_fds, error_fds[1]);
    (void)close(error_fds[1]);
    if (*out < 0) {
        ok = cn_fail_errno(err, "cannot start '%s'", program->path);
        if (before->prepare) {
            (void)close(go_fds[0]);
            (void)close(go_fds[1]);
        }
    } else {
        ok = let_run(program, start, *out, go_fds, error_fds[0], err);
        if (!ok)
            (void)waitpid(*out, NULL, 0);
    }
    (void)close(error_fds[0]);
    return ok;
}
