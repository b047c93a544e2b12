/* cairn: choose the command, parse its arguments, run it, set the exit status. */

#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/shell/cli.h"
#include "cli/shell/command.h"
#include "cli/shell/progress.h"
#include "cli/shell/ranks.h"
#include "cli/shell/uftrace.h"
#include "s3/settings.h"

enum {
    STATUS_OK = 0,
    STATUS_FAILED = 1,
    STATUS_USAGE = 2,
    STATUS_BAD_DATA = 3,
    STATUS_REJECTED = 4,
};

static int exit_status(enum cn_error_kind kind)
{
    switch (kind) {
    case CN_ERR_NONE:
        return STATUS_OK;
    case CN_ERR_USAGE:
        return STATUS_USAGE;
    case CN_ERR_FORMAT:
    case CN_ERR_VERSION:
    case CN_ERR_LIMIT:
        return STATUS_BAD_DATA;
    case CN_ERR_IO:
    case CN_ERR_NOT_FOUND:
    case CN_ERR_INTERRUPTED:
    case CN_ERR_BUSY:
    case CN_ERR_NO_MEMORY:
        return STATUS_FAILED;
    case CN_ERR_REJECTED:
        return STATUS_REJECTED;
    }
    return STATUS_FAILED;
}

/* Reading a mapped file that another program has truncated raises SIGBUS. Only
 * async-signal-safe functions are allowed here. */
static void on_bus_error(int signal_number)
{
    static const char message[] =
        "cairn: an input file was truncated while it was being read\n";

    (void)signal_number;
    (void)!write(STDERR_FILENO, message, sizeof(message) - 1);
    _exit(STATUS_BAD_DATA);
}

static void set_up_process(void)
{
    struct sigaction bus = {.sa_handler = on_bus_error};

    /* Open something in place of closed standard streams, so that no file of ours gets
     * their numbers. Reading or writing it fails, as it would if they were closed. */
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0)
            (void)!open("/dev/null",
                        (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
    }
    (void)setlocale(LC_CTYPE, "C.UTF-8");
    (void)sigaction(SIGBUS, &bus, NULL);
    /* Even if our parent ignores SIGPIPE, a closed pipe ends us silently. */
    (void)signal(SIGPIPE, SIG_DFL);
}

/* Ranks other than 0 print nothing and wait until rank 0 has printed: mpirun kills all
 * processes when the first fails. */
static void print_failure(const struct cn_command *command, const struct cn_error *err)
{
    static const struct timespec patience = {.tv_nsec = 500000000};

    if (err->text[0] == '\0')
        return;
    if (command->is_run_together && cn_cli_launched_rank() > 0)
        (void)nanosleep(&patience, NULL);
    else
        cn_cli_fail(command, err);
}

static bool limit_caches(const struct cn_args *args, struct cn_error *err)
{
    const char *size = cn_args_value(args, "cache-size");

    return !size || cn_s3_limit_caches(size, err) || cn_fail_in(err, "--cache-size");
}

static bool run(const struct cn_args *args, struct cn_error *err)
{
    const struct cn_command *command = args->command;
    struct cn_text text = {0};

    if (!cn_args_has(args, "help"))
        return limit_caches(args, err) && command->run(args, err);
    if (!cn_command_follow(command == &cn_program ? cn_commands : command->parts,
                           args->operands, args->operand_count, &command, err))
        return false;
    cn_cli_add_help(args, command, &text);
    cn_cli_print(args, &text);
    cn_text_done(&text);
    return true;
}

/* Output that could not be written is a failure. */
static bool finish_output(struct cn_cli_session *session, bool ok, struct cn_error *err)
{
    cn_html_end(&session->html);
    bool had_error = ferror(stdout);
    if (fflush(stdout) != 0 && ok)
        ok = cn_fail_errno(err, "cannot write standard output");
    else if (had_error && ok)
        ok = cn_fail(err, CN_ERR_IO, "cannot write standard output");
    cn_pager_end(&session->pager);
    return ok;
}

static bool run_args(struct cn_args *args, bool is_uftrace, struct cn_error *err)
{
    struct cn_cli_session session = {.is_uftrace = is_uftrace};
    const char *log = cn_args_value(args, "logfile");
    const char *color = cn_args_value(args, "color");
    const char *format = cn_args_value(args, "format");
    bool is_html = format && strcmp(format, "html") == 0;

    if (log && !cn_cli_log_to(log, err))
        return false;
    session.has_color =
        cn_color_decide(is_html && !color ? "always" : color, isatty(STDOUT_FILENO));
    session.columns =
        !is_html && isatty(STDOUT_FILENO) ? cn_terminal_columns(STDOUT_FILENO) : 0;
    if (is_html && !cn_html_begin(&session.html))
        return cn_fail_errno(err, "--format=html");
    args->session = &session;
    return finish_output(&session, run(args, err), err);
}

/* Run the command that the arguments name; `command` is the one that a failure is about. */
static bool run_named(size_t argument_count, const char *const *arguments,
                      const struct cn_command **command, struct cn_error *err)
{
    struct cn_args args;

    for (const struct cn_command *const *list = cn_commands;
         list && argument_count > 0 && arguments[0][0] != '-'; list = (*command)->parts) {
        if (!cn_command_choose(list, arguments[0], command, err))
            return false;
        arguments++;
        argument_count--;
    }
    if (!cn_args_parse(&args, *command, argument_count, arguments, err))
        return false;
    bool ok = run_args(&args, false, err);
    cn_args_done(&args);
    return ok;
}

/* The same for the command line of uftrace. */
static bool run_uftrace(size_t argument_count, const char *const *arguments,
                        const struct cn_command **command, struct cn_error *err)
{
    struct cn_uftrace_line line;
    bool ok = cn_uftrace_parse(&line, argument_count, arguments, err);

    *command = line.args.command;
    ok = ok && run_args(&line.args, true, err);
    cn_uftrace_done(&line);
    return ok;
}

int main(int argc, char **argv)
{
    const struct cn_command *command = &cn_program;
    const char *const *arguments = (const char *const *)argv + 1;
    size_t argument_count = argc > 0 ? (size_t)argc - 1 : 0;
    bool is_named = argc > 0 && cn_uftrace_is_name(argv[0]);
    bool is_uftrace = is_named || (argument_count > 0 &&
                                   strcmp(arguments[0], cn_cmd_uftrace.name) == 0);
    struct cn_error err = {0};

    set_up_process();
    if (is_uftrace ? run_uftrace(argument_count - !is_named, arguments + !is_named,
                                 &command, &err)
                   : run_named(argument_count, arguments, &command, &err))
        return STATUS_OK;
    print_failure(command, &err);
    if (err.kind == CN_ERR_INTERRUPTED) { /* our parent sees that a signal ended us */
        int signal_number = cn_bar_signal() ? cn_bar_signal() : SIGINT;

        (void)signal(signal_number, SIG_DFL);
        (void)raise(signal_number);
    }
    return is_uftrace ? STATUS_FAILED : exit_status(err.kind);
}
