#include "server/page/export.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/timeline/range_database.h"
#include "base/bytes/base64.h"
#include "base/bytes/json.h"
#include "base/files/outdir.h"
#include "base/files/sink.h"
#include "base/text.h"
#include "model/contexts/database.h"
#include "open/about.h"
#include "open/formats.h"
#include "open/open.h"
#include "server/page/assets.h"
#include "server/page/pack.h"
#include "store/copy.h"
#include "store/search/search.h"
#include "store/search/traces.h"
#include "store/traceql/traceql.h"
#include "store/write/writer.h"

/* The folder of an analysis in the page. */
static const char analysis_folder[] = "/cairn/analysis";

/* What a page contains. */
struct export_page {
    const char *path;
    const struct cn_page_options *options;
    struct cn_opened opened;
    const struct cn_format *format; /* of the data in the page */
    char *folder;                   /* of what was made for the page; NULL: none */
    bool has_analysis;              /* at analysis_folder */
    struct cn_pack pack;
    struct cn_text *left_out, *damage;
};

void cn_page_missing_done(struct cn_page_missing *missing)
{
    cn_text_done(&missing->left_out);
    cn_text_done(&missing->damage);
}

static void note_damage(struct export_page *page, const char *what)
{
    cn_text_printf(page->damage, "%s\n", what);
}

static void note_warnings(struct export_page *page, const struct cn_warning *warnings)
{
    for (const struct cn_warning *w = warnings; w; w = w->next)
        if (w->is_damage)
            note_damage(page, w->text);
}

static struct cn_bytes asset_of(const char *path)
{
    const struct cn_asset *asset = cn_assets;

    while (asset->path && strcmp(asset->path, path) != 0)
        asset++;
    return asset->path
               ? (struct cn_bytes){asset->begin, (size_t)(asset->end - asset->begin)}
               : (struct cn_bytes){0};
}

static void leave_out(struct export_page *page, const char *what)
{
    cn_text_printf(page->left_out, "%s%s", page->left_out->len > 0 ? ", " : "", what);
}

static void leave_out_time(struct export_page *page)
{
    cn_text_printf(page->left_out, "data outside %s", page->options->range.text);
}

/* The calls of a time range, and their analysis. */
static bool add_part_of_recording(struct export_page *page, struct cn_error *err)
{
    struct cn_error damage = {0};
    struct cn_text path = {0};
    bool ok;

    page->folder = cn_temporary_make("export", err);
    if (!page->folder || !cn_opened_load(&page->opened, CN_CALLS, NULL, err) ||
        !cn_page_cut_calls(page->opened.rec, &page->options->range, page->options->is_raw,
                           page->folder, &damage, err))
        return false;
    page->has_analysis = true;
    page->format = cn_format_find("uftrace");
    cn_text_printf(&path, "%s/analysis", page->folder);
    ok = cn_pack_add(&page->pack, cn_text_str(&path), analysis_folder, err);
    cn_text_clear(&path);
    cn_text_printf(&path, "%s/recording", page->folder);
    ok = ok && cn_pack_add(&page->pack, cn_text_str(&path), page->path, err);
    cn_text_done(&path);
    leave_out_time(page);
    if (damage.kind != CN_ERR_NONE) {
        note_damage(page, damage.text);
        leave_out(page, "data after the damage");
    }
    return ok;
}

/* The samples of a time range. */
static bool add_part_of_database(struct export_page *page, struct cn_error *err)
{
    struct cn_database *db = page->opened.db;

    page->folder = cn_temporary_make("export", err);
    if (!page->folder)
        return false;
    page->has_analysis = true;
    leave_out_time(page);
    cn_text_printf(page->left_out, ", metrics other than %s", cn_range_metric(db));
    return cn_page_cut_samples(db, &page->options->range, page->folder, err) &&
           cn_pack_add(&page->pack, page->folder, analysis_folder, err);
}

/* Costs of instructions need the program, which is not in the page. */
static bool is_of_points(const char *path, const void *arg)
{
    (void)arg;
    return cn_ends_with(path, "/" CN_ABOUT_POINTS);
}

/* The analysis that is shown, with its calls; or the database as it is. What does not open is not
 * exported. */
static bool add_contexts(struct export_page *page, struct cn_error *err)
{
    if (!cn_opened_load(&page->opened, CN_CONTEXTS, NULL, err))
        return false;
    note_warnings(page, page->opened.db->warnings);
    if (page->opened.format->is_measured || page->opened.rank_count > 0)
        page->format = cn_format_find("hpctoolkit-v4");
    if (page->options->range.text)
        return add_part_of_database(page, err);
    const char *folder = page->opened.folder.path;
    page->has_analysis = folder != NULL;
    if (folder && !cn_pack_add(&page->pack, folder, analysis_folder, err))
        return false;
    (void)cn_pack_remove(&page->pack, is_of_points, NULL);
    return (folder && !(page->opened.contains & CN_CALLS)) ||
           cn_pack_add(&page->pack, page->opened.source, page->path, err);
}

/* The query of the traces in the page; "": all. */
static bool add_query(const struct export_page *page, struct cn_text *query,
                      struct cn_error *err)
{
    const char *chosen = page->options->query;

    if (!page->options->range.text) {
        cn_text_str_add(query, chosen ? chosen : "");
        return true;
    }
    if (chosen)
        cn_text_printf(query, "(%s) ", chosen);
    return cn_page_cut_traces(page->path, &page->options->range, query, err);
}

/* Write the traces that match as a store of their own. */
static bool copy_traces(struct export_page *page, const char *query, struct cn_error *err)
{
    struct cn_store_query opened;
    struct cn_store_added added;
    bool ok;

    page->folder = cn_temporary_make("export", err);
    if (!page->folder || !cn_tql_store_query_open(&opened, page->path, query, err))
        return false;
    char *path = cn_strprintf("%s/store", page->folder);
    ok = cn_store_copy_new(path, opened.search, opened.query, &added, err);
    cn_store_query_close(&opened);
    if (!ok && err->kind == CN_ERR_FORMAT) {
        note_damage(page, err->text);
        ok = true;
    }
    ok = ok && cn_pack_add(&page->pack, path, page->path, err);
    free(path);
    return ok;
}

/* The files of a store as they are. */
static bool add_store(struct export_page *page, struct cn_error *err)
{
    struct cn_search_trace_count traces;
    struct cn_store_query all;
    struct cn_error damage;

    if (!cn_store_query_open(&all, page->path, "", err))
        return false;
    bool ok = cn_search_count_traces(all.search, all.query, &traces, err) &&
              cn_pack_add(&page->pack, page->path, page->path, err);
    if (!cn_search_check(all.search, &damage))
        note_damage(page, damage.text);
    cn_store_query_close(&all);
    return ok;
}

static bool add_traces(struct export_page *page, struct cn_error *err)
{
    struct cn_text query = {0};
    bool ok = add_query(page, &query, err);

    if (ok && query.len == 0)
        ok = add_store(page, err);
    else if (ok)
        ok = copy_traces(page, cn_text_str(&query), err);
    if (page->options->query)
        cn_text_printf(page->left_out, "traces that do not match '%s'",
                       page->options->query);
    if (page->options->range.text)
        cn_text_printf(page->left_out, "%straces that began outside %s",
                       page->left_out->len > 0 ? ", " : "", page->options->range.text);
    cn_text_done(&query);
    return ok;
}

static bool add_files(struct export_page *page, struct cn_error *err)
{
    unsigned contains = page->opened.contains;

    if (contains & CN_TRACES)
        return add_traces(page, err);
    if (page->options->query)
        return cn_fail(err, CN_ERR_USAGE, "%s: --query is for stores", page->path);
    return (contains & CN_CALLS) && page->options->range.text
               ? add_part_of_recording(page, err)
               : add_contexts(page, err);
}

static bool is_of_calls(const char *path, const void *arg)
{
    return strncmp(path, arg, strlen(arg)) != 0;
}

static bool is_of_timelines(const char *path, const void *arg)
{
    (void)arg;
    return cn_ends_with(path, "/trace.db");
}

static bool is_source(const char *path, const void *arg)
{
    (void)arg;
    return strstr(path, "/src/") != NULL;
}

/* Leave out the next that can be; false if there is none. */
static bool leave_out_next(struct export_page *page)
{
    const struct cn_format *v4 = cn_format_find("hpctoolkit-v4");

    if (page->has_analysis && page->format != v4) {
        page->format = v4;
        if (cn_pack_remove(&page->pack, is_of_calls, analysis_folder)) {
            leave_out(page, "the list of calls and names of threads");
            return true;
        }
    }
    if (page->format == v4 && cn_pack_remove(&page->pack, is_of_timelines, NULL)) {
        leave_out(page, "timelines");
        return true;
    }
    if (page->format == v4 && cn_pack_remove(&page->pack, is_source, NULL)) {
        leave_out(page, "sources");
        return true;
    }
    return false;
}

static void add_list(const struct export_page *page, struct cn_text *out)
{
    struct cn_text text = {0};
    struct cn_json json = {.text = &text};

    cn_json_object(&json);
    cn_json_add_array(&json, "sources");
    cn_json_object(&json);
    cn_json_add_str(&json, "path", page->path);
    cn_json_add_str(&json, "format", page->format->name);
    cn_json_add_bool(&json, "isRaw", page->options->is_raw);
    if (page->has_analysis)
        cn_json_add_str(&json, "folder", analysis_folder);
    cn_json_end(&json);
    cn_json_end(&json);
    cn_json_add_str(&json, "leftOut", cn_text_str(page->left_out));
    cn_json_add_u64(&json, "blockSize", CN_PACK_BLOCK_LEN);
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

/* A page with data asks for nothing, and may not. The empty viewer may fetch what its address names,
 * until it has opened something: then its script forbids that (web/src/engine/remote.ts). */
static void add_head(struct cn_text *out, bool is_empty)
{
    cn_text_printf(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
        "script-src 'unsafe-inline' 'wasm-unsafe-eval'; worker-src blob:; "
        "style-src 'unsafe-inline'; img-src data:; %sbase-uri 'none'; form-action "
        "'none'\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<title>cairn</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>\n",
        is_empty ? "connect-src https: http://127.0.0.1:* http://localhost:*; " : "");
    add_asset(out, "/app.css");
    cn_text_str_add(out, "</style>\n</head>\n<body>\n<div id=\"app\">loading…</div>\n"
                         "<script type=\"text/plain\" id=\"cairn-engine\">");
    cn_base64_add(out, asset_of("/cairn.wasm.gz"));
    cn_text_str_add(out, "</script>\n");
}

/* The page before and after its data. Its script comes first: it works while the browser reads the data. */
static void add_begin(const struct export_page *page, struct cn_text *out)
{
    add_head(out, page == NULL);
    if (page) {
        add_list(page, out);
    } else {
        cn_text_str_add(out, "<script type=\"application/json\" id=\"cairn-examples\">");
        add_asset(out, "/examples.json");
        cn_text_str_add(out, "</script>\n");
    }
    cn_text_str_add(out, "<script>\n");
    add_asset(out, "/app.js");
    cn_text_str_add(out, "</script>\n");
}

static void add_end(struct cn_text *out)
{
    cn_text_str_add(out, "</body>\n</html>\n");
}

static bool size_of(const struct export_page *page, uint64_t *out, struct cn_error *err)
{
    struct cn_text text = {0};
    bool ok = cn_pack_size(&page->pack, out, err);

    add_begin(page, &text);
    add_end(&text);
    *out += text.len;
    cn_text_done(&text);
    return ok;
}

/* Leave out until the page is small enough. */
static bool make_small(struct export_page *page, struct cn_error *err)
{
    uint64_t size, size_max = page->options->size_max;

    while (size_max > 0) {
        if (!size_of(page, &size, err))
            return false;
        if (size <= size_max)
            return true;
        if (!leave_out_next(page))
            return cn_fail(err, CN_ERR_LIMIT,
                           "%s: the page has %" PRIu64
                           " bytes%s%s; --max-size is %" PRIu64,
                           page->path, size, page->left_out->len > 0 ? " without " : "",
                           cn_text_str(page->left_out), size_max);
    }
    return true;
}

/* NULL: a page without data. */
static bool write_page(const struct export_page *page, struct cn_sink *out,
                       struct cn_error *err)
{
    struct cn_text text = {0};
    bool ok;

    add_begin(page, &text);
    ok = cn_sink_text(out, &text, err) && (!page || cn_pack_write(&page->pack, out, err));
    add_end(&text);
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

bool cn_page_export(struct cn_sink *out, struct cn_opened *source,
                    const struct cn_page_options *options,
                    struct cn_page_missing *missing, struct cn_error *err)
{
    struct export_page page = {.path = source->path,
                               .opened = *source,
                               .format = source->format,
                               .options = options,
                               .left_out = &missing->left_out,
                               .damage = &missing->damage};
    bool ok = check_engine(err) && add_files(&page, err) && make_small(&page, err) &&
              write_page(&page, out, err);

    cn_opened_close(&page.opened);
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
