#include "cli/print/facts.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/bytes/csv.h"

void cn_facts_begin(struct cn_facts *facts, enum cn_table_format format)
{
    *facts = (struct cn_facts){.is_csv = format == CN_TABLE_CSV};
    facts->json.text = &facts->text;
    if (facts->is_csv)
        cn_text_str_add(&facts->text, "key,value\n");
    else
        cn_json_object(&facts->json);
}

/* Append the key or, in an array, the index of the element. */
static void add_key(struct cn_facts *facts, const char *key)
{
    if (key)
        cn_text_str_add(&facts->key, key);
    else
        cn_text_u64(&facts->key, facts->element[facts->depth]++);
}

static void cut_key(struct cn_facts *facts, size_t len)
{
    facts->key.len = len;
    facts->key.chars[len] = '\0';
}

/* Begin a JSON value; false for CSV. */
static bool begin_json(struct cn_facts *facts, const char *key)
{
    if (!facts->is_csv && key)
        cn_json_key(&facts->json, key);
    return !facts->is_csv;
}

static void nest(struct cn_facts *facts, const char *key)
{
    size_t len = facts->key.len;

    add_key(facts, key);
    cn_text_char(&facts->key, '.');
    facts->depth++;
    assert(facts->depth < CN_FACTS_DEPTH_MAX);
    facts->key_len[facts->depth] = len;
    facts->element[facts->depth] = 0;
}

void cn_facts_object(struct cn_facts *facts, const char *key)
{
    nest(facts, key);
    if (begin_json(facts, key))
        cn_json_object(&facts->json);
}

void cn_facts_array(struct cn_facts *facts, const char *key)
{
    nest(facts, key);
    if (begin_json(facts, key))
        cn_json_array(&facts->json);
}

void cn_facts_end(struct cn_facts *facts)
{
    assert(facts->depth > 0);
    cut_key(facts, facts->key_len[facts->depth--]);
    if (!facts->is_csv)
        cn_json_end(&facts->json);
}

static void add_row(struct cn_facts *facts, const char *key, const char *value)
{
    size_t len = facts->key.len;

    add_key(facts, key);
    cn_csv_add(&facts->text, cn_text_str(&facts->key));
    cn_text_char(&facts->text, ',');
    cn_csv_add(&facts->text, value);
    cn_text_char(&facts->text, '\n');
    cut_key(facts, len);
}

void cn_facts_str(struct cn_facts *facts, const char *key, const char *value)
{
    if (begin_json(facts, key))
        cn_json_str(&facts->json, value);
    else
        add_row(facts, key, value);
}

void cn_facts_u64(struct cn_facts *facts, const char *key, uint64_t value)
{
    char digits[24];

    (void)snprintf(digits, sizeof(digits), "%" PRIu64, value);
    if (begin_json(facts, key))
        cn_json_u64(&facts->json, value);
    else
        add_row(facts, key, digits);
}

void cn_facts_bool(struct cn_facts *facts, const char *key, bool value)
{
    if (begin_json(facts, key))
        cn_json_bool(&facts->json, value);
    else
        add_row(facts, key, value ? "true" : "false");
}

void cn_facts_finish(struct cn_facts *facts)
{
    if (!facts->is_csv)
        cn_json_end(&facts->json);
}

void cn_facts_done(struct cn_facts *facts)
{
    cn_text_done(&facts->text);
    cn_text_done(&facts->key);
}
