#include "formats/uftrace/write/writer.h"

#include <inttypes.h>
#include <string.h>

#include "base/files/out.h"
#include "base/files/outdir.h"
#include "base/run/progress.h"
#include "base/text.h"

static bool write_bytes(const struct cn_uft_writing *w, const char *name,
                        struct cn_bytes bytes, struct cn_error *err)
{
    struct cn_out out = {0};

    if (name[0] == '\0' || strchr(name, '/'))
        return cn_fail(err, CN_ERR_FORMAT, "\"%s\" is no name for a file", name);
    if (cn_out_open_at(&out, w->dir, name, err) &&
        cn_out_write(&out, bytes.ptr, bytes.len, err) && cn_out_close(&out, err))
        return true;
    cn_out_abandon(&out);
    return false;
}

bool cn_uft_write_text(const struct cn_uft_writing *w, const char *name,
                       const struct cn_text *text, struct cn_error *err)
{
    struct cn_bytes bytes = {(const uint8_t *)cn_text_str(text), text->len};

    return write_bytes(w, name, bytes, err);
}

struct cn_time_range cn_uft_written_range(const struct cn_uft_writing *w)
{
    return w->options && w->options->last_ns > 0
               ? (struct cn_time_range){w->options->first_ns, w->options->last_ns}
               : cn_time_always;
}

/* The lines of extern.dat in the time range. */
static bool copy_externs(const struct cn_uft_writing *w, uint32_t source,
                         struct cn_error *err)
{
    struct cn_time_range range = cn_uft_written_range(w);
    struct cn_call_stream *stream;
    struct cn_call_batch batch;
    struct cn_text text = {0};
    bool ok = cn_recording_source_open(w->rec, source, &stream, err);
    struct cn_error ignored; /* the reader names damage */

    if (!ok)
        return false;
    while (cn_call_stream_next(stream, &batch, &ignored) == CN_ITEM)
        for (size_t i = 0; i < batch.count; i++) {
            uint64_t time_ns = batch.calls[i].time_ns;

            if (time_ns >= range.first_ns && time_ns <= range.last_ns)
                cn_text_printf(&text, "%" PRIu64 ".%09" PRIu64 " %.*s\n",
                               time_ns / 1000000000, time_ns % 1000000000,
                               (int)batch.raw[i].len, (const char *)batch.raw[i].ptr);
        }
    cn_call_stream_close(stream);
    ok = cn_uft_write_text(w, w->rec->sources[source].name, &text, err);
    cn_text_done(&text);
    return ok;
}

/* Of a time range, context switches, task events and external data are cut as well; records of the
 * kernel are not. */
static bool copy_file(const struct cn_uft_writing *w, const struct cn_copied_file *file,
                      struct cn_error *err)
{
    bool is_cut = w->options && w->options->last_ns > 0;

    for (uint32_t i = 0; is_cut && i < w->rec->source_count; i++) {
        const struct cn_source *source = &w->rec->sources[i];

        if (strcmp(source->name, file->name) != 0)
            continue;
        if (source->kind == CN_SOURCE_PERF)
            return cn_uft_copy_records(w, i, err);
        if (source->kind == CN_SOURCE_EXTERN)
            return copy_externs(w, i, err);
    }
    return write_bytes(w, file->name, file->bytes, err);
}

/* Copy the files and records of a recording that was read from such a directory. */
static bool copy_all(const struct cn_uft_writing *w, struct cn_error *err)
{
    const struct cn_recording *rec = w->rec;

    for (uint32_t i = 0; i < rec->copied_file_count; i++)
        if (!copy_file(w, &rec->copied_files[i], err))
            return false;
    for (uint32_t i = 0; i < rec->source_count; i++) {
        if (rec->sources[i].kind != CN_SOURCE_TASK)
            continue;
        if (!cn_progress_report(w->options ? w->options->progress : NULL,
                                "writing records", i, rec->source_count, "files", err) ||
            !cn_uft_copy_records(w, i, err))
            return false;
    }
    return true;
}

static bool write_events(const struct cn_uft_writing *w, struct cn_error *err)
{
    struct cn_text text = {0};
    bool ok = true;

    for (uint32_t i = 0; i < w->rec->event_name_count; i++)
        cn_text_printf(&text, "EVENT: %llu %s\n",
                       (unsigned long long)w->rec->event_names[i].id,
                       w->rec->event_names[i].name);
    if (text.len > 0)
        ok = cn_uft_write_text(w, "events.txt", &text, err);
    cn_text_clear(&text);
    cn_text_printf(&text, "%s%s", w->rec->options, w->rec->options[0] ? "\n" : "");
    ok = ok && cn_uft_write_text(w, "default.opts", &text, err);
    cn_text_done(&text);
    return ok;
}

bool cn_uft_write(const struct cn_recording *rec, const char *path,
                  const struct cn_write_options *options, struct cn_error *err)
{
    struct cn_outdir dir = {0};
    struct cn_uft_writing w = {.rec = rec, .options = options};
    bool ok;

    if (!cn_outdir_begin(&dir, path, options && options->replace, err))
        return false;
    w.dir = dir.path;
    if (rec->copied_file_count > 0)
        ok = copy_all(&w, err);
    else
        ok = cn_uft_write_info(&w, err) && cn_uft_write_tasks(&w, err) &&
             cn_uft_write_modules(&w, err) && write_events(&w, err) &&
             cn_uft_write_records(&w, err);
    ok = ok && cn_outdir_commit(&dir, err);
    cn_outdir_abandon(&dir);
    return ok;
}
