/* cairn store add: add traces from files. */

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "cli/shell/cli.h"
#include "cli/shell/command.h"
#include "cli/store/store_args.h"
#include "formats/formats.h"
#include "model/calls/recording.h"
#include "store/write/cut_recording.h"
#include "store/write/ingest.h"
#include "store/write/writer.h"

/* True for NAME.hdr if there is a NAME.bin. */
static bool is_head(const char *path)
{
    size_t len = strlen(path);
    struct cn_text body = {0};
    struct stat st;
    bool is_there;

    if (len < 4 || strcmp(path + len - 4, ".hdr") != 0)
        return false;
    cn_text_add(&body, path, len - 4);
    cn_text_str_add(&body, ".bin");
    is_there = stat(cn_text_str(&body), &st) == 0;
    cn_text_done(&body);
    return is_there;
}

static bool add_file(struct cn_store_ingest *ingest, const char *path,
                     struct cn_error *err)
{
    return is_head(path) || cn_store_ingest_file(ingest, path, err);
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* Add all files of a folder, by name. */
static bool add_folder(struct cn_store_ingest *ingest, const char *path,
                       struct cn_error *err)
{
    struct dirent **list;
    int count = scandir(path, &list, is_visible, by_name);
    bool ok = true;

    if (count < 0)
        return cn_fail_errno(err, "%s: cannot list files", path);
    for (int i = 0; i < count; i++) {
        struct cn_text file = {0};

        cn_text_printf(&file, "%s/%s", path, list[i]->d_name);
        ok = ok && add_file(ingest, cn_text_str(&file), err);
        cn_text_done(&file);
        free(list[i]);
    }
    free(list);
    return ok;
}

static bool add_path(struct cn_store_ingest *ingest, const char *path,
                     struct cn_error *err)
{
    struct stat st;
    bool is_folder = stat(path, &st) == 0 && S_ISDIR(st.st_mode);

    return is_folder ? add_folder(ingest, path, err) : add_file(ingest, path, err);
}

/* Traces before a refused file are committed. */
static bool add_files(const struct cn_args *args, struct cn_store_writer *writer,
                      struct cn_store_added *added, struct cn_error *err)
{
    struct cn_store_ingest *ingest = cn_store_ingest_new(writer);
    bool ok = true;

    for (size_t i = 1; ok && i < cn_args_count(args); i++)
        ok = add_path(ingest, cn_args_operand(args, i), err);
    *added = cn_store_ingest_counts(ingest).added;
    cn_store_ingest_free(ingest);
    return ok;
}

/* Add each call of a function of a recording as a trace. */
static bool add_recording(const struct cn_args *args, struct cn_store_writer *writer,
                          struct cn_store_added *added, struct cn_error *err)
{
    const char *path = cn_args_value(args, "recording");
    const char *function = cn_args_value(args, "cut");
    struct cn_recording_options shown = {0};
    struct cn_recording *rec;
    bool ok;

    if (!cn_format_open_recording(path, &shown, &rec, err))
        return false;
    ok = cn_store_cut_recording(writer, rec, function, added, err);
    cn_recording_close(rec);
    return ok;
}

static bool check_options(const struct cn_args *args, struct cn_error *err)
{
    bool has_recording = cn_args_has(args, "recording");

    if (has_recording != cn_args_has(args, "cut"))
        return cn_fail(err, CN_ERR_USAGE, "--recording and --cut must be given together");
    if (!has_recording && cn_args_count(args) < 2)
        return cn_fail(err, CN_ERR_USAGE, "no file given");
    return true;
}

static bool run(const struct cn_args *args, struct cn_error *err)
{
    const char *path = cn_args_operand(args, 0);
    bool has_files = cn_args_count(args) > 1, has_recording;
    struct cn_store_added files = {0}, calls = {0};
    struct cn_store_writer *writer;
    struct cn_error later;
    struct stat st;
    bool ok, is_saved;

    if (!check_options(args, err))
        return false;
    if (cn_args_has(args, "create") && stat(path, &st) != 0 &&
        !cn_store_init(path, NULL, err))
        return false;
    if (!cn_store_writer_open(&writer, path, NULL, err))
        return false;
    ok = !has_files || add_files(args, writer, &files, err);
    has_recording = ok && cn_args_has(args, "recording");
    if (has_recording)
        ok = add_recording(args, writer, &calls, err);
    /* Traces are added when they are on the disk. */
    is_saved = cn_store_writer_close(writer, ok ? err : &later);
    if (is_saved && has_files)
        cn_store_say_added(args, NULL, &files);
    if (is_saved && ok && has_recording)
        cn_store_say_added(args, NULL, &calls);
    return is_saved && ok;
}

static const struct cn_option options[] = {
    {.name = "create", .help = "create the store if it does not exist"},
    {.name = "recording",
     .value = "DIR",
     .help = "add calls of a recording; needs --cut"},
    {
        .name = "cut",
        .value = "FUNCTION",
        .help = "function whose calls become traces, with arguments as attributes",
    },
    {0},
};

static const struct cn_example examples[] = {
    {"cairn store add traces requests.http", "requests of agents, with their heads"},
    {"cairn store add --create traces captured/",
     "all requests in a folder, ordered by name"},
    {"cairn store add traces --recording run --cut handle_request",
     "each request that a recorded server handled"},
    {0},
};

const struct cn_command cn_cmd_store_add = {
    .name = "store add",
    .section = CN_SECTION_STORE,
    .operands = "STORE [FILE|FOLDER]...",
    .operand_min = 1,
    .operand_max = CN_OPERANDS_MAX,
    .summary = "add traces to a store",
    .description = "Adds requests of agents, of all three generations of their protocol: "
                   "files with one "
                   "or more HTTP requests, bodies alone (NAME.bin, with an optional head "
                   "in NAME.hdr), "
                   "or folders of them, ordered by name. Also adds files of spans: "
                   "Zipkin v2 JSON, and "
                   "OpenTelemetry OTLP as JSON or protobuf, gzipped or not. After "
                   "success all traces are "
                   "on the disk. A trace that the store already has is not stored again.",
    .examples = examples,
    .options = options,
    .run = run,
};
