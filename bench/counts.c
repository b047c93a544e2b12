/* How many calls do our own parts need for a fixed amount of work? bench/counts records this
 * program, built with calls to record, and cairn gate checks the numbers: they do not depend on
 * the machine, the compiler or its options. */

#include <stdio.h>
#include <stdlib.h>

#include "base/bytes/json.h"
#include "base/bytes/json_reader.h"
#include "base/map.h"
#include "base/regex.h"
#include "base/text.h"

enum { NAMES = 1000, KEYS = 2000 };

static void number_names(struct cn_names *names)
{
    char name[64];

    for (unsigned i = 0; i < 2 * NAMES; i++) {
        (void)snprintf(name, sizeof(name), "com.example.Service%u.call(int)", i % NAMES);
        if (cn_names_add(names, name) != i % NAMES)
            abort();
    }
}

static void fill_map(void)
{
    struct cn_map map = {0};

    for (uint64_t i = 0; i < 2 * KEYS; i++)
        *cn_map_at(&map, i % KEYS * 4096, 0) += 1;
    for (uint64_t i = 0; i < KEYS; i++)
        if (cn_map_find(&map, i * 4096, 0) != 2)
            abort();
    cn_map_done(&map);
}

static void write_json(struct cn_text *text, const struct cn_names *names)
{
    struct cn_json json = {.text = text};

    cn_json_array(&json);
    for (unsigned i = 0; i < NAMES; i++) {
        cn_json_object(&json);
        cn_json_add_str(&json, "name", names->list[i]);
        cn_json_add_u64(&json, "calls", i);
        cn_json_end(&json);
    }
    cn_json_end(&json);
}

/* Tokens of an object: two keys, two values, two braces. */
static void read_json(const struct cn_text *text)
{
    struct cn_json_reader reader =
        cn_json_read((struct cn_bytes){(const uint8_t *)text->chars, text->len});
    struct cn_json_token token;
    struct cn_error err;

    for (unsigned i = 0; i < 6 * NAMES + 2; i++)
        if (!cn_json_next(&reader, &token, &err))
            abort();
    cn_json_reader_done(&reader);
}

static void match_names(const struct cn_names *names)
{
    struct cn_regex *regex;
    struct cn_error err;
    unsigned found = 0;

    if (!cn_regex_new(&regex, "Service[0-9]*7\\.", 0, &err))
        abort();
    for (unsigned i = 0; i < NAMES; i++)
        found += cn_regex_matches(regex, names->list[i], strlen(names->list[i]));
    if (found != NAMES / 10)
        abort();
    cn_regex_free(regex);
}

int main(void)
{
    struct cn_names names = {0};
    struct cn_text text = {0};

    number_names(&names);
    fill_map();
    write_json(&text, &names);
    read_json(&text);
    match_names(&names);
    cn_text_done(&text);
    cn_names_done(&names);
    return 0;
}
