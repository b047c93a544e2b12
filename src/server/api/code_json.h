/* Languages and kinds of code: of one item, or of many, as a table of those that occur and an index
 * for each item.
 * Threads: one thread at a time.
 */
#ifndef CN_SERVER_API_CODE_JSON_H
#define CN_SERVER_API_CODE_JSON_H

#include "analyze/lens/code.h"
#include "base/bytes/json.h"

/* A zeroed one is empty. */
struct cn_code_table {
    uint8_t number_of[CN_CODE_LANGUAGES][CN_CODE_KINDS]; /* 0: not yet */
    struct cn_code_class list[CN_CODE_LANGUAGES * CN_CODE_KINDS];
    size_t count;
};

/* Append "language" and "code" of one item; null without one. */
void cn_json_add_code(struct cn_json *json, const struct cn_code_class *code);

/* Append "codeReason": why it is of its kind; null without one. */
void cn_json_add_code_reason(struct cn_json *json, const struct cn_code_class *code);

/* Append the index of a code, added if it is new; null without one. */
void cn_json_code(struct cn_json *json, struct cn_code_table *table,
                  const struct cn_code_class *code);

/* Append "codes": the language and the kind of each. */
void cn_json_add_codes(struct cn_json *json, const struct cn_code_table *table);

#endif
