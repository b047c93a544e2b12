/* cairn recv: receive recordings over TCP. */

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/print/quantity.h"
#include "cli/recording/record_options.h"
#include "cli/shell/cli.h"
#include "cli/shell/command.h"
#include "remote/listener.h"
#include "remote/receiver.h"

#define SIZE_LIMIT "64G"

struct reception {
    const struct cn_args *args;
    const char *folder, *command;
};

/* Run the command in the folder of the recordings, without waiting for it. */
static void run_command(const struct reception *reception, const char *name)
{
    sigset_t none;
    pid_t child = fork();

    if (child < 0)
        cn_cli_warn(reception->args, "cannot run '%s'", reception->command);
    if (child != 0)
        return;
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)signal(SIGCHLD, SIG_DFL);
    if (chdir(reception->folder) == 0 && setenv("CAIRN_RECEIVED", name, 1) == 0)
        (void)execl("/bin/sh", "sh", "-c", reception->command, (char *)NULL);
    _exit(127);
}

static void on_end(void *arg, const struct cn_receiver *receiver, const char *peer,
                   const struct cn_error *err)
{
    const struct reception *reception = arg;
    struct cn_text text = {0};

    if (receiver->is_complete) {
        cn_count_print_of(&text, receiver->file_count, "file");
        cn_text_str_add(&text, ", ");
        cn_size_print(&text, receiver->len);
        cn_cli_say(reception->args, "received %s/%s from %s: %s", reception->folder,
                   receiver->name, peer, cn_text_str(&text));
        if (reception->command)
            run_command(reception, receiver->name);
    } else if (receiver->len > 0) {
        cn_cli_warn(reception->args, "from %s: %s; %s has what arrived before", peer,
                    err->text, receiver->partial);
    } else {
        cn_cli_warn(reception->args, "from %s: %s", peer, err->text);
    }
    cn_text_done(&text);
}

/* A descriptor that is readable when the user wants to stop. */
static int open_stop(void)
{
    sigset_t ends;

    (void)sigemptyset(&ends);
    (void)sigaddset(&ends, SIGINT);
    (void)sigaddset(&ends, SIGTERM);
    (void)sigprocmask(SIG_BLOCK, &ends, NULL);
    (void)signal(SIGCHLD, SIG_IGN); /* commands are not waited for */
    return signalfd(-1, &ends, SFD_CLOEXEC);
}

static bool run(const struct cn_args *args, struct cn_error *err)
{
    const char *folder = cn_args_value(args, "data");
    const char *limit = cn_args_value(args, "size-limit");
    struct reception reception = {
        .args = args,
        .folder = folder ? folder : ".",
        .command = cn_args_value(args, "run-cmd"),
    };
    struct cn_listener_options options = {
        .address = cn_args_value(args, "listen"),
        .folder = reception.folder,
        .on_end = on_end,
        .arg = &reception,
    };
    struct cn_listener listener;
    uint64_t port;
    bool ok;

    if (!cn_args_u64(args, "port", 0, UINT16_MAX, CN_REMOTE_PORT, &port, err) ||
        !cn_record_size_parse("size-limit", limit ? limit : SIZE_LIMIT,
                              &options.size_limit, err))
        return false;
    options.port = (uint16_t)port;
    if (mkdir(reception.folder, 0755) != 0 && errno != EEXIST)
        return cn_fail_errno(err, "cannot create '%s'", reception.folder);
    options.stop = open_stop();
    if (options.stop < 0)
        return cn_fail_errno(err, "cannot wait for signals");
    ok = cn_listener_open(&listener, &options, err);
    if (ok) {
        cn_cli_say(args, "listening on port %" PRIu16 "; press Ctrl-C to stop",
                   listener.port);
        ok = cn_listener_run(&listener, err);
    }
    cn_listener_close(&listener);
    (void)close(options.stop);
    return ok;
}

static const struct cn_option options[] = {
    CN_OPTION("data", 'd', "DIR", "store recordings in DIR (default: this folder)"),
    CN_OPTION("port", 0, "PORT", "listen on this port (default: 8090); 0: any free one"),
    CN_OPTION("listen", 0, "ADDR",
              "listen on this address only (default: all of this machine)"),
    CN_OPTION("run-cmd", 0, "CMD",
              "run a command of the shell in DIR for each recording; CAIRN_RECEIVED is "
              "its name"),
    CN_OPTION("size-limit", 0, "SIZE",
              "refuse more than SIZE bytes in one recording (default: " SIZE_LIMIT ")"),
    {0},
};

static const struct cn_example examples[] = {
    {"cairn recv -d received", "receive recordings into received/"},
    {"cairn record --host receiver -d run.data -- ./server",
     "on another machine: record a server and send it"},
    {0},
};

const struct cn_command cn_cmd_recv = {
    .name = "recv",
    .summary = "receive recordings over the network",
    .description =
        "Receives what 'cairn record --host' and 'uftrace record --host' send, and "
        "stores each recording in DIR under the last part of the name that its sender "
        "gave it; an earlier recording of that name is renamed to NAME.old. SIGINT and "
        "SIGTERM stop it.\n\n"
        "Until it is complete, a recording is in NAME.partial.XXXXXX; it stays there if "
        "its sender ends before. The connection is closed when everything is on the "
        "disk; otherwise it is reset, and cairn record keeps the recording.\n\n"
        "There is no password and no encryption: use --listen 127.0.0.1 and a tunnel "
        "where others can reach the port. A sender can only create files inside its own "
        "recording.",
    .examples = examples,
    .options = options,
    .run = run,
};
