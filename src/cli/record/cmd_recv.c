/* cairn recv: receive recordings over TCP. */

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/print/quantity.h"
#include "cli/record/options.h"
#include "cli/shell/cli.h"
#include "cli/shell/command.h"
#include "remote/listener.h"
#include "remote/receiver.h"

#define SIZE_LIMIT "64G"

enum { TOKEN_LEN = 32 };

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

/* Other machines need a token: that of the user, or a new one, which is printed. */
static bool choose_token(const struct cn_args *args, struct cn_listener_options *options,
                         char made[static TOKEN_LEN + 1], struct cn_error *err)
{
    uint8_t bytes[TOKEN_LEN / 2];

    options->token = cn_record_token(args);
    if (options->token && strlen(options->token) > CN_REMOTE_TOKEN_MAX)
        return cn_fail(err, CN_ERR_USAGE, "--token: longer than %d bytes",
                       CN_REMOTE_TOKEN_MAX);
    if (cn_args_has(args, "no-token")) {
        if (options->token)
            return cn_fail(err, CN_ERR_USAGE, "--no-token contradicts a token");
        return true;
    }
    if (options->token || cn_listener_is_local(options->address))
        return true;
    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
        return cn_fail_errno(err, "cannot make a token");
    for (size_t i = 0; i < sizeof(bytes); i++)
        (void)snprintf(made + 2 * i, 3, "%02x", bytes[i]);
    options->token = made;
    cn_cli_say(args, "senders need --token %s", made);
    return true;
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
    char made[TOKEN_LEN + 1] = "";
    uint64_t port;
    bool ok;

    if (!cn_args_u64(args, "port", 0, UINT16_MAX, CN_REMOTE_PORT, &port, err) ||
        !cn_record_size_parse("size-limit", limit ? limit : SIZE_LIMIT,
                              &options.size_limit, err))
        return false;
    options.port = (uint16_t)port;
    if (!choose_token(args, &options, made, err))
        return false;
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
              "listen on this address (default: 127.0.0.1, which only programs of this "
              "machine reach); 0.0.0.0 or ::, all addresses"),
    CN_OPTION("token", 0, "TOKEN",
              "accept only senders that know TOKEN (default: " CN_RECORD_TOKEN
              " of the environment; a new one, which is printed, if other machines can "
              "connect)"),
    CN_OPTION("no-token", 0, NULL,
              "accept any sender, such as uftrace, from other machines"),
    CN_OPTION("run-cmd", 0, "CMD",
              "run a command of the shell in DIR for each recording; CAIRN_RECEIVED is "
              "its name"),
    CN_OPTION("size-limit", 0, "SIZE",
              "refuse more than SIZE bytes in one recording (default: " SIZE_LIMIT ")"),
    {0},
};

static const struct cn_example examples[] = {
    {"cairn recv -d received --listen 0.0.0.0",
     "receive recordings of other machines into received/, and print the token that they "
     "need"},
    {"cairn record --host receiver --token 5e884898da28 -d run.data -- ./server",
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
        "Senders on this machine need no token unless --token sets one; those on other "
        "machines do. There is no encryption: use a tunnel where others can read what is "
        "sent. A sender can only create files inside its own recording, and replace "
        "recordings that cairn has stored. A connection that names no recording within "
        "10 "
        "seconds is closed.",
    .examples = examples,
    .options = options,
    .run = run,
};
