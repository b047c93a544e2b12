#include "formats/exchange/stacks/firefox_tables.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/bytes/json.h"

enum { NS_A_MS = 1000000, PROFILE_VERSION = 47 };

void cn_firefox_begin(struct cn_export *x, const char *title, uint64_t start_ns)
{
    cn_text_printf(&x->text,
                   "{\"meta\":{\"interval\":1,\"processType\":0,\"stackwalk\":1,"
                   "\"version\":27,\"preprocessedProfileVersion\":%d,\"debug\":false,"
                   "\"symbolicated\":true,\"markerSchema\":[],"
                   "\"startTime\":%" PRIu64 ".%06" PRIu64 ",\n\"product\":",
                   PROFILE_VERSION, start_ns / NS_A_MS, start_ns % NS_A_MS);
    cn_json_quote(&x->text, title);
    cn_text_str_add(
        &x->text, ",\"importedFrom\":\"cairn " CN_VERSION "\",\"categories\":["
                  "{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]}"
                  "]},\n\"libs\":[],\"pages\":[],\"threads\":[");
}

void cn_firefox_end(struct cn_export *x)
{
    cn_text_str_add(&x->text, "]}\n");
}

void cn_firefox_thread_begin(struct cn_export *x, bool is_first, const char *name,
                             uint32_t pid, uint32_t tid, bool is_main)
{
    cn_text_str_add(&x->text, is_first ? "\n{\"name\":" : ",\n{\"name\":");
    cn_json_quote(&x->text, name);
    cn_text_printf(&x->text,
                   ",\"pid\":\"%" PRIu32 "\",\"tid\":%" PRIu32 ",\"isMainThread\":%s,"
                   "\"processType\":\"default\",\"processStartupTime\":0,"
                   "\"processShutdownTime\":null,\"registerTime\":0,"
                   "\"unregisterTime\":null,\"pausedRanges\":[],\n\"samples\":{",
                   pid, tid, is_main ? "true" : "false");
}

void cn_firefox_tables_add(struct cn_firefox_tables *tables, uint32_t prefix,
                           uint32_t function, const struct cn_stack_place *place)
{
    uint32_t *known =
        cn_map_at(&tables->function_of, function, (uint32_t)tables->function_count);

    if (*known == tables->function_count) {
        tables->functions =
            cn_grow(tables->functions, tables->function_count, &tables->function_capacity,
                    sizeof(*tables->functions));
        tables->functions[tables->function_count++] = (struct cn_firefox_function){
            .name = cn_names_add(&tables->strings, place->name),
            .file =
                place->file[0] ? cn_names_add(&tables->strings, place->file) : CN_NONE,
            .line = place->line,
        };
    }
    tables->stacks = cn_grow(tables->stacks, tables->stack_count, &tables->stack_capacity,
                             sizeof(*tables->stacks));
    tables->stacks[tables->stack_count++] = (struct cn_firefox_stack){prefix, *known};
}

/* What a column says of an element; CN_NONE is written as null. */
typedef uint32_t (*column_fn)(const struct cn_firefox_tables *tables, size_t i);

static uint32_t stack_prefix(const struct cn_firefox_tables *tables, size_t i)
{
    return tables->stacks[i].prefix;
}

static uint32_t stack_frame(const struct cn_firefox_tables *tables, size_t i)
{
    return tables->stacks[i].function;
}

static uint32_t function_name(const struct cn_firefox_tables *tables, size_t i)
{
    return tables->functions[i].name;
}

static uint32_t function_file(const struct cn_firefox_tables *tables, size_t i)
{
    return tables->functions[i].file;
}

static uint32_t function_line(const struct cn_firefox_tables *tables, size_t i)
{
    return tables->functions[i].line > 0 ? tables->functions[i].line : CN_NONE;
}

/* A frame is a function: both have the same number. */
static uint32_t own_number(const struct cn_firefox_tables *tables, size_t i)
{
    (void)tables;
    return (uint32_t)i;
}

static bool add_column(const struct cn_firefox_tables *tables, const char *name,
                       size_t count, column_fn value, struct cn_error *err)
{
    struct cn_text *text = &tables->x->text;
    bool ok = true;

    cn_text_printf(text, ",\n\"%s\":[", name);
    for (size_t i = 0; i < count && ok; i++) {
        uint32_t number = value(tables, i);

        if (i > 0)
            cn_text_char(text, ',');
        if (number == CN_NONE)
            cn_text_str_add(text, "null");
        else
            cn_text_u64(text, number);
        ok = cn_export_flush(tables->x, err);
    }
    cn_text_char(text, ']');
    return ok;
}

/* The same word for each element. */
static bool add_constant(const struct cn_firefox_tables *tables, const char *name,
                         size_t count, const char *word, struct cn_error *err)
{
    struct cn_text *text = &tables->x->text;
    bool ok = true;

    cn_text_printf(text, ",\n\"%s\":[", name);
    for (size_t i = 0; i < count && ok; i++) {
        cn_text_printf(text, i > 0 ? ",%s" : "%s", word);
        ok = cn_export_flush(tables->x, err);
    }
    cn_text_char(text, ']');
    return ok;
}

static bool add_stacks(const struct cn_firefox_tables *tables, struct cn_error *err)
{
    size_t count = tables->stack_count;

    cn_text_printf(&tables->x->text, "\"stackTable\":{\"length\":%zu", count);
    return add_column(tables, "prefix", count, stack_prefix, err) &&
           add_column(tables, "frame", count, stack_frame, err) &&
           add_constant(tables, "category", count, "0", err) &&
           add_constant(tables, "subcategory", count, "0", err);
}

static bool add_frames(const struct cn_firefox_tables *tables, struct cn_error *err)
{
    size_t count = tables->function_count;

    cn_text_printf(&tables->x->text, "},\n\"frameTable\":{\"length\":%zu", count);
    return add_constant(tables, "address", count, "-1", err) &&
           add_constant(tables, "inlineDepth", count, "0", err) &&
           add_constant(tables, "category", count, "0", err) &&
           add_constant(tables, "subcategory", count, "0", err) &&
           add_column(tables, "func", count, own_number, err) &&
           add_constant(tables, "nativeSymbol", count, "null", err) &&
           add_constant(tables, "innerWindowID", count, "0", err) &&
           add_constant(tables, "implementation", count, "null", err) &&
           add_column(tables, "line", count, function_line, err) &&
           add_constant(tables, "column", count, "null", err);
}

static bool add_functions(const struct cn_firefox_tables *tables, struct cn_error *err)
{
    size_t count = tables->function_count;

    cn_text_printf(&tables->x->text, "},\n\"funcTable\":{\"length\":%zu", count);
    return add_column(tables, "name", count, function_name, err) &&
           add_constant(tables, "isJS", count, "false", err) &&
           add_constant(tables, "relevantForJS", count, "false", err) &&
           add_constant(tables, "resource", count, "-1", err) &&
           add_column(tables, "fileName", count, function_file, err) &&
           add_column(tables, "lineNumber", count, function_line, err) &&
           add_constant(tables, "columnNumber", count, "null", err);
}

bool cn_firefox_tables_write(struct cn_firefox_tables *tables, struct cn_error *err)
{
    struct cn_text *text = &tables->x->text;
    bool ok =
        add_stacks(tables, err) && add_frames(tables, err) && add_functions(tables, err);

    cn_text_str_add(
        text,
        "},\n\"resourceTable\":{\"length\":0,\"lib\":[],\"name\":[],\"host\":[],"
        "\"type\":[]},\n\"nativeSymbols\":{\"length\":0,\"libIndex\":[],"
        "\"address\":[],\"name\":[],\"functionSize\":[]},\n\"markers\":{\"length\":0,"
        "\"category\":[],\"data\":[],\"endTime\":[],\"name\":[],\"phase\":[],"
        "\"startTime\":[]},\n\"stringArray\":[");
    for (size_t i = 0; i < tables->strings.count && ok; i++) {
        cn_text_str_add(text, i > 0 ? ",\n" : "\n");
        cn_json_quote(text, tables->strings.list[i]);
        ok = cn_export_flush(tables->x, err);
    }
    cn_text_str_add(text, "]}");
    return ok;
}

void cn_firefox_tables_done(struct cn_firefox_tables *tables)
{
    cn_names_done(&tables->strings);
    cn_map_done(&tables->function_of);
    free(tables->stacks);
    free(tables->functions);
}
