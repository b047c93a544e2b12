/* Folded stacks: a line "main;solve;dot 1234" for each stack, with the self cost of its
 * last function. In names, ';' is written as ':', and control characters as \xHH. */

#include <stdlib.h>

#include "base/alloc.h"
#include "base/bytes/utf8.h"
#include "formats/exchange/exchange.h"
#include "formats/exchange/read/readers.h"
#include "formats/exchange/write/stacks/stacks.h"

enum { NS_PER_US = 1000 };

struct folded_names {
    struct cn_text text;
    size_t *at; /* by function, and one for the end */
    uint64_t changed_count;
};

static void make_names(struct folded_names *names, const struct cn_stacks *stacks)
{
    names->at = cn_alloc(stacks->function_count + 1, sizeof(*names->at));
    for (size_t i = 0; i < stacks->function_count; i++) {
        const char *name = stacks->functions[i].name;
        size_t at = names->text.len;

        names->at[i] = at;
        cn_utf8_add_printable(&names->text, name);
        for (size_t k = at; k < names->text.len; k++)
            if (names->text.chars[k] == ';')
                names->text.chars[k] = ':';
        names->changed_count += strcmp(cn_text_str(&names->text) + at, name) != 0;
    }
    names->at[stacks->function_count] = names->text.len;
}

static bool write_stacks(struct cn_export *x, const struct cn_stacks *stacks,
                         uint64_t unit_ns, struct cn_error *err)
{
    struct folded_names names = {0};
    struct cn_text path = {0};
    size_t *end_at = NULL; /* of the path, by depth */
    size_t capacity = 0;
    bool ok = true;

    make_names(&names, stacks);
    for (size_t i = 0; i < stacks->count && ok; i++) {
        const struct cn_stack_node *node = &stacks->nodes[i];
        uint64_t value = cn_stack_self(node) / unit_ns;
        size_t at = names.at[node->function];

        if (node->is_root && value == 0)
            continue;
        CN_GROW(end_at, node->depth, capacity);
        path.len = node->depth > 0 ? end_at[node->depth - 1] : 0;
        if (path.len > 0)
            cn_text_char(&path, ';');
        cn_text_add(&path, names.text.chars + at, names.at[node->function + 1] - at);
        end_at[node->depth] = path.len;
        if (value == 0)
            continue;
        cn_text_add(&x->text, path.chars, path.len);
        cn_text_char(&x->text, ' ');
        cn_text_u64(&x->text, value);
        cn_text_char(&x->text, '\n');
        ok = cn_export_flush(x, err);
    }
    cn_export_lose(x, "names with ';' or control characters (replaced)",
                   names.changed_count);
    free(end_at);
    free(names.at);
    cn_text_done(&names.text);
    cn_text_done(&path);
    return ok;
}

static bool write_folded(struct cn_export *x, struct cn_error *err)
{
    uint64_t unit_ns = x->options->unit_ns;
    struct cn_stacks stacks;

    if (x->format == &cn_dump_flame_graph) {
        /* uftrace: a sample for every microsecond, or --sample-time. */
        unit_ns = unit_ns ? unit_ns : NS_PER_US;
        cn_stacks_of_samples(&stacks, x, unit_ns);
    } else if (!cn_stacks_of(&stacks, x, err)) {
        return false;
    }
    bool ok = write_stacks(x, &stacks, unit_ns ? unit_ns : 1, err);
    cn_stacks_done(&stacks);
    return ok;
}

const struct cn_format cn_format_folded = {
    .name = "folded",
    .summary = "folded stacks, one per line, the input of flame graph tools",
    .holds = "stacks",
    .is_file = true,
    .probe = cn_folded_probe,
    .open_database = cn_folded_open,
    .export_calls = write_folded,
    .export_database = write_folded,
};

const struct cn_format cn_dump_flame_graph = {
    .name = "flame-graph",
    .summary = "the output of uftrace dump --flame-graph",
    .holds = "stacks",
    .is_file = true,
    .export_calls = write_folded,
};
