#include "server/page/page_export.h"

#include <string.h>

#include "server/api/api.h"
#include "server/api/request.h"
#include "server/api/route.h"
#include "server/page/assets.h"
#include "server/served/served.h"

/* How much of the data is exported. */
static const struct cn_parameter wanted[] = {
    {"min", "0.0002"}, {"columns", "1200"}, {"count", "64"},
    {"whole", "1"},    {"nested", "1"},     {"refine", "1"},
};

static void begin_request(struct cn_request *request, struct cn_text *text,
                          bool counts_waits)
{
    *request = (struct cn_request){.path = "/"};
    request->json.text = text;
    if (counts_waits)
        request->parameters[request->parameter_count++] =
            (struct cn_parameter){"waits", "1"};
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
        request->parameters[request->parameter_count++] = wanted[i];
}

/* Append a member with the answer to a question. */
static bool add_answer(struct cn_text *data, struct cn_served *served, const char *name,
                       cn_api_answer *ask, bool counts_waits, struct cn_error *err)
{
    struct cn_text text = {0};
    struct cn_request request;
    bool ok;

    begin_request(&request, &text, counts_waits);
    while (!(ok = ask(served, &request, err)) && err->kind == CN_ERR_INTERRUPTED) {
        cn_text_clear(&text);
        begin_request(&request, &text, counts_waits);
    }
    if (ok)
        cn_text_printf(data, ",\n\"%s\": %s", name, cn_text_str(&text));
    cn_text_done(&text);
    return ok;
}

static bool add_data(struct cn_text *data, struct cn_served *served, struct cn_error *err)
{
    struct cn_text text = {0};
    struct cn_request request;
    struct cn_error none;

    begin_request(&request, &text, false);
    cn_api_describe(served, 0, &request);
    cn_text_printf(data, "{\"sources\": {\"version\": \"%s\", \"sources\": [%s]}",
                   CN_VERSION, cn_text_str(&text));
    cn_text_done(&text);
    if (!add_answer(data, served, "info", cn_api_info, false, err) ||
        !add_answer(data, served, "overview", cn_api_overview, false, err) ||
        !add_answer(data, served, "flame", cn_api_flame, false, err))
        return false;
    if (cn_metrics_have_waits(&served->db->metrics) &&
        !add_answer(data, served, "flameWithWaits", cn_api_flame, true, err))
        return false;
    if (!add_answer(data, served, "timeline", cn_api_timeline, false, &none))
        cn_text_str_add(data, ",\n\"timeline\": null");
    if (!add_answer(data, served, "threads", cn_api_threads, false, err))
        return false;
    cn_text_str_add(data, "}");
    return true;
}

static void add_asset(struct cn_text *out, const char *path)
{
    const struct cn_asset *asset = cn_assets;

    while (asset->path && strcmp(asset->path, path) != 0)
        asset++;
    if (asset->path)
        cn_text_add(out, (const char *)asset->begin, (size_t)(asset->end - asset->begin));
}

static void add_page(struct cn_text *out, const struct cn_text *data)
{
    cn_text_str_add(
        out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
             "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
             "script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:\">\n"
             "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
             "<title>cairn</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>\n");
    add_asset(out, "/app.css");
    cn_text_str_add(out, "</style>\n</head>\n<body>\n<div id=\"app\"></div>\n"
                         "<script type=\"application/json\" id=\"cairn-data\">");
    /* A '<' in a name must not end the script element. */
    for (const char *at = cn_text_str(data); *at; at++) {
        if (*at == '<')
            cn_text_str_add(out, "\\u003c");
        else
            cn_text_char(out, *at);
    }
    cn_text_str_add(out, "</script>\n<script>\n");
    add_asset(out, "/app.js");
    cn_text_str_add(out, "</script>\n</body>\n</html>\n");
}

bool cn_page_export(const char *path, bool is_raw, struct cn_text *out,
                    struct cn_error *err)
{
    struct cn_text data = {0};
    struct cn_served *served;
    bool ok;

    if (!cn_served_open(
            &served, path,
            (struct cn_served_options){.is_raw = is_raw, .is_store_analysed = true}, err))
        return false;
    ok = (cn_served_finish(served, err) && add_data(&data, served, err)) ||
         cn_fail_in(err, "%s", path);
    if (ok)
        add_page(out, &data);
    cn_text_done(&data);
    cn_served_close(served);
    return ok;
}
