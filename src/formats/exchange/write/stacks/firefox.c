/* Processed profile of the Firefox Profiler, version 47, as JSON: stacks over time for each
 * task of a recording or each thread of a database.
 *
 * The format stores columns: all stacks of a thread, then all times, then all weights. So
 * the calls of a task are read once for each column, and only the tree of its stacks is in
 * memory. */

#include <inttypes.h>
#include <stdlib.h>

#include "analyze/calls/tree.h"
#include "analyze/views/frames.h"
#include "base/alloc.h"
#include "base/bytes/digits.h"
#include "base/bytes/json.h"
#include "formats/exchange/exchange.h"
#include "formats/exchange/read/readers.h"
#include "formats/exchange/write/spans/spans.h"
#include "formats/exchange/write/stacks/stacks.h"

enum { NS_PER_MS = 1000000, PROFILE_VERSION = 47, SAMPLES_PER_READ = 4096 };

enum firefox_column { COLUMN_STACK, COLUMN_TIME, COLUMN_WEIGHT, COLUMNS };
static const char *const column_names[COLUMNS] = {"stack", "time", "weight"};

struct firefox_entries {
    struct cn_text *text;
    bool has_any;
};

static void add_header_line(void *arg, const char *name, const char *text)
{
    struct firefox_entries *entries = arg;

    cn_text_str_add(entries->text, entries->has_any ? ",\n{\"label\":" : "\n{\"label\":");
    cn_json_quote(entries->text, name);
    cn_text_str_add(entries->text, ",\"format\":\"string\",\"value\":");
    cn_json_quote(entries->text, text);
    cn_text_char(entries->text, '}');
    entries->has_any = true;
}

static void add_header(struct cn_export *x, uint64_t start_ns)
{
    cn_text_printf(&x->text,
                   "{\"meta\":{\"interval\":1,\"processType\":0,\"stackwalk\":1,"
                   "\"version\":27,\"preprocessedProfileVersion\":%d,\"debug\":false,"
                   "\"symbolicated\":true,\"markerSchema\":[],"
                   "\"startTime\":%" PRIu64 ".%06" PRIu64 ",\n\"product\":",
                   PROFILE_VERSION, start_ns / NS_PER_MS, start_ns % NS_PER_MS);
    cn_json_quote(&x->text, cn_export_title(x));
    cn_text_str_add(&x->text, ",\"extra\":[{\"label\":\"Run\",\"entries\":[");
    cn_export_header(x, add_header_line, &(struct firefox_entries){&x->text, false});
    cn_text_str_add(&x->text, "]}]");
    cn_text_str_add(
        &x->text, ",\"importedFrom\":\"cairn " CN_VERSION "\",\"categories\":["
                  "{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]}"
                  "]},\n\"libs\":[],\"pages\":[],\"threads\":[");
}

/* A thread, up to its samples. */
static void begin_thread(struct cn_export *x, bool is_first, const char *name,
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

/* Nanoseconds as milliseconds with six decimals. */
static void add_ms(struct cn_text *text, uint64_t value_ns)
{
    char *to = cn_text_room(text, CN_DIGITS_MAX + 8);
    unsigned len = cn_digits_put(to, value_ns / NS_PER_MS);
    uint32_t rest = (uint32_t)(value_ns % NS_PER_MS);

    to[len++] = '.';
    for (unsigned i = 6; i-- > 0; rest /= 10)
        to[len + i] = (char)('0' + rest % 10);
    cn_text_advance(text, len + 6);
}

/* The tables of a thread. All numbers are indices; CN_NONE is written as null. */
struct firefox_tables {
    struct cn_names strings;
    struct cn_map function_of; /* by the caller's id */
    struct stack {
        uint32_t prefix; /* CN_NONE at the top */
        uint32_t function;
    } * stacks;
    struct function {
        uint32_t number;     /* also of its frame */
        uint32_t name, file; /* strings */
        uint32_t line;
    } * functions;
    size_t stack_count, stack_capacity, function_count, function_capacity;
};

static void add_stack(struct firefox_tables *tables, uint32_t prefix, uint32_t id,
                      const struct cn_stack_function *function)
{
    uint32_t number = (uint32_t)tables->function_count;
    uint32_t known = *cn_map_at(&tables->function_of, id, number);

    if (known == number) {
        CN_PUSH(tables->functions, tables->function_count, tables->function_capacity,
                (struct function){
                    .number = number,
                    .name = cn_names_add(&tables->strings, function->name),
                    .file = function->file[0]
                                ? cn_names_add(&tables->strings, function->file)
                                : CN_NONE,
                    .line = function->line > 0 ? function->line : CN_NONE,
                });
    }
    CN_PUSH(tables->stacks, tables->stack_count, tables->stack_capacity,
            (struct stack){prefix, known});
}

/* A column of a table: a member of its elements, or the same word for all of them. */
struct table_column {
    const char *name;
    const char *word;
    size_t offset;
};

static const struct table_column stack_columns[] = {
    {"prefix", NULL, offsetof(struct stack, prefix)},
    {"frame", NULL, offsetof(struct stack, function)},
    {"category", "0", 0},
    {"subcategory", "0", 0},
    {0},
};
static const struct table_column frame_columns[] = {
    {"address", "-1", 0},
    {"inlineDepth", "0", 0},
    {"category", "0", 0},
    {"subcategory", "0", 0},
    {"func", NULL, offsetof(struct function, number)},
    {"nativeSymbol", "null", 0},
    {"innerWindowID", "0", 0},
    {"implementation", "null", 0},
    {"line", NULL, offsetof(struct function, line)},
    {"column", "null", 0},
    {0},
};
static const struct table_column function_columns[] = {
    {"name", NULL, offsetof(struct function, name)},
    {"isJS", "false", 0},
    {"relevantForJS", "false", 0},
    {"resource", "-1", 0},
    {"fileName", NULL, offsetof(struct function, file)},
    {"lineNumber", NULL, offsetof(struct function, line)},
    {"columnNumber", "null", 0},
    {0},
};

static void add_cell(struct cn_text *text, const struct table_column *column,
                     const char *element)
{
    uint32_t number;

    memcpy(&number, element + column->offset, sizeof(number));
    if (column->word)
        cn_text_str_add(text, column->word);
    else if (number == CN_NONE)
        cn_text_str_add(text, "null");
    else
        cn_text_u64(text, number);
}

static bool add_table(struct cn_export *x, const struct table_column *columns,
                      const void *list, size_t count, size_t stride, struct cn_error *err)
{
    cn_text_printf(&x->text, "\"length\":%zu", count);
    for (; columns->name; columns++) {
        cn_text_printf(&x->text, ",\n\"%s\":[", columns->name);
        for (size_t i = 0; i < count; i++) {
            if (i > 0)
                cn_text_char(&x->text, ',');
            add_cell(&x->text, columns, (const char *)list + i * stride);
            if (!cn_export_flush(x, err))
                return false;
        }
        cn_text_char(&x->text, ']');
    }
    return true;
}

/* The rest of the thread, after its samples. Releases the tables. */
static bool add_tables(struct cn_export *x, struct firefox_tables *tables,
                       struct cn_error *err)
{
    struct cn_text *text = &x->text;
    bool ok;

    cn_text_str_add(text, "\"stackTable\":{");
    ok = add_table(x, stack_columns, tables->stacks, tables->stack_count,
                   sizeof(*tables->stacks), err);
    cn_text_str_add(text, "},\n\"frameTable\":{");
    ok = ok && add_table(x, frame_columns, tables->functions, tables->function_count,
                         sizeof(*tables->functions), err);
    cn_text_str_add(text, "},\n\"funcTable\":{");
    ok = ok && add_table(x, function_columns, tables->functions, tables->function_count,
                         sizeof(*tables->functions), err);
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
        ok = cn_export_flush(x, err);
    }
    cn_text_str_add(text, "]}");
    cn_names_done(&tables->strings);
    cn_map_done(&tables->function_of);
    free(tables->stacks);
    free(tables->functions);
    return ok;
}

/* A task being written, one column at a time. */
struct pass {
    struct cn_export *x;
    struct cn_call_tree tree;
    uint32_t *path; /* nodes by depth */
    size_t capacity;
    uint32_t depth;
    uint64_t since_ns; /* last change of the stack, as recorded */
    uint64_t since_corrected_ns;
    uint64_t base_ns;
    uint64_t sample_count;
    enum firefox_column column;
    bool ok;
    struct cn_error *err;
};

/* Write the stack since its last change as a sample: at its recorded time, with its
 * corrected duration. */
static void add_sample(struct pass *pass, const struct cn_span *span)
{
    struct cn_text *text = &pass->x->text;
    uint64_t time_ns = span->time_ns;
    uint64_t passed_ns = span->corrected_ns > pass->since_corrected_ns
                             ? span->corrected_ns - pass->since_corrected_ns
                             : 0;

    if (pass->depth > 0 && time_ns > pass->since_ns && pass->since_ns >= pass->base_ns) {
        if (pass->sample_count++ > 0)
            cn_text_char(text, ',');
        if (pass->column == COLUMN_STACK)
            cn_text_u64(text, pass->path[pass->depth - 1] - 1);
        else
            add_ms(text, pass->column == COLUMN_TIME ? pass->since_ns - pass->base_ns
                                                     : passed_ns);
        pass->ok = cn_export_flush(pass->x, pass->err);
    }
    pass->since_ns = time_ns;
    pass->since_corrected_ns = span->corrected_ns;
}

static void visit(void *arg, const struct cn_span *span)
{
    struct pass *pass = arg;
    bool is_begin = span->kind == CN_SPAN_BEGIN;
    uint32_t parent = is_begin && span->depth > 0 ? pass->path[span->depth - 1] : 0;

    if (!pass->ok || (!is_begin && (span->kind != CN_SPAN_END || !span->has_begin)))
        return;
    add_sample(pass, span);
    pass->depth = span->depth;
    if (!is_begin)
        return;
    CN_GROW(pass->path, span->depth, pass->capacity);
    pass->path[pass->depth++] = cn_call_tree_child(
        &pass->tree, parent,
        cn_call_ids_of(&pass->tree.ids, pass->tree.rec, span->function, span->address),
        span->address, span->time_ns);
}

static bool add_task(struct cn_export *x, uint32_t slot, struct cn_error *err)
{
    uint32_t number = x->query->tasks[slot];
    const struct cn_task *task = &x->query->rec->tasks[number];
    struct pass pass = {
        .x = x, .base_ns = cn_export_start_ns(x->query), .ok = true, .err = err};
    struct firefox_tables tables = {0};

    cn_call_tree_init(&pass.tree, x->query->rec);
    begin_thread(x, slot == 0, task->name, task->pid, task->tid, task->tid == task->pid);
    for (pass.column = COLUMN_STACK; pass.column < COLUMNS && pass.ok; pass.column++) {
        struct cn_span_counts counts = {0};
        struct cn_error damage;

        cn_text_printf(&x->text, "%s\"%s\":[", pass.column ? "],\n" : "",
                       column_names[pass.column]);
        pass.depth = 0;
        pass.sample_count = 0;
        bool is_damaged = !cn_export_spans(x, number, visit, &pass, &counts, &damage);
        if (pass.column != COLUMN_STACK)
            continue;
        if (is_damaged)
            cn_export_damage(x, number, &damage);
        cn_export_lose_counts(x, &counts, false, false);
    }
    cn_text_printf(&x->text,
                   "],\n\"weightType\":\"tracing-ms\",\"length\":%" PRIu64 "},\n",
                   pass.sample_count);
    /* Node 0, the root, has no stack. */
    for (uint32_t i = 1; i < pass.tree.paths.count; i++) {
        uint32_t id = cn_call_tree_id(&pass.tree, i);
        uint32_t parent = cn_call_tree_parent(&pass.tree, i);
        char buffer[CN_CALL_NAME_MAX];
        struct cn_stack_function function =
            cn_stack_function(x->query->rec, &pass.tree.ids, id, buffer);

        add_stack(&tables, parent == 0 ? CN_NONE : parent - 1, id, &function);
    }
    pass.ok = add_tables(x, &tables, err) && pass.ok;
    cn_call_tree_done(&pass.tree);
    free(pass.path);
    return pass.ok;
}

static bool write_tasks(struct cn_export *x, struct cn_error *err)
{
    bool ok = true;

    add_header(x,
               cn_export_start_ns(x->query) + cn_export_clock_offset_ns(x->query->rec));
    for (uint32_t i = 0; i < x->query->task_count && ok; i++)
        ok = add_task(x, i, err);
    cn_text_str_add(&x->text, "]}\n");
    return ok;
}

/* The threads of a database. */
struct threads {
    struct cn_export *x;
    struct cn_stacks stacks;
    bool has_threads;
};

/* A column of a timeline. Context 0: the thread does not run. */
static bool add_timeline_column(struct threads *threads,
                                const struct cn_timeline *timeline,
                                enum firefox_column column, struct cn_error *err)
{
    struct cn_export *x = threads->x;
    const struct cn_stacks *stacks = &threads->stacks;
    struct cn_sample *samples = cn_alloc(SAMPLES_PER_READ, sizeof(*samples));
    bool ok = true;

    for (uint64_t at = 0; at < timeline->count && ok; at += SAMPLES_PER_READ) {
        uint64_t left = timeline->count - at;
        size_t count = left < SAMPLES_PER_READ ? (size_t)left : SAMPLES_PER_READ;

        ok = cn_timeline_read(x->db, timeline, at, count, samples, err);
        for (size_t i = 0; i < count && ok; i++) {
            const struct cn_sample *sample = &samples[i];

            if (at + i > 0)
                cn_text_char(&x->text, ',');
            if (column == COLUMN_TIME)
                add_ms(&x->text, sample->time_ns > x->db->begin_ns
                                     ? sample->time_ns - x->db->begin_ns
                                     : 0);
            else if (sample->context == 0)
                cn_text_str_add(&x->text, "null");
            else
                cn_text_u64(&x->text, cn_frames_find(stacks->frames, sample->context));
            ok = cn_export_flush(x, err);
        }
    }
    free(samples);
    return ok;
}

/* Without a timeline there is a sample for each stack, with its self cost as the weight. */
static bool add_stack_column(struct threads *threads, enum firefox_column column,
                             uint64_t *count, struct cn_error *err)
{
    struct cn_text *text = &threads->x->text;
    const struct cn_stacks *stacks = &threads->stacks;
    bool ok = true;

    *count = 0;
    for (size_t i = 0; i < stacks->count && ok; i++) {
        uint64_t value = cn_stack_self(&stacks->nodes[i]);

        if (value == 0)
            continue;
        if ((*count)++ > 0)
            cn_text_char(text, ',');
        if (column == COLUMN_STACK)
            cn_text_u64(text, i);
        else if (column == COLUMN_TIME)
            cn_text_u64(text, *count);
        else if (stacks->scale == 1)
            cn_text_u64(text, value);
        else
            add_ms(text, value);
        ok = cn_export_flush(threads->x, err);
    }
    return ok;
}

static bool add_samples(struct threads *threads, uint32_t profile, struct cn_error *err)
{
    struct cn_export *x = threads->x;
    struct cn_timeline timeline = {0};
    bool ok = !x->db->has_timelines || cn_timeline_open(x->db, profile, &timeline, err);
    bool has_weights = timeline.count == 0;
    uint64_t count = timeline.count;

    ok = ok && (!has_weights || cn_stacks_load(&threads->stacks, x->db, profile, err));
    for (unsigned i = COLUMN_STACK; i < (has_weights ? COLUMNS : COLUMN_WEIGHT) && ok;
         i++) {
        cn_text_printf(&x->text, "%s\"%s\":[", i ? "],\n" : "", column_names[i]);
        ok = has_weights ? add_stack_column(threads, i, &count, err)
                         : add_timeline_column(threads, &timeline, i, err);
    }
    cn_text_printf(&x->text, "],\n\"weightType\":\"%s\",%s\"length\":%" PRIu64 "},\n",
                   has_weights && threads->stacks.scale != 1 ? "tracing-ms" : "samples",
                   has_weights ? "" : "\"weight\":null,", count);
    return ok;
}

static bool add_thread(void *arg, uint32_t index, const struct cn_profile *profile,
                       const char *name, struct cn_error *err)
{
    struct threads *threads = arg;
    const struct cn_stacks *stacks = &threads->stacks;
    struct firefox_tables tables = {0};
    bool is_first = !threads->has_threads;

    (void)profile;
    threads->has_threads = true;
    begin_thread(threads->x, is_first, name, 1, index, is_first);
    if (!add_samples(threads, index, err))
        return false;
    for (size_t i = 0; i < stacks->count; i++)
        add_stack(&tables, stacks->nodes[i].parent, stacks->nodes[i].function,
                  &stacks->functions[stacks->nodes[i].function]);
    return add_tables(threads->x, &tables, err);
}

static bool write_threads(struct cn_export *x, struct cn_error *err)
{
    struct threads threads = {.x = x};

    if (!cn_stacks_of_database(&threads.stacks, x, err))
        return false;
    add_header(x, x->db->has_timelines ? x->db->begin_ns : 0);
    bool ok = cn_export_threads(x, add_thread, &threads, err);
    cn_text_str_add(&x->text, "]}\n");
    if (x->db->has_timelines)
        cn_export_lose(x, "metrics (timelines have no costs)", x->db->metrics.count);
    else
        cn_export_lose(x, "other metrics (choose one with --metric)",
                       x->db->metrics.count - 1);
    cn_export_lose(x, "loops, lines and instructions (they count for their function)",
                   threads.stacks.hidden_count);
    cn_stacks_done(&threads.stacks);
    return ok;
}

const struct cn_format cn_format_firefox = {
    .name = "firefox",
    .summary = "processed profile of the Firefox Profiler: stacks over time",
    .holds = "calls or timelines",
    .is_file = true,
    .probe = cn_firefox_probe,
    .open_database = cn_firefox_open,
    .export_calls = write_tasks,
    .export_database = write_threads,
    .has_time_axis = true,
};
