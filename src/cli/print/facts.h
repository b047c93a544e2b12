/* Named values, possibly nested, as one JSON object or as CSV rows of key and value, where
 * the key of a nested value is its path: "metrics.0.name".
 *
 *     cn_facts_begin(&facts, cn_cli_format(args));
 *     cn_facts_u64(&facts, "thread_count", 16);
 *     cn_facts_array(&facts, "files");
 *     cn_facts_object(&facts, NULL);        elements of an array have no key
 *     cn_facts_str(&facts, "name", "meta.db");
 *     cn_facts_end(&facts);                 the object
 *     cn_facts_end(&facts);                 the array
 *     cn_cli_print_facts(args, &facts);
 *
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_PRINT_FACTS_H
#define CN_CLI_PRINT_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes/json.h"
#include "base/text.h"
#include "cli/print/table.h"

enum { CN_FACTS_DEPTH_MAX = 8 };

struct cn_facts {
    bool is_csv;
    struct cn_text text; /* the document */
    struct cn_json json;
    struct cn_text key; /* of the innermost object or array, with its dot */
    size_t key_len[CN_FACTS_DEPTH_MAX];
    uint64_t element[CN_FACTS_DEPTH_MAX]; /* index of an array's next element */
    unsigned depth;
};

/* `format` is CN_TABLE_JSON or CN_TABLE_CSV. */
void cn_facts_begin(struct cn_facts *facts, enum cn_table_format format);

void cn_facts_object(struct cn_facts *facts, const char *key);
void cn_facts_array(struct cn_facts *facts, const char *key);
void cn_facts_end(struct cn_facts *facts); /* the innermost object or array */

void cn_facts_str(struct cn_facts *facts, const char *key, const char *value);
void cn_facts_u64(struct cn_facts *facts, const char *key, uint64_t value);
void cn_facts_bool(struct cn_facts *facts, const char *key, bool value);

void cn_facts_finish(struct cn_facts *facts); /* `text` is complete */
void cn_facts_done(struct cn_facts *facts);

#endif
