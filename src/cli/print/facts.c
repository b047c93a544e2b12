#include "cli/print/facts.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "cli/shell/cli.h"

void cn_facts_begin(struct cn_facts *facts, const struct cn_args *args)
{
    static const struct cn_column columns[] = {
        {.name = "key", .title = "KEY", .kind = CN_COLUMN_TEXT},
        {.name = "value", .title = "VALUE", .kind = CN_COLUMN_TEXT},
    };

    *facts = (struct cn_facts){.args = args};
    if (cn_cli_format(args) == CN_TABLE_CSV) {
        facts->table = cn_cli_table(args, columns, 2);
    } else {
        facts->json.text = &facts->text;
        cn_json_object(&facts->json);
    }
}

/* Append "name" or, in an array, the number of the element. */
static void add_key(struct cn_facts *facts, const char *key)
{
    if (key)
        cn_text_str_add(&facts->key, key);
    else
        cn_text_u64(&facts->key, facts->element[facts->depth]++);
}

static void nest(struct cn_facts *facts, const char *key)
{
    size_t len = facts->key.len;

    if (!facts->table && key)
        cn_json_key(&facts->json, key);
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
    if (!facts->table)
        cn_json_object(&facts->json);
}

void cn_facts_array(struct cn_facts *facts, const char *key)
{
    nest(facts, key);
    if (!facts->table)
        cn_json_array(&facts->json);
}

static void cut_key(struct cn_facts *facts, size_t len)
{
    facts->key.len = len;
    facts->key.chars[len] = '\0';
}

void cn_facts_end(struct cn_facts *facts)
{
    assert(facts->depth > 0);
    cut_key(facts, facts->key_len[facts->depth--]);
    if (!facts->table)
        cn_json_end(&facts->json);
}

static void add_row(struct cn_facts *facts, const char *key, const char *value)
{
    size_t len = facts->key.len;

    add_key(facts, key);
    cn_table_str(facts->table, cn_text_str(&facts->key));
    cn_table_str(facts->table, value);
    cn_table_end_row(facts->table);
    cut_key(facts, len);
}

void cn_facts_str(struct cn_facts *facts, const char *key, const char *value)
{
    if (facts->table) {
        add_row(facts, key, value);
        return;
    }
    if (key)
        cn_json_key(&facts->json, key);
    cn_json_str(&facts->json, value);
}

void cn_facts_u64(struct cn_facts *facts, const char *key, uint64_t value)
{
    char digits[24];

    if (facts->table) {
        (void)snprintf(digits, sizeof(digits), "%" PRIu64, value);
        add_row(facts, key, digits);
        return;
    }
    if (key)
        cn_json_key(&facts->json, key);
    cn_json_u64(&facts->json, value);
}

void cn_facts_bool(struct cn_facts *facts, const char *key, bool value)
{
    if (facts->table) {
        add_row(facts, key, value ? "true" : "false");
        return;
    }
    if (key)
        cn_json_key(&facts->json, key);
    cn_json_bool(&facts->json, value);
}

void cn_facts_finish(struct cn_facts *facts)
{
    if (facts->table) {
        cn_table_free(facts->table);
    } else {
        cn_json_end(&facts->json);
        cn_cli_print(facts->args, &facts->text);
    }
    cn_text_done(&facts->text);
    cn_text_done(&facts->key);
    *facts = (struct cn_facts){0};
}
