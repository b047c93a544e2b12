/* Firefox's processed profile, version 47, as JSON: stacks over time for each task of a
 * recording or each thread of a database.
 *
 * The format wants columns: all stacks of a thread, then all times, then all weights.
 * So the calls of a task are read once for each column; what stays in memory is the
 * tree of its stacks. */

#include <inttypes.h>
#include <stdlib.h>

#include "analyze/calls/call_tree.h"
#include "base/alloc.h"
#include "base/bytes/digits.h"
#include "base/bytes/json.h"
#include "formats/exchange/exchange.h"
#include "formats/exchange/spans/spans.h"
#include "formats/exchange/stacks/firefox_tables.h"

enum { NS_A_MS = 1000000, SAMPLES_A_READ = 4096 };

enum column { COLUMN_STACK, COLUMN_TIME, COLUMN_WEIGHT, COLUMNS };
static const char *const column_names[COLUMNS] = {"stack", "time", "weight"};

/* Nanoseconds as milliseconds, to the last digit. */
static void add_ms(struct cn_text *text, uint64_t value_ns)
{
    char *to = cn_text_room(text, CN_DIGITS_MAX + 8);
    unsigned len = cn_digits_put(to, value_ns / NS_A_MS);
    uint32_t rest = (uint32_t)(value_ns % NS_A_MS);

    to[len++] = '.';
    for (unsigned i = 6; i-- > 0; rest /= 10)
        to[len + i] = (char)('0' + rest % 10);
    cn_text_advance(text, len + 6);
}

/* A task being written, one column at a time. */
struct pass {
    struct cn_export *x;
    struct cn_call_tree tree;
    uint32_t *path; /* nodes by depth */
    size_t capacity;
    uint32_t depth;
    uint64_t since_ns; /* when the stack last changed */
    uint64_t base_ns;
    uint64_t sample_count;
    uint64_t lost[3]; /* events, values, returns without a call; of the first pass */
    enum column column;
    bool ok;
    struct cn_error *err;
};

/* The stack was the same since the last change: that is a sample. */
static void add_sample(struct pass *pass, uint64_t time_ns)
{
    struct cn_text *text = &pass->x->text;

    if (pass->depth > 0 && time_ns > pass->since_ns && pass->since_ns >= pass->base_ns) {
        if (pass->sample_count++ > 0)
            cn_text_char(text, ',');
        if (pass->column == COLUMN_STACK)
            cn_text_u64(text, pass->path[pass->depth - 1] - 1);
        else
            add_ms(text, pass->column == COLUMN_TIME ? pass->since_ns - pass->base_ns
                                                     : time_ns - pass->since_ns);
        pass->ok = pass->ok && cn_export_flush(pass->x, pass->err);
    }
    pass->since_ns = time_ns;
}

static void visit(void *arg, const struct cn_span *span)
{
    struct pass *pass = arg;
    uint32_t parent =
        span->depth > 0 && span->kind == CN_SPAN_BEGIN ? pass->path[span->depth - 1] : 0;

    if (pass->column == COLUMN_STACK) {
        pass->lost[0] += span->kind == CN_SPAN_EVENT;
        pass->lost[1] += span->kind <= CN_SPAN_END && span->call &&
                         span->call->flags & CN_CALL_HAS_DATA;
        pass->lost[2] += span->kind == CN_SPAN_END && !span->has_begin;
    }
    if (span->kind > CN_SPAN_END || (span->kind == CN_SPAN_END && !span->has_begin))
        return;
    add_sample(pass, span->time_ns);
    pass->depth = span->depth;
    if (span->kind == CN_SPAN_END)
        return;
    pass->path = cn_grow(pass->path, span->depth, &pass->capacity, sizeof(*pass->path));
    pass->path[pass->depth++] = cn_call_tree_child(
        &pass->tree, parent,
        cn_call_ids_of(&pass->tree.ids, pass->tree.rec, span->function, span->address),
        span->address, span->time_ns);
}

static bool add_column(struct pass *pass, uint32_t task)
{
    struct cn_spans spans = {0};
    struct cn_error damage;
    enum cn_step step = CN_FAIL;

    pass->depth = 0;
    pass->sample_count = 0;
    if (cn_spans_open(&spans, pass->x->query, task, &damage))
        do
            step = cn_spans_next(&spans, visit, pass, &damage);
        while (step == CN_ITEM && pass->ok);
    if (spans.count > 0)
        cn_spans_finish(&spans, cn_export_end_ns(pass->x), visit, pass);
    cn_spans_close(&spans);
    if (step == CN_FAIL && pass->column == COLUMN_STACK)
        cn_call_damages_add(&pass->x->damages, task, &damage);
    return pass->ok;
}

/* The tree of calls as the tables of a thread: node 0, the root, has no stack. */
static bool add_tables(struct pass *pass, struct cn_error *err)
{
    const struct cn_call_tree *tree = &pass->tree;
    struct cn_firefox_tables tables = {.x = pass->x};
    bool ok;

    for (size_t i = 1; i < tree->count; i++) {
        const struct cn_graph_node *node = &tree->nodes[i];
        bool is_function = node->id < tree->rec->function_count;
        const struct cn_call_function *function =
            is_function ? &tree->rec->functions[node->id] : NULL;
        char buffer[CN_CALL_NAME_MAX];

        cn_firefox_tables_add(
            &tables, node->parent == 0 ? CN_NONE : node->parent - 1, node->id,
            &(struct cn_stack_place){
                .name = cn_graph_node_name(tree, node, buffer),
                .file = function ? function->file : "",
                .line = function ? function->line : 0,
                .module = function ? tree->rec->modules[function->module].path : "",
            });
    }
    ok = cn_firefox_tables_write(&tables, err);
    cn_firefox_tables_done(&tables);
    return ok;
}

static bool add_task(struct cn_export *x, uint32_t slot, struct cn_error *err)
{
    const struct cn_recording *rec = x->query->rec;
    const struct cn_task *task = &rec->tasks[x->query->tasks[slot]];
    struct pass pass = {
        .x = x, .base_ns = cn_export_start_ns(x->query), .ok = true, .err = err};
    bool ok = true;

    cn_call_tree_init(&pass.tree, rec);
    cn_firefox_thread_begin(x, slot == 0, task->name, task->pid, task->tid,
                            task->tid == task->pid);
    for (pass.column = COLUMN_STACK; pass.column < COLUMNS && ok; pass.column++) {
        cn_text_printf(&x->text, "%s\"%s\":[", pass.column ? "],\n" : "",
                       column_names[pass.column]);
        ok = add_column(&pass, x->query->tasks[slot]);
    }
    cn_text_printf(&x->text,
                   "],\n\"weightType\":\"tracing-ms\",\"length\":%" PRIu64 "},\n",
                   pass.sample_count);
    ok = ok && add_tables(&pass, err);
    cn_export_lose(x, "events", pass.lost[0]);
    cn_export_lose(x, "calls and returns with values", pass.lost[1]);
    cn_export_lose(x, "returns from calls that were not recorded", pass.lost[2]);
    cn_call_tree_done(&pass.tree);
    free(pass.path);
    return ok;
}

static bool write_tasks(struct cn_export *x, struct cn_error *err)
{
    bool ok = true;

    cn_firefox_begin(x, cn_export_program(x->query->rec),
                     cn_export_start_ns(x->query) +
                         cn_export_clock_offset_ns(x->query->rec));
    for (uint32_t i = 0; i < x->query->task_count && ok; i++)
        ok = add_task(x, i, err);
    cn_firefox_end(x);
    return ok;
}

/* A column of a thread's timeline. Context 0 means that it does not run. */
static bool add_timeline_column(struct cn_export *x, const struct cn_stacks *stacks,
                                const struct cn_timeline *timeline, enum column column,
                                uint64_t *count, struct cn_error *err)
{
    struct cn_sample *samples = cn_alloc(SAMPLES_A_READ, sizeof(*samples));
    bool ok = true;

    *count = 0;
    for (uint64_t at = 0; at < timeline->count && ok; at += SAMPLES_A_READ) {
        uint64_t left = timeline->count - at;
        size_t part = left < SAMPLES_A_READ ? (size_t)left : SAMPLES_A_READ;

        ok = cn_timeline_read(x->db, timeline, at, part, samples, err);
        for (size_t i = 0; i < part && ok; i++) {
            uint32_t frame = cn_frames_find(&stacks->frames, samples[i].context);
            uint32_t node = stacks->node_of_frame[frame];

            if ((*count)++ > 0)
                cn_text_char(&x->text, ',');
            if (column == COLUMN_TIME)
                add_ms(&x->text, samples[i].time_ns > x->db->begin_ns
                                     ? samples[i].time_ns - x->db->begin_ns
                                     : 0);
            else if (samples[i].context == 0)
                cn_text_str_add(&x->text, "null");
            else
                cn_text_u64(&x->text, node);
            ok = cn_export_flush(x, err);
        }
    }
    free(samples);
    return ok;
}

/* Without a timeline, a sample for each stack, as heavy as what was spent there. */
static bool add_stack_column(struct cn_export *x, const struct cn_stacks *stacks,
                             enum column column, uint64_t *count, struct cn_error *err)
{
    bool ok = true;

    *count = 0;
    for (size_t i = 0; i < stacks->count && ok; i++) {
        uint64_t value = cn_stack_value(stacks->nodes[i].self);

        if (stacks->nodes[i].is_root || value == 0)
            continue;
        if ((*count)++ > 0)
            cn_text_char(&x->text, ',');
        if (column == COLUMN_STACK)
            cn_text_u64(&x->text, i);
        else if (column == COLUMN_TIME)
            cn_text_u64(&x->text, *count);
        else if (stacks->scale == 1)
            cn_text_u64(&x->text, value);
        else
            add_ms(&x->text, value);
        ok = cn_export_flush(x, err);
    }
    return ok;
}

static bool add_samples(struct cn_export *x, struct cn_stacks *stacks, uint32_t profile,
                        struct cn_error *err)
{
    struct cn_timeline timeline = {0};
    uint64_t count = 0;
    bool ok = !x->db->has_timelines || cn_timeline_open(x->db, profile, &timeline, err);
    bool has_weights = timeline.count == 0;

    ok = ok && (!has_weights || cn_stacks_load(stacks, x->db, profile, err));
    for (unsigned i = COLUMN_STACK; i < (has_weights ? COLUMNS : COLUMN_WEIGHT) && ok;
         i++) {
        cn_text_printf(&x->text, "%s\"%s\":[", i ? "],\n" : "", column_names[i]);
        ok = has_weights ? add_stack_column(x, stacks, i, &count, err)
                         : add_timeline_column(x, stacks, &timeline, i, &count, err);
    }
    cn_text_printf(&x->text, "],\n\"weightType\":\"%s\",%s\"length\":%" PRIu64 "},\n",
                   has_weights && stacks->scale != 1 ? "tracing-ms" : "samples",
                   has_weights ? "" : "\"weight\":null,", count);
    return ok;
}

static bool add_thread(struct cn_export *x, struct cn_stacks *stacks, uint32_t profile,
                       bool is_first, struct cn_error *err)
{
    struct cn_firefox_tables tables = {.x = x};
    struct cn_profile about;
    struct cn_text name = {0};
    bool ok = cn_database_profile(x->db, profile, &about, err);

    if (ok) {
        cn_identity_print(&about.identity, &x->db->kinds, &name);
        cn_firefox_thread_begin(x, is_first, cn_text_str(&name), 1, profile, is_first);
        ok = add_samples(x, stacks, profile, err);
    }
    for (size_t i = 0; i < stacks->count && ok; i++)
        cn_firefox_tables_add(&tables, stacks->nodes[i].parent, stacks->nodes[i].place,
                              &stacks->places[stacks->nodes[i].place]);
    ok = ok && cn_firefox_tables_write(&tables, err);
    cn_firefox_tables_done(&tables);
    cn_text_done(&name);
    return ok;
}

static bool write_threads(struct cn_export *x, struct cn_error *err)
{
    struct cn_stacks stacks;
    bool ok = true, is_first = true;

    if (!cn_stacks_of_database(&stacks, x->db, x->options->metric, err))
        return false;
    cn_firefox_begin(x, x->db->title, x->db->has_timelines ? x->db->begin_ns : 0);
    for (uint32_t i = 1; i < x->db->profile_count && ok; i++) {
        struct cn_profile about;

        ok = cn_database_profile(x->db, i, &about, err);
        if (!ok || about.is_summary)
            continue;
        ok = add_thread(x, &stacks, i, is_first, err);
        is_first = false;
    }
    cn_firefox_end(x);
    if (x->db->has_timelines)
        cn_export_lose(x, "metrics: timelines show when, not how much",
                       x->db->metrics.count);
    else
        cn_export_lose(x, "other metrics (choose one with --metric)",
                       x->db->metrics.count - 1);
    cn_export_lose(x, "loops, lines and instructions: they count for their function",
                   stacks.frames.index.count - (stacks.frames.count - 1));
    cn_stacks_done(&stacks);
    return ok;
}

static bool write_calls(const struct cn_call_query *query, const char *path,
                        const struct cn_write_options *options, struct cn_error *err)
{
    return cn_export_calls(query, path, options, write_tasks, false, err);
}

static bool write_database(struct cn_database *db, const char *path,
                           const struct cn_write_options *options, struct cn_error *err)
{
    return cn_export_database(db, path, options, write_threads, false, err);
}

const struct cn_format cn_format_firefox = {
    .name = "firefox",
    .summary = "processed profile of the Firefox Profiler: stacks over time",
    .holds = "calls or timelines",
    .is_file = true,
    .write_calls = write_calls,
    .write_database = write_database,
};
