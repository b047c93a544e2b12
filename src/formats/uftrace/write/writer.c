#include "formats/uftrace/write/writer.h"

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

/* Copy the files and records of a recording that was read from such a directory. */
static bool copy_all(const struct cn_uft_writing *w, struct cn_error *err)
{
    const struct cn_recording *rec = w->rec;

    for (uint32_t i = 0; i < rec->copied_file_count; i++)
        if (!write_bytes(w, rec->copied_files[i].name, rec->copied_files[i].bytes, err))
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
