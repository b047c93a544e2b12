/* Values of TraceQL as OTLP has them. */
#include <inttypes.h>
#include <stdio.h>

#include "base/bytes/json.h"
#include "base/text.h"
#include "server/compat/tempo/tempo.h"
#include "store/traceql/value.h"

static void add_printed(struct cn_json *json, const char *key,
                        const struct cn_tql_value *value)
{
    struct cn_text text = {0};

    cn_tql_print(value, &text);
    cn_json_add_str(json, key, cn_text_str(&text));
    cn_text_done(&text);
}

static void add_any(struct cn_json *json, const struct cn_tql_value *value);

static void add_array(struct cn_json *json, const struct cn_tql_value *value)
{
    cn_json_add_object(json, "arrayValue");
    cn_json_add_array(json, "values");
    for (uint32_t i = 0; i < value->count; i++)
        if (value->list[i].type != CN_TQL_LIST)
            add_any(json, &value->list[i]);
    cn_json_end(json);
    cn_json_end(json);
}

/* An AnyValue. Durations, states and kinds are texts, as in Tempo. */
static void add_any(struct cn_json *json, const struct cn_tql_value *value)
{
    char digits[24];

    cn_json_object(json);
    switch (value->type) {
    case CN_TQL_INT:
        (void)snprintf(digits, sizeof(digits), "%" PRId64, value->integer);
        cn_json_add_str(json, "intValue", digits);
        break;
    case CN_TQL_FLOAT:
        cn_json_add_f64(json, "doubleValue", value->real);
        break;
    case CN_TQL_BOOL:
        cn_json_add_bool(json, "boolValue", value->boolean);
        break;
    case CN_TQL_LIST:
        add_array(json, value);
        break;
    case CN_TQL_STRING:
        cn_json_key(json, "stringValue");
        cn_json_chars(json, (const char *)value->text.ptr, value->text.len);
        break;
    case CN_TQL_NIL:
        cn_json_add_str(json, "stringValue", "nil");
        break;
    case CN_TQL_DURATION:
    case CN_TQL_STATUS:
    case CN_TQL_KIND:
    case CN_TQL_ATTRIBUTE:
        add_printed(json, "stringValue", value);
        break;
    }
    cn_json_end(json);
}

void cn_tempo_add_attribute(struct cn_json *json, const char *key,
                            const struct cn_tql_value *value)
{
    cn_json_object(json);
    cn_json_add_str(json, "key", key);
    cn_json_key(json, "value");
    add_any(json, value);
    cn_json_end(json);
}

void cn_tempo_add_metrics(struct cn_json *json)
{
    cn_json_add_object(json, "metrics");
    cn_json_end(json);
}
