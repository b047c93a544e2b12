/* Any address of the APIs of Jaeger, Zipkin and Tempo: parameters are understood or refused, what they mean
 * is a query that can be read, and every answer is complete. */

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/json_reader.h"
#include "server/api/request.h"
#include "server/api/route.h"
#include "server/compat/common/find.h"
#include "server/compat/jaeger/jaeger.h"
#include "server/compat/link.h"
#include "server/compat/route.h"
#include "server/compat/tempo/tempo.h"
#include "server/compat/zipkin/zipkin.h"
#include "store/search/query.h"
#include "store/traceql/program.h"
#include "support/fuzz.h"

typedef bool parse_fn(const struct cn_compat_call *call, struct cn_find *out,
                      struct cn_error *err);

/* Values are quoted, so that only the length and number of conditions can be wrong. */
static void check_find(const struct cn_compat_call *call, parse_fn *parse)
{
    struct cn_error err = {0};
    struct cn_query *query;
    struct cn_find find;

    if (!parse(call, &find, &err)) {
        assert(err.text[0] && err.kind == CN_ERR_USAGE);
        return;
    }
    assert(find.limit <= CN_FIND_MAX);
    if (cn_query_parse(&query, cn_text_str(&find.query), 0, &err))
        cn_query_free(query);
    else
        assert(find.query.len > CN_QUERY_LEN_MAX ||
               strstr(err.text, "too many conditions"));
    cn_find_done(&find);
}

static void check_tags(const struct cn_compat_call *call)
{
    const char *tags = cn_compat_value(call, "tags");
    struct cn_tql_program *program;
    struct cn_text text = {0};
    struct cn_error err = {0};

    if (tags && cn_tempo_tags_to_query(tags, 5, 7, &text, &err)) {
        if (cn_tql_parse(&program, cn_text_str(&text), &err))
            cn_tql_program_free(program);
        else
            assert(err.text[0]);
    }
    cn_text_done(&text);
}

static void check_times(const struct cn_compat_call *call)
{
    const char *start = cn_compat_value(call, "start");
    struct cn_error err = {0};
    uint64_t first_ns, last_ns;

    if (cn_tempo_range(call, &first_ns, &last_ns, &err))
        assert(first_ns < last_ns || first_ns == UINT64_MAX);
    if (start && !cn_tempo_time_parse(start, &first_ns, &err))
        assert(err.text[0]);
    if (cn_tempo_step(call, 1, &first_ns, &err))
        assert(first_ns < UINT64_MAX);
}

/* JSON, or a text that is not empty. */
static void check_answer(const struct cn_text *text, const char *type)
{
    struct cn_json_reader reader;
    struct cn_json_token token;
    struct cn_error err = {0};
    enum cn_json_kind kind;

    assert(text->len > 0);
    if (strcmp(type, "application/json") != 0)
        return;
    reader = cn_json_read((struct cn_bytes){(const uint8_t *)text->chars, text->len});
    do
        kind = cn_json_next(&reader, &token, &err);
    while (kind > CN_JSON_END);
    assert(kind == CN_JSON_END);
    cn_json_reader_done(&reader);
}

static void check_route(struct cn_request *request, const char *accept)
{
    struct cn_served_list none = {0};
    struct cn_text text = {0};
    const char *type = NULL;
    unsigned status = 0;

    if (!cn_compat_is_address(request->path))
        return;
    request->json = (struct cn_json){.text = &text};
    cn_compat_answer_request(&none, request, accept, &status, &type);
    assert(status == 200 || status == 404);
    check_answer(&text, type);
    cn_text_done(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct cn_request *request = cn_alloc(1, sizeof(*request));
    struct cn_compat_call call = {
        .request = request, .accept = "", .now_ns = UINT64_C(1767225600000000000)};
    char *address = cn_alloc(len + 1, 1);
    const char *id;

    if (len > 0)
        memcpy(address, data, len);
    cn_request_parse(request, address);
    check_find(&call, cn_jaeger_parse);
    check_find(&call, cn_jaeger_parse_v3);
    check_find(&call, cn_zipkin_parse);
    check_tags(&call);
    check_times(&call);
    id = cn_compat_link_id(request->path);
    assert(!id || (strlen(id) > 0 && strlen(id) <= 32));
    check_route(request, len % 2 ? "application/protobuf" : "");
    free(address);
    free(request);
    return 0;
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    static const char *const seeds[] = {
        "/jaeger/api/traces?service=shop&operation=GET%20%2F&tags=%7B%22a%22:%22b%22,"
        "%22error%22:true%7D&tag=c:d&start=1700000000000000&end=1800000000000000&"
        "minDuration=1h2m3.5s&maxDuration=20ms&limit=20&lookback=1d",
        "/jaeger/0/api/v3/traces?query.service_name=a&query.start_time_min=2026-01-01T00:"
        "00:00Z&query.duration_max=5us&query.num_traces=7&query.attributes=%7B%7D",
        "/zipkin/api/v2/"
        "traces?serviceName=a&spanName=all&annotationQuery=error+and+a%3Db+"
        "and+cache%20miss&minDuration=5&maxDuration=70&endTs=1700000000000&lookback=1&"
        "remoteServiceName=x",
        "/tempo/api/"
        "search?tags=a%3Db+name%3D%22x+y%22+error%3Dtrue+n%3D1.5&start=1&end=2",
        "/api/metrics/query_range?q=%7B%7D&start=1700000000.5&step=1m30s&end=",
        "/api/v2/search/tag/span.a/values?q=%7B",
        "/api/services/a%2Fb/operations",
        "/zipkin/traces/5af7183fb1d4cf5f",
    };

    for (size_t i = 0; i < sizeof(seeds) / sizeof(*seeds); i++)
        emit((const uint8_t *)seeds[i], strlen(seeds[i]));
}
