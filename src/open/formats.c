#include "open/formats.h"

#include <string.h>

#include "analyze/calls/defaults.h"
#include "formats/exchange/exchange.h"
#include "model/contexts/database.h"

const struct cn_format *cn_format_find(const char *name)
{
    for (size_t i = 0; cn_formats[i]; i++)
        if (strcmp(cn_formats[i]->name, name) == 0)
            return cn_formats[i];
    return NULL;
}

unsigned cn_format_writes(const struct cn_format *format)
{
    return (format->write_recording || format->export_calls ? CN_CALLS : 0u) |
           (format->write_database || format->export_database ? CN_CONTEXTS : 0u) |
           (format->export_traces ? CN_TRACES : 0u);
}

bool cn_format_write_database(const struct cn_format *format, struct cn_database *db,
                              const char *path, const struct cn_write_options *options,
                              struct cn_error *err)
{
    if (!format->write_database)
        return cn_export_database(format, db, path, options, err);
    for (size_t i = 0; i < db->loss_count; i++)
        cn_write_lose(options, db->losses[i].what, db->losses[i].count);
    return format->write_database(db, path, options, err);
}

bool cn_format_write_recording(const struct cn_format *format,
                               const struct cn_recording *rec, bool is_raw,
                               const char *path, const struct cn_write_options *options,
                               struct cn_error *err)
{
    struct cn_all_calls all;
    bool ok;

    if (format->write_recording)
        return format->write_recording(rec, path, options, err);
    ok = cn_all_calls_init(&all, rec, err);
    all.query.is_raw = is_raw;
    ok = ok && cn_export_calls(format, &all.query, path, options, err);
    cn_all_calls_done(&all);
    return ok;
}
