/* Callgrind profile, for KCachegrind and callgrind_annotate: the self cost of each
 * function, and the total cost of each function it calls. Each name is written once and
 * then referenced by number. */

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/bytes/utf8.h"
#include "base/map.h"
#include "formats/exchange/exchange.h"
#include "formats/exchange/read/readers.h"
#include "formats/exchange/write/stacks/functions.h"

struct callgrind_profile {
    struct cn_export *x;
    struct cn_functions functions;
    struct cn_names objects, files; /* that were written */
    bool *is_named;                 /* by function */
};

static void add_numbered(struct cn_text *text, const char *key, struct cn_names *names,
                         const char *name)
{
    size_t before = names->count;
    uint32_t number = cn_names_add(names, name);

    cn_text_printf(text, "%s=(%" PRIu32 ")", key, number + 1);
    if (names->count > before) {
        cn_text_char(text, ' ');
        cn_utf8_add_printable(text, name[0] ? name : "???");
    }
    cn_text_char(text, '\n');
}

/* The number of a function tells apart functions of the same name. */
static void add_function(struct callgrind_profile *p, const char *prefix, uint32_t index)
{
    const struct cn_stack_function *function = &p->functions.stacks.functions[index];
    struct cn_text *text = &p->x->text;

    add_numbered(text, prefix[0] ? "cob" : "ob", &p->objects, function->module);
    add_numbered(text, prefix[0] ? "cfi" : "fl", &p->files, function->file);
    cn_text_printf(text, "%sfn=(%" PRIu32 ")", prefix, index + 1);
    if (!p->is_named[index]) {
        cn_text_char(text, ' ');
        cn_utf8_add_printable(text, function->name);
        p->is_named[index] = true;
    }
    cn_text_char(text, '\n');
}

static bool add_cost(struct callgrind_profile *p, uint32_t index, struct cn_error *err)
{
    const struct cn_functions *functions = &p->functions;
    const struct cn_stack_function *list = functions->stacks.functions;
    const struct cn_function_cost *cost = &functions->costs[index];
    struct cn_text *text = &p->x->text;

    cn_text_char(text, '\n');
    add_function(p, "", index);
    cn_text_printf(text, "%" PRIu32 " %" PRIu64 "\n", list[index].line,
                   cn_stack_value(cost->self));
    for (uint32_t i = cost->first_edge; i != CN_NONE; i = functions->edges[i].next) {
        const struct cn_call_edge *edge = &functions->edges[i];

        add_function(p, "c", edge->to);
        cn_text_printf(text, "calls=%" PRIu64 " %" PRIu32 "\n%" PRIu32 " %" PRIu64 "\n",
                       edge->calls, list[edge->to].line, list[index].line,
                       cn_stack_value(edge->total));
    }
    return cn_export_flush(p->x, err);
}

static void add_description(void *arg, const char *name, const char *text)
{
    struct cn_text *out = arg;

    cn_text_printf(out, "desc: %s: ", name);
    cn_utf8_add_printable(out, text);
    cn_text_char(out, '\n');
}

static void add_header(struct cn_export *x, const struct cn_functions *functions)
{
    const char *command =
        x->db ? x->db->title : cn_recording_fact(x->query->rec, "cmdline");
    struct cn_text event = {0};

    /* The name of an event is one word. */
    cn_utf8_add_printable(&event, functions->stacks.metric);
    for (size_t i = 0; i < event.len; i++)
        if (event.chars[i] == ' ' || event.chars[i] == ':')
            event.chars[i] = '_';
    cn_text_str_add(&x->text, "# callgrind format\nversion: 1\ncreator: cairn " CN_VERSION
                              "\ncmd: ");
    cn_utf8_add_printable(&x->text, command ? command : "");
    cn_text_char(&x->text, '\n');
    cn_export_header(x, add_description, &x->text);
    cn_text_printf(&x->text,
                   "positions: line\nevent: %s : %s\nevents: %s\nsummary: %" PRIu64 "\n",
                   cn_text_str(&event), functions->stacks.unit, cn_text_str(&event),
                   cn_stack_value(functions->total));
    cn_text_done(&event);
}

static bool write_profile(struct cn_export *x, struct cn_error *err)
{
    struct callgrind_profile p = {.x = x};
    bool ok = true;

    if (!cn_functions_of(&p.functions, x, err))
        return false;
    p.is_named = cn_alloc(p.functions.stacks.function_count, sizeof(*p.is_named));
    add_header(x, &p.functions);
    for (uint32_t i = 0; i < p.functions.stacks.function_count && ok; i++)
        ok = !p.functions.costs[i].is_used || add_cost(&p, i, err);
    cn_names_done(&p.objects);
    cn_names_done(&p.files);
    free(p.is_named);
    cn_functions_done(&p.functions);
    return ok;
}

const struct cn_format cn_format_callgrind = {
    .name = "callgrind",
    .summary = "profile for KCachegrind: functions, files, lines, callers and callees",
    .holds = "stacks",
    .is_file = true,
    .probe = cn_callgrind_probe,
    .open_database = cn_callgrind_open,
    .export_calls = write_profile,
    .export_database = write_profile,
};
