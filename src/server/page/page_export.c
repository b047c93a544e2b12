#include "server/page/page_export.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes/base64.h"
#include "base/bytes/json.h"
#include "base/files/outdir.h"
#include "base/files/sink.h"
#include "base/text.h"
#include "formats/exchange/perf/perf.h"
#include "formats/formats.h"
#include "model/contexts/database.h"
#include "server/page/assets.h"
#include "server/page/pack.h"
#include "server/served/served.h"
#include "store/store_format.h"

/* The folder of an analysis in the page. */
static const char analysis_folder[] = "/cairn/analysis";

/* What a page contains. */
struct page {
    const char *path;
    bool is_raw;
    const struct cn_format *format;
    struct cn_served *served; /* NULL unless it is a recording */
    char *folder;             /* of an analysis that was made for the page; NULL: none */
    bool has_analysis;        /* at analysis_folder */
    struct cn_pack pack;
};

static struct cn_bytes asset_of(const char *path)
{
    const struct cn_asset *asset = cn_assets;

    while (asset->path && strcmp(asset->path, path) != 0)
        asset++;
    return asset->path
               ? (struct cn_bytes){asset->begin, (size_t)(asset->end - asset->begin)}
               : (struct cn_bytes){0};
}

/* The calls, and their analysis. */
static bool add_recording(struct page *page, struct cn_error *err)
{
    struct cn_served_options options = {.is_raw = page->is_raw};
    const char *folder;

    if (!cn_served_open(&page->served, page->path, options, err))
        return false;
    page->has_analysis = true;
    folder = cn_served_analysed(page->served, err);
    return folder && cn_pack_add(&page->pack, folder, analysis_folder, err) &&
           cn_pack_add(&page->pack, page->path, page->path, err);
}

/* Samples as a database with the symbols that this machine has. */
static bool add_samples(struct page *page, struct cn_error *err)
{
    struct cn_write_options write = {0};
    struct cn_database *db;
    struct cn_text path = {0};
    bool ok;

    page->folder = cn_temporary_make("export", err);
    if (!page->folder || !page->format->open_database(&db, page->path, err))
        return false;
    cn_text_printf(&path, "%s/calls.db", page->folder);
    ok = cn_format_find("hpctoolkit-v4")
             ->write_database(db, cn_text_str(&path), &write, err) &&
         cn_pack_add(&page->pack, page->folder, analysis_folder, err);
    page->has_analysis = true;
    cn_database_close(db);
    cn_text_done(&path);
    return ok;
}

static bool add_files(struct page *page, struct cn_error *err)
{
    struct cn_database *db;

    if (page->format == &cn_format_perf)
        return add_samples(page, err);
    if (page->format != &cn_format_store && !page->format->open_database)
        return add_recording(page, err);
    if (page->format->open_database) { /* what does not open is not exported */
        if (!page->format->open_database(&db, page->path, err))
            return false;
        cn_database_close(db);
    }
    return cn_pack_add(&page->pack, page->path, page->path, err);
}

static void add_list(const struct page *page, struct cn_text *out)
{
    struct cn_text text = {0};
    struct cn_json json = {.text = &text};

    cn_json_object(&json);
    cn_json_key(&json, "sources");
    cn_json_array(&json);
    cn_json_object(&json);
    cn_json_add_str(&json, "path", page->path);
    cn_json_add_str(&json, "format", page->format->name);
    cn_json_add_bool(&json, "isRaw", page->is_raw);
    if (page->has_analysis)
        cn_json_add_str(&json, "folder", analysis_folder);
    cn_json_end(&json);
    cn_json_end(&json);
    cn_json_key(&json, "files");
    cn_pack_list(&page->pack, &json);
    cn_json_end(&json);
    cn_text_str_add(out, "<script type=\"application/json\" id=\"cairn-files\">");
    /* A '<' in a name must not end the script element. */
    for (const char *at = cn_text_str(&text); *at; at++) {
        if (*at == '<')
            cn_text_str_add(out, "\\u003c");
        else
            cn_text_char(out, *at);
    }
    cn_text_str_add(out, "</script>\n");
    cn_text_done(&text);
}

static void add_asset(struct cn_text *out, const char *path)
{
    struct cn_bytes bytes = asset_of(path);

    cn_text_add(out, (const char *)bytes.ptr, bytes.len);
}

/* No network: the page asks for nothing, and may not. */
static void add_head(struct cn_text *out)
{
    cn_text_str_add(
        out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
             "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
             "script-src 'unsafe-inline' 'wasm-unsafe-eval'; worker-src blob:; "
             "style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action "
             "'none'\">\n"
             "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
             "<title>cairn</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>\n");
    add_asset(out, "/app.css");
    cn_text_str_add(out, "</style>\n</head>\n<body>\n<div id=\"app\">loading…</div>\n"
                         "<script type=\"text/plain\" id=\"cairn-engine\">");
    cn_base64_add(out, asset_of("/cairn.wasm.gz"));
    cn_text_str_add(out, "</script>\n");
}

/* NULL: a page without data. */
static bool write_page(const struct page *page, struct cn_sink *out, struct cn_error *err)
{
    struct cn_text text = {0};
    bool ok;

    add_head(&text);
    if (page)
        add_list(page, &text);
    ok = cn_sink_text(out, &text, err) && (!page || cn_pack_write(&page->pack, out, err));
    cn_text_str_add(&text, "<script>\n");
    add_asset(&text, "/app.js");
    cn_text_str_add(&text, "</script>\n</body>\n</html>\n");
    ok = ok && cn_sink_text(out, &text, err);
    cn_text_done(&text);
    return ok;
}

static bool check_engine(struct cn_error *err)
{
    return asset_of("/cairn.wasm.gz").len > 0 ||
           cn_fail(err, CN_ERR_USAGE,
                   "this cairn was built without the engine that such pages contain; "
                   "install the packages of tools/packages and build it again");
}

bool cn_page_export(struct cn_sink *out, const char *path, bool is_raw,
                    struct cn_error *err)
{
    struct page page = {.path = path, .is_raw = is_raw};
    bool ok;

    if (!check_engine(err))
        return false;
    ok = cn_format_probe(path, &page.format, err) && add_files(&page, err) &&
         write_page(&page, out, err);
    cn_served_close(page.served);
    if (page.folder)
        cn_outdir_remove(page.folder);
    free(page.folder);
    cn_pack_done(&page.pack);
    return ok;
}

bool cn_page_viewer(struct cn_sink *out, struct cn_error *err)
{
    return check_engine(err) && write_page(NULL, out, err);
}
