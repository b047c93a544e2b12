/* Folded stacks: a line for each stack, "main;solve;dot 1234", with what was spent in
 * its last function itself. Semicolons, line ends and other control characters in
 * names cannot be written and appear as ':' and \xHH. */

#include <stdlib.h>

#include "base/alloc.h"
#include "base/bytes/utf8.h"
#include "formats/exchange/exchange.h"
#include "formats/exchange/read/readers.h"
#include "formats/exchange/stacks/stacks.h"

enum { US_NS = 1000 };

struct names {
    struct cn_text text;
    size_t *at; /* by place; one more than places */
    uint64_t changed_count;
};

static void make_names(struct names *names, const struct cn_stacks *stacks)
{
    names->at = cn_alloc(stacks->place_count + 1, sizeof(*names->at));
    for (size_t i = 0; i < stacks->place_count; i++) {
        size_t at = names->text.len;

        names->at[i] = at;
        cn_utf8_add_printable(&names->text, stacks->places[i].name);
        for (size_t k = at; k < names->text.len; k++)
            if (names->text.chars[k] == ';')
                names->text.chars[k] = ':';
        names->changed_count +=
            strcmp(cn_text_str(&names->text) + at, stacks->places[i].name) != 0;
    }
    names->at[stacks->place_count] = names->text.len;
}

static void add_name(struct cn_text *to, const struct names *names, uint32_t place)
{
    cn_text_add(to, names->text.chars + names->at[place],
                names->at[place + 1] - names->at[place]);
}

static bool write_stacks(struct cn_export *x, const struct cn_stacks *stacks,
                         struct cn_error *err)
{
    uint64_t unit = x->options->unit_ns ? x->options->unit_ns : 1;
    struct names names = {0};
    struct cn_text path = {0};
    size_t *end_at = NULL; /* of the path, by depth */
    size_t capacity = 0;
    bool ok = true;

    make_names(&names, stacks);
    for (size_t i = 0; i < stacks->count && ok; i++) {
        const struct cn_stack_node *node = &stacks->nodes[i];
        uint64_t value = cn_stack_value(node->self) / unit;

        if (node->is_root)
            continue;
        end_at = cn_grow(end_at, node->depth, &capacity, sizeof(*end_at));
        path.len = node->depth > 0 ? end_at[node->depth - 1] : 0;
        if (path.len > 0)
            cn_text_char(&path, ';');
        add_name(&path, &names, node->place);
        end_at[node->depth] = path.len;
        if (value == 0)
            continue;
        cn_text_add(&x->text, path.chars, path.len);
        cn_text_char(&x->text, ' ');
        cn_text_u64(&x->text, value);
        cn_text_char(&x->text, '\n');
        ok = cn_export_flush(x, err);
    }
    cn_export_lose(x, "names with ';' or control characters, which were replaced",
                   names.changed_count);
    free(end_at);
    free(names.at);
    cn_text_done(&names.text);
    cn_text_done(&path);
    return ok;
}

static bool write_folded(struct cn_export *x, struct cn_error *err)
{
    struct cn_stacks stacks;
    bool ok;

    if (!cn_stacks_of(&stacks, x, err))
        return false;
    ok = write_stacks(x, &stacks, err);
    cn_stacks_done(&stacks);
    return ok;
}

static bool write_calls(const struct cn_call_query *query, const char *path,
                        const struct cn_write_options *options, struct cn_error *err)
{
    return cn_export_calls(query, path, options, write_folded, false, err);
}

static bool write_database(struct cn_database *db, const char *path,
                           const struct cn_write_options *options, struct cn_error *err)
{
    return cn_export_database(db, path, options, write_folded, false, err);
}

static bool write_apart(struct cn_export *x, struct cn_error *err)
{
    struct cn_stacks stacks;
    bool ok;

    if (!cn_stacks_of_samples(&stacks, x, x->options->unit_ns, err))
        return false;
    ok = write_stacks(x, &stacks, err);
    cn_stacks_done(&stacks);
    return ok;
}

/* As uftrace does: a sample for every microsecond unless --sample-time says more or
 * less, and forked tasks on their own. */
static bool dump_calls(const struct cn_call_query *query, const char *path,
                       const struct cn_write_options *options, struct cn_error *err)
{
    struct cn_write_options own = *options;

    if (own.unit_ns == 0)
        own.unit_ns = US_NS;
    return cn_export_calls(query, path, &own, write_apart, false, err);
}

const struct cn_format cn_format_folded = {
    .name = "folded",
    .summary = "folded stacks, a line each: what flame graphs are made of",
    .holds = "stacks",
    .is_file = true,
    .probe = cn_folded_probe,
    .open_database = cn_folded_open,
    .write_calls = write_calls,
    .write_database = write_database,
};

const struct cn_format cn_dump_flame_graph = {
    .name = "flame-graph",
    .summary = "as uftrace dump --flame-graph",
    .holds = "stacks",
    .is_file = true,
    .write_calls = dump_calls,
};
