#include "base/bytes/json.h"
#include "base/text.h"
#include "server/compat/tempo/tempo.h"

/* The version of Tempo whose API this is: clients ask for features by it. */
static const char version_of_api[] = "2.8.0";

static bool answer_text(struct cn_compat_call *call, const char *text)
{
    call->type = "text/plain; charset=utf-8";
    cn_text_str_add(call->request->json.text, text);
    return true;
}

static bool answer_echo(struct cn_compat_call *call, struct cn_error *err)
{
    (void)err;
    return answer_text(call, "echo");
}

static bool answer_ready(struct cn_compat_call *call, struct cn_error *err)
{
    (void)err;
    return answer_text(call, "ready\n");
}

static bool answer_build_info(struct cn_compat_call *call, struct cn_error *err)
{
    struct cn_json *json = &call->request->json;

    (void)err;
    cn_json_object(json);
    cn_json_add_str(json, "version", version_of_api);
    cn_json_add_str(json, "revision", "cairn-" CN_VERSION);
    cn_json_add_str(json, "branch", "");
    cn_json_add_str(json, "buildDate", "");
    cn_json_add_str(json, "buildUser", "");
    cn_json_add_str(json, "goVersion", "");
    cn_json_end(json);
    return true;
}

/* Grafana shows the text. */
static void write_error(struct cn_compat_call *call, const struct cn_error *err)
{
    (void)answer_text(call, err->text);
}

static const struct cn_compat_route routes[] = {
    {"/ready", answer_ready, true},
    {"/api/echo", answer_echo, true},
    {"/api/status/buildinfo", answer_build_info, true},
    {"/api/traces/*", cn_tempo_trace, false},
    {"/api/v2/traces/*", cn_tempo_trace_v2, false},
    {"/api/search", cn_tempo_search, false},
    {"/api/search/tags", cn_tempo_tags, false},
    {"/api/search/tag/*/values", cn_tempo_values, false},
    {"/api/v2/search/tags", cn_tempo_tags_v2, false},
    {"/api/v2/search/tag/*/values", cn_tempo_values_v2, false},
    {"/api/metrics/query", cn_tempo_query, false},
    {"/api/metrics/query_range", cn_tempo_query_range, false},
    {0},
};

const struct cn_compat_api cn_tempo_api = {
    .prefix = "/tempo",
    .routes = routes,
    .write_error = write_error,
};
