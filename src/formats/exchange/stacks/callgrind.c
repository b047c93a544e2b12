/* Callgrind's profile: for KCachegrind and callgrind_annotate. Functions with what they
 * cost themselves, and what each calls costs with all below. Names are written once
 * and then by number. */

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/bytes/utf8.h"
#include "formats/exchange/exchange.h"
#include "formats/exchange/stacks/functions.h"

/* Numbers of names that were written already, by name. */
struct numbers {
    struct cn_names names;
};

struct profile {
    struct cn_export *x;
    const struct cn_stacks *stacks;
    const struct cn_functions *functions;
    struct numbers objects, files;
    bool *is_named; /* by place */
};

static void add_numbered(struct cn_text *text, const char *key, struct numbers *numbers,
                         const char *name)
{
    size_t before = numbers->names.count;
    uint32_t number = cn_names_add(&numbers->names, name);

    cn_text_printf(text, "%s=(%" PRIu32 ")", key, number + 1);
    if (numbers->names.count > before) {
        cn_text_char(text, ' ');
        cn_utf8_add_printable(text, name[0] ? name : "???");
    }
    cn_text_char(text, '\n');
}

/* Functions of the same name in different modules are kept apart by their number. */
static void add_function(struct profile *p, const char *prefix, uint32_t place)
{
    const struct cn_stack_place *at = &p->stacks->places[place];
    struct cn_text *text = &p->x->text;

    add_numbered(text, prefix[0] ? "cob" : "ob", &p->objects, at->module);
    add_numbered(text, prefix[0] ? "cfi" : "fl", &p->files, at->file);
    cn_text_printf(text, "%sfn=(%" PRIu32 ")", prefix, place + 1);
    if (!p->is_named[place]) {
        cn_text_char(text, ' ');
        cn_utf8_add_printable(text, at->name);
        p->is_named[place] = true;
    }
    cn_text_char(text, '\n');
}

static bool add_cost(struct profile *p, uint32_t place, struct cn_error *err)
{
    const struct cn_function_cost *cost = &p->functions->list[place];
    const struct cn_stack_place *at = &p->stacks->places[place];
    struct cn_text *text = &p->x->text;

    cn_text_char(text, '\n');
    add_function(p, "", place);
    cn_text_printf(text, "%" PRIu32 " %" PRIu64 "\n", at->line,
                   cn_stack_value(cost->self));
    for (uint32_t i = cost->first_edge; i != CN_NONE; i = p->functions->edges[i].next) {
        const struct cn_call_edge *edge = &p->functions->edges[i];

        add_function(p, "c", edge->to);
        cn_text_printf(text, "calls=%" PRIu64 " %" PRIu32 "\n%" PRIu32 " %" PRIu64 "\n",
                       edge->calls, p->stacks->places[edge->to].line, at->line,
                       cn_stack_value(edge->total));
    }
    return cn_export_flush(p->x, err);
}

static void add_header(struct cn_export *x, const struct cn_stacks *stacks,
                       const struct cn_functions *functions)
{
    const char *command =
        x->db ? x->db->title : cn_recording_fact(x->query->rec, "cmdline");
    struct cn_text event = {0};

    /* Events are words. */
    cn_utf8_add_printable(&event, stacks->metric);
    for (size_t i = 0; i < event.len; i++)
        if (event.chars[i] == ' ' || event.chars[i] == ':')
            event.chars[i] = '_';
    cn_text_str_add(&x->text, "# callgrind format\nversion: 1\ncreator: cairn " CN_VERSION
                              "\ncmd: ");
    cn_utf8_add_printable(&x->text, command ? command : "");
    cn_text_printf(
        &x->text, "\npositions: line\nevent: %s : %s\nevents: %s\nsummary: %" PRIu64 "\n",
        cn_text_str(&event), stacks->unit, cn_text_str(&event),
        cn_stack_value(functions->total));
    cn_text_done(&event);
}

static bool write_profile(struct cn_export *x, struct cn_error *err)
{
    struct cn_functions functions;
    struct cn_stacks stacks;
    struct profile p = {.x = x, .stacks = &stacks, .functions = &functions};
    bool ok = true;

    if (!cn_stacks_of(&stacks, x, err))
        return false;
    cn_functions_build(&functions, &stacks, false);
    p.is_named = cn_alloc(stacks.place_count, sizeof(*p.is_named));
    add_header(x, &stacks, &functions);
    for (uint32_t i = 0; i < stacks.place_count && ok; i++) {
        const struct cn_function_cost *cost = &functions.list[i];

        if (cost->calls > 0 || cost->total > 0)
            ok = add_cost(&p, i, err);
    }
    cn_export_lose(x, "paths, of which only pairs of functions are kept", stacks.count);
    cn_names_done(&p.objects.names);
    cn_names_done(&p.files.names);
    free(p.is_named);
    cn_functions_done(&functions);
    cn_stacks_done(&stacks);
    return ok;
}

static bool write_calls(const struct cn_call_query *query, const char *path,
                        const struct cn_write_options *options, struct cn_error *err)
{
    return cn_export_calls(query, path, options, write_profile, false, err);
}

static bool write_database(struct cn_database *db, const char *path,
                           const struct cn_write_options *options, struct cn_error *err)
{
    return cn_export_database(db, path, options, write_profile, false, err);
}

const struct cn_format cn_format_callgrind = {
    .name = "callgrind",
    .summary = "profile for KCachegrind: functions, files, lines, who calls whom",
    .holds = "stacks",
    .is_file = true,
    .write_calls = write_calls,
    .write_database = write_database,
};
