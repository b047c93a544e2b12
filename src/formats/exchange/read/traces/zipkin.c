/* Zipkin v2 JSON: an array of spans. Times are microseconds, tags are strings. */

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes/json_reader.h"
#include "formats/exchange/read/traces/span_links.h"
#include "formats/exchange/read/traces/span_set.h"
#include "model/traces/links.h"

enum { NS_DIGITS = 3, TYPE_LEN_MAX = 16 };

struct zipkin_reading {
    struct cn_span_set *set;
    struct cn_json_reader json;
    bool is_local; /* of the endpoint being read */
};

static void add_text(struct zipkin_reading *r, const char *key, struct cn_bytes text)
{
    cn_span_set_attribute(r->set, cn_words_add_str(&r->set->words, CN_WORD_KEYWORD, key),
                          cn_span_set_text(r->set, text));
}

static bool is_link(struct cn_bytes key)
{
    static const char prefix[] = "otlp.link.";

    return key.len >= sizeof(prefix) && memcmp(key.ptr, prefix, sizeof(prefix) - 1) == 0;
}

/* Tags have keys of any length. */
static bool read_tags(struct zipkin_reading *r, struct cn_error *err)
{
    struct cn_json_token token;
    enum cn_json_kind kind;

    while ((kind = cn_json_next(&r->json, &token, err)) == CN_JSON_KEY) {
        bool is_maybe_link = is_link(token.text);
        bool is_message = cn_json_is(&token, "status.message");
        uint32_t key = cn_span_set_keyword(r->set, token.text);

        if (cn_json_is(&token, "error"))
            cn_span_set_status(r->set, CN_STATUS_ERROR);
        kind = cn_json_next(&r->json, &token, err);
        if (is_maybe_link && kind == CN_JSON_STRING &&
            cn_span_set_link_tag(r->set, token.text))
            continue;
        if (kind == CN_JSON_STRING && is_message)
            cn_span_set_current(r->set)->span.status_message =
                cn_span_set_word(r->set, token.text);
        else if (kind == CN_JSON_STRING)
            cn_span_set_attribute(r->set, key, cn_span_set_text(r->set, token.text));
        else if (!cn_json_skip(&r->json, kind, err))
            return false;
    }
    return kind == CN_JSON_OBJECT_END;
}

static bool take_endpoint(void *arg, const struct cn_json_member *member,
                          struct cn_error *err)
{
    struct zipkin_reading *r = arg;
    char key[64];

    if (r->is_local && cn_json_key_is(member, "serviceName") &&
        member->kind == CN_JSON_STRING) {
        cn_span_set_current(r->set)->span.service =
            cn_span_set_keyword(r->set, member->token.text);
    } else if (member->kind == CN_JSON_STRING || member->kind == CN_JSON_NUMBER) {
        (void)snprintf(key, sizeof(key), "%sEndpoint.%.32s",
                       r->is_local ? "local" : "remote", member->key);
        add_text(r, key, member->token.text);
    }
    return cn_json_skip(&r->json, member->kind, err);
}

static bool take_id(const struct cn_json_member *member, uint64_t *high, uint64_t *low,
                    struct cn_error *err)
{
    return cn_span_id_parse(member->token.text, high, low) ||
           cn_json_fail(&member->token, "an id", err);
}

static bool take_time(const struct cn_json_member *member, uint64_t *out,
                      struct cn_error *err)
{
    int64_t value;

    if (!cn_json_as_scaled(member->token.text, NS_DIGITS, &value) || value < 0)
        return cn_json_fail(&member->token, "a time", err);
    *out = (uint64_t)value;
    return true;
}

static uint32_t type_of(struct zipkin_reading *r, struct cn_bytes text)
{
    char type[TYPE_LEN_MAX];
    size_t len = text.len < sizeof(type) ? text.len : sizeof(type);

    for (size_t i = 0; i < len; i++)
        type[i] = (char)tolower(text.ptr[i]);
    return cn_span_set_keyword(r->set, (struct cn_bytes){(const uint8_t *)type, len});
}

/* A string or a number. */
static bool take_scalar(struct zipkin_reading *r, const struct cn_json_member *member,
                        struct cn_error *err)
{
    struct cn_set_span *span = cn_span_set_current(r->set);
    uint64_t ignored;

    if (cn_json_key_is(member, "traceId"))
        return take_id(member, &span->trace_high, &span->trace_low, err);
    if (cn_json_key_is(member, "id"))
        return take_id(member, &ignored, &span->span.id, err);
    if (cn_json_key_is(member, "parentId"))
        return take_id(member, &ignored, &span->span.parent_id, err);
    if (cn_json_key_is(member, "timestamp"))
        return take_time(member, &span->span.time_ns, err);
    if (cn_json_key_is(member, "duration"))
        return take_time(member, &span->duration_ns, err);
    if (cn_json_key_is(member, "name"))
        span->name =
            cn_words_add(&r->set->words, CN_WORD_METHOD_NAME, member->token.text);
    else if (cn_json_key_is(member, "kind"))
        span->span.type = type_of(r, member->token.text);
    return true;
}

static bool take_annotation(void *arg, const struct cn_json_member *member,
                            struct cn_error *err)
{
    struct zipkin_reading *r = arg;

    if (cn_json_key_is(member, "value") && member->kind == CN_JSON_STRING) {
        uint32_t name = cn_span_set_word(r->set, member->token.text);

        cn_span_set_event(r->set)->name = name;
    }
    if (cn_json_key_is(member, "timestamp") &&
        (member->kind == CN_JSON_STRING || member->kind == CN_JSON_NUMBER) &&
        !take_time(member, &cn_span_set_event(r->set)->time_ns, err))
        return false;
    return cn_json_skip(&r->json, member->kind, err);
}

static bool read_annotation(void *arg, uint64_t off, struct cn_error *err)
{
    struct zipkin_reading *r = arg;

    (void)off;
    cn_span_set_event_begin(r->set)->is_annotation = true;
    if (!cn_json_read_object(&r->json, take_annotation, r, err))
        return false;
    cn_span_set_event_end(r->set);
    return true;
}

static bool take_span(void *arg, const struct cn_json_member *member,
                      struct cn_error *err)
{
    struct zipkin_reading *r = arg;
    bool is_object = member->kind == CN_JSON_OBJECT;

    if (member->kind == CN_JSON_STRING || member->kind == CN_JSON_NUMBER)
        return take_scalar(r, member, err);
    if (member->kind == CN_JSON_TRUE && cn_json_key_is(member, "shared"))
        cn_span_set_current(r->set)->is_shared = true;
    if (is_object && cn_json_key_is(member, "tags"))
        return read_tags(r, err);
    r->is_local = cn_json_key_is(member, "localEndpoint");
    if (is_object && (r->is_local || cn_json_key_is(member, "remoteEndpoint")))
        return cn_json_read_object(&r->json, take_endpoint, r, err);
    if (member->kind == CN_JSON_ARRAY && cn_json_key_is(member, "annotations"))
        return cn_json_read_objects(&r->json, read_annotation, r, err);
    return cn_json_skip(&r->json, member->kind, err);
}

static bool read_span(void *arg, uint64_t off, struct cn_error *err)
{
    struct zipkin_reading *r = arg;

    cn_span_set_begin(r->set);
    return (cn_json_read_object(&r->json, take_span, r, err) &&
            cn_span_set_end(r->set, err)) ||
           cn_fail_in(err, "span at %" PRIu64, off);
}

bool cn_zipkin_read(struct cn_span_set *set, struct cn_bytes body, struct cn_error *err)
{
    struct zipkin_reading r = {.set = set, .json = cn_json_read(body)};
    struct cn_json_token token;
    bool ok;

    set->skips_bad = false; /* its answers cannot say that spans were skipped */
    ok = cn_json_expect(&r.json, CN_JSON_ARRAY, "an array of spans", err) &&
         cn_json_read_objects(&r.json, read_span, &r, err) &&
         cn_json_next(&r.json, &token, err) == CN_JSON_END;
    cn_json_reader_done(&r.json);
    return ok;
}
