/* cairn store add: add traces from files. */

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/files/file.h"
#include "base/path.h"
#include "base/run/pool.h"
#include "base/text.h"
#include "cli/shell/cli.h"
#include "cli/shell/command.h"
#include "cli/store/args.h"
#include "model/calls/recording.h"
#include "open/open.h"
#include "store/maintenance/upload.h"
#include "store/pipeline/ingest_files.h"
#include "store/segment/reader.h"
#include "store/write/cut_recording.h"
#include "store/write/lanes.h"
#include "store/write/redact.h"
#include "store/write/writer.h"

/* True for NAME.hdr if there is a NAME.bin. */
static bool is_head(const char *path)
{
    size_t len = strlen(path);
    struct cn_text body = {0};
    struct stat st;

    if (len < 4 || strcmp(path + len - 4, ".hdr") != 0)
        return false;
    cn_text_add(&body, path, len - 4);
    cn_text_str_add(&body, ".bin");
    bool is_there = stat(cn_text_str(&body), &st) == 0;
    cn_text_done(&body);
    return is_there;
}

/* The files to add, in order. */
struct paths {
    char **list;
    size_t count, capacity;
    uint64_t len; /* bytes of the files */
};

static void add_file(struct paths *paths, const char *path)
{
    struct stat st;

    if (is_head(path))
        return;
    CN_PUSH(paths->list, paths->count, paths->capacity, cn_strdup(path));
    paths->len += stat(path, &st) == 0 && S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
}

static void free_paths(struct paths *paths)
{
    for (size_t i = 0; i < paths->count; i++)
        free(paths->list[i]);
    free(paths->list);
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* All files of a folder, by name. */
static bool add_folder(struct paths *paths, const char *path, struct cn_error *err)
{
    struct dirent **list;
    int count = scandir(path, &list, is_visible, by_name);

    if (count < 0)
        return cn_fail_errno(err, "%s: cannot list files", path);
    for (int i = 0; i < count; i++) {
        char *file = cn_strprintf("%s/%s", path, list[i]->d_name);

        add_file(paths, file);
        free(file);
        free(list[i]);
    }
    free(list);
    return true;
}

static bool list_paths(const struct cn_args *args, struct paths *paths,
                       struct cn_error *err)
{
    bool ok = true;

    for (size_t i = 1; ok && i < cn_args_count(args); i++) {
        const char *path = cn_args_operand(args, i);

        if (cn_path_is_folder(path))
            ok = add_folder(paths, path, err);
        else
            add_file(paths, path);
    }
    return ok;
}

/* A lane for each processor, if there is enough to add: each lane has a segment. */
static unsigned default_lanes(uint64_t len)
{
    enum { LEN_OF_LANE = 4 << 20 };
    unsigned max = cn_pool_default_workers();

    if (max > CN_STORE_LANES_MAX)
        max = CN_STORE_LANES_MAX;
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
    struct cn_recording *rec;

    if (!cn_open_recording(path, NULL, &rec, err))
        return false;
    bool ok = cn_store_cut_recording(writer, rec, function, added, err);
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

enum { FEW_LANES = 4 };

/* Traces before a refused file are committed. */
static bool add_to(const struct cn_args *args, const struct paths *paths,
                   unsigned lane_count, const struct cn_redaction *redaction,
                   struct cn_store_target *target, struct cn_error *err)
{
    /* Each lane has two commits in memory. */
    struct cn_store_options options = {
        .redaction = redaction,
        .saves_behind = true,
        .commit_len = lane_count > FEW_LANES ? 8 << 20 : 0,
    };
    bool has_files = cn_args_count(args) > 1, has_recording, ok, is_saved;
    struct cn_store_added files = {0}, calls = {0};
    struct cn_store_lanes *lanes;
    struct cn_error later;

    if (!cn_store_lanes_open(&lanes, target->path, lane_count, &options, err))
        return false;
    ok = !has_files ||
         cn_store_ingest_files(lanes, lane_count, (const char *const *)paths->list,
                               paths->count, &files, err);
    has_recording = ok && cn_args_has(args, "recording");
    if (has_recording)
        ok = add_recording(args, cn_store_lane(lanes, 0), &calls, err);
    /* Traces are added when they are on the disk. */
    is_saved = cn_store_lanes_close(lanes, ok ? err : &later) &&
               cn_store_target_finish(target, ok ? err : &later);
    if (is_saved && has_files)
        cn_store_say_added(args, NULL, &files);
    if (is_saved && ok && has_recording)
        cn_store_say_added(args, NULL, &calls);
    return is_saved && ok;
}

static bool add(const struct cn_args *args, const struct paths *paths,
                unsigned lane_count, struct cn_error *err)
{
    struct cn_redaction *redaction = NULL;
    struct cn_store_target target;

    if (!cn_redaction_option(args, &redaction, err))
        return false;
    bool ok = cn_store_target_open(&target, cn_args_operand(args, 0), err);
    if (ok) {
        ok = add_to(args, paths, lane_count, redaction, &target, err);
        cn_store_target_done(&target);
    }
    cn_redaction_free(redaction);
    return ok;
}

/* With --create. */
static bool create(const char *path, struct cn_error *err)
{
    struct cn_store *store;

    if (!cn_path_is_address(path))
        return !cn_store_is_missing(path) || cn_store_init(path, NULL, err);
    if (cn_store_open(&store, path, err)) {
        cn_store_close(store);
        return true;
    }
    return (err->kind == CN_ERR_FORMAT || err->kind == CN_ERR_NOT_FOUND) &&
           cn_store_init(path, NULL, err);
}

static bool run(const struct cn_args *args, struct cn_error *err)
{
    const char *path = cn_args_operand(args, 0);
    struct paths paths = {0};
    uint64_t lane_count;
    bool ok = check_options(args, err) && list_paths(args, &paths, err) &&
              cn_args_u64(args, "lanes", 1, CN_STORE_LANES_MAX, default_lanes(paths.len),
                          &lane_count, err) &&
              (!cn_args_has(args, "create") || create(path, err)) &&
              add(args, &paths, (unsigned)lane_count, err);

    free_paths(&paths);
    return ok;
}

static const struct cn_option options[] = {
    CN_OPTION("create", 0, NULL, "create the store if it does not exist"),
    CN_OPTION("lanes", 0, "N",
              "write with N threads, each to its own segment (default: one for each "
              "processor, if there is enough to add)"),
    CN_OPTION("recording", 0, "DIR", "add calls of a recording; needs --cut"),
    CN_OPTION("cut", 0, "FUNCTION",
              "function whose calls become traces, with arguments as attributes"),
    CN_OPTIONS_REDACT(""),
    CN_OPTION_CACHE_SIZE,
    {0},
};

static const struct cn_example examples[] = {
    {"cairn store add traces requests.http", "requests of agents, with their heads"},
    {"cairn store add --create traces captured/",
     "all requests in a folder, ordered by name"},
    {"cairn store add traces spans.json --redact 'mask db.statement [0-9]+'",
     "without the numbers in statements"},
    {"cairn store add traces --recording run --cut handle_request",
     "each request that a recorded server handled"},
    {0},
};

const struct cn_command cn_cmd_store_add = {
    .name = "store add",
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
