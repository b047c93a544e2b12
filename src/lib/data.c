/* Opening, analysing and writing data. */

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyze/calls/defaults.h"
#include "base/alloc.h"
#include "base/files/outdir.h"
#include "base/files/sink.h"
#include "formats/hpctoolkit/meas/open.h"
#include "lib/lib.h"
#include "model/calls/recording.h"
#include "model/contexts/database.h"
#include "open/analysis.h"
#include "open/formats.h"
#include "open/host/target.h"
#include "store/format.h"
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

struct cairn_data *cn_lib_data_new(const struct cn_format *format, const char *path,
                                   struct cn_database *db, struct cn_recording *rec)
{
    struct cairn_data *data = cn_alloc(1, sizeof(*data));

    data->shape = db ? CAIRN_DATABASE : rec ? CAIRN_RECORDING : CAIRN_STORE;
    data->format = format;
    data->path = cn_strdup(path);
    data->db = db;
    data->rec = rec;
    return data;
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

/* A store is opened for each search, so that it has what was added in between; here only to
 * fail early. Those of the original implementation have no rows. */
static bool check_store(const char *path, struct cn_error *err)
{
    struct cn_store *store;

    if (!cn_store_open(&store, path, err))
        return false;
    cn_store_close(store);
    return true;
}

static bool open_measurements(struct cairn_data *data, struct cn_error *err)
{
    const char *path = data->path;
    struct cn_hpc_meas_options reading = {0};
    struct cn_sampled_options building = {
        .spool_folder = cn_temporary_folder(),
    };

    data->shape = CAIRN_DATABASE;
    return cn_measured_open(&data->measured, &path, 1, &reading, &building, &data->db,
                            err);
}

static bool open_data(struct cairn_data *data, struct cn_error *err)
{
    const struct cn_format *format;

    if (!cn_format_probe(data->path, &format, err))
        return false;
    data->format = format;
    if (format == &cn_format_store) {
        data->shape = CAIRN_STORE;
        return check_store(data->path, err);
    }
    if (format->open_measurements)
        return open_measurements(data, err);
    data->shape = format->open_database ? CAIRN_DATABASE : CAIRN_RECORDING;
    return format->open_database
               ? format->open_database(&data->db, data->path, err)
               : cn_format_open_recording(data->path, NULL, &data->rec, err);
}

struct cairn_data *cairn_open(const char *path, struct cairn_error *err)
{
    CN_LIB_BEGIN(NULL, NULL, err, NULL);
    struct cairn_data *data = cn_lib_data_new(NULL, path, NULL, NULL);

    if (open_data(data, e))
        return data;
    cairn_close(data);
    return NULL;
}

void cairn_close(struct cairn_data *data)
{
    CN_LIB_BEGIN(NULL, NULL, NULL, );

    if (!data)
        return;
    if (!data->is_broken) {
        cn_database_close(data->db);
        cn_recording_close(data->rec);
        cn_measured_close(&data->measured);
    }
    if (data->folder)
        cn_outdir_remove(data->folder);
    free(data->folder);
    free(data->path);
    free(data);
}

enum cairn_shape cairn_data_shape(const struct cairn_data *data)
{
    return data->shape;
}

const char *cairn_data_format(const struct cairn_data *data)
{
    return data->format ? data->format->name : "memory";
}

const char *cairn_data_path(const struct cairn_data *data)
{
    return data->path;
}

const char *cairn_data_warning(const struct cairn_data *data, size_t number)
{
    const struct cn_warning *warning = data->db    ? data->db->warnings
                                       : data->rec ? data->rec->warnings
                                                   : NULL;

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

/* The recording, or that of all traces of a store, which the caller closes. */
static bool calls_of(struct cairn_data *data, struct cn_recording **rec, bool *is_own,
                     struct cn_error *err)
{
    *is_own = data->shape == CAIRN_STORE;
    *rec = data->rec;
    if (data->shape == CAIRN_DATABASE)
        return cn_fail(err, CN_ERR_USAGE, "%s is a database already", data->path);
    return !*is_own || data->format->open_traces(rec, data->path, "", err);
}

static void remove_folder(struct cn_held *held)
{
    cn_outdir_remove(((struct cairn_data *)held)->folder);
}

static bool analyze(struct cairn_data *data, struct cairn_data *out, struct cn_error *err)
{
    struct cn_recording *rec;
    struct cn_analysis_extras extras = {0};
    bool is_own, ok;

    out->format = cn_format_find("hpctoolkit-v4");
    out->shape = CAIRN_DATABASE;
    out->is_of_traces = data->shape == CAIRN_STORE || data->is_of_traces;
    if (!calls_of(data, &rec, &is_own, err))
        return false;
    out->folder = cn_temporary_make("analysis", err);
    if (out->folder)
        cn_memory_hold(&out->held, remove_folder);
    ok = out->folder && cn_analysis_of_calls(&out->db, rec, false, cn_time_always,
                                             out->folder, &extras, NULL, err);
    if (ok && extras.lost_count > 0)
        cn_database_warn(out->db, false, "%llu %s lost while recording",
                         (unsigned long long)extras.lost_count,
                         cn_plural(extras.lost_count, "record was", "records were"));
    cn_analysis_extras_done(&extras);
    if (is_own)
        cn_recording_close(rec);
    cn_memory_drop(&out->held);
    return ok || cn_fail_in(err, "%s", data->path);
}

struct cairn_data *cairn_analyze(struct cairn_data *data, struct cairn_error *err)
{
    CN_LIB_BEGIN(NULL, data, err, NULL);
    struct cairn_data *out = cn_lib_data_new(NULL, data->path, NULL, NULL);

    if (analyze(data, out, e))
        return out;
    cairn_close(out);
    return NULL;
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
    const struct cn_format *format = cn_format_find(name);

    return format && cn_format_is_writable(format);
}

static bool write_calls(const struct cn_format *format, const struct cn_recording *rec,
                        const char *path, const struct cn_write_options *options,
                        struct cn_error *err)
{
    struct cn_all_calls all;
    bool ok;

    if (format->write_recording)
        return format->write_recording(rec, path, options, err);
    ok = cn_all_calls_init(&all, rec, err) &&
         cn_format_write_calls(format, &all.query, path, options, err);
    cn_all_calls_done(&all);
    return ok;
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
    struct cn_recording *rec;
    bool is_own, ok;

    if (!format || !cn_format_is_writable(format))
        return cn_fail(err, CN_ERR_USAGE, "format '%s' cannot be written", name);
    if (data->db && !format->write_database && !format->export_database)
        return cn_fail(err, CN_ERR_USAGE, "format '%s' has calls; %s is a database", name,
                       data->path);
    if (!data->db && !format->write_recording && !format->export_calls)
        return cn_fail(err, CN_ERR_USAGE,
                       "format '%s' is for databases; cairn_analyze() makes one of %s",
                       name, data->path);
    if (!check_target(data, path, format, options->replace, err))
        return false;
    if (data->db)
        return cn_format_write_database(format, data->db, path, options, err);
    if (!calls_of(data, &rec, &is_own, err))
        return false;
    ok = write_calls(format, rec, path, options, err);
    if (is_own)
        cn_recording_close(rec);
    return ok;
}

bool cairn_write(struct cairn_data *data, const char *path, const char *format,
                 bool replace, cairn_loss_fn on_loss, void *arg, struct cairn_error *err)
{
    CN_LIB_BEGIN(NULL, data, err, false);
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
