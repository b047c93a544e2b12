#include "server/sql/statements.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cache.h"
#include "base/run/clock.h"
#include "base/run/job.h"
#include "base/text.h"
#include "server/api/request.h"
#include "server/api/route.h"
#include "server/served/served.h"
#include "sql/sql.h"

#ifdef CN_HAS_SQLITE

enum { STATEMENTS_MAX = 8, RESULTS_MAX = 64 << 20, WITH_MAX = 8, SAFE_BITS = 53 };

struct cn_statements {
    struct cn_job_group jobs; /* the limit of memory is one for the process */
    pthread_mutex_t lock;     /* of the cache */
    struct cn_cache cache;
};

/* A source of a statement, and the schema that its tables are in. */
struct statement_source {
    struct cn_served *served;
    char schema[24];
};

/* What the values of a column have been so far. */
enum column_kind { KIND_NULL, KIND_INTEGER, KIND_REAL, KIND_TEXT, KIND_MIXED };

struct statement {
    struct cn_statements *statements;
    struct cn_cached *cached;
    struct statement_source sources[WITH_MAX + 1]; /* the first is "main" */
    size_t source_count;
    char *text;
    uint64_t row_max, seconds;
    bool wants_tables; /* instead of running a statement */
    struct cn_job job;

    /* The result, once the job is done. */
    char **names;
    enum column_kind *kinds;
    size_t column_count, row_count;
    struct cn_text rows; /* items of an array */
    struct cn_json json; /* writes them */
    bool is_cut;
    uint64_t elapsed_ns;
    char *damage;
};

static void drop_result(struct statement *statement)
{
    for (size_t i = 0; i < statement->column_count; i++)
        free(statement->names[i]);
    free(statement->names);
    free(statement->kinds);
    free(statement->damage);
    cn_text_done(&statement->rows);
    statement->names = NULL;
    statement->kinds = NULL;
    statement->damage = NULL;
    statement->column_count = statement->row_count = 0;
    statement->is_cut = false;
}

static void free_statement(void *value)
{
    struct statement *statement = value;

    cn_job_end(&statement->job);
    drop_result(statement);
    free(statement->text);
    free(statement);
}

static bool is_busy(const struct cn_cached *entry, void *arg)
{
    (void)arg;
    return cn_job_is_running(&((struct statement *)entry->value)->job);
}

struct cn_statements *cn_statements_new(void)
{
    struct cn_statements *statements = cn_alloc(1, sizeof(*statements));

    cn_job_group_init(&statements->jobs, 1);
    (void)pthread_mutex_init(&statements->lock, NULL);
    statements->cache = (struct cn_cache){.count_max = STATEMENTS_MAX,
                                          .cost_max = RESULTS_MAX,
                                          .free_value = free_statement,
                                          .is_busy = is_busy};
    return statements;
}

void cn_statements_free(struct cn_statements *statements)
{
    if (!statements)
        return;
    cn_job_group_cancel(&statements->jobs);
    cn_cache_done(&statements->cache);
    cn_job_group_done(&statements->jobs);
    (void)pthread_mutex_destroy(&statements->lock);
    free(statements);
}

static void begin(void *arg, const char *const *names, size_t count)
{
    struct statement *statement = arg;

    statement->names = cn_alloc(count, sizeof(*statement->names));
    statement->kinds = cn_alloc(count, sizeof(*statement->kinds));
    statement->column_count = count;
    for (size_t i = 0; i < count; i++)
        statement->names[i] = cn_strdup(names[i]);
    statement->json = (struct cn_json){.text = &statement->rows};
    cn_json_array(&statement->json);
}

/* A number that JavaScript cannot represent is a string. */
static void add_integer(struct cn_json *json, int64_t value)
{
    char text[24];

    if (value > -(INT64_C(1) << SAFE_BITS) && value < INT64_C(1) << SAFE_BITS) {
        cn_json_i64(json, value);
        return;
    }
    (void)snprintf(text, sizeof(text), "%" PRId64, value);
    cn_json_str(json, text);
}

static bool add_row(void *arg, const struct cn_sql_cell *cells, size_t count)
{
    static const enum column_kind kinds[] = {[CN_SQL_NULL] = KIND_NULL,
                                             [CN_SQL_INTEGER] = KIND_INTEGER,
                                             [CN_SQL_REAL] = KIND_REAL,
                                             [CN_SQL_TEXT] = KIND_TEXT};
    struct statement *statement = arg;
    struct cn_json *json = &statement->json;

    statement->is_cut = statement->row_count == statement->row_max ||
                        statement->rows.len > CN_STATEMENT_BYTES;
    if (statement->is_cut)
        return false;
    statement->row_count++;
    cn_json_array(json);
    for (size_t i = 0; i < count; i++) {
        enum column_kind *kind = &statement->kinds[i], found = kinds[cells[i].kind];

        if (found != KIND_NULL && *kind != found)
            *kind = *kind == KIND_NULL                          ? found
                    : *kind + found == KIND_INTEGER + KIND_REAL ? KIND_REAL
                                                                : KIND_MIXED;
        if (cells[i].kind == CN_SQL_INTEGER)
            add_integer(json, cells[i].integer);
        else if (cells[i].kind == CN_SQL_REAL)
            cn_json_f64(json, cells[i].real);
        else if (cells[i].kind == CN_SQL_TEXT)
            cn_json_str(json, cells[i].text);
        else
            cn_json_null(json);
    }
    cn_json_end(json);
    return true;
}

static bool add_source(struct cn_sql *sql, const struct statement_source *source,
                       struct cn_error *err)
{
    struct cn_served *served = source->served;

    if (served->kind == CN_SERVED_STORE)
        return cn_sql_add_store(sql, source->schema, served->path, err);
    return served->recording
               ? cn_sql_add_recording(sql, source->schema, served->recording,
                                      served->opened.options.is_raw, err)
               : cn_sql_add_database(sql, source->schema, served->db, err);
}

static bool run(void *arg, const struct cn_progress *progress, struct cn_error *err)
{
    static const struct cn_sql_sink sink = {.begin = begin, .row = add_row};
    struct statement *statement = arg;
    struct cn_sql_limits limits = {.timeout_ns = statement->seconds * 1000000000,
                                   .memory_max = CN_STATEMENT_MEMORY,
                                   .progress = progress};
    uint64_t begin_ns = cn_clock_ns();
    struct cn_sql *sql = NULL;
    struct cn_error damage;
    bool ok = cn_sql_open(&sql, &limits, err);

    drop_result(statement); /* of a job that failed */
    for (size_t i = 0; ok && i < statement->source_count; i++)
        ok = add_source(sql, &statement->sources[i], err);
    if (ok && statement->wants_tables)
        cn_sql_list(sql, &sink, statement);
    else
        ok = ok && cn_sql_run(sql, statement->text, &sink, statement, err);
    if (ok && !cn_sql_check_damage(sql, &damage))
        statement->damage = cn_strdup(damage.text);
    cn_sql_close(sql);
    if (ok)
        cn_json_end(&statement->json);
    statement->elapsed_ns = cn_clock_ns() - begin_ns;
    return ok;
}

/* The source with an id as another schema. */
static bool add_with(const struct cn_served_list *sources, struct statement *statement,
                     const char *text, struct cn_error *err)
{
    struct statement_source *source = &statement->sources[statement->source_count];
    const char *rest = text;
    uint64_t id;

    if (!cn_number_take(&rest, sources->count, &id) || *rest || id == sources->count)
        return cn_fail(err, CN_ERR_NOT_FOUND, "with: there is no source '%.40s'", text);
    if (statement->source_count == WITH_MAX + 1)
        return cn_fail(err, CN_ERR_USAGE, "at most %d sources in a statement",
                       WITH_MAX + 1);
    source->served = sources->list[id];
    (void)snprintf(source->schema, sizeof(source->schema), "s%" PRIu64, id);
    statement->source_count++;
    return true;
}

static bool parse(const struct cn_served_list *sources, struct cn_served *served,
                  const struct cn_request *request, struct statement *statement,
                  struct cn_error *err)
{
    const char *text = cn_request_value(request, "statement"), *with;

    if (!statement->wants_tables && (!text || !*text))
        return cn_fail(err, CN_ERR_USAGE, "parameter statement is missing");
    if (!cn_request_u64(request, "limit", 1, CN_STATEMENT_ROWS, 1000, &statement->row_max,
                        err) ||
        !cn_request_u64(request, "timeout", 1, CN_STATEMENT_SECONDS, CN_STATEMENT_SECONDS,
                        &statement->seconds, err))
        return false;
    if (statement->wants_tables)
        statement->row_max = UINT64_MAX;
    statement->text = cn_strdup(text ? text : "");
    statement->sources[0] = (struct statement_source){served, "main"};
    statement->source_count = 1;
    for (size_t i = 0; (with = cn_request_value_at(request, "with", i)); i++)
        if (!add_with(sources, statement, with, err))
            return false;
    for (size_t i = 0; i < statement->source_count; i++) {
        struct cn_served *one = statement->sources[i].served;

        if (one->kind != CN_SERVED_STORE && !one->recording && !cn_served_ready(one, err))
            return false;
    }
    return true;
}

/* Everything that distinguishes one result from another. A store that has grown has another one. */
static void print_key(const struct statement *statement, struct cn_text *key)
{
    cn_text_printf(key, "%d %" PRIu64 " %" PRIu64 "\n", statement->wants_tables,
                   statement->row_max, statement->seconds);
    for (size_t i = 0; i < statement->source_count; i++) {
        struct cn_served *served = statement->sources[i].served;
        uint64_t size = 0;
        struct cn_error ignored;

        if (served->kind == CN_SERVED_STORE) {
            cn_served_lock(served);
            if (cn_served_store_refresh(&served->store, &ignored))
                size = served->store.size;
            cn_served_unlock(served);
        }
        cn_text_printf(key, "%p %" PRIu64 " %s\n", (void *)served, size,
                       statement->sources[i].schema);
    }
    cn_text_str_add(key, statement->text);
}

/* The statement that runs or has run already, pinned; takes `statement`. NULL if all are in use. */
static struct statement *find_or_add(struct cn_statements *statements,
                                     struct statement *statement)
{
    struct cn_text key = {0};
    struct cn_cached *entry;

    print_key(statement, &key);
    (void)pthread_mutex_lock(&statements->lock);
    entry = cn_cache_find(&statements->cache, cn_text_str(&key));
    if (!entry) {
        statement->job = (struct cn_job){.group = &statements->jobs,
                                         .work = run,
                                         .arg = statement,
                                         .what = "running the statement",
                                         .stops_unasked = true};
        entry = cn_cache_add(&statements->cache, cn_text_str(&key), statement, 0);
        if (entry) {
            statement->cached = entry;
            statement = NULL;
        }
    }
    if (entry)
        cn_cached_pin(entry);
    (void)pthread_mutex_unlock(&statements->lock);
    cn_text_done(&key);
    if (statement)
        free_statement(statement);
    return entry ? entry->value : NULL;
}

static void unpin(struct cn_statements *statements, struct statement *statement)
{
    (void)pthread_mutex_lock(&statements->lock);
    if (!cn_job_is_running(&statement->job))
        cn_cache_set_cost(&statements->cache, statement->cached, statement->rows.len);
    cn_cached_unpin(statement->cached);
    (void)pthread_mutex_unlock(&statements->lock);
}

static void write_result(struct cn_json *json, const struct statement *statement)
{
    static const char *const kinds[] = {[KIND_NULL] = "null",
                                        [KIND_INTEGER] = "integer",
                                        [KIND_REAL] = "real",
                                        [KIND_TEXT] = "text",
                                        [KIND_MIXED] = "mixed"};

    cn_json_add_array(json, "columns");
    for (size_t i = 0; i < statement->column_count; i++) {
        cn_json_object(json);
        cn_json_add_str(json, "name", statement->names[i]);
        cn_json_add_str(json, "type", kinds[statement->kinds[i]]);
        cn_json_end(json);
    }
    cn_json_end(json);
    cn_json_add_u64(json, "count", statement->row_count);
    cn_json_add_bool(json, "isCut", statement->is_cut);
    cn_json_add_u64(json, "elapsed", statement->elapsed_ns);
    cn_json_add_str(json, "damage", statement->damage);
    cn_json_key(json, "rows");
    cn_json_raw(json, cn_text_str(&statement->rows), statement->rows.len);
}

static bool answer(const struct cn_served_list *sources, struct cn_served *served,
                   struct cn_request *request, bool wants_tables, struct cn_error *err)
{
    struct cn_statements *statements = sources->statements;
    struct statement *statement = cn_alloc(1, sizeof(*statement));

    statement->wants_tables = wants_tables;
    if (!parse(sources, served, request, statement, err)) {
        free_statement(statement);
        return false;
    }
    statement = find_or_add(statements, statement);
    if (!statement)
        return cn_fail(err, CN_ERR_BUSY, "%d other statements are in use",
                       STATEMENTS_MAX);
    bool ok = cn_job_wait(&statement->job, err);
    if (ok)
        write_result(&request->json, statement);
    unpin(statements, statement);
    return ok;
}

#else

struct cn_statements *cn_statements_new(void)
{
    return NULL;
}

void cn_statements_free(struct cn_statements *statements)
{
    (void)statements;
}

static bool answer(const struct cn_served_list *sources, struct cn_served *served,
                   struct cn_request *request, bool wants_tables, struct cn_error *err)
{
    (void)sources;
    (void)served;
    (void)request;
    (void)wants_tables;
    return cn_fail(err, CN_ERR_NOT_FOUND, "this cairn was built without SQLite");
}

#endif

bool cn_statements_answer(const struct cn_served_list *sources, struct cn_served *served,
                          struct cn_request *request, struct cn_error *err)
{
    return answer(sources, served, request, false, err);
}

bool cn_statements_tables(const struct cn_served_list *sources, struct cn_served *served,
                          struct cn_request *request, struct cn_error *err)
{
    return answer(sources, served, request, true, err);
}
