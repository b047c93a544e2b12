#include "server/api/code_json.h"

void cn_json_add_code(struct cn_json *json, const struct cn_code_class *code)
{
    cn_json_add_str(json, "language",
                    code ? cn_code_language_name(code->language) : NULL);
    cn_json_add_str(json, "code", code ? cn_code_kind_name(code->kind) : NULL);
}

void cn_json_add_code_reason(struct cn_json *json, const struct cn_code_class *code)
{
    cn_json_add_str(json, "codeReason", code ? cn_code_reason(code) : NULL);
}

void cn_json_code(struct cn_json *json, struct cn_code_table *table,
                  const struct cn_code_class *code)
{
    if (!code) {
        cn_json_null(json);
        return;
    }
    uint8_t *number = &table->number_of[code->language][code->kind];
    if (*number == 0) {
        table->list[table->count] = *code;
        *number = (uint8_t)++table->count;
    }
    cn_json_u64(json, (uint64_t)*number - 1);
}

void cn_json_add_codes(struct cn_json *json, const struct cn_code_table *table)
{
    cn_json_add_array(json, "codes");
    for (size_t i = 0; i < table->count; i++) {
        cn_json_array(json);
        cn_json_str(json, cn_code_language_name(table->list[i].language));
        cn_json_str(json, cn_code_kind_name(table->list[i].kind));
        cn_json_end(json);
    }
    cn_json_end(json);
}
