/* Reader of profiles of the Firefox Profiler: processed ones, whose tables are columns, and those of
 * Gecko, whose tables are rows with a schema. Tables may follow what refers to them, so threads are
 * added when all is read. */

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/bytes/json_reader.h"
#include "base/list.h"
#include "formats/exchange/read/lines.h"
#include "formats/exchange/read/readers.h"
#include "formats/exchange/read/stacks/import.h"

enum { NS_PER_MS = 1000000 };

/* The functions in which files of cairn wait begin with this. */
static const char wait_name[] = "linux:schedule";

/* In place of a context: the thread waits. */
#define WAITS UINT32_MAX

/* The columns that are read, of all tables. */
enum column {
    SAMPLE_STACK,
    SAMPLE_TIME,
    SAMPLE_DELTA,
    SAMPLE_WEIGHT,
    STACK_PREFIX,
    STACK_FRAME,
    FRAME_LOCATION,
    FRAME_FUNCTION,
    FRAME_LINE,
    FUNCTION_NAME,
    FUNCTION_FILE,
    FUNCTION_LINE,
    COLUMN_COUNT,
    NO_COLUMN = COLUMN_COUNT,
};

static const struct {
    const char *table, *name;
} columns[COLUMN_COUNT] = {
    [SAMPLE_STACK] = {"samples", "stack"},
    [SAMPLE_TIME] = {"samples", "time"},
    [SAMPLE_DELTA] = {"samples", "timeDeltas"},
    [SAMPLE_WEIGHT] = {"samples", "weight"},
    [STACK_PREFIX] = {"stackTable", "prefix"},
    [STACK_FRAME] = {"stackTable", "frame"},
    [FRAME_LOCATION] = {"frameTable", "location"},
    [FRAME_FUNCTION] = {"frameTable", "func"},
    [FRAME_LINE] = {"frameTable", "line"},
    [FUNCTION_NAME] = {"funcTable", "name"},
    [FUNCTION_FILE] = {"funcTable", "fileName"},
    [FUNCTION_LINE] = {"funcTable", "lineNumber"},
};

/* Numbers; NAN is null. */
struct cells {
    double *list;
    size_t count, capacity;
};

struct firefox_thread {
    struct cells cells[COLUMN_COUNT];
    char **strings;
    size_t string_count, string_capacity;
    char *name, *weight_type;
    uint64_t pid, tid;
};

struct firefox_reading {
    struct cn_import *import;
    struct cn_json_reader json;
    struct firefox_thread *threads, shared;
    size_t thread_count, thread_capacity;
    struct firefox_thread at; /* the thread that is read */
    double start_ms, interval_ms;

    char table[CN_JSON_KEY_MAX + 1]; /* that is read */
    enum column schema[64];          /* by index in a row */
};

static void thread_done(struct firefox_thread *thread)
{
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        free(thread->cells[i].list);
    for (size_t i = 0; i < thread->string_count; i++)
        free(thread->strings[i]);
    free(thread->strings);
    free(thread->name);
    free(thread->weight_type);
    *thread = (struct firefox_thread){0};
}

static enum column column_of(const struct firefox_reading *r, const char *name)
{
    for (unsigned i = 0; i < COLUMN_COUNT; i++)
        if (strcmp(columns[i].table, r->table) == 0 && strcmp(columns[i].name, name) == 0)
            return i;
    return NO_COLUMN;
}

/* Add a cell: a number, or null. */
static bool add_cell(struct firefox_reading *r, enum column column,
                     enum cn_json_kind kind, const struct cn_json_token *token,
                     struct cn_error *err)
{
    struct cells *cells = &r->at.cells[column < COLUMN_COUNT ? column : 0];
    double value = NAN;

    if (column >= COLUMN_COUNT)
        return cn_json_skip(&r->json, kind, err);
    if (kind == CN_JSON_NUMBER && !cn_json_as_f64(token->text, &value))
        return cn_json_fail(token, "a number", err);
    CN_PUSH(cells->list, cells->count, cells->capacity, value);
    return cn_json_skip(&r->json, kind, err);
}

static bool read_column(struct firefox_reading *r, enum column column,
                        struct cn_error *err)
{
    struct cn_json_token token;
    enum cn_json_kind kind;

    while ((kind = cn_json_next(&r->json, &token, err)) != CN_JSON_ARRAY_END)
        if (kind == CN_JSON_FAIL || !add_cell(r, column, kind, &token, err))
            return false;
    return true;
}

static bool take_schema(void *arg, const struct cn_json_member *member,
                        struct cn_error *err)
{
    struct firefox_reading *r = arg;
    uint64_t index;

    if (cn_json_as_u64(member->token.text, &index) && index < CN_COUNT_OF(r->schema))
        r->schema[index] = column_of(r, member->key);
    return cn_json_skip(&r->json, member->kind, err);
}

/* A row ends where the rest is null. */
static bool read_row(struct firefox_reading *r, struct cn_error *err)
{
    struct cn_json_token token;
    enum cn_json_kind kind;
    size_t index = 0;

    while ((kind = cn_json_next(&r->json, &token, err)) != CN_JSON_ARRAY_END) {
        enum column column =
            index < CN_COUNT_OF(r->schema) ? r->schema[index] : NO_COLUMN;

        if (kind == CN_JSON_FAIL || !add_cell(r, column, kind, &token, err))
            return false;
        index++;
    }
    for (; index < CN_COUNT_OF(r->schema); index++)
        if (r->schema[index] < COLUMN_COUNT &&
            !add_cell(r, r->schema[index], CN_JSON_NULL, &token, err))
            return false;
    return true;
}

static bool read_rows(struct firefox_reading *r, struct cn_error *err)
{
    struct cn_json_token token;
    enum cn_json_kind kind;

    while ((kind = cn_json_next(&r->json, &token, err)) == CN_JSON_ARRAY)
        if (!read_row(r, err))
            return false;
    return kind == CN_JSON_ARRAY_END ||
           (kind != CN_JSON_FAIL &&
            cn_fail(err, CN_ERR_FORMAT, "JSON at %" PRIu64 ": expected a row",
                    token.off));
}

static bool take_table(void *arg, const struct cn_json_member *member,
                       struct cn_error *err)
{
    struct firefox_reading *r = arg;

    if (cn_json_key_is(member, "schema") && member->kind == CN_JSON_OBJECT)
        return cn_json_read_object(&r->json, take_schema, r, err);
    if (cn_json_key_is(member, "data") && member->kind == CN_JSON_ARRAY)
        return read_rows(r, err);
    if (cn_json_key_is(member, "weightType") && member->kind == CN_JSON_STRING) {
        free(r->at.weight_type);
        r->at.weight_type = cn_word_copy(member->token.text);
    }
    return member->kind == CN_JSON_ARRAY ? read_column(r, column_of(r, member->key), err)
                                         : cn_json_skip(&r->json, member->kind, err);
}

static bool read_strings(struct firefox_reading *r, struct cn_error *err)
{
    struct cn_json_token token;
    enum cn_json_kind kind;

    while ((kind = cn_json_next(&r->json, &token, err)) == CN_JSON_STRING) {
        CN_PUSH(r->at.strings, r->at.string_count, r->at.string_capacity,
                cn_word_copy(token.text));
    }
    return kind == CN_JSON_ARRAY_END ||
           (kind != CN_JSON_FAIL &&
            cn_fail(err, CN_ERR_FORMAT, "JSON at %" PRIu64 ": expected a string",
                    token.off));
}

/* A member of a thread, or of the tables that threads share. */
static bool take_thread(void *arg, const struct cn_json_member *member,
                        struct cn_error *err)
{
    struct firefox_reading *r = arg;
    struct cn_bytes text = member->token.text;

    if (member->kind == CN_JSON_OBJECT) {
        memcpy(r->table, member->key, sizeof(r->table));
        for (size_t i = 0; i < CN_COUNT_OF(r->schema); i++)
            r->schema[i] = NO_COLUMN;
        return cn_json_read_object(&r->json, take_table, r, err);
    }
    if (member->kind == CN_JSON_ARRAY &&
        (cn_json_key_is(member, "stringArray") || cn_json_key_is(member, "stringTable")))
        return read_strings(r, err);
    if (cn_json_key_is(member, "name") && member->kind == CN_JSON_STRING) {
        free(r->at.name);
        r->at.name = cn_word_copy(text);
    } else if (cn_json_key_is(member, "pid")) {
        (void)cn_json_as_u64(text, &r->at.pid);
    } else if (cn_json_key_is(member, "tid")) {
        (void)cn_json_as_u64(text, &r->at.tid);
    }
    return cn_json_skip(&r->json, member->kind, err);
}

static bool read_thread(void *arg, uint64_t off, struct cn_error *err)
{
    struct firefox_reading *r = arg;

    (void)off;
    if (!cn_json_read_object(&r->json, take_thread, r, err))
        return cn_fail_in(err, "thread %zu", r->thread_count);
    CN_PUSH(r->threads, r->thread_count, r->thread_capacity, r->at);
    r->at = (struct firefox_thread){0};
    return true;
}

static bool take_meta(void *arg, const struct cn_json_member *member,
                      struct cn_error *err)
{
    struct firefox_reading *r = arg;

    if (cn_json_key_is(member, "startTime"))
        (void)cn_json_as_f64(member->token.text, &r->start_ms);
    else if (cn_json_key_is(member, "interval"))
        (void)cn_json_as_f64(member->token.text, &r->interval_ms);
    return cn_json_skip(&r->json, member->kind, err);
}

static bool read_process(void *arg, uint64_t off, struct cn_error *err);

/* A member of a profile. Performance recordings of Firefox have one inside, and profiles of Gecko
 * have those of other processes: both nest as deep as JSON may. */
static bool take_profile(void *arg, const struct cn_json_member *member,
                         struct cn_error *err)
{
    struct firefox_reading *r = arg;
    bool is_object = member->kind == CN_JSON_OBJECT, ok;

    if (cn_json_key_is(member, "meta") && is_object && r->thread_count == 0)
        return cn_json_read_object(&r->json, take_meta, r, err);
    if (cn_json_key_is(member, "profile") && is_object)
        return cn_json_read_object(&r->json, take_profile, r, err);
    if (cn_json_key_is(member, "threads") && member->kind == CN_JSON_ARRAY)
        return cn_json_read_objects(&r->json, read_thread, r, err);
    if (cn_json_key_is(member, "processes") && member->kind == CN_JSON_ARRAY)
        return cn_json_read_objects(&r->json, read_process, r, err);
    if (!cn_json_key_is(member, "shared") || !is_object)
        return cn_json_skip(&r->json, member->kind, err);
    ok = cn_json_read_object(&r->json, take_thread, r, err);
    thread_done(&r->shared);
    r->shared = r->at;
    r->at = (struct firefox_thread){0};
    return ok;
}

static bool read_process(void *arg, uint64_t off, struct cn_error *err)
{
    struct firefox_reading *r = arg;

    (void)off;
    return cn_json_read_object(&r->json, take_profile, r, err);
}

/* A thread with its tables, its own or shared ones. */
struct tables {
    struct firefox_reading *r;
    const struct firefox_thread *thread;
    uint32_t *contexts; /* by stack */
    uint16_t *depths;
    size_t stack_count;
    uint64_t bad_count; /* references to what is not there */
};

static double cell(const struct tables *t, enum column column, size_t row)
{
    const struct cells *cells = &t->thread->cells[column];

    if (cells->count == 0)
        cells = &t->r->shared.cells[column];
    return row < cells->count ? cells->list[row] : NAN;
}

/* The number in a cell, if it is below `limit`; else UINT32_MAX. */
static uint32_t index_at(struct tables *t, enum column column, size_t row, size_t limit)
{
    double value = cell(t, column, row);

    if (isnan(value))
        return UINT32_MAX;
    if (value >= 0 && value < (double)limit && value == floor(value))
        return (uint32_t)value;
    t->bad_count++;
    return UINT32_MAX;
}

static const char *string_at(struct tables *t, enum column column, size_t row)
{
    const struct firefox_thread *from =
        t->thread->string_count > 0 ? t->thread : &t->r->shared;
    uint32_t number = index_at(t, column, row, from->string_count);

    return number == UINT32_MAX ? "" : from->strings[number];
}

static uint32_t line_at(const struct tables *t, enum column column, size_t row)
{
    double line = cell(t, column, row);

    return line >= 1 && line < INT32_MAX ? (uint32_t)line : 0;
}

/* Cut ":NUMBER" off the end of a text; 0 if there is none. */
static uint32_t take_number(char *text)
{
    char *colon = strrchr(text, ':'), *end;
    unsigned long number = colon && colon[1] ? strtoul(colon + 1, &end, 10) : 0;

    if (number == 0 || *end != '\0' || number > INT32_MAX)
        return 0;
    *colon = '\0';
    return (uint32_t)number;
}

/* The frame of a location of Gecko: "name (url:line:column)", "name (in library)" or a name. */
static uint32_t located_frame(struct tables *t, const char *location)
{
    char *name = cn_strdup(location), *open = strstr(name, " ("), *file = NULL, *arrow;
    size_t len = strlen(name);
    uint32_t line = 0, frame, column;
    bool is_library = false;

    if (open && open > name && name[len - 1] == ')') {
        name[len - 1] = *open = '\0';
        file = open + 2;
        is_library = strncmp(file, "in ", 3) == 0;
        if (is_library)
            file += 3;
        /* A script that another one loaded. */
        while ((arrow = strstr(file, " -> ")))
            file = arrow + 4;
        column = is_library ? 0 : take_number(file);
        line = column ? take_number(file) : 0;
        line = line ? line : column;
    }
    frame = cn_import_frame(t->r->import, &(struct cn_import_frame){
                                              .name = name,
                                              .module = is_library ? file : "",
                                              .file = file && !is_library ? file : "",
                                              .line = line,
                                          });
    free(name);
    return frame;
}

static uint32_t frame_of(struct tables *t, uint32_t frame)
{
    uint32_t function = index_at(t, FRAME_FUNCTION, frame, UINT32_MAX);

    if (function == UINT32_MAX)
        return located_frame(t, string_at(t, FRAME_LOCATION, frame));
    return cn_import_frame(t->r->import,
                           &(struct cn_import_frame){
                               .name = string_at(t, FUNCTION_NAME, function),
                               .module = "",
                               .file = string_at(t, FUNCTION_FILE, function),
                               .line = line_at(t, FUNCTION_LINE, function),
                           });
}

/* Contexts of all stacks, or WAITS: a prefix comes before the stacks that have it. */
static void add_stacks(struct tables *t)
{
    const struct cells *own = &t->thread->cells[STACK_FRAME];

    t->stack_count = own->count > 0 ? own->count : t->r->shared.cells[STACK_FRAME].count;
    t->contexts = cn_alloc(t->stack_count + 1, sizeof(*t->contexts));
    t->depths = cn_alloc(t->stack_count + 1, sizeof(*t->depths));
    for (size_t i = 0; i < t->stack_count; i++) {
        uint32_t prefix = index_at(t, STACK_PREFIX, i, i);
        uint32_t frame = index_at(t, STACK_FRAME, i, UINT32_MAX);
        uint32_t above = prefix == UINT32_MAX ? 0 : t->contexts[prefix];

        t->depths[i] = prefix == UINT32_MAX ? 1 : (uint16_t)(t->depths[prefix] + 1);
        t->contexts[i] = above;
        /* Firefox writes a root above all functions. */
        if (above == 0 && frame != UINT32_MAX &&
            strcmp(string_at(t, FRAME_LOCATION, frame), "(root)") == 0)
            continue;
        if (frame != UINT32_MAX &&
            strncmp(string_at(t, FUNCTION_NAME,
                              index_at(t, FRAME_FUNCTION, frame, UINT32_MAX)),
                    wait_name, sizeof(wait_name) - 1) == 0) {
            t->contexts[i] = WAITS;
            continue;
        }
        if (above == WAITS)
            continue;
        if (t->depths[i] > CN_IMPORT_DEPTH_MAX)
            t->depths[i] = CN_IMPORT_DEPTH_MAX;
        else if (frame != UINT32_MAX)
            t->contexts[i] = cn_import_call(t->r->import, above, frame_of(t, frame));
    }
}

static uint64_t time_ns(const struct firefox_reading *r, double ms)
{
    double ns = (r->start_ms + ms) * NS_PER_MS;

    return ns > 0 && ns < (double)((uint64_t)1 << 62) ? (uint64_t)llround(ns) : 0;
}

struct sums {
    uint32_t thread, time, weight;
    bool has_time, has_weight;
    double weight_scale;
};

/* What the weights of the thread are; without weights each sample counts until the next one. */
static bool find_metrics(struct tables *t, struct sums *sums, struct cn_error *err)
{
    const char *type = t->thread->weight_type ? t->thread->weight_type : "samples";
    bool is_time = strcmp(type, "tracing-ms") == 0;
    const struct cells *weights = &t->thread->cells[SAMPLE_WEIGHT];
    const char *name = is_time                      ? "time (sec)"
                       : strcmp(type, "bytes") == 0 ? "size (bytes)"
                                                    : "samples";
    struct cn_import_identity identity = {
        .kinds = {"PROCESS", "THREAD"},
        .numbers = {t->thread->pid, t->thread->tid},
        .name = t->thread->name ? t->thread->name : "",
    };

    sums->has_weight = weights->count > 0;
    sums->has_time = !sums->has_weight;
    sums->weight_scale = is_time ? 1e-3 : 1;
    if (!cn_import_thread(t->r->import, &identity, &sums->thread, err))
        return false;
    if (t->thread->name)
        cn_import_name_thread(t->r->import, sums->thread, t->thread->name);
    return (!sums->has_time ||
            cn_import_metric(t->r->import, "time (sec)", &sums->time, err)) &&
           cn_import_metric(t->r->import, name, &sums->weight, err);
}

static bool add_sample(struct tables *t, const struct sums *sums, size_t i, double at_ms,
                       double next_ms, struct cn_error *err)
{
    struct cn_import *import = t->r->import;
    uint32_t stack = index_at(t, SAMPLE_STACK, i, t->stack_count);
    double weight = sums->has_weight ? cell(t, SAMPLE_WEIGHT, i) : 1;

    if (stack == UINT32_MAX || t->contexts[stack] == WAITS) {
        cn_import_wait(import, sums->thread, time_ns(t->r, at_ms));
        return true;
    }
    uint32_t context = t->contexts[stack];
    cn_import_sample(import, sums->thread, time_ns(t->r, at_ms), context);
    if (sums->has_time && next_ms > at_ms &&
        !cn_import_add(import, sums->thread, context, sums->time,
                       (next_ms - at_ms) * 1e-3, err))
        return false;
    return isnan(weight) || weight == 0 ||
           cn_import_add(import, sums->thread, context, sums->weight,
                         weight * sums->weight_scale, err);
}

static bool add_samples(struct tables *t, const struct sums *sums, struct cn_error *err)
{
    size_t count = t->thread->cells[SAMPLE_STACK].count;
    bool has_deltas = t->thread->cells[SAMPLE_DELTA].count > 0;
    double at_ms = has_deltas ? cell(t, SAMPLE_DELTA, 0) : cell(t, SAMPLE_TIME, 0);

    for (size_t i = 0; i < count; i++) {
        double next_ms = has_deltas ? at_ms + cell(t, SAMPLE_DELTA, i + 1)
                                    : cell(t, SAMPLE_TIME, i + 1);

        if (isnan(next_ms))
            next_ms = at_ms + t->r->interval_ms;
        if (!add_sample(t, sums, i, at_ms, next_ms, err))
            return false;
        at_ms = next_ms;
    }
    return true;
}

static bool add_thread(struct firefox_reading *r, const struct firefox_thread *thread,
                       uint64_t *bad_count, struct cn_error *err)
{
    struct tables t = {.r = r, .thread = thread};
    struct sums sums;

    add_stacks(&t);
    bool ok = find_metrics(&t, &sums, err) && add_samples(&t, &sums, err);
    *bad_count += t.bad_count;
    free(t.contexts);
    free(t.depths);
    return ok;
}

bool cn_firefox_read(struct cn_import *import, struct cn_bytes bytes,
                     struct cn_error *err)
{
    struct firefox_reading r = {
        .import = import, .json = cn_json_read(bytes), .interval_ms = 1};
    uint64_t bad_count = 0;
    bool ok = cn_json_expect(&r.json, CN_JSON_OBJECT, "an object", err) &&
              cn_json_read_object(&r.json, take_profile, &r, err) &&
              (r.thread_count > 0 || cn_fail(err, CN_ERR_FORMAT, "no threads"));

    /* Damage does not hide the threads before it. */
    if (!ok && err->kind == CN_ERR_FORMAT && r.thread_count > 0) {
        cn_import_warn(import, true, "%s; read up to there", err->text);
        ok = true;
    }
    for (size_t i = 0; i < r.thread_count && ok; i++)
        ok = add_thread(&r, &r.threads[i], &bad_count, err);
    if (bad_count > 0)
        cn_import_warn(import, true,
                       "numbers of stacks, frames or strings that do not exist: %" PRIu64,
                       bad_count);
    for (size_t i = 0; i < r.thread_count; i++)
        thread_done(&r.threads[i]);
    free(r.threads);
    thread_done(&r.shared);
    thread_done(&r.at);
    cn_json_reader_done(&r.json);
    return ok;
}

static bool has(struct cn_bytes bytes, const char *text)
{
    return memmem(bytes.ptr, bytes.len, text, strlen(text)) != NULL;
}

/* A profile begins with its facts or its libraries; a performance recording with its label. */
static bool looks_right(struct cn_bytes beginning, bool is_whole)
{
    (void)is_whole;
    return beginning.ptr[0] == '{' && !has(beginning, "\"traceEvents\"") &&
           (has(beginning, "\"preprocessedProfileVersion\"") ||
            (has(beginning, "\"meta\"") && has(beginning, "\"stackwalk\"")) ||
            (has(beginning, "\"libs\"") && has(beginning, "\"breakpadId\"")) ||
            (has(beginning, "\"label\"") && has(beginning, "\"duration\"") &&
             has(beginning, "\"markers\"")));
}

bool cn_firefox_probe(const char *path)
{
    return cn_import_probe(path, looks_right);
}

bool cn_firefox_open(struct cn_database **out, const char *path, struct cn_error *err)
{
    return cn_import_database(out, path, "profile of the Firefox Profiler",
                              cn_firefox_read, err);
}
