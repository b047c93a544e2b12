#include "server/otlp/outcome.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/bytes/json.h"
#include "base/text.h"
#include "formats/exchange/write/traces/otlp_response.h"

enum { RETRY_S = 1 };

#define TYPE_URL "type.googleapis.com/google.rpc."

void cn_otlp_outcome_fail(struct cn_otlp_outcome *outcome, enum cn_rpc_code code,
                          unsigned http_status, const char *fmt, ...)
{
    va_list args;

    *outcome = (struct cn_otlp_outcome){.code = code, .http_status = http_status};
    va_start(args, fmt);
    (void)vsnprintf(outcome->message, sizeof(outcome->message), fmt, args);
    va_end(args);
}

void cn_otlp_outcome_busy(struct cn_otlp_outcome *outcome)
{
    cn_otlp_outcome_fail(outcome, CN_RPC_RESOURCE_EXHAUSTED, 429,
                         "too many requests are waiting; try again in a second");
    outcome->retry_s = RETRY_S;
}

static void set_malformed(struct cn_otlp_outcome *outcome, const struct cn_error *err)
{
    switch (err->kind) {
    case CN_ERR_LIMIT:
        cn_otlp_outcome_fail(outcome, CN_RPC_RESOURCE_EXHAUSTED, 413, "%s", err->text);
        break;
    case CN_ERR_NO_MEMORY:
    case CN_ERR_BUSY:
        cn_otlp_outcome_fail(outcome, CN_RPC_UNAVAILABLE, 503, "%s", err->text);
        outcome->retry_s = RETRY_S;
        break;
    case CN_ERR_NONE:
    case CN_ERR_USAGE:
    case CN_ERR_IO:
    case CN_ERR_FORMAT:
    case CN_ERR_VERSION:
    case CN_ERR_NOT_FOUND:
    case CN_ERR_INTERRUPTED:
    case CN_ERR_REJECTED:
        cn_otlp_outcome_fail(outcome, CN_RPC_INVALID_ARGUMENT, 400, "%s", err->text);
        break;
    }
}

void cn_otlp_outcome_set(struct cn_otlp_outcome *outcome, enum cn_collected how,
                         uint64_t rejected, const struct cn_error *err)
{
    switch (how) {
    case CN_COLLECTED:
        cn_otlp_outcome_fail(outcome, CN_RPC_OK, 200, "%s",
                             rejected > 0 ? err->text : "");
        outcome->rejected = rejected;
        break;
    case CN_COLLECTED_NOT:
        set_malformed(outcome, err);
        break;
    case CN_COLLECTED_NOT_SAVED:
        cn_otlp_outcome_fail(outcome, CN_RPC_UNAVAILABLE, 503, "%s", err->text);
        outcome->retry_s = RETRY_S;
        break;
    }
}

static void add_retry(struct cn_pb *out, unsigned seconds)
{
    size_t any = cn_pb_open(out, cn_rpc_status_details), value, delay;

    cn_pb_str(out, cn_rpc_any_type_url, TYPE_URL "RetryInfo");
    value = cn_pb_open(out, cn_rpc_any_value);
    delay = cn_pb_open(out, cn_rpc_retry_info_retry_delay);
    cn_pb_u64(out, cn_rpc_duration_seconds, seconds);
    cn_pb_close(out, delay);
    cn_pb_close(out, value);
    cn_pb_close(out, any);
}

static void add_violation(struct cn_pb *out, const char *text)
{
    size_t any = cn_pb_open(out, cn_rpc_status_details), value, violation;

    cn_pb_str(out, cn_rpc_any_type_url, TYPE_URL "BadRequest");
    value = cn_pb_open(out, cn_rpc_any_value);
    violation = cn_pb_open(out, cn_rpc_bad_request_field_violations);
    cn_pb_str(out, cn_rpc_field_violation_description, text);
    cn_pb_close(out, violation);
    cn_pb_close(out, value);
    cn_pb_close(out, any);
}

static void add_status(const struct cn_otlp_outcome *outcome, struct cn_pb *out)
{
    cn_pb_u64(out, cn_rpc_status_code, outcome->code);
    cn_pb_str(out, cn_rpc_status_message, outcome->message);
    if (outcome->retry_s > 0)
        add_retry(out, outcome->retry_s);
    if (outcome->code == CN_RPC_INVALID_ARGUMENT)
        add_violation(out, outcome->message);
}

static void add_retry_json(struct cn_json *json, unsigned seconds)
{
    char delay[16];

    (void)snprintf(delay, sizeof(delay), "%us", seconds);
    cn_json_key(json, "details");
    cn_json_array(json);
    cn_json_object(json);
    cn_json_key(json, "@type");
    cn_json_str(json, TYPE_URL "RetryInfo");
    cn_json_key(json, "retryDelay");
    cn_json_str(json, delay);
    cn_json_end(json);
    cn_json_end(json);
}

static void add_status_json(const struct cn_otlp_outcome *outcome, struct cn_text *out)
{
    struct cn_json json = {.text = out};

    cn_json_object(&json);
    cn_json_key(&json, "code");
    cn_json_u64(&json, outcome->code);
    cn_json_key(&json, "message");
    cn_json_str(&json, outcome->message);
    if (outcome->retry_s > 0)
        add_retry_json(&json, outcome->retry_s);
    cn_json_end(&json);
}

void cn_otlp_outcome_body(const struct cn_otlp_outcome *outcome, bool is_json,
                          struct cn_text *out)
{
    struct cn_pb message = {0};

    if (outcome->code == CN_RPC_OK)
        cn_otlp_response(out, is_json, outcome->rejected, outcome->message);
    else if (is_json)
        add_status_json(outcome, out);
    else
        add_status(outcome, &message);
    cn_text_add(out, (const char *)message.bytes, message.len);
    cn_pb_done(&message);
}
