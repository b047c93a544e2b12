#include "cli/record/syscalls.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/files/file.h"
#include "base/files/outdir.h"
#include "base/text.h"
#include "cli/shell/cli.h"
#include "cli/shell/command.h"
#include "formats/exchange/perf/file.h"
#include "formats/exchange/perf/perf.h"
#include "formats/exchange/read/stacks/import.h"
#include "formats/uftrace/write/syscalls_writer.h"
#include "launcher/launch.h"
#include "model/contexts/database.h"
#include "model/io/calls.h"
#include "sampler/sampler.h"

#define FILE_NAME  "syscalls.perf.data"
#define OWN_MEMORY "/.cairn-record-"

/* What the process answers, when it samples or cannot, and once more at the end. */
struct answer {
    char failure[sizeof(((struct cn_error *)0)->text)]; /* empty: there is none */
    uint64_t lost_count;
};

static void answer(int connection, const char *failure, uint64_t lost_count)
{
    struct answer bytes = {.lost_count = lost_count};

    (void)memccpy(bytes.failure, failure, '\0', sizeof(bytes.failure) - 1);
    (void)!send(connection, &bytes, sizeof(bytes), MSG_NOSIGNAL);
}

static bool receive(int connection, struct answer *out)
{
    bool ok = recv(connection, out, sizeof(*out), MSG_WAITALL) == sizeof(*out);

    out->failure[sizeof(out->failure) - 1] = '\0';
    return ok;
}

static void say_started(void *arg)
{
    answer(*(const int *)arg, "", 0);
}

static char *file_path(const struct cn_record_syscalls *s)
{
    return cn_strprintf("%s/" FILE_NAME, s->folder);
}

/* The other process: sample the one whose number arrives, until the connection is shut down. */
static void run_helper(const struct cn_record_syscalls *s, int connection)
{
    static const char *const events[] = {"dummy"};
    struct cn_sample_result result = {0};
    struct cn_error err = {0};
    char *path = file_path(s);
    pid_t pid;

    if (recv(connection, &pid, sizeof(pid), MSG_WAITALL) != sizeof(pid))
        return;
    struct cn_sample_options options = {
        .path = path,
        .pids = &pid,
        .pid_count = 1,
        .events = events,
        .event_count = 1,
        .frequency = 1,
        .duration_ns = s->duration_ns,
        .has_end = true,
        .end = connection,
        .stacks = CN_SAMPLE_NONE,
        .has_io = true,
        .started = say_started,
        .arg = &connection,
    };

    if (cn_sample_run(&options, &result, &err))
        answer(connection, result.failure.text, result.lost_count);
    else
        answer(connection, err.text, 0);
}

/* The process that will run the program waits meanwhile. */
static void prepare(void *arg, pid_t pid)
{
    struct cn_record_syscalls *s = arg;
    struct answer answer = {.failure = "the process that samples them ended"};

    s->is_on = send(s->connection, &pid, sizeof(pid), MSG_NOSIGNAL) == sizeof(pid) &&
               receive(s->connection, &answer) && !answer.failure[0];
    if (!s->is_on && geteuid() != 0)
        cn_cli_warn(s->args, "system calls not recorded: only root may see them; sudo "
                             "cairn record --syscalls records them");
    else if (!s->is_on)
        cn_cli_warn(s->args, "system calls not recorded: %s", answer.failure);
}

bool cn_record_syscalls_begin(struct cn_record_syscalls *s, const struct cn_args *args,
                              struct cn_launch_options *launch, struct cn_error *err)
{
    int ends[2];

    *s = (struct cn_record_syscalls){.args = args, .connection = -1};
    if (!cn_args_has(args, "syscalls"))
        return true;
    s->duration_ns = launch->duration_ns;
    if (launch->keeps_pid || launch->kernel.depth > 0)
        return cn_fail(err, CN_ERR_USAGE, "--syscalls: not together with --%s",
                       launch->keeps_pid ? "keep-pid" : "kernel");
    s->folder = cn_temporary_make("syscalls", err);
    if (!s->folder)
        return false;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return cn_fail_errno(err, "--syscalls");
    s->connection = ends[0];
    s->helper = fork();
    if (s->helper == 0) {
        (void)close(ends[0]);
        run_helper(s, ends[1]);
        _exit(0);
    }
    (void)close(ends[1]);
    if (s->helper < 0) {
        s->helper = 0;
        return cn_fail_errno(err, "--syscalls");
    }
    /* Their times are those of the kernel's clock. */
    launch->asks_kernel = true;
    launch->prepare = prepare;
    launch->prepare_arg = s;
    return true;
}

/* By profile: the number of its thread. */
static uint32_t *list_threads(struct cn_database *db)
{
    uint32_t *tids = cn_alloc(db->profile_count, sizeof(*tids));
    struct cn_profile profile;
    struct cn_error ignored;

    for (uint32_t i = 1; i < db->profile_count; i++) {
        if (!cn_database_profile(db, i, &profile, &ignored))
            continue;
        for (size_t k = 0; k < profile.identity.count; k++)
            if (strcmp(db->kinds.list[profile.identity.ids[k].kind], "THREAD") == 0)
                tids[i] = (uint32_t)profile.identity.ids[k].physical;
    }
    return tids;
}

/* What the recorder does itself: it writes the recording, and has memory in common with this process. */
static bool is_ours(const char *target, const char *dir)
{
    size_t len = strlen(dir);

    return strstr(target, OWN_MEMORY) ||
           (strncmp(target, dir, len) == 0 && target[len] == '/');
}

/* Leave out what the recorder does itself, and give times the clock of the recording. */
static bool write_calls(struct cn_record_syscalls *s, const char *dir,
                        struct cn_database *db, uint64_t epoch_ns, struct cn_error *err)
{
    struct cn_io_calls calls = *db->io;
    uint32_t *tids = list_threads(db);
    char *own = realpath(dir, NULL);

    calls.list = cn_alloc(db->io->count, sizeof(*calls.list));
    calls.count = 0;
    for (size_t i = 0; i < db->io->count; i++) {
        struct cn_io_call call = db->io->list[i];

        if (cn_io_call_class(&call) != CN_IO_SYSTEM_CALLS)
            continue;
        if (own && call.target < calls.target_count &&
            is_ours(calls.targets[call.target], own))
            continue;
        call.begin_ns -= epoch_ns;
        call.end_ns -= call.end_ns != 0 ? epoch_ns : 0;
        calls.list[calls.count++] = call;
    }
    bool ok = cn_uft_syscalls_write(dir, &calls, tids, err);
    s->count = calls.count;
    free(own);
    free(calls.list);
    free(tids);
    return ok;
}

static bool convert(struct cn_record_syscalls *s, const char *dir, struct cn_bytes bytes,
                    struct cn_error *err)
{
    struct cn_import *import = cn_import_new("", "");
    struct cn_perf_file perf;
    struct cn_database *db;

    if (!cn_perf_file_open(&perf, bytes, NULL, 0, err)) {
        cn_import_free(import);
        return false;
    }
    uint64_t epoch_ns = perf.epoch_ns;
    cn_perf_file_close(&perf);
    if (!cn_perf_read(import, bytes, err)) {
        cn_import_free(import);
        return false;
    }
    if (!cn_import_finish(import, &db, err))
        return false;
    bool ok = !db->io || write_calls(s, dir, db, epoch_ns, err);
    cn_database_close(db);
    return ok;
}

/* False if the process has no answer. */
static bool end_helper(struct cn_record_syscalls *s, struct answer *out)
{
    (void)shutdown(s->connection, SHUT_WR);
    bool ok = receive(s->connection, out);
    while (waitpid(s->helper, NULL, 0) < 0 && errno == EINTR)
        continue;
    s->helper = 0;
    return ok;
}

bool cn_record_syscalls_end(struct cn_record_syscalls *s, const char *dir,
                            struct cn_error *err)
{
    struct cn_file file = {0};
    struct answer answer;
    char *path;

    if (s->helper == 0)
        return true;
    bool has_answer = end_helper(s, &answer);
    if (!s->is_on)
        return true;
    s->is_incomplete = !has_answer || answer.failure[0] || answer.lost_count > 0;
    if (!has_answer)
        return cn_fail(err, CN_ERR_IO,
                       "--syscalls: the process that sampled them did not end well");
    if (answer.failure[0])
        cn_cli_warn(s->args, "system calls are missing: %s", answer.failure);
    if (answer.lost_count > 0)
        cn_cli_warn(s->args, "%" PRIu64 " record%s of system calls lost",
                    answer.lost_count, cn_plural(answer.lost_count, "", "s"));
    path = file_path(s);
    bool ok = cn_file_open(&file, path, err) && convert(s, dir, file.bytes, err);
    cn_file_close(&file);
    free(path);
    return ok || cn_fail_in(err, "--syscalls");
}

void cn_record_syscalls_close(struct cn_record_syscalls *s)
{
    struct answer ignored;
    char *path;

    if (s->helper > 0)
        (void)end_helper(s, &ignored);
    if (s->folder && s->connection >= 0)
        (void)close(s->connection);
    if (!s->folder)
        return;
    path = file_path(s);
    (void)unlink(path);
    (void)rmdir(s->folder);
    free(path);
    free(s->folder);
    *s = (struct cn_record_syscalls){0};
}
