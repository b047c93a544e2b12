/* Opening, analysing and writing data. */

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyze/calls/defaults.h"
#include "base/alloc.h"
#include "base/files/sink.h"
#include "lib/lib.h"
#include "model/calls/recording.h"
#include "model/contexts/database.h"
#include "open/formats.h"
#include "open/host/target.h"
#include "store/segment/reader.h"

static const char *const shape_names[] = {
    [CAIRN_DATABASE] = "database",
    [CAIRN_RECORDING] = "recording",
    [CAIRN_STORE] = "store",
};

const char *cairn_version(void)
{
    return CN_VERSION;
}

struct cairn_data *cn_lib_data_new(const struct cn_opened *opened)
{
    struct cairn_data *data = cn_alloc(1, sizeof(*data));

    data->opened = *opened;
    data->path = opened->path;
    data->db = opened->db;
    data->rec = opened->rec;
    data->shape = data->db ? CAIRN_DATABASE : data->rec ? CAIRN_RECORDING : CAIRN_STORE;
    return data;
}

struct cairn_data *cn_lib_data_made(struct cn_database *db, struct cn_recording *rec)
{
    struct cn_opened made = {.path = cn_strdup(""),
                             .contains = db ? CN_CONTEXTS : CN_CALLS,
                             .db = db,
                             .rec = rec};

    return cn_lib_data_new(&made);
}

bool cn_lib_needs(const struct cairn_data *data, enum cairn_shape shape,
                  struct cn_error *err)
{
    if (data->shape == shape)
        return true;
    return cn_fail(err, CN_ERR_USAGE, "%s is a %s, not a %s%s", data->path,
                   shape_names[data->shape], shape_names[shape],
                   shape == CAIRN_DATABASE ? "; cairn_analyze() makes one of it" : "");
}

void cn_lib_options(void *out, size_t out_size, const void *given)
{
    size_t size = 0;

    memset(out, 0, out_size);
    if (given)
        memcpy(&size, given, sizeof(size));
    if (size > 0)
        memcpy(out, given, size < out_size ? size : out_size);
}

struct cairn_data *cairn_open(const char *path, struct cairn_error *err)
{
    CN_LIB_BEGIN_WITH(NULL, NULL, err, NULL, path);
    struct cn_opened opened;

    if (!cn_open(&opened, path, CN_OWN, NULL, e))
        return NULL;
    /* A store is opened for each search, so that it has what was added in between; here only to
     * fail early. */
    cn_store_close(opened.store);
    opened.store = NULL;
    return cn_lib_data_new(&opened);
}

void cairn_close(struct cairn_data *data)
{
    CN_LIB_BEGIN(NULL, NULL, NULL, );

    if (!data)
        return;
    if (!data->is_broken)
        cn_opened_close(&data->opened);
    free(data);
}

enum cairn_shape cairn_data_shape(const struct cairn_data *data)
{
    return data ? data->shape : CAIRN_DATABASE;
}

const char *cairn_data_format(const struct cairn_data *data)
{
    if (!data)
        return "";
    return data->opened.format ? data->opened.format->name : "memory";
}

const char *cairn_data_path(const struct cairn_data *data)
{
    return data ? data->path : "";
}

const char *cairn_data_warning(const struct cairn_data *data, size_t number)
{
    const struct cn_warning *warning = data ? cn_opened_warnings(&data->opened) : NULL;

    for (; warning && number > 0; number--)
        warning = warning->next;
    return warning ? warning->text : NULL;
}

bool cn_lib_calls_init(struct cn_all_calls *calls, const struct cn_recording *rec,
                       const struct cairn_call_options *given, struct cn_error *err)
{
    struct cairn_call_options options;
    struct cn_call_query *query = &calls->query;
    bool ok = cn_all_calls_init(calls, rec, err);

    cn_lib_options(&options, sizeof(options), given);
    query->range = (struct cn_time_range){options.from_ns,
                                          options.to_ns ? options.to_ns : UINT64_MAX};
    query->is_raw = options.is_raw;
    if (!ok || options.task_count == 0)
        return ok;
    if (!options.tasks)
        return cn_fail(err, CN_ERR_USAGE, "options.tasks is NULL");
    query->task_count = 0;
    for (size_t i = 0; i < options.task_count; i++) {
        uint32_t task = options.tasks[i];

        if (task >= rec->task_count || (i > 0 && task <= options.tasks[i - 1]))
            return cn_fail(err, CN_ERR_USAGE,
                           "task %u does not exist, or is not after the one before it; "
                           "there are %u",
                           (unsigned)task, (unsigned)rec->task_count);
        calls->tasks[query->task_count++] = task;
    }
    return true;
}

/* Analyse a recording that is only in memory: `out` borrows it meanwhile. */
static bool analyze_made(const struct cairn_data *data, struct cn_opened *out,
                         struct cn_error *err)
{
    *out = (struct cn_opened){.path = cn_strdup(data->path),
                              .contains = CN_CALLS,
                              .rec = data->rec,
                              .is_of_traces = data->opened.is_of_traces};
    bool ok = cn_opened_load(out, CN_CONTEXTS, NULL, err);
    out->rec = NULL;
    if (!ok)
        cn_opened_close(out);
    return ok;
}

struct cairn_data *cairn_analyze(struct cairn_data *data, struct cairn_error *err)
{
    CN_LIB_BEGIN_WITH(NULL, data, err, NULL, data);
    struct cn_opened out;

    if (data->shape == CAIRN_DATABASE) {
        (void)cn_fail(e, CN_ERR_USAGE, "%s is a database already", data->path);
        return NULL;
    }
    if (!(data->opened.source ? cn_open(&out, data->path, CN_CONTEXTS, NULL, e)
                              : analyze_made(data, &out, e)))
        return NULL;
    out.format = cn_format_find("hpctoolkit-v4");
    if (out.about.analysis.lost_count > 0)
        cn_database_warn(
            out.db, false, "%llu %s lost while recording",
            (unsigned long long)out.about.analysis.lost_count,
            cn_plural(out.about.analysis.lost_count, "record was", "records were"));
    return cn_lib_data_new(&out);
}

const char *cairn_format_name(size_t number)
{
    size_t i = 0;

    while (i < number && cn_formats[i])
        i++;
    return cn_formats[i] ? cn_formats[i]->name : NULL;
}

bool cairn_format_is_writable(const char *name)
{
    const struct cn_format *format = name ? cn_format_find(name) : NULL;

    return format && cn_format_writes(format);
}

/* A folder is replaced only by data of its kind, and no data by itself. */
static bool check_target(const struct cairn_data *data, const char *path,
                         const struct cn_format *format, bool replace,
                         struct cn_error *err)
{
    struct stat st;

    if (cn_sink_is_stdout(path))
        return format->is_file ||
               cn_fail(err, CN_ERR_USAGE, "format '%s' is a folder", format->name);
    if (!replace && lstat(path, &st) == 0)
        return cn_fail(err, CN_ERR_IO, "%s already exists", path);
    return (data->path[0] == '\0' ||
            cn_target_check_source(path, data->path, false, err)) &&
           cn_target_check(path, format, true, err);
}

static bool write_data(struct cairn_data *data, const char *path, const char *name,
                       const struct cn_write_options *options, struct cn_error *err)
{
    const struct cn_format *format = cn_format_find(name);
    struct cn_recording *rec = data->rec;

    if (!format || !cn_format_writes(format))
        return cn_fail(err, CN_ERR_USAGE, "format '%s' cannot be written", name);
    if (data->db && !(cn_format_writes(format) & CN_CONTEXTS))
        return cn_fail(err, CN_ERR_USAGE, "format '%s' has calls; %s is a database", name,
                       data->path);
    if (!data->db && !(cn_format_writes(format) & CN_CALLS))
        return cn_fail(err, CN_ERR_USAGE,
                       "format '%s' is for databases; cairn_analyze() makes one of %s",
                       name, data->path);
    if (!check_target(data, path, format, options->replace, err))
        return false;
    if (data->db)
        return cn_format_write_database(format, data->db, path, options, err);
    if (!rec && !cn_open_recording(data->path, NULL, &rec, err))
        return false;
    bool ok = cn_format_write_recording(format, rec, false, path, options, err);
    if (!data->rec)
        cn_recording_close(rec);
    return ok;
}

bool cairn_write(struct cairn_data *data, const char *path, const char *format,
                 bool replace, cairn_loss_fn on_loss, void *arg, struct cairn_error *err)
{
    CN_LIB_BEGIN_WITH(NULL, data, err, false, data, path, format);
    struct cn_error damage = {0};
    struct cn_write_options options = {
        .replace = replace,
        .on_loss = on_loss,
        .on_loss_arg = arg,
        .damage = &damage,
    };

    if (!write_data(data, path, format, &options, e))
        return false;
    if (damage.kind != CN_ERR_NONE)
        cn_write_lose(&options, damage.text, 1);
    return true;
}
