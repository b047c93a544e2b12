/* Zipkin v2 JSON: an array of spans. Times are microseconds, tags are strings. */

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes/json_reader.h"
#include "formats/exchange/traces/span_set.h"

enum { NS_DIGITS = 3, TYPE_LEN_MAX = 16 };

struct reading {
    struct cn_span_set *set;
    struct cn_json_reader json;
};

static struct cn_set_span *current(struct reading *r)
{
    return &r->set->spans[r->set->count - 1];
}

static bool read_tags(struct reading *r, struct cn_error *err)
{
    struct cn_json_token token;
    enum cn_json_kind kind;

    while ((kind = cn_json_next(&r->json, &token, err)) == CN_JSON_KEY) {
        uint32_t key = cn_span_set_keyword(r->set, token.text);

        current(r)->is_error = current(r)->is_error || cn_json_is(&token, "error");
        kind = cn_json_next(&r->json, &token, err);
        if (kind == CN_JSON_STRING)
            cn_span_set_attribute(r->set, key, cn_span_set_text(r->set, token.text));
        else if (!cn_json_skip(&r->json, kind, err))
            return false;
        else
            r->set->left_out++;
    }
    return kind == CN_JSON_OBJECT_END;
}

static bool read_endpoint(struct reading *r, bool is_local, struct cn_error *err)
{
    struct cn_json_token token;
    enum cn_json_kind kind;

    while ((kind = cn_json_next(&r->json, &token, err)) == CN_JSON_KEY) {
        char key[64];
        bool is_service = is_local && cn_json_is(&token, "serviceName");

        (void)snprintf(key, sizeof(key), "%sEndpoint.%.*s", is_local ? "local" : "remote",
                       (int)(token.text.len < 32 ? token.text.len : 32),
                       (const char *)token.text.ptr);
        kind = cn_json_next(&r->json, &token, err);
        if (is_service && kind == CN_JSON_STRING)
            current(r)->service = cn_span_set_keyword(r->set, token.text);
        else if (kind == CN_JSON_STRING || kind == CN_JSON_NUMBER)
            cn_span_set_attribute(r->set,
                                  cn_words_add_str(&r->set->words, CN_WORD_KEYWORD, key),
                                  cn_span_set_text(r->set, token.text));
        else if (!cn_json_skip(&r->json, kind, err))
            return false;
    }
    return kind == CN_JSON_OBJECT_END;
}

static bool bad(const struct cn_json_token *token, const char *what, struct cn_error *err)
{
    return cn_fail(err, CN_ERR_FORMAT, "JSON at %" PRIu64 ": '%.*s' is no %s", token->off,
                   (int)(token->text.len < 40 ? token->text.len : 40),
                   (const char *)token->text.ptr, what);
}

static bool read_id(const struct cn_json_token *token, uint64_t *high, uint64_t *low,
                    struct cn_error *err)
{
    return cn_span_id_parse(token->text, high, low) || bad(token, "id", err);
}

static bool read_time(const struct cn_json_token *token, uint64_t *out,
                      struct cn_error *err)
{
    int64_t value;

    if (!cn_json_as_scaled(token->text, NS_DIGITS, &value) || value < 0)
        return bad(token, "time", err);
    *out = (uint64_t)value;
    return true;
}

static void read_type(struct reading *r, struct cn_bytes text)
{
    char type[TYPE_LEN_MAX];
    size_t len = text.len < sizeof(type) ? text.len : sizeof(type);

    for (size_t i = 0; i < len; i++)
        type[i] = (char)tolower(text.ptr[i]);
    current(r)->type =
        cn_span_set_keyword(r->set, (struct cn_bytes){(const uint8_t *)type, len});
}

static bool read_text_field(struct reading *r, const char *key,
                            const struct cn_json_token *token, struct cn_error *err)
{
    struct cn_set_span *span = current(r);
    uint64_t ignored;

    if (strcmp(key, "traceId") == 0)
        return read_id(token, &span->trace_high, &span->trace_low, err);
    if (strcmp(key, "id") == 0)
        return read_id(token, &ignored, &span->id, err);
    if (strcmp(key, "parentId") == 0)
        return read_id(token, &ignored, &span->parent_id, err);
    if (strcmp(key, "timestamp") == 0)
        return read_time(token, &span->time_ns, err);
    if (strcmp(key, "duration") == 0)
        return read_time(token, &span->duration_ns, err);
    if (strcmp(key, "name") == 0)
        span->name = cn_words_add(&r->set->words, CN_WORD_METHOD_NAME, token->text);
    else if (strcmp(key, "kind") == 0)
        read_type(r, token->text);
    return true;
}

/* Things that happened in the span: their text is kept. */
static bool read_annotations(struct reading *r, struct cn_error *err)
{
    uint32_t key = cn_words_add_str(&r->set->words, CN_WORD_KEYWORD, "annotation");
    unsigned outside = r->json.depth - 1;
    struct cn_json_token token;

    while (r->json.depth > outside) {
        enum cn_json_kind kind = cn_json_next(&r->json, &token, err);

        if (kind == CN_JSON_FAIL)
            return false;
        if (kind == CN_JSON_KEY && cn_json_is(&token, "value")) {
            kind = cn_json_next(&r->json, &token, err);
            if (kind == CN_JSON_STRING)
                cn_span_set_attribute(r->set, key, cn_span_set_text(r->set, token.text));
        }
    }
    return true;
}

static bool read_field(struct reading *r, const char *key, struct cn_error *err)
{
    struct cn_json_token token;
    enum cn_json_kind kind = cn_json_next(&r->json, &token, err);

    if (kind == CN_JSON_STRING || kind == CN_JSON_NUMBER)
        return read_text_field(r, key, &token, err);
    if (kind == CN_JSON_TRUE && strcmp(key, "shared") == 0)
        current(r)->is_shared = true;
    if (kind == CN_JSON_OBJECT && strcmp(key, "tags") == 0)
        return read_tags(r, err);
    if (kind == CN_JSON_OBJECT && strcmp(key, "localEndpoint") == 0)
        return read_endpoint(r, true, err);
    if (kind == CN_JSON_OBJECT && strcmp(key, "remoteEndpoint") == 0)
        return read_endpoint(r, false, err);
    if (kind == CN_JSON_ARRAY && strcmp(key, "annotations") == 0)
        return read_annotations(r, err);
    return cn_json_skip(&r->json, kind, err);
}

static bool read_span(struct reading *r, struct cn_error *err)
{
    struct cn_json_token token;
    enum cn_json_kind kind;

    (void)cn_span_set_begin(r->set);
    while ((kind = cn_json_next(&r->json, &token, err)) == CN_JSON_KEY) {
        char key[32];

        (void)snprintf(key, sizeof(key), "%.*s",
                       (int)(token.text.len < sizeof(key) ? token.text.len : 31),
                       (const char *)token.text.ptr);
        if (!read_field(r, key, err))
            return false;
    }
    if (kind != CN_JSON_OBJECT_END)
        return false;
    if (current(r)->id == 0 || (current(r)->trace_high | current(r)->trace_low) == 0)
        return cn_fail(err, CN_ERR_FORMAT, "a span needs \"traceId\" and \"id\"");
    return true;
}

bool cn_zipkin_read(struct cn_span_set *set, struct cn_bytes body, struct cn_error *err)
{
    struct reading r = {.set = set, .json = cn_json_read(body)};
    struct cn_json_token token;
    enum cn_json_kind kind;
    bool ok = cn_json_expect(&r.json, CN_JSON_ARRAY, "an array of spans", err);

    while (ok && (kind = cn_json_next(&r.json, &token, err)) != CN_JSON_ARRAY_END) {
        if (kind == CN_JSON_OBJECT)
            ok = read_span(&r, err) || cn_fail_in(err, "span at %" PRIu64, token.off);
        else
            ok = kind != CN_JSON_FAIL &&
                 cn_fail(err, CN_ERR_FORMAT, "JSON at %" PRIu64 ": a span is an object",
                         token.off);
    }
    ok = ok && cn_json_next(&r.json, &token, err) == CN_JSON_END;
    cn_json_reader_done(&r.json);
    return ok;
}
