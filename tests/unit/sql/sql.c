#include "sql/sql.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "model/calls/recording.h"
#include "model/contexts/database.h"
#include "sql/call_groups.h"
#include "support/sample.h"
#include "support/sample_recording.h"

static const struct cn_sql_limits no_limits = {0};

/* A recording as `main` and a database as `db`. */
struct session {
    struct cn_recording *rec;
    struct cn_database *db;
    struct cn_sql *sql;
    struct cn_text out;
    size_t row_count;
};

static void open_session(struct session *s, const struct cn_sql_limits *limits)
{
    struct cn_error err = {0};

    *s = (struct session){.rec = cn_sample_recording(), .db = cn_sample_database()};
    if (!cn_sql_open(&s->sql, limits, &err) ||
        !cn_sql_add_recording(s->sql, "main", s->rec, false, &err) ||
        !cn_sql_add_database(s->sql, "db", s->db, &err))
        fail_msg("%s", err.text);
}

static void close_session(struct session *s)
{
    cn_sql_close(s->sql);
    cn_recording_close(s->rec);
    cn_database_close(s->db);
    cn_text_done(&s->out);
}

static void begin(void *arg, const char *const *names, size_t count)
{
    (void)arg;
    (void)names;
    assert_true(count > 0);
}

static bool add_row(void *arg, const struct cn_sql_cell *cells, size_t count)
{
    struct session *s = arg;

    s->row_count++;
    for (size_t i = 0; i < count; i++) {
        if (cells[i].kind == CN_SQL_INTEGER)
            cn_text_printf(&s->out, "%lld|", (long long)cells[i].integer);
        else if (cells[i].kind == CN_SQL_REAL)
            cn_text_printf(&s->out, "%.17g|", cells[i].real);
        else
            cn_text_printf(&s->out, "%s|",
                           cells[i].kind == CN_SQL_TEXT ? cells[i].text : "NULL");
    }
    cn_text_char(&s->out, '\n');
    return true;
}

static const struct cn_sql_sink sink = {.begin = begin, .row = add_row};

/* The rows of a statement as text. */
static const char *ask(struct session *s, const char *statement)
{
    struct cn_error err = {0};

    cn_text_clear(&s->out);
    s->row_count = 0;
    if (!cn_sql_run(s->sql, statement, &sink, s, &err))
        fail_msg("%s: %s", statement, err.text);
    return cn_text_str(&s->out);
}

/* Rows that are delivered in groups are those that SQLite sorts: `+` hides the column. */
static void groups_calls_as_sqlite_does(void **state)
{
    static const char *const columns[] = {"name", "function"};
    static const char *const rests[] = {
        ", count(*) FROM calls GROUP BY 1",
        ", count(*), sum(total_ns), sum(self_ns), min(begin_ns), max(end_ns), "
        "sum(depth), "
        "group_concat(DISTINCT thread) FROM calls GROUP BY 1",
        ", sum(depth), min(thread) FROM calls WHERE thread >= 0 AND total_ns > 1 "
        "GROUP BY 1 ORDER BY 1 DESC",
        " FROM calls ORDER BY 1",
        ", count(arguments), max(id) FROM calls GROUP BY 1",
    };
    struct session s;

    (void)state;
    open_session(&s, &no_limits);
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
        for (size_t k = 0; k < sizeof(rests) / sizeof(rests[0]); k++) {
            char statement[300];
            char *expected;

            (void)snprintf(statement, sizeof(statement), "SELECT +%s%s", columns[i],
                           rests[k]);
            expected = strdup(ask(&s, statement));
            assert_true(s.row_count > 1);
            (void)snprintf(statement, sizeof(statement), "SELECT %s%s", columns[i],
                           rests[k]);
            assert_string_equal(ask(&s, statement), expected);
            free(expected);
        }
    }
    assert_string_equal(ask(&s, "SELECT count(DISTINCT name) = (SELECT count(*) FROM "
                                "(SELECT DISTINCT name FROM calls)) FROM calls"),
                        "1|\n");
    assert_null(strstr(
        ask(&s, "EXPLAIN QUERY PLAN SELECT name, sum(total_ns) FROM calls GROUP BY name"),
        "TEMP B-TREE"));
    close_session(&s);
}

/* Events and calls without symbols are groups by address, also as the first ones. */
static void groups_calls_of_unknown_functions(void **state)
{
    enum { ADDRESS_COUNT = 100, CALL_COUNT = 3 };
    struct cn_recording *rec = cn_sample_recording();
    struct cn_call_groups *groups = cn_call_groups_new(rec, true, 1u << CN_CALL_TOTAL);
    struct cn_grouped_call call;
    uint64_t sums[ADDRESS_COUNT] = {0};

    (void)state;
    for (uint64_t i = 0; i < (uint64_t)CALL_COUNT * ADDRESS_COUNT; i++) {
        struct cn_span span = {.function = CN_NONE,
                               .address = 0x100000 + i % ADDRESS_COUNT,
                               .total_ns = 1 + i % ADDRESS_COUNT};

        cn_call_groups_add(groups, 0, &span);
    }
    cn_call_groups_sort(groups);
    while (cn_call_groups_next(groups, &call))
        sums[call.address - 0x100000] += call.numbers[CN_CALL_TOTAL];
    for (uint64_t i = 0; i < ADDRESS_COUNT; i++)
        assert_int_equal(sums[i], CALL_COUNT * (1 + i));
    cn_call_groups_free(groups);
    cn_recording_close(rec);
}

/* The report counts the return of fork() in the child; it is no row of calls. */
static void adds_up_calls_as_the_report_does(void **state)
{
    struct session s;
    char *expected;

    (void)state;
    open_session(&s, &no_limits);
    expected = strdup(ask(
        &s,
        "SELECT name, calls - (name = 'fork'), self_ns, sum_ns FROM report ORDER BY 1"));
    assert_true(s.row_count > 5);
    assert_string_equal(ask(&s, "SELECT name, count(*), sum(self_ns), sum(total_ns) "
                                "FROM calls GROUP BY name ORDER BY 1"),
                        expected);
    assert_string_equal(
        ask(&s,
            "SELECT name, calls - (name = 'fork'), self_ns, total_ns FROM function_times "
            "ORDER BY 1"),
        expected);
    free(expected);
    close_session(&s);
}

static void reports_one_thread_and_time(void **state)
{
    struct session s;

    (void)state;
    open_session(&s, &no_limits);
    (void)ask(&s,
              "SELECT t.id FROM threads t WHERE (SELECT count(*) FROM calls "
              "WHERE thread = t.id AND name != 'fork') != (SELECT coalesce(sum(calls), "
              "0) FROM report(t.id) WHERE name != 'fork')");
    assert_int_equal(s.row_count, 0);
    assert_string_equal(ask(&s, "SELECT count(*) FROM report(99999)"), "0|\n");
    assert_string_equal(ask(&s, "SELECT count(*) FROM report(NULL, 1, 2)"), "0|\n");
    assert_string_equal(ask(&s, "SELECT (SELECT sum(calls) FROM report(NULL, 0)) = "
                                "(SELECT sum(calls) FROM report)"),
                        "1|\n");
    close_session(&s);
}

/* A bound that a table knows must choose the same rows as the same comparison with a +, which
 * SQLite does alone. */
static void check_bounds(struct session *s, const char *table, const char *column)
{
    static const char *const comparisons[] = {"=", "<", "<=", ">", ">="};
    static const char *const values[] = {"v",    "v + 1", "v - 1", "v + 0.5", "-1",
                                         "1e30", "NULL",  "'x'",   "-1e30"};
    struct cn_text text = {0};

    for (size_t i = 0; i < sizeof(comparisons) / sizeof(comparisons[0]); i++)
        for (size_t k = 0; k < sizeof(values) / sizeof(values[0]); k++) {
            cn_text_clear(&text);
            cn_text_printf(
                &text,
                "WITH some(v) AS (SELECT DISTINCT \"%s\" FROM %s WHERE \"%s\" IS NOT "
                "NULL "
                "LIMIT 5) SELECT v, (SELECT count(*) FROM %s WHERE \"%s\" %s %s) AS a, "
                "(SELECT count(*) FROM %s WHERE +\"%s\" %s %s) AS b FROM some "
                "WHERE a != b",
                column, table, column, table, column, comparisons[i], values[k], table,
                column, comparisons[i], values[k]);
            if (strcmp(ask(s, cn_text_str(&text)), "") != 0)
                fail_msg("%s: %s", cn_text_str(&text), cn_text_str(&s->out));
        }
    cn_text_done(&text);
}

static void bounds_choose_the_same_rows(void **state)
{
    static const char *const keys[][2] = {
        {"calls", "thread"},         {"calls", "function"},
        {"calls", "begin_ns"},       {"calls", "end_ns"},
        {"calls", "total_ns"},       {"calls", "self_ns"},
        {"calls", "name"},           {"events", "thread"},
        {"events", "time_ns"},       {"threads", "id"},
        {"functions", "id"},         {"db.threads", "id"},
        {"db.contexts", "id"},       {"db.contexts", "parent"},
        {"db.\"values\"", "thread"}, {"db.\"values\"", "context"},
        {"db.\"values\"", "metric"}, {"db.sums", "context"},
        {"db.samples", "thread"},    {"db.samples", "time_ns"},
        {"db.metrics", "id"},
    };
    struct session s;

    (void)state;
    open_session(&s, &no_limits);
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        check_bounds(&s, keys[i][0], keys[i][1]);
    /* Equal in another collation is not equal bytes. */
    assert_string_equal(ask(&s, "SELECT (SELECT count(*) FROM calls WHERE name = 'MAIN' "
                                "COLLATE NOCASE) = (SELECT count(*) FROM calls WHERE "
                                "name = 'main')"),
                        "1|\n");
    close_session(&s);
}

static void walks_contexts_by_parent(void **state)
{
    struct session s;

    (void)state;
    open_session(&s, &no_limits);
    assert_string_equal(
        ask(&s, "WITH RECURSIVE t(id) AS (SELECT id FROM db.contexts WHERE parent = 0 "
                "UNION ALL SELECT c.id FROM t JOIN db.contexts c ON c.parent = t.id) "
                "SELECT (SELECT count(*) FROM t) = (SELECT count(*) FROM db.contexts), "
                "(SELECT count(*) FROM t) > 5"),
        "1|1|\n");
    /* Values of contexts without a record have no name. */
    assert_string_equal(
        ask(&s, "SELECT (SELECT count(*) FROM db.costs) = (SELECT count(*) FROM "
                "db.\"values\" WHERE context IN (SELECT id FROM db.contexts))"),
        "1|\n");
    close_session(&s);
}

static void assert_refused(struct session *s, const char *statement,
                           enum cn_error_kind kind)
{
    struct cn_error err = {0};

    if (cn_sql_run(s->sql, statement, &sink, s, &err))
        fail_msg("%s: accepted", statement);
    if (err.kind != kind || err.text[0] == '\0')
        fail_msg("%s: %s", statement, err.text);
}

static void only_reads(void **state)
{
    static const char *const refused[] = {
        "",
        "-- nothing",
        "SELEC 1",
        "SELECT 1; SELECT 2",
        "SELECT 1; garbage",
        "SELECT nothing FROM calls",
        "SELECT * FROM nowhere",
        "SELECT \"text\"",
        "SELECT ?",
        "ATTACH 'file' AS other",
        "DETACH db",
        "PRAGMA database_list",
        "PRAGMA hard_heap_limit = 0",
        "SELECT * FROM pragma_database_list",
        "CREATE TABLE t (a)",
        "CREATE TEMP VIEW v AS SELECT 1",
        "CREATE VIRTUAL TABLE temp.calls USING cairn",
        "CREATE VIRTUAL TABLE temp.t USING fts5(a)",
        "DROP TABLE calls",
        "DROP VIEW function_times",
        "INSERT INTO calls (id) VALUES (1)",
        "UPDATE calls SET id = 1",
        "DELETE FROM calls",
        "ALTER TABLE calls RENAME TO c",
        "VACUUM",
        "VACUUM INTO 'file'",
        "BEGIN",
        "ANALYZE",
        "REINDEX",
        "SELECT load_extension('x')",
        "SELECT writefile('x', 'y')",
        "SELECT zeroblob(1000000000)",
    };
    struct session s;

    (void)state;
    open_session(&s, &no_limits);
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
        assert_refused(&s, refused[i], CN_ERR_USAGE);
    assert_string_equal(ask(&s, "SELECT 1 ; -- the end"), "1|\n");
    assert_string_equal(ask(&s, "VALUES (x'00ff', -2, 1.5, NULL)"),
                        "00ff|-2|1.5|NULL|\n");
    close_session(&s);
}

static void ends_at_its_limits(void **state)
{
    static const char endless[] = "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT "
                                  "x + 1 FROM r) SELECT count(*) FROM r";
    struct cn_sql_limits time = {.timeout_ns = 1000000};
    struct cn_sql_limits memory = {.memory_max = 4 << 20};
    struct session s;

    (void)state;
    open_session(&s, &time);
    assert_refused(&s, endless, CN_ERR_LIMIT);
    assert_refused(&s, "SELECT count(*) FROM calls, calls b, calls c, calls d, calls e",
                   CN_ERR_LIMIT);
    close_session(&s);
    open_session(&s, &memory);
    assert_refused(&s,
                   "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r LIMIT "
                   "100000) SELECT length(group_concat(printf('%.100c', 'x'))) FROM r",
                   CN_ERR_LIMIT);
    assert_string_equal(ask(&s, "SELECT count(*) > 0 FROM calls"), "1|\n");
    close_session(&s);
}

static void refuses_odd_schemas(void **state)
{
    static const char *const names[] = {"", "a\"b", "temp", "main", "a b", "db"};
    struct session s;

    (void)state;
    open_session(&s, &no_limits);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct cn_error err = {0};

        assert_false(cn_sql_add_recording(s.sql, names[i], s.rec, false, &err));
        assert_int_equal(err.kind, CN_ERR_USAGE);
    }
    close_session(&s);
}

static void lists_tables_and_views(void **state)
{
    struct session s;

    (void)state;
    open_session(&s, &no_limits);
    cn_sql_list(s.sql, &sink, &s);
    assert_non_null(strstr(cn_text_str(&s.out), "main|calls|begin_ns|INTEGER|key|\n"));
    assert_non_null(
        strstr(cn_text_str(&s.out), "main|report|thread|INTEGER|parameter|\n"));
    assert_non_null(strstr(cn_text_str(&s.out), "db|costs|context_name|TEXT|view|\n"));
    close_session(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_calls_as_sqlite_does),
        cmocka_unit_test(groups_calls_of_unknown_functions),
        cmocka_unit_test(adds_up_calls_as_the_report_does),
        cmocka_unit_test(reports_one_thread_and_time),
        cmocka_unit_test(bounds_choose_the_same_rows),
        cmocka_unit_test(walks_contexts_by_parent),
        cmocka_unit_test(only_reads),
        cmocka_unit_test(ends_at_its_limits),
        cmocka_unit_test(refuses_odd_schemas),
        cmocka_unit_test(lists_tables_and_views),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
