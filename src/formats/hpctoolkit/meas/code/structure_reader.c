/* .hpcstruct files: LM > F > P > (L | A | S | C)*, where A elements come in pairs.
 *
 * The outer A of a pair says from which line something is inlined, the inner one
 * what: it makes a line scope and, below that, a function scope with the relation
 * "inlined call".
 */
#include <expat.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "formats/hpctoolkit/meas/code/structure.h"
#include "formats/hpctoolkit/meas/format.h"

enum element {
    ELEMENT_ROOT,
    ELEMENT_LM,
    ELEMENT_F,
    ELEMENT_P,
    ELEMENT_L,
    ELEMENT_A_CALL,    /* from where */
    ELEMENT_A_INLINED, /* what */
    ELEMENT_S,         /* or C */
};

/* An open element. */
struct level {
    enum element element;
    uint32_t scope; /* the innermost; CN_NONE outside functions */
    uint32_t file;  /* the current one; CN_NONE before the first */
    uint32_t line;  /* of ELEMENT_A_CALL */
};

struct reader {
    XML_Parser parser;
    struct cn_hpc_structures *structures;
    struct cn_hpc_tables *tables;
    struct cn_error *err;
    struct level *levels;
    size_t depth, capacity;
    bool has_failed;
};

struct attributes {
    const char *name, *file, *line, *ranges;
    const char *target;    /* of a call; NULL when it is not known */
    const char *has_calls; /* of a module */
};

static struct cn_hpc_structure *current(const struct reader *r)
{
    return &r->structures->list[r->structures->count - 1];
}

static struct level *top(const struct reader *r)
{
    return &r->levels[r->depth - 1];
}

CN_PRINTF(2, 3) static void stop(struct reader *r, const char *fmt, ...);

static void stop(struct reader *r, const char *fmt, ...)
{
    struct cn_error text;
    va_list args;

    if (r->has_failed)
        return;
    va_start(args, fmt);
    (void)vsnprintf(text.text, sizeof(text.text), fmt, args);
    va_end(args);
    (void)cn_fail(r->err, CN_ERR_FORMAT, "line %lu: %s",
                  (unsigned long)XML_GetCurrentLineNumber(r->parser), text.text);
    r->has_failed = true;
    (void)XML_StopParser(r->parser, XML_FALSE);
}

static void read_attributes(const XML_Char **given, struct attributes *out)
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

/* "0x1f" at the front of *text, which moves on. */
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

/* The next "[0xLO-0xHI)" of a list in braces: CN_END behind the last one. */
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

static void push(struct reader *r, struct level level)
{
    if (r->depth == CN_HPC_STRUCT_DEPTH_MAX) {
        stop(r, "more than %d elements inside each other", CN_HPC_STRUCT_DEPTH_MAX);
        return;
    }
    r->levels = cn_grow(r->levels, r->depth, &r->capacity, sizeof(*r->levels));
    r->levels[r->depth++] = level;
}

static uint32_t add_scope(const struct reader *r, uint32_t around,
                          struct cn_code_scope place)
{
    struct cn_hpc_structure *s = current(r);
    uint32_t depth = around == CN_NONE ? 0 : s->scopes[around].depth + 1;

    s->scopes =
        cn_grow(s->scopes, s->scope_count, &s->scope_capacity, sizeof(*s->scopes));
    place.module = CN_NONE;
    s->scopes[s->scope_count] = (struct cn_hpc_scope){place, around, depth};
    return (uint32_t)s->scope_count++;
}

static uint32_t add_line(const struct reader *r, uint32_t around, uint32_t file,
                         uint32_t line)
{
    return add_scope(r, around,
                     (struct cn_code_scope){.kind = CN_CONTEXT_LINE,
                                            .relation = CN_LEXICAL,
                                            .function = CN_NONE,
                                            .file = file,
                                            .line = line});
}

static void begin_module(struct reader *r, const struct attributes *a)
{
    struct cn_hpc_structures *s = r->structures;

    if (r->depth == 0 || top(r)->element != ELEMENT_ROOT) {
        stop(r, "a module inside a module");
        return;
    }
    s->list = cn_grow(s->list, s->count, &s->capacity, sizeof(*s->list));
    s->list[s->count++] = (struct cn_hpc_structure){
        .path = cn_arena_strdup(&s->arena, a->name),
        .graph.is_complete = strcmp(a->has_calls, "1") == 0,
    };
    push(r, (struct level){ELEMENT_LM, CN_NONE, CN_NONE, 0});
}

static void begin_file(struct reader *r, const struct attributes *a)
{
    if (top(r)->element != ELEMENT_LM) {
        stop(r, "a file outside a module");
        return;
    }
    push(r,
         (struct level){ELEMENT_F, CN_NONE, cn_hpc_tables_file(r->tables, a->name), 0});
}

static void begin_function(struct reader *r, const struct attributes *a)
{
    const char *ranges = a->ranges;
    struct level *around = top(r);
    uint64_t begin, end;
    struct cn_function function = {.name = a->name,
                                   .module = CN_NONE,
                                   .file = around->file,
                                   .line = parse_line(a->line)};
    struct cn_code_scope place = {
        .kind = CN_CONTEXT_FUNCTION, .relation = CN_CALL, .file = CN_NONE};

    if (around->element != ELEMENT_F && around->element != ELEMENT_LM) {
        stop(r, "function '%.100s' inside a function", a->name);
        return;
    }
    if (next_range(&ranges, &begin, &end) != CN_ITEM || end - begin != 1 ||
        next_range(&ranges, &end, &end) != CN_END) {
        stop(r, "function '%.100s' has no entry of one byte: '%.60s'", a->name,
             a->ranges);
        return;
    }
    function.offset = begin;
    place.function = cn_hpc_tables_add_function(r->tables, function);
    /* Functions are told apart by their entry addresses. */
    if (!cn_hpc_call_graph_add_function(&current(r)->graph, begin, place.function)) {
        stop(r, "two functions with the entry 0x%" PRIx64, begin);
        return;
    }
    push(r, (struct level){ELEMENT_P, add_scope(r, CN_NONE, place), around->file, 0});
}

static uint32_t own_file(const struct reader *r, const struct attributes *a)
{
    return a->file[0] ? cn_hpc_tables_file(r->tables, a->file) : top(r)->file;
}

static void begin_loop(struct reader *r, const struct attributes *a)
{
    const char *ranges = a->ranges;
    struct cn_code_scope place = {
        .kind = CN_CONTEXT_LOOP,
        .relation = CN_LEXICAL,
        .function = CN_NONE,
        .file = own_file(r, a),
        .line = parse_line(a->line),
    };
    uint64_t end;

    if (top(r)->scope == CN_NONE || place.file == CN_NONE) {
        stop(r, "a loop outside a function or file");
        return;
    }
    if (next_range(&ranges, &place.offset, &end) == CN_FAIL) {
        stop(r, "a loop with the ranges '%.60s'", a->ranges);
        return;
    }
    push(r, (struct level){ELEMENT_L, add_scope(r, top(r)->scope, place), place.file, 0});
}

static void begin_inlined(struct reader *r, const struct attributes *a)
{
    struct level *call = top(r);
    uint32_t file = own_file(r, a);
    uint32_t line = add_line(r, call->scope, call->file, call->line);
    struct cn_function function = {
        .name = a->name, .module = CN_NONE, .file = file, .line = parse_line(a->line)};
    struct cn_code_scope place = {
        .kind = CN_CONTEXT_FUNCTION, .relation = CN_INLINED_CALL, .file = CN_NONE};

    place.function = cn_hpc_tables_add_function(r->tables, function);
    push(r, (struct level){ELEMENT_A_INLINED, add_scope(r, line, place), file, 0});
}

static void begin_alien(struct reader *r, const struct attributes *a)
{
    struct level *around = top(r);
    uint32_t file = own_file(r, a);

    if (around->scope == CN_NONE || file == CN_NONE)
        stop(r, "an inlined call outside a function or file");
    else if (around->element == ELEMENT_A_CALL)
        begin_inlined(r, a);
    else
        push(r, (struct level){ELEMENT_A_CALL, around->scope, file, parse_line(a->line)});
}

static void begin_statement(struct reader *r, const struct attributes *a)
{
    struct level around = *top(r);
    const char *ranges = a->ranges;
    uint64_t begin, end;
    enum cn_step step;
    uint32_t scope;

    if (around.scope == CN_NONE || around.file == CN_NONE) {
        stop(r, "a statement outside a function or file");
        return;
    }
    scope = add_line(r, around.scope, around.file, parse_line(a->line));
    while ((step = next_range(&ranges, &begin, &end)) == CN_ITEM) {
        if (begin < end)
            cn_hpc_ranges_add(&current(r)->ranges,
                              (struct cn_hpc_range){begin, end, scope});
    }
    if (step == CN_FAIL)
        stop(r, "a statement with the ranges '%.60s'", a->ranges);
    push(r, (struct level){ELEMENT_S, CN_NONE, around.file, 0});
}

/* A statement that calls; where it leads to is not always known. */
static void begin_call(struct reader *r, const struct attributes *a)
{
    const char *ranges = a->ranges, *target = a->target;
    uint64_t begin, end, callee;

    begin_statement(r, a);
    if (r->has_failed || !target || !current(r)->graph.is_complete)
        return;
    if (next_range(&ranges, &begin, &end) != CN_ITEM ||
        !parse_address(&target, &callee)) {
        stop(r, "a call of '%.60s' in '%.60s'", a->target, a->ranges);
        return;
    }
    cn_hpc_call_graph_add_call(&current(r)->graph, begin, callee);
}

static const struct {
    const char *name;
    void (*begin)(struct reader *r, const struct attributes *a);
} elements[] = {
    {"LM", begin_module}, {"F", begin_file},  {"P", begin_function},
    {"L", begin_loop},    {"A", begin_alien}, {"S", begin_statement},
    {"C", begin_call},
};

static void on_begin(void *arg, const XML_Char *name, const XML_Char **given)
{
    struct reader *r = arg;
    struct attributes attributes;

    if (r->has_failed)
        return;
    if (r->depth == 0) {
        if (strcmp(name, "HPCToolkitStructure") != 0)
            stop(r, "root element '%.60s' instead of 'HPCToolkitStructure'", name);
        else
            push(r, (struct level){ELEMENT_ROOT, CN_NONE, CN_NONE, 0});
        return;
    }
    read_attributes(given, &attributes);
    for (size_t i = 0; i < sizeof(elements) / sizeof(*elements); i++) {
        if (strcmp(elements[i].name, name) != 0)
            continue;
        elements[i].begin(r, &attributes);
        return;
    }
    stop(r, "unknown element '%.60s'", name);
}

static void on_end(void *arg, const XML_Char *name)
{
    struct reader *r = arg;

    (void)name;
    if (!r->has_failed)
        r->depth--;
}

/* Entities of their own could make a small file large. */
static void on_entity(void *arg, const XML_Char *name, int is_parameter,
                      const XML_Char *value, int value_len, const XML_Char *base,
                      const XML_Char *system, const XML_Char *public,
                      const XML_Char *notation)
{
    (void)is_parameter, (void)value, (void)value_len, (void)base;
    (void)system, (void)public, (void)notation;
    stop(arg, "declares the entity '%.60s'", name);
}

static bool parse(struct reader *r, struct cn_bytes file)
{
    enum { STEP_LEN = 1 << 20 };

    for (size_t done = 0; done < file.len || file.len == 0;) {
        size_t len = file.len - done < STEP_LEN ? file.len - done : STEP_LEN;
        bool is_last = done + len == file.len;
        enum XML_Status status =
            XML_Parse(r->parser, (const char *)file.ptr + done, (int)len, is_last);

        if (r->has_failed)
            return false;
        if (status != XML_STATUS_OK)
            return cn_fail(r->err, CN_ERR_FORMAT, "line %lu: %s",
                           (unsigned long)XML_GetCurrentLineNumber(r->parser),
                           XML_ErrorString(XML_GetErrorCode(r->parser)));
        if (is_last)
            break;
        done += len;
    }
    return true;
}

static void settle(struct cn_hpc_structure *structure)
{
    cn_hpc_ranges_settle(&structure->ranges);
    cn_hpc_call_graph_settle(&structure->graph);
}

bool cn_hpc_structures_read(struct cn_hpc_structures *structures, struct cn_bytes file,
                            struct cn_hpc_tables *tables, struct cn_error *err)
{
    struct reader r = {.structures = structures, .tables = tables, .err = err};
    size_t first = structures->count;
    bool ok;

    r.parser = XML_ParserCreate(NULL);
    if (!r.parser)
        return cn_fail(err, CN_ERR_LIMIT, "no memory for an XML parser");
    XML_SetUserData(r.parser, &r);
    XML_SetElementHandler(r.parser, on_begin, on_end);
    XML_SetEntityDeclHandler(r.parser, on_entity);
    ok = parse(&r, file);
    XML_ParserFree(r.parser);
    for (size_t i = first; i < structures->count; i++)
        settle(&structures->list[i]);
    free(r.levels);
    return ok;
}
