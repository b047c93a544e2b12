#include "open/formats.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/text.h"
#include "formats/exchange/exchange.h"
#include "formats/exchange/perf/perf.h"
#ifdef CN_HAS_SQLITE
#include "formats/exchange/write/sqlite/sqlite.h"
#endif
#include "formats/hpctoolkit/meas/meas.h"
#include "formats/hpctoolkit/proto/proto.h"
#include "formats/hpctoolkit/v4/v4.h"
#include "formats/hpctoolkit/xml/xml.h"
#include "formats/uftrace/uftrace.h"
#include "store/format.h"

/* Formats that are only written, or are analysed before they are shown. */
#ifdef CN_ENGINE
#define NOT_IN_ENGINE(format)
#else
#define NOT_IN_ENGINE(format) &(format),
#endif

/* clang-format off: the macro contains the comma */
const struct cn_format *const cn_formats[] = {
    &cn_format_hpctoolkit_v4,
    &cn_format_hpctoolkit_proto,
    &cn_format_hpctoolkit_xml,
    &cn_format_hpctoolkit_xml_legacy,
    &cn_format_uftrace_packed,
    NOT_IN_ENGINE(cn_format_hpctoolkit_meas) & cn_format_uftrace,
    &cn_format_store,
    &cn_format_perf,
    &cn_format_perf_script,
    &cn_format_chrome,
    &cn_format_folded,
    NOT_IN_ENGINE(cn_format_callgrind) NOT_IN_ENGINE(cn_format_dot)
            NOT_IN_ENGINE(cn_format_mermaid) &
        cn_format_pprof,
    NOT_IN_ENGINE(cn_format_perfetto) & cn_format_speedscope,
    &cn_format_speedscope_calls,
    &cn_format_otlp,
    &cn_format_otlp_json,
    &cn_format_zipkin,
    NOT_IN_ENGINE(cn_format_flamegraph_svg) NOT_IN_ENGINE(cn_format_firefox)
            NOT_IN_ENGINE(cn_format_ndjson) NOT_IN_ENGINE(cn_format_csv)
#ifdef CN_HAS_SQLITE
        & cn_format_sqlite,
#endif
    NULL,
};
/* clang-format on */

const struct cn_format *cn_format_find(const char *name)
{
    for (size_t i = 0; cn_formats[i]; i++)
        if (strcmp(cn_formats[i]->name, name) == 0)
            return cn_formats[i];
    return NULL;
}

/* True for a folder into which several ranks were recorded. */
static bool has_ranks(const char *path)
{
    struct cn_text first = {0};
    bool found;

    cn_text_printf(&first, "%s/rank.0", path);
    found = access(cn_text_str(&first), F_OK) == 0;
    cn_text_done(&first);
    return found;
}

/* True for an executable file: ELF, or a script. */
static bool is_program(const char *path)
{
    struct cn_error ignored;
    struct cn_file file = {0};
    bool is_it = access(path, X_OK) == 0 && cn_file_open(&file, path, &ignored) &&
                 file.bytes.len >= 4 &&
                 (memcmp(file.bytes.ptr, "\177ELF", 4) == 0 ||
                  memcmp(file.bytes.ptr, "#!", 2) == 0);

    cn_file_close(&file);
    return is_it;
}

bool cn_format_probe(const char *path, const struct cn_format **out, struct cn_error *err)
{
    struct cn_text names = {0};

    if (!cn_path_is_address(path) && access(path, F_OK) < 0)
        return errno == ENOENT
                   ? cn_fail(err, CN_ERR_NOT_FOUND, "%s: no such file or directory", path)
                   : cn_fail_errno(err, "%s", path);
    for (size_t i = 0; cn_formats[i]; i++) {
        if (!cn_formats[i]->probe)
            continue;
        if (cn_formats[i]->probe(path)) {
            *out = cn_formats[i];
            cn_text_done(&names);
            return true;
        }
        cn_text_printf(&names, "%s%s", i == 0 ? "" : ", ", cn_formats[i]->name);
    }
    if (has_ranks(path))
        (void)cn_fail(err, CN_ERR_USAGE,
                      "%s has a recording of each rank; open %s/rank.0, or run 'cairn "
                      "analyze %s' for all of them",
                      path, path, path);
    else if (is_program(path))
        (void)cn_fail(err, CN_ERR_FORMAT,
                      "%s is a program; run 'cairn sample -- %s%s' first", path,
                      strchr(path, '/') ? "" : "./", path);
    else
        (void)cn_fail(err, CN_ERR_FORMAT, "%s: not a format cairn can read; it reads: %s",
                      path, cn_text_str(&names));
    cn_text_done(&names);
    return false;
}

bool cn_format_open_database(const char *path, struct cn_database **out,
                             struct cn_error *err)
{
    const struct cn_format *format;

    if (!cn_format_probe(path, &format, err))
        return false;
    if (format->open_database)
        return format->open_database(out, path, err);
    return cn_fail(
        err, CN_ERR_USAGE,
        "%s is in format %s (%s), not a database; run 'cairn analyze %s' first", path,
        format->name, format->holds, path);
}

bool cn_format_open_recording(const char *path,
                              const struct cn_recording_options *options,
                              struct cn_recording **out, struct cn_error *err)
{
    const struct cn_format *format;

    if (!cn_format_probe(path, &format, err))
        return false;
    if (format->open_traces)
        return format->open_traces(out, path, "", err);
    if (format->open_recording)
        return format->open_recording(out, path, options, err);
    return cn_fail(err, CN_ERR_USAGE, "%s is in format %s (%s), not a recording", path,
                   format->name, format->holds);
}

bool cn_format_is_writable(const struct cn_format *format)
{
    return format->write_database || format->write_recording || format->export_calls ||
           format->export_database;
}

bool cn_format_write_calls(const struct cn_format *format,
                           const struct cn_call_query *query, const char *path,
                           const struct cn_write_options *options, struct cn_error *err)
{
    return cn_export_calls(format, query, path, options, err);
}

bool cn_format_write_database(const struct cn_format *format, struct cn_database *db,
                              const char *path, const struct cn_write_options *options,
                              struct cn_error *err)
{
    return format->write_database ? format->write_database(db, path, options, err)
                                  : cn_export_database(format, db, path, options, err);
}

bool cn_format_write_traces(const struct cn_format *format, const struct cn_format *from,
                            const char *source, const char *path,
                            const struct cn_write_options *options, struct cn_error *err)
{
    return cn_export_traces(format, from, source, path, options, err);
}
