/* Named values, some of them nested, printed as one JSON object or as CSV rows of key and
 * value, where "metrics.0.name" is the key of what JSON nests.
 *
 *     cn_facts_begin(&facts, args);
 *     cn_facts_u64(&facts, "thread_count", 16);
 *     cn_facts_array(&facts, "files");
 *     cn_facts_object(&facts, NULL);        elements of an array have no key
 *     ...
 *     cn_facts_end(&facts);                 the object
 *     cn_facts_end(&facts);                 the array
 *     cn_facts_finish(&facts);
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_PRINT_FACTS_H
#define CN_CLI_PRINT_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes/json.h"
#include "base/text.h"

struct cn_args;
struct cn_table;

enum { CN_FACTS_DEPTH_MAX = 8 };

struct cn_facts {
    const struct cn_args *args;
    struct cn_text text; /* JSON */
    struct cn_json json;
    struct cn_table *table; /* CSV; NULL for JSON */
    struct cn_text key;     /* of the innermost object or array, with its dot */
    size_t key_len[CN_FACTS_DEPTH_MAX];
    uint64_t element[CN_FACTS_DEPTH_MAX]; /* the next one of an array */
    unsigned depth;
};

/* Prints on stdout, as --format says: JSON or CSV. */
void cn_facts_begin(struct cn_facts *facts, const struct cn_args *args);

void cn_facts_object(struct cn_facts *facts, const char *key);
void cn_facts_array(struct cn_facts *facts, const char *key);
void cn_facts_end(struct cn_facts *facts); /* the innermost object or array */

void cn_facts_str(struct cn_facts *facts, const char *key, const char *value);
void cn_facts_u64(struct cn_facts *facts, const char *key, uint64_t value);
void cn_facts_bool(struct cn_facts *facts, const char *key, bool value);

void cn_facts_finish(struct cn_facts *facts);

#endif
