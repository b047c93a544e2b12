/* cairn store add: add traces from files. */

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/run/pool.h"
#include "base/text.h"
#include "cli/shell/cli.h"
#include "cli/shell/command.h"
#include "cli/store/store_args.h"
#include "formats/formats.h"
#include "model/calls/recording.h"
#include "store/write/cut_recording.h"
#include "store/write/ingest_files.h"
#include "store/write/lanes.h"
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

static bool add_file(struct cn_ingest_files *files, const char *path,
                     struct cn_error *err)
{
    return is_head(path) || cn_ingest_files_add(files, path, err);
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
static bool add_folder(struct cn_ingest_files *files, const char *path,
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
        ok = ok && add_file(files, cn_text_str(&file), err);
        cn_text_done(&file);
        free(list[i]);
    }
    free(list);
    return ok;
}

static bool add_path(struct cn_ingest_files *files, const char *path,
                     struct cn_error *err)
{
    struct stat st;
    bool is_folder = stat(path, &st) == 0 && S_ISDIR(st.st_mode);

    return is_folder ? add_folder(files, path, err) : add_file(files, path, err);
}

/* Traces before a refused file are committed. */
static bool add_files(const struct cn_args *args, struct cn_store_lanes *lanes,
                      unsigned lane_count, struct cn_store_added *added,
                      struct cn_error *err)
{
    struct cn_ingest_files *files = cn_ingest_files_new(lanes, lane_count);
    bool ok = true;

    for (size_t i = 1; ok && i < cn_args_count(args); i++)
        ok = add_path(files, cn_args_operand(args, i), err);
    ok = ok && cn_ingest_files_end(files, err);
    *added = cn_ingest_files_added(files);
    cn_ingest_files_free(files);
    return ok;
}

static uint64_t path_len(const char *path)
{
    struct dirent **list;
    uint64_t len = 0;
    struct stat st;
    int count;

    if (stat(path, &st) != 0)
        return 0;
    if (!S_ISDIR(st.st_mode))
        return (uint64_t)st.st_size;
    count = scandir(path, &list, is_visible, by_name);
    for (int i = 0; i < count; i++) {
        struct cn_text file = {0};

        cn_text_printf(&file, "%s/%s", path, list[i]->d_name);
        if (stat(cn_text_str(&file), &st) == 0 && S_ISREG(st.st_mode))
            len += (uint64_t)st.st_size;
        cn_text_done(&file);
        free(list[i]);
    }
    if (count >= 0)
        free(list);
    return len;
}

/* A lane for each processor, if there is enough to add: each lane has a segment. */
static unsigned default_lanes(const struct cn_args *args)
{
    enum { LEN_OF_LANE = 4 << 20 };
    unsigned max = cn_pool_default_workers();
    uint64_t len = 0;

    for (size_t i = 1; i < cn_args_count(args); i++)
        len += path_len(cn_args_operand(args, i));
    return len / LEN_OF_LANE < 1     ? 1
           : len / LEN_OF_LANE < max ? (unsigned)(len / LEN_OF_LANE)
                                     : max;
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
    struct cn_store_lanes *lanes;
    uint64_t lane_count;
    struct cn_error later;
    struct stat st;
    bool ok, is_saved;

    if (!check_options(args, err) || !cn_args_u64(args, "lanes", 1, CN_STORE_LANES_MAX,
                                                  default_lanes(args), &lane_count, err))
        return false;
    if (cn_args_has(args, "create") && stat(path, &st) != 0 &&
        !cn_store_init(path, NULL, err))
        return false;
    if (!cn_store_lanes_open(&lanes, path, (unsigned)lane_count, NULL, err))
        return false;
    ok = !has_files || add_files(args, lanes, (unsigned)lane_count, &files, err);
    has_recording = ok && cn_args_has(args, "recording");
    if (has_recording)
        ok = add_recording(args, cn_store_lane(lanes, 0), &calls, err);
    /* Traces are added when they are on the disk. */
    is_saved = cn_store_lanes_close(lanes, ok ? err : &later);
    if (is_saved && has_files)
        cn_store_say_added(args, NULL, &files);
    if (is_saved && ok && has_recording)
        cn_store_say_added(args, NULL, &calls);
    return is_saved && ok;
}

static const struct cn_option options[] = {
    {.name = "create", .help = "create the store if it does not exist"},
    {.name = "lanes",
     .value = "N",
     .help = "write with N threads, each to its own segment (default: one for each "
             "processor, if there is enough to add)"},
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
                   "on the disk. A trace that the store already has is not stored again. "
                   "After a refused request, the requests before it are stored, and "
                   "perhaps some of those after it.",
    .examples = examples,
    .options = options,
    .run = run,
};
