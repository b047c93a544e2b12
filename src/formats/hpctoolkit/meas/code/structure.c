/* .hpcstruct files: LM > F > P > (L | A | S | C)*, where A elements come in pairs.
 *
 * The outer A of a pair is the call site of an inlined function, the inner A the function.
 * A pair becomes a line scope and, below it, a function scope with the relation
 * "inlined call".
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "formats/hpctoolkit/meas/code/structure.h"
#include "formats/hpctoolkit/meas/format.h"
#include "formats/hpctoolkit/xml_events.h"

enum structure_element {
    ELEMENT_ROOT,
    ELEMENT_LM,
    ELEMENT_F,
    ELEMENT_P,
    ELEMENT_L,
    ELEMENT_A_CALL,    /* the call site */
    ELEMENT_A_INLINED, /* the inlined function */
    ELEMENT_S,         /* or C */
};

/* An open element. */
struct structure_level {
    enum structure_element element;
    uint32_t scope; /* the innermost; CN_NONE outside functions */
    uint32_t file;  /* the current one; CN_NONE before the first */
    uint32_t line;  /* of ELEMENT_A_CALL */
};

struct structure_reader {
    struct cn_hpc_structures *structures;
    struct cn_hpc_tables *tables;
    struct structure_level *levels;
    size_t depth, capacity;
};

struct attributes {
    const char *name, *file, *line, *ranges;
    const char *target;    /* of a call; NULL: unknown */
    const char *has_calls; /* of a module */
};

static struct cn_hpc_structure *current(const struct structure_reader *r)
{
    return &r->structures->list[r->structures->count - 1];
}

static struct structure_level *top(const struct structure_reader *r)
{
    return &r->levels[r->depth - 1];
}

static void read_attributes(const char **given, struct attributes *out)
{
    *out = (struct attributes){"", "", "", "{}", NULL, "0"};
    for (size_t i = 0; given[i]; i += 2) {
        const char *name = given[i];

        if (strcmp(name, "n") == 0)
            out->name = given[i + 1];
        else if (strcmp(name, "f") == 0)
            out->file = given[i + 1];
        else if (strcmp(name, "l") == 0)
            out->line = given[i + 1];
        else if (strcmp(name, "v") == 0)
            out->ranges = given[i + 1];
        else if (strcmp(name, "t") == 0)
            out->target = given[i + 1];
        else if (strcmp(name, "has-calls") == 0)
            out->has_calls = given[i + 1];
    }
}

static uint32_t parse_line(const char *text)
{
    uint64_t line = strtoull(text, NULL, 10);

    return line < UINT32_MAX ? (uint32_t)line : 0;
}

/* "0x1f" at the front of *text, which advances past it. */
static bool parse_address(const char **text, uint64_t *out)
{
    const char *at = *text;
    uint64_t value = 0;
    size_t digits = 0;

    if (at[0] == '0' && (at[1] == 'x' || at[1] == 'X'))
        at += 2;
    for (;; at++, digits++) {
        unsigned digit = *at >= '0' && *at <= '9'   ? (unsigned)(*at - '0')
                         : *at >= 'a' && *at <= 'f' ? (unsigned)(*at - 'a') + 10
                         : *at >= 'A' && *at <= 'F' ? (unsigned)(*at - 'A') + 10
                                                    : 16;

        if (digit == 16)
            break;
        value = value << 4 | digit;
    }
    if (digits == 0 || digits > 16)
        return false;
    *text = at;
    *out = value;
    return true;
}

/* The next "[0xLO-0xHI)" of a list in braces; CN_END after the last. */
static enum cn_step next_range(const char **text, uint64_t *begin, uint64_t *end)
{
    const char *at = *text;

    while (*at == '{' || *at == ' ' || *at == ',')
        at++;
    if (*at == '}')
        return CN_END;
    if (*at++ != '[' || !parse_address(&at, begin) || *at++ != '-' ||
        !parse_address(&at, end) || *at++ != ')' || *begin > *end)
        return CN_FAIL;
    *text = at;
    return CN_ITEM;
}

static bool push(struct structure_reader *r, struct structure_level level)
{
    CN_PUSH(r->levels, r->depth, r->capacity, level);
    return true;
}

static uint32_t add_scope(const struct structure_reader *r, uint32_t parent,
                          struct cn_code_scope scope)
{
    struct cn_hpc_structure *s = current(r);
    uint32_t depth = parent == CN_NONE ? 0 : s->scopes[parent].depth + 1;

    CN_GROW(s->scopes, s->scope_count, s->scope_capacity);
    scope.module = CN_NONE;
    s->scopes[s->scope_count] = (struct cn_hpc_scope){scope, parent, depth};
    return (uint32_t)s->scope_count++;
}

static uint32_t add_line(const struct structure_reader *r, uint32_t parent, uint32_t file,
                         uint32_t line)
{
    return add_scope(r, parent,
                     (struct cn_code_scope){.kind = CN_CONTEXT_LINE,
                                            .relation = CN_LEXICAL,
                                            .function = CN_NONE,
                                            .file = file,
                                            .line = line});
}

static bool begin_module(struct structure_reader *r, const struct attributes *a,
                         struct cn_error *err)
{
    struct cn_hpc_structures *s = r->structures;

    if (top(r)->element != ELEMENT_ROOT)
        return cn_fail(err, CN_ERR_FORMAT, "module '%.100s' inside a module", a->name);
    CN_PUSH(s->list, s->count, s->capacity,
            (struct cn_hpc_structure){
                .path = cn_arena_strdup(&s->arena, a->name),
                .graph.is_complete = strcmp(a->has_calls, "1") == 0,
            });
    return push(r, (struct structure_level){ELEMENT_LM, CN_NONE, CN_NONE, 0});
}

static bool begin_file(struct structure_reader *r, const struct attributes *a,
                       struct cn_error *err)
{
    if (top(r)->element != ELEMENT_LM)
        return cn_fail(err, CN_ERR_FORMAT, "file '%.100s' outside a module", a->name);
    return push(r, (struct structure_level){ELEMENT_F, CN_NONE,
                                            cn_hpc_tables_file(r->tables, a->name), 0});
}

static bool begin_function(struct structure_reader *r, const struct attributes *a,
                           struct cn_error *err)
{
    const char *ranges = a->ranges;
    struct structure_level parent = *top(r);
    uint64_t begin, end;
    struct cn_function function = {.name = a->name,
                                   .module = CN_NONE,
                                   .file = parent.file,
                                   .line = parse_line(a->line)};
    struct cn_code_scope scope = {
        .kind = CN_CONTEXT_FUNCTION, .relation = CN_CALL, .file = CN_NONE};

    if (parent.element != ELEMENT_F && parent.element != ELEMENT_LM)
        return cn_fail(err, CN_ERR_FORMAT, "function '%.100s' inside a function",
                       a->name);
    if (next_range(&ranges, &begin, &end) != CN_ITEM || end - begin != 1 ||
        next_range(&ranges, &end, &end) != CN_END)
        return cn_fail(err, CN_ERR_FORMAT,
                       "function '%.100s' has no entry of one byte: '%.60s'", a->name,
                       a->ranges);
    function.offset = begin;
    scope.function = cn_hpc_tables_add_function(r->tables, function);
    /* The entry address identifies a function. */
    if (!cn_hpc_call_graph_add_function(&current(r)->graph, begin, scope.function))
        return cn_fail(err, CN_ERR_FORMAT, "two functions with the entry 0x%" PRIx64,
                       begin);
    return push(r, (struct structure_level){ELEMENT_P, add_scope(r, CN_NONE, scope),
                                            parent.file, 0});
}

static uint32_t own_file(const struct structure_reader *r, const struct attributes *a)
{
    return a->file[0] ? cn_hpc_tables_file(r->tables, a->file) : top(r)->file;
}

static bool begin_loop(struct structure_reader *r, const struct attributes *a,
                       struct cn_error *err)
{
    const char *ranges = a->ranges;
    struct cn_code_scope scope = {
        .kind = CN_CONTEXT_LOOP,
        .relation = CN_LEXICAL,
        .function = CN_NONE,
        .file = own_file(r, a),
        .line = parse_line(a->line),
    };
    uint64_t end;

    if (top(r)->scope == CN_NONE || scope.file == CN_NONE)
        return cn_fail(err, CN_ERR_FORMAT, "a loop outside a function or file");
    if (next_range(&ranges, &scope.offset, &end) == CN_FAIL)
        return cn_fail(err, CN_ERR_FORMAT, "a loop with the ranges '%.60s'", a->ranges);
    return push(r, (struct structure_level){ELEMENT_L, add_scope(r, top(r)->scope, scope),
                                            scope.file, 0});
}

static bool begin_alien(struct structure_reader *r, const struct attributes *a,
                        struct cn_error *err)
{
    struct structure_level parent = *top(r);
    uint32_t file = own_file(r, a), line = parse_line(a->line);
    struct cn_code_scope scope = {
        .kind = CN_CONTEXT_FUNCTION, .relation = CN_INLINED_CALL, .file = CN_NONE};

    if (parent.scope == CN_NONE || file == CN_NONE)
        return cn_fail(err, CN_ERR_FORMAT, "an inlined call outside a function or file");
    if (parent.element != ELEMENT_A_CALL)
        return push(r,
                    (struct structure_level){ELEMENT_A_CALL, parent.scope, file, line});
    scope.function = cn_hpc_tables_add_function(
        r->tables, (struct cn_function){
                       .name = a->name, .module = CN_NONE, .file = file, .line = line});
    line = add_line(r, parent.scope, parent.file, parent.line);
    return push(r, (struct structure_level){ELEMENT_A_INLINED, add_scope(r, line, scope),
                                            file, 0});
}

static bool begin_statement(struct structure_reader *r, const struct attributes *a,
                            struct cn_error *err)
{
    struct structure_level parent = *top(r);
    const char *ranges = a->ranges;
    uint64_t begin, end;
    enum cn_step step;

    if (parent.scope == CN_NONE || parent.file == CN_NONE)
        return cn_fail(err, CN_ERR_FORMAT, "a statement outside a function or file");
    uint32_t scope = add_line(r, parent.scope, parent.file, parse_line(a->line));
    while ((step = next_range(&ranges, &begin, &end)) == CN_ITEM)
        if (begin < end)
            cn_hpc_ranges_add(&current(r)->ranges,
                              (struct cn_hpc_range){begin, end, scope});
    if (step == CN_FAIL)
        return cn_fail(err, CN_ERR_FORMAT, "a statement with the ranges '%.60s'",
                       a->ranges);
    return push(r, (struct structure_level){ELEMENT_S, CN_NONE, parent.file, 0});
}

/* A statement that calls a function, which is not always known. */
static bool begin_call(struct structure_reader *r, const struct attributes *a,
                       struct cn_error *err)
{
    const char *ranges = a->ranges, *target = a->target;
    uint64_t begin, end, callee;

    if (!begin_statement(r, a, err))
        return false;
    if (!target || !current(r)->graph.is_complete)
        return true;
    if (next_range(&ranges, &begin, &end) != CN_ITEM || !parse_address(&target, &callee))
        return cn_fail(err, CN_ERR_FORMAT, "a call of '%.60s' in '%.60s'", a->target,
                       a->ranges);
    cn_hpc_call_graph_add_call(&current(r)->graph, begin, callee);
    return true;
}

static bool begin_element(struct structure_reader *r, const struct cn_hpc_xml_event *e,
                          struct cn_error *err)
{
    static const struct {
        const char *name;
        bool (*begin)(struct structure_reader *r, const struct attributes *a,
                      struct cn_error *err);
    } elements[] = {
        {"LM", begin_module}, {"F", begin_file},  {"P", begin_function},
        {"L", begin_loop},    {"A", begin_alien}, {"S", begin_statement},
        {"C", begin_call},
    };
    struct attributes attributes;

    if (e->depth == 0 && strcmp(e->name, "HPCToolkitStructure") != 0)
        return cn_fail(err, CN_ERR_FORMAT,
                       "root element '%.60s' instead of 'HPCToolkitStructure'", e->name);
    if (e->depth == 0)
        return push(r, (struct structure_level){ELEMENT_ROOT, CN_NONE, CN_NONE, 0});
    read_attributes(e->attributes, &attributes);
    for (size_t i = 0; i < sizeof(elements) / sizeof(*elements); i++)
        if (strcmp(elements[i].name, e->name) == 0)
            return elements[i].begin(r, &attributes, err);
    return cn_fail(err, CN_ERR_FORMAT, "unknown element '%.60s'", e->name);
}

static enum cn_step on_event(void *arg, const struct cn_hpc_xml_event *e,
                             struct cn_error *err)
{
    struct structure_reader *r = arg;

    if (e->attributes)
        return begin_element(r, e, err) ? CN_ITEM : CN_FAIL;
    r->depth--;
    return CN_ITEM;
}

bool cn_hpc_structures_read(struct cn_hpc_structures *structures, struct cn_bytes file,
                            struct cn_hpc_tables *tables, struct cn_error *err)
{
    struct structure_reader r = {.structures = structures, .tables = tables};
    struct cn_hpc_xml_reading reading = {
        .text = file,
        .depth_max = CN_HPC_STRUCT_DEPTH_MAX,
        .tag_max = CN_HPC_STRUCT_TAG_MAX,
        .handle = on_event,
        .arg = &r,
        .without_lines = true,
    };
    size_t first = structures->count;
    bool is_complete;
    bool ok = cn_hpc_xml_events_read(&reading, &is_complete, err);

    for (size_t i = first; i < structures->count; i++) {
        cn_hpc_ranges_settle(&structures->list[i].ranges);
        cn_hpc_call_graph_settle(&structures->list[i].graph);
    }
    free(r.levels);
    return ok;
}

size_t cn_hpc_structure_scopes(const struct cn_hpc_structure *structure, uint64_t address,
                               struct cn_code_scope **scopes, size_t *capacity)
{
    const struct cn_hpc_range *range = cn_hpc_ranges_find(&structure->ranges, address);
    size_t count = range ? (size_t)structure->scopes[range->value].depth + 1 : 0;

    CN_GROW_TO(*scopes, count, *capacity);
    for (size_t i = count, at = range ? range->value : 0; i-- > 0;
         at = structure->scopes[at].parent)
        (*scopes)[i] = structure->scopes[at].scope;
    return count;
}

bool cn_hpc_structure_paths(const struct cn_hpc_structure *structure,
                            const struct cn_hpc_tables *tables, uint64_t address,
                            struct cn_hpc_call_paths *out)
{
    const struct cn_hpc_range *range = cn_hpc_ranges_find(&structure->ranges, address);
    const struct cn_hpc_scope *scope;

    if (!range || !structure->graph.is_complete)
        return false;
    for (scope = &structure->scopes[range->value]; scope->parent != CN_NONE;)
        scope = &structure->scopes[scope->parent];
    return cn_hpc_call_graph_paths(&structure->graph,
                                   tables->functions[scope->scope.function].offset, out);
}

void cn_hpc_structures_done(struct cn_hpc_structures *structures)
{
    for (size_t i = 0; i < structures->count; i++) {
        struct cn_hpc_structure *structure = &structures->list[i];

        free(structure->scopes);
        cn_hpc_ranges_done(&structure->ranges);
        cn_hpc_call_graph_done(&structure->graph);
    }
    free(structures->list);
    cn_arena_done(&structures->arena);
    *structures = (struct cn_hpc_structures){0};
}
