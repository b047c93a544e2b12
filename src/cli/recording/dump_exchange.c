#include "cli/recording/dump_exchange.h"

#include <inttypes.h>
#include <string.h>

#include "cli/recording/recording_options.h"
#include "cli/shell/args.h"
#include "cli/shell/cli.h"
#include "formats/exchange/exchange.h"
#include "formats/formats.h"

const struct cn_format *cn_dump_exchange_format(const struct cn_args *args)
{
    const char *name = cn_args_value(args, "format");

    for (size_t i = 0; name && cn_dump_formats[i]; i++)
        if (strcmp(cn_dump_formats[i]->name, name) == 0)
            return cn_dump_formats[i];
    return NULL;
}

static void on_loss(void *arg, const char *what, uint64_t count)
{
    cn_cli_detail(arg, "not kept: %" PRIu64 " %s", count, what);
}

bool cn_dump_exchange(const struct cn_args *args, const char *path,
                      const struct cn_format *format, struct cn_error *err)
{
    static const char *const others[] = {"hex", "file", "record", "limit", "fields"};
    const char *sample = cn_args_value(args, "sample-time");
    struct cn_args shared = *args;
    struct cn_write_options options = {.on_loss = on_loss, .on_loss_arg = &shared};
    struct cn_recording_setup setup = {0};
    bool ok;

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (cn_args_has(args, others[i]))
            return cn_fail(err, CN_ERR_USAGE, "--%s does not go with --format %s",
                           others[i], format->name);
    if (sample && !cn_call_time_parse(sample, &options.unit_ns, err))
        return cn_fail_in(err, "--sample-time");
    if (!cn_recording_setup_open(&setup, args, path, err))
        return false;
    options.workers = setup.workers;
    cn_cli_page(args);
    ok = cn_format_write_calls(format, &setup.query, "-", &options, err);
    cn_recording_setup_done(&setup);
    return ok || cn_fail_in(err, "%s", path);
}

bool cn_dump_exchange_check(const struct cn_args *args, struct cn_error *err)
{
    static const struct cn_option options[] = {
        CN_RECORDING_OPTIONS, {.name = "sample-time"}, {0}};

    for (size_t i = 0; options[i].name; i++)
        if (strcmp(options[i].name, "data") != 0 &&
            strcmp(options[i].name, "demangle") != 0 &&
            cn_args_has(args, options[i].name))
            return cn_fail(err, CN_ERR_USAGE,
                           "--%s needs --format chrome, flame-graph, graphviz or mermaid",
                           options[i].name);
    return true;
}
