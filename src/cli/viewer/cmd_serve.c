/* cairn serve and cairn view: the viewer in a browser. */

#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/duration.h"
#include "base/text.h"
#include "cli/recording/options.h"
#include "cli/shell/cli.h"
#include "cli/shell/command.h"
#include "cli/shell/kinds.h"
#include "cli/shell/open.h"
#include "cli/store/args.h"
#include "server/http/server.h"
#include "store/sampling/rules.h"
#include "store/write/lanes.h"
#include "store/write/redact.h"

enum { COLLECT_LIMIT_MAX = 1 << 20 };

/* Open the address in the default browser. Failures are ignored: it was printed as well. */
static void open_browser(const struct cn_args *args, const char *url)
{
    if (!getenv("DISPLAY") && !getenv("WAYLAND_DISPLAY")) {
        cn_cli_say(args, "no display for a browser; open the address above");
        return;
    }
    pid_t child = fork();
    if (child == 0) {
        (void)setsid();
        (void)!freopen("/dev/null", "w", stderr);
        (void)execlp("xdg-open", "xdg-open", url, (char *)NULL);
        _exit(127);
    }
}

/* Block the signals that end the server, before its threads start: they inherit the mask,
 * so that only sigwait() receives these signals. */
static void block_signals(sigset_t *ends)
{
    (void)sigemptyset(ends);
    (void)sigaddset(ends, SIGINT);
    (void)sigaddset(ends, SIGTERM);
    (void)sigaddset(ends, SIGHUP);
    (void)pthread_sigmask(SIG_BLOCK, ends, NULL);
    (void)signal(SIGPIPE, SIG_IGN); /* a browser may disconnect */
}

/* The sockets that systemd opened for this process follow the standard streams: one for the page,
 * and one that is named "grpc". The variables are of this process alone. */
static bool take_sockets(const struct cn_args *args, struct cn_server_options *options,
                         struct cn_error *err)
{
    enum { FIRST_SOCKET = 3 };
    const char *pid = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");
    const char *names = getenv("LISTEN_FDNAMES");

    if (!pid || !count || strtol(pid, NULL, 10) != (long)getpid())
        return true;
    bool is_first_grpc = names && strncmp(names, "grpc:", 5) == 0;
    bool has_grpc = is_first_grpc || (names && cn_ends_with(names, ":grpc"));
    if (strcmp(count, "1") != 0 && !(strcmp(count, "2") == 0 && has_grpc))
        return cn_fail(err, CN_ERR_USAGE,
                       "LISTEN_FDS is %s: serve takes one socket, and another named grpc",
                       count);
    if (cn_args_has(args, "listen") || (has_grpc && options->is_otlp))
        return cn_fail(err, CN_ERR_USAGE, "--%s and a socket of systemd were given",
                       cn_args_has(args, "listen") ? "listen" : "otlp");
    options->socket = FIRST_SOCKET + is_first_grpc;
    if (has_grpc)
        options->grpc_socket = FIRST_SOCKET + !is_first_grpc;
    (void)unsetenv("LISTEN_PID");
    (void)unsetenv("LISTEN_FDS");
    (void)unsetenv("LISTEN_FDNAMES");
    return true;
}

/* Views take dozens of megabytes: return large blocks to the system at once, and let threads
 * share arenas. */
static void keep_memory_small(void)
{
#ifdef __GLIBC__
    enum { LARGE = 256 << 10, ARENAS = 2 };

    (void)mallopt(M_MMAP_THRESHOLD, LARGE);
    (void)mallopt(M_ARENA_MAX, ARENAS);
#endif
}

/* Add a hint to the error about a damaged path. */
static bool advise(const struct cn_args *args, struct cn_error *err)
{
    struct cn_error before = *err, other;
    struct cn_opened found;

    for (size_t i = 0; before.kind == CN_ERR_FORMAT && i < cn_args_count(args); i++) {
        const char *path = cn_args_operand(args, i);
        size_t len = strlen(path);

        if (strncmp(before.text, path, len) != 0 || before.text[len] != ':' ||
            !cn_open(&found, path, 0, NULL, &other))
            continue;
        cn_opened_close(&found);
        return cn_fail(err, before.kind, "%s; see 'cairn verify %s'", before.text, path);
    }
    return false;
}

/* The server says which paths it cannot open. */
static bool check_kinds(const struct cn_args *args,
                        const struct cn_server_options *options, struct cn_error *err)
{
    unsigned kinds = options->collect ? CN_FOR_STORES : 0;
    struct cn_error ignored;
    struct cn_opened found;

    for (size_t i = 0; i < options->path_count; i++) {
        /* Standard input can be read only once. */
        if (strcmp(options->paths[i], "-") == 0 ||
            !cn_open(&found, options->paths[i], 0, NULL, &ignored))
            continue;
        kinds |= cn_cli_kinds_of(&found);
        cn_opened_close(&found);
    }
    return kinds == 0 || options->path_count == 0 ||
           cn_kinds_check(args, kinds, options->paths[0], err);
}

static void print_log(void *arg, const char *text)
{
    cn_cli_warn(arg, "%s", text);
}

static void print_addresses(const struct cn_server *server)
{
    (void)printf("%s\n", cn_server_url(server));
    if (cn_server_grpc_url(server))
        (void)printf("OTLP over gRPC: %s\n", cn_server_grpc_url(server));
    if (cn_server_otlp_url(server))
        (void)printf("OTLP over HTTP: %s\n", cn_server_otlp_url(server));
    (void)fflush(stdout);
}

static bool read_time(const struct cn_args *args, const char *name, uint64_t *out,
                      struct cn_error *err)
{
    const char *value = cn_args_value(args, name);

    return !value || cn_duration_parse(value, CN_BARE_REFUSED, out, err) ||
           cn_fail_in(err, "--%s", name);
}

static bool read_keep(const struct cn_args *args, struct cn_keeper_limits *keep,
                      struct cn_error *err)
{
    keep->joins = cn_args_has(args, "compact");
    return read_time(args, "keep", &keep->age_ns, err) &&
           read_time(args, "keep-every", &keep->every_ns, err) &&
           read_time(args, "sample-settle", &keep->settle_ns, err) &&
           cn_size_option(args, "keep-size", &keep->len_max, err) &&
           cn_share_option(args, "keep-disk", &keep->disk_max, err) &&
           cn_args_u64(args, "keep-count", 1, UINT64_MAX, 0, &keep->count_max, err);
}

static bool serve(const struct cn_args *args, bool with_browser, struct cn_error *err)
{
    struct cn_server_options options = {
        .path_count = cn_args_count(args),
        .is_raw = cn_args_has(args, "raw"),
        .listen = cn_args_value(args, "listen"),
        .host = cn_args_value(args, "host"),
        .token_file = cn_args_value(args, "token-file"),
        .tls = {cn_args_value(args, "tls-cert"), cn_args_value(args, "tls-key"),
                cn_args_value(args, "tls-client-ca")},
        .collect = cn_args_value(args, "collect"),
        .collect_token_file = cn_args_value(args, "collect-token-file"),
        .tenants = cn_args_value(args, "tenants"),
        .is_otlp = cn_args_has(args, "otlp") || cn_args_has(args, "otlp-listen"),
        .otlp_listen = cn_args_value(args, "otlp-listen"),
        .upload = cn_args_value(args, "upload"),
        .advertise = cn_args_value(args, "advertise"),
        .paths = args->operands,
        .log = print_log,
        .log_arg = (void *)(uintptr_t)args,
    };
    struct cn_redaction *redaction = NULL;
    struct cn_sample_rules *rules = NULL;
    struct cn_server *server;
    sigset_t ends;
    int signal_number;
    uint64_t limit = 0, lanes = 0, copies = 0;
    const char *last;

    if (!cn_args_u64(args, "collect-limit", 1, COLLECT_LIMIT_MAX, 0, &limit, err) ||
        !cn_args_u64(args, "collect-lanes", 1, CN_STORE_LANES_MAX, 0, &lanes, err) ||
        !cn_args_u64(args, "replicate", 0, 1, 0, &copies, err) ||
        !cn_size_option(args, "collect-space", &options.collect_space, err) ||
        !read_keep(args, &options.keep, err) || !take_sockets(args, &options, err))
        return false;
    options.replicates = copies > 0;
    options.collect_limit = (size_t)limit;
    options.collect_lanes = (unsigned)lanes;
    if (options.path_count == 0 && !options.collect) {
        if (!cn_data_path(args, NULL, &last, err))
            return false;
        options.paths = &last;
        options.path_count = 1;
    }
    if (!check_kinds(args, &options, err) || !cn_sample_option(args, &rules, err))
        return false;
    if (!cn_redaction_option(args, &redaction, err)) {
        cn_sample_rules_free(rules);
        return false;
    }
    options.redaction = redaction;
    options.keep.sample = rules;
    keep_memory_small();
    block_signals(&ends);
    if (!cn_server_start(&server, &options, err)) {
        cn_redaction_free(redaction);
        cn_sample_rules_free(rules);
        return advise(args, err);
    }
    print_addresses(server);
    cn_cli_say(args, "press Ctrl-C to stop");
    if (with_browser)
        open_browser(args, cn_server_url(server));
    bool ok = sigwait(&ends, &signal_number) == 0 ||
              cn_fail_errno(err, "cannot wait for a signal");
    cn_server_stop(server);
    cn_redaction_free(redaction);
    cn_sample_rules_free(rules);
    return ok;
}

static bool run_serve(const struct cn_args *args, struct cn_error *err)
{
    return serve(args, false, err);
}

static bool run_view(const struct cn_args *args, struct cn_error *err)
{
    return serve(args, !cn_args_has(args, "no-browser"), err);
}

#define SERVE_OPTIONS                                                                    \
    CN_OPTION("no-browser", 0, NULL, "only print the address"), CN_RECORDING_RAW_OPTION, \
        CN_OPTION("listen", 0, "ADDR:PORT",                                              \
                  "address to listen on (default: 127.0.0.1 and a free port); other "    \
                  "addresses need --token-file"),                                        \
        CN_OPTION("host", 0, "NAME", "host name that browsers may use"),                 \
        CN_OPTION("token-file", 0, "FILE",                                               \
                  "token that requests must have (default: a random one)"),              \
        CN_OPTION("collect", 0, "DIR",                                                   \
                  "collect traces of agents in this store; created if missing"),         \
        CN_OPTION("collect-token-file", 0, "FILE",                                       \
                  "token that traces must have (default: none needed)"),                 \
        CN_OPTION(                                                                       \
            "collect-limit", 0, "N",                                                     \
            "answer 429 while N requests wait for the disk, or N / 4 of one agent "      \
            "(default: 4096)"),                                                          \
        CN_OPTION("collect-lanes", 0, "N",                                               \
                  "write the store with N lanes; an agent always has the same one "      \
                  "(default: one for every two processors)"),                            \
        CN_OPTION("upload", 0, "ADDRESS",                                                \
                  "with --collect: upload sealed segments to this store in object "      \
                  "storage, s3://BUCKET/PREFIX, and remove local copies"),               \
        CN_OPTION("replicate", 0, "N",                                                   \
                  "with --upload: answer senders when N copies of their traces are in "  \
                  "object storage as well, 0 or 1 (default: 0)"),                        \
        CN_OPTION("advertise", 0, "URL",                                                 \
                  "with --upload: readers of that store ask http://HOST:PORT for what "  \
                  "is not uploaded, with the token of --token-file"),                    \
        CN_OPTION("tenants", 0, "FILE",                                                  \
                  "with --collect: a folder of stores, one for each tenant in FILE, "    \
                  "lines of NAME TOKEN [keep=TIME] [keep-size=SIZE] [rate=N]; rate: "    \
                  "spans a second"),                                                     \
        CN_OPTION("keep", 0, "TIME",                                                     \
                  "with --collect: remove older traces while collecting, such as 30d; "  \
                  "those of cairn store pin stay"),                                      \
        CN_OPTION("keep-size", 0, "SIZE",                                                \
                  "remove the oldest traces of a larger store, such as 50G"),            \
        CN_OPTION("keep-count", 0, "N", "the same with more traces and spans"),          \
        CN_OPTION("keep-disk", 0, "PERCENT",                                             \
                  "the same while more of the file system is used, by anything, such "   \
                  "as 80%"),                                                             \
        CN_OPTION("keep-every", 0, "TIME",                                               \
                  "look so often whether the limits are met (default: 10s)"),            \
        CN_OPTION("compact", 0, NULL,                                                    \
                  "with --collect: join small segments while collecting"),               \
        CN_OPTIONS_SAMPLE("with --collect: "),                                           \
        CN_OPTION("sample-settle", 0, "TIME",                                            \
                  "sample a segment when nothing was written to it for so long "         \
                  "(default: 60s)"),                                                     \
        CN_OPTIONS_REDACT("with --collect: "),                                           \
        CN_OPTION("collect-space", 0, "SIZE",                                            \
                  "answer 503 while local segments take more than this, because they "   \
                  "cannot be uploaded"),                                                 \
        CN_OPTION("otlp", 0, NULL,                                                       \
                  "with --collect: take traces of OpenTelemetry at the usual ports of "  \
                  "OTLP, gRPC at 127.0.0.1:4317 and HTTP at 127.0.0.1:4318"),            \
        CN_OPTION("otlp-listen", 0, "ADDR[:GRPC,HTTP]",                                  \
                  "the same at another address or other ports; port 0 chooses a free "   \
                  "one; addresses that other machines reach need --collect-token-file "  \
                  "or --tls-client-ca"),                                                 \
        CN_OPTION("tls-cert", 0, "FILE", "TLS certificate, of all ports"),               \
        CN_OPTION("tls-key", 0, "FILE", "TLS key"),                                      \
        CN_OPTION("tls-client-ca", 0, "FILE",                                            \
                  "mutual TLS: clients need a certificate of these authorities")

static const struct cn_option options[] = {SERVE_OPTIONS, CN_OPTION_CACHE_SIZE, {0}};

static const struct cn_example serve_examples[] = {
    {"cairn serve run.db", "print an address to open in a browser"},
    {"cairn serve cairn.data run.db", "show several on one page"},
    {"cairn serve run.db --listen 0.0.0.0:8080 --token-file token",
     "serve the network; add --tls-cert and --tls-key"},
    {"cairn serve --collect traces", "collect traces of agents, and show them"},
    {"cairn serve --collect traces --otlp",
     "take traces of OpenTelemetry SDKs, gRPC and HTTP"},
    {"cairn serve --collect traces --otlp --keep 30d --keep-size 50G",
     "keep a month, at most 50 GiB"},
    {"cairn serve --collect traces --sample 'errors: 100%' --sample 'rest: 5%'",
     "keep traces with errors, and one of 20 others"},
    {"cairn serve --collect spool --upload s3://traces/prod",
     "collect traces for a store that others read"},
    {0},
};

static const struct cn_example view_examples[] = {
    {"cairn view", "open what was recorded last in the browser"},
    {"cairn view run.db", "open a database"},
    {0},
};

const struct cn_command cn_cmd_serve = {
    .name = "serve",
    .operands = "[PATH]...",
    .operand_max = CN_OPERANDS_MAX,
    .scope = CN_FOR_DATA,
    .summary = "show databases, recordings and stores in a browser",
    .description =
        "Without PATH, shows what was recorded or sampled last in this folder.\n\n"
        "Serves the viewer on one port and prints its address, which contains a random "
        "token: other users of the machine cannot open it. SIGINT and SIGTERM stop the "
        "server after the current requests.\n\n"
        "A recording is analysed in the background; the page shows the progress. The "
        "result is cached until the recording changes, as for the other views.\n\n"
        "A store also answers the APIs of Tempo, Jaeger and Zipkin, below /tempo, "
        "/jaeger and /zipkin, with the same token: Grafana and other pages can ask "
        "it. 'go tool pprof' reads databases and recordings below /pprof.\n\n"
        "A socket that systemd passes (LISTEN_FDS) is used instead of --listen, and one "
        "named grpc instead of --otlp.\n\n"
        "With --collect, traces of agents are written to a store; a status below 300 "
        "means that they are on disk. On this machine they need no token unless "
        "--collect-token-file is given. With --otlp, SDKs and Collectors of "
        "OpenTelemetry reach it at their "
        "default address; the addresses of OTLP are printed after that of the page.",
    .examples = serve_examples,
    .options = options,
    .run = run_serve,
};

const struct cn_command cn_cmd_view = {
    .name = "view",
    .operands = "[PATH]...",
    .operand_max = CN_OPERANDS_MAX,
    .scope = CN_FOR_DATA,
    .summary = "open databases, recordings and stores in the browser",
    .description =
        "Like serve, and opens the address in the default browser; without PATH, shows "
        "what was recorded or sampled last in this folder.",
    .examples = view_examples,
    .options = options,
    .run = run_view,
};
