/* The tables of a recording. */

#include <stdlib.h>

#include "analyze/calls/stack.h"
#include "base/alloc.h"
#include "base/bytes/utf8.h"
#include "formats/exchange/write/spans/finished.h"
#include "sql/call_groups.h"
#include "sql/table.h"

/* Columns of calls, in the order of cn_calls_table. */
enum {
    ID,
    THREAD,
    PARENT,
    DEPTH,
    FUNCTION,
    NAME,
    BEGIN_NS,
    END_NS,
    TOTAL_NS,
    SELF_NS,
    ARGUMENTS,
    RESULT,
};

/* Numbers of the keys of calls. */
enum { KEY_THREAD, KEY_FUNCTION, KEY_BEGIN, KEY_END, KEY_TOTAL, KEY_SELF };

/* An id is unique in the recording, and the same whatever a statement asks for. */
enum { TASK_SHIFT = 40 };

/* A row of calls or of events. Texts are offsets in the texts of the scan, plus 1. */
struct call_row {
    uint64_t id, parent; /* 0: none */
    uint64_t begin_ns, end_ns, total_ns, self_ns;
    uint64_t address;
    uint32_t function, depth;
    size_t arguments, result;
    const char *name; /* of an event */
};

/* The tasks one after the other, a batch of spans at a time. */
struct call_scan {
    struct cn_sql_scan base;
    struct cn_sql_ask ask;
    bool of_events;
    bool *is_chosen; /* by function: has the name that the statement asks for; or NULL */
    uint64_t task, last_task;
    uint64_t row_task;      /* of the rows */
    struct cn_spans *spans; /* of the task; NULL: not open */
    struct cn_finished *finished;
    uint64_t outer_ns, now_ns; /* begin of the outermost call; time of the last span */
    struct call_row *rows;     /* of the batch */
    size_t count, capacity, at;
    struct cn_text texts, scratch;
    char name[CN_CALL_NAME_MAX];
    struct cn_call_groups *groups; /* NULL: calls in the order of their ends */
    bool is_grouped;               /* all calls are in `groups` */
};

static size_t add_text(struct call_scan *scan, const char *text)
{
    size_t at = scan->texts.len + 1;

    cn_text_add(&scan->texts, text, strlen(text) + 1);
    return at;
}

static bool is_wanted(const struct call_scan *scan, const struct cn_span *span)
{
    const struct cn_sql_range *keys = scan->ask.keys;
    bool is_function = span->function < scan->base.data->rec->function_count;

    return cn_sql_range_has(keys[KEY_BEGIN], span->begin_ns) &&
           cn_sql_range_has(keys[KEY_END], span->time_ns) &&
           cn_sql_range_has(keys[KEY_TOTAL], span->total_ns) &&
           cn_sql_range_has(keys[KEY_SELF], span->self_ns) &&
           (!is_function || cn_sql_range_has(keys[KEY_FUNCTION], span->function)) &&
           (!is_function || !scan->is_chosen || scan->is_chosen[span->function]);
}

static struct call_row *add_row(struct call_scan *scan)
{
    CN_GROW(scan->rows, scan->count, scan->capacity);
    scan->rows[scan->count] = (struct call_row){0};
    return &scan->rows[scan->count++];
}

static void visit_call(void *arg, const struct cn_span *span)
{
    struct call_scan *scan = arg;
    struct cn_finished_call call;

    if (span->kind == CN_SPAN_BEGIN && span->depth == 0)
        scan->outer_ns = span->begin_ns;
    scan->now_ns = span->time_ns;
    if (!cn_finished_visit(scan->finished, span, &call) || !is_wanted(scan, span))
        return;
    struct call_row *row = add_row(scan);
    row->id = call.id;
    row->parent = call.parent_id;
    row->begin_ns = span->begin_ns;
    row->end_ns = span->time_ns;
    row->total_ns = span->total_ns;
    row->self_ns = span->self_ns;
    row->address = span->address;
    row->function = span->function;
    row->depth = span->depth;
    if (call.arguments[0])
        row->arguments = add_text(scan, call.arguments);
    if (cn_span_has_values(span))
        row->result = add_text(scan, call.result);
}

static void visit_grouped(void *arg, const struct cn_span *span)
{
    struct call_scan *scan = arg;

    if (span->kind == CN_SPAN_BEGIN && span->depth == 0)
        scan->outer_ns = span->begin_ns;
    scan->now_ns = span->time_ns;
    if (span->kind == CN_SPAN_END && span->has_begin && is_wanted(scan, span))
        cn_call_groups_add(scan->groups, scan->row_task, span);
}

static void visit_event(void *arg, const struct cn_span *span)
{
    struct call_scan *scan = arg;
    const struct cn_recording *rec = scan->base.data->rec;
    bool is_lost = span->kind == CN_SPAN_LOST;

    scan->now_ns = span->time_ns;
    if ((span->kind != CN_SPAN_EVENT && !is_lost) ||
        !cn_sql_range_has(scan->ask.keys[1], span->time_ns))
        return;
    bool has_data = cn_span_event_data(rec, span, &scan->scratch);
    if (is_lost)
        cn_text_u64(&scan->scratch, span->address);
    struct call_row *row = add_row(scan);
    row->begin_ns = span->time_ns;
    row->name = cn_span_event_name(rec, span);
    if (has_data || is_lost)
        row->arguments = add_text(scan, cn_text_str(&scan->scratch));
}

static void choose_functions(struct call_scan *scan, const struct cn_recording *rec)
{
    if (!scan->ask.text || scan->of_events)
        return;
    scan->is_chosen = cn_alloc(rec->function_count + 1, sizeof(*scan->is_chosen));
    for (uint32_t i = 0; i < rec->function_count; i++)
        scan->is_chosen[i] = strcmp(rec->functions[i].name, scan->ask.text) == 0;
}

/* The numbers of calls that columns show, as a set. */
static unsigned kept(uint64_t used)
{
    static const struct {
        unsigned column, number;
    } shown[] = {{THREAD, CN_CALL_PLACE},   {DEPTH, CN_CALL_PLACE},
                 {BEGIN_NS, CN_CALL_BEGIN}, {END_NS, CN_CALL_END_NS},
                 {TOTAL_NS, CN_CALL_TOTAL}, {SELF_NS, CN_CALL_SELF}};
    unsigned set = 0;

    for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++)
        if (used >> shown[i].column & 1)
            set |= 1u << shown[i].number;
    return set;
}

/* A record has 16 bytes, a call two records. */
static uint64_t calls_count(struct cn_sql_data *data)
{
    enum { CALL_LEN = 32, USUAL_COUNT = 1000000 };
    uint64_t len = 0;

    for (uint32_t i = 0; data->rec && i < data->rec->task_count; i++)
        len += data->rec->tasks[i].data_len;
    return data->rec ? len / CALL_LEN + 1 : USUAL_COUNT;
}

static bool calls_open(struct cn_sql_data *data, const struct cn_sql_table *table,
                       const struct cn_sql_ask *ask, struct cn_sql_scan **out,
                       struct cn_error *err)
{
    if (!cn_sql_data_calls(data, err))
        return false;
    struct call_scan *scan = cn_alloc(1, sizeof(*scan));
    scan->ask = *ask;
    scan->of_events = table->shape == &cn_events_table;
    cn_sql_range_u64(ask->keys[KEY_THREAD], UINT32_MAX, &scan->task, &scan->last_task);
    choose_functions(scan, data->rec);
    if (ask->group != CN_SQL_NO_COLUMN)
        scan->groups = cn_call_groups_new(data->rec, ask->group == NAME, kept(ask->used));
    *out = &scan->base;
    return true;
}

/* A scan by name has one group for each text that SQLite sees. */
static bool are_names_plain(const struct cn_recording *rec)
{
    for (uint32_t i = 0; i < rec->function_count; i++) {
        const char *name = rec->functions[i].name;

        if (!cn_utf8_is_valid(name, strlen(name)))
            return false;
    }
    return true;
}

/* The calls must fit in half of the memory of a statement. */
static bool calls_can_group(struct cn_sql_data *data, unsigned column, uint64_t used)
{
    const uint64_t texts = 1 << ID | 1 << PARENT | 1 << ARGUMENTS | 1 << RESULT;
    struct cn_error ignored = {0};

    if ((column != NAME && column != FUNCTION) || (used & texts) != 0 || !data->rec)
        return false;
    uint64_t len = calls_count(data) * cn_call_groups_call_len(kept(used));
    return cn_sql_check_memory(data->sql, 2 * len, &ignored) &&
           (column == FUNCTION || are_names_plain(data->rec));
}

static void close_task(struct call_scan *scan)
{
    cn_spans_close(scan->spans);
    scan->spans = NULL;
    if (scan->finished)
        cn_finished_free(scan->finished);
    scan->finished = NULL;
    scan->task++;
}

/* True if the rest of the task cannot have a row that the statement asks for. */
static bool is_over(const struct call_scan *scan)
{
    const struct cn_sql_range *keys = scan->ask.keys;

    if (scan->of_events)
        return keys[1].last < 0 || scan->now_ns > (uint64_t)keys[1].last;
    return keys[KEY_END].last < 0 || scan->now_ns > (uint64_t)keys[KEY_END].last ||
           keys[KEY_BEGIN].last < 0 || scan->outer_ns > (uint64_t)keys[KEY_BEGIN].last;
}

static void open_task(struct call_scan *scan)
{
    struct cn_sql_data *data = scan->base.data;
    const struct cn_task *task = &data->rec->tasks[scan->task];
    struct cn_writer writer = {.rec = data->rec, .task = task};
    struct cn_error damage = {0};

    scan->finished = cn_finished_new(&writer, (scan->task << TASK_SHIFT) + 1, 0);
    scan->outer_ns = scan->now_ns = task->first_ns;
    if (!cn_spans_open(&scan->spans, &data->calls.query, (uint32_t)scan->task, &damage)) {
        (void)cn_fail_in(&damage, "task %u", task->tid);
        cn_sql_data_damage(data, &damage);
        scan->spans = NULL;
    }
}

/* Fill `rows` with a batch, which may be empty. CN_END after the last task. */
static enum cn_step fill_rows(struct call_scan *scan, struct cn_error *err)
{
    struct cn_sql_data *data = scan->base.data;
    cn_span_fn visit = scan->groups      ? visit_grouped
                       : scan->of_events ? visit_event
                                         : visit_call;
    struct cn_error damage = {0};

    scan->at = scan->count = 0;
    cn_text_clear(&scan->texts);
    if (!cn_sql_check(data->sql, err))
        return CN_FAIL;
    if (scan->task > scan->last_task || scan->task >= data->rec->task_count)
        return CN_END;
    if (!scan->spans)
        open_task(scan);
    if (!scan->spans || is_over(scan)) {
        close_task(scan);
        return CN_ITEM;
    }
    scan->row_task = scan->task;
    enum cn_step step = cn_spans_next(scan->spans, visit, scan, &damage);
    if (step == CN_FAIL) {
        (void)cn_fail_in(&damage, "task %u", data->rec->tasks[scan->task].tid);
        cn_sql_data_damage(data, &damage);
    }
    if (step != CN_ITEM) {
        cn_spans_finish(scan->spans, visit, scan);
        close_task(scan);
    }
    return CN_ITEM;
}

/* The next call of a group. */
static enum cn_step grouped_next(struct call_scan *scan, struct cn_error *err)
{
    const struct cn_sql *sql = scan->base.data->sql;
    struct cn_grouped_call call = {0};
    enum cn_step step = CN_ITEM;

    while (!scan->is_grouped && step == CN_ITEM) {
        step = fill_rows(scan, err);
        if (step == CN_FAIL ||
            !cn_sql_check_memory(sql, cn_call_groups_len(scan->groups), err))
            return CN_FAIL;
        scan->is_grouped = step == CN_END;
        if (scan->is_grouped)
            cn_call_groups_sort(scan->groups);
    }
    if (!cn_call_groups_next(scan->groups, &call))
        return CN_END;
    scan->count = 0;
    *add_row(scan) = (struct call_row){
        .begin_ns = call.numbers[CN_CALL_BEGIN],
        .end_ns = call.numbers[CN_CALL_END_NS],
        .total_ns = call.numbers[CN_CALL_TOTAL],
        .self_ns = call.numbers[CN_CALL_SELF],
        .depth = (uint32_t)call.numbers[CN_CALL_PLACE],
        .function = call.function,
        .address = call.address,
    };
    scan->row_task = call.numbers[CN_CALL_PLACE] >> 32;
    scan->at = 1;
    return CN_ITEM;
}

static enum cn_step calls_next(struct cn_sql_scan *base, struct cn_error *err)
{
    struct call_scan *scan = (struct call_scan *)base;

    if (scan->groups)
        return grouped_next(scan, err);
    while (scan->at >= scan->count) {
        enum cn_step step = fill_rows(scan, err);

        if (step != CN_ITEM)
            return step;
    }
    scan->at++;
    return CN_ITEM;
}

static void text_cell(const struct call_scan *scan, size_t text, struct cn_sql_cell *out)
{
    cn_sql_cell_text(out, text > 0 ? scan->texts.chars + text - 1 : NULL, false);
}

/* The name of a function belongs to the recording; that of an address to the scan. */
static void name_cell(struct call_scan *scan, const struct call_row *row,
                      struct cn_sql_cell *out)
{
    const char *name =
        cn_call_name(scan->base.data->rec, row->function, row->address, scan->name);

    cn_sql_cell_text(out, name, name != scan->name);
}

static bool calls_cell(struct cn_sql_scan *base, unsigned column, struct cn_sql_cell *out,
                       struct cn_error *err)
{
    struct call_scan *scan = (struct call_scan *)base;
    const struct call_row *row = &scan->rows[scan->at - 1];
    const uint64_t numbers[] = {
        [ID] = row->id,         [THREAD] = scan->row_task,  [PARENT] = row->parent,
        [DEPTH] = row->depth,   [FUNCTION] = row->function, [BEGIN_NS] = row->begin_ns,
        [END_NS] = row->end_ns, [TOTAL_NS] = row->total_ns, [SELF_NS] = row->self_ns,
    };

    (void)err;
    if (column == NAME)
        name_cell(scan, row, out);
    else if (column == ARGUMENTS || column == RESULT)
        text_cell(scan, column == RESULT ? row->result : row->arguments, out);
    else if ((column == PARENT && row->parent == 0) ||
             (column == FUNCTION && row->function >= base->data->rec->function_count))
        cn_sql_cell_text(out, NULL, false);
    else
        cn_sql_cell_integer(out, numbers[column]);
    return true;
}

static bool events_cell(struct cn_sql_scan *base, unsigned column,
                        struct cn_sql_cell *out, struct cn_error *err)
{
    const struct call_scan *scan = (const struct call_scan *)base;
    const struct call_row *row = &scan->rows[scan->at - 1];

    (void)err;
    if (column < 2)
        cn_sql_cell_integer(out, column == 0 ? scan->row_task : row->begin_ns);
    else if (column == 2)
        cn_sql_cell_text(out, row->name, true);
    else
        text_cell(scan, row->arguments, out);
    return true;
}

static void calls_close(struct cn_sql_scan *base)
{
    struct call_scan *scan = (struct call_scan *)base;

    close_task(scan);
    cn_call_groups_free(scan->groups);
    free(scan->is_chosen);
    free(scan->rows);
    cn_text_done(&scan->texts);
    cn_text_done(&scan->scratch);
    free(scan);
}

static bool add_functions(struct cn_table_rows *rows, struct cn_error *err)
{
    (void)err;
    cn_tables_add_functions(rows, NULL);
    return true;
}

static const struct cn_sql_table facts = {
    .shape = &cn_facts_table, .add = cn_tables_add_facts, CN_SQL_IN_MEMORY};
static const struct cn_sql_table threads = {.shape = &cn_tasks_table,
                                            .key_count = 1,
                                            .add = cn_tables_add_tasks,
                                            CN_SQL_IN_MEMORY};
static const struct cn_sql_table functions = {
    .shape = &cn_functions_table, .key_count = 1, .add = add_functions, CN_SQL_IN_MEMORY};
static const struct cn_sql_table flows = {
    .shape = &cn_flows_table, .add = cn_tables_add_flows, CN_SQL_IN_MEMORY};
static const struct cn_sql_table calls = {
    .shape = &cn_calls_table,
    .key_count = 6,
    .keys = {THREAD, FUNCTION, BEGIN_NS, END_NS, TOTAL_NS, SELF_NS},
    .text_key = NAME,
    .row_count = calls_count,
    .can_group = calls_can_group,
    .open = calls_open,
    .next = calls_next,
    .cell = calls_cell,
    .close = calls_close,
};
static const struct cn_sql_table events = {
    .shape = &cn_events_table,
    .key_count = 2,
    .keys = {0, 1},
    .text_key = CN_SQL_NO_COLUMN,
    .row_count = calls_count,
    .open = calls_open,
    .next = calls_next,
    .cell = events_cell,
    .close = calls_close,
};

#define OF_CALLS \
    &facts, &threads, &functions, &calls, &events, &flows, &cn_sql_report, &cn_sql_states
static const struct cn_sql_table *const tables[] = {OF_CALLS,
                                                    &cn_sql_mpi_waits,
                                                    &cn_sql_locks,
                                                    &cn_sql_recorded_io,
                                                    &cn_sql_recorded_launches,
                                                    NULL};
_Static_assert(sizeof(tables) / sizeof(tables[0]) <= CN_SQL_TABLES_MAX + 1,
               "each has a place in struct cn_sql_data");
static const struct cn_sql_table *const store_tables[] = {&cn_sql_traces, &cn_sql_spans,
                                                          OF_CALLS, NULL};
static const struct cn_sql_view views[] = {
    {"function_times", "SELECT name, calls, self_ns, sum_ns AS total_ns FROM report"},
    {0},
};
const struct cn_sql_tables cn_sql_recording_tables = {tables, views};
const struct cn_sql_tables cn_sql_store_tables = {store_tables, views};
