/* cairn sql: ask databases, recordings and stores in SQL. */

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "cli/recording/options.h"
#include "cli/shell/cli.h"
#include "cli/shell/command.h"
#include "cli/shell/kinds.h"
#include "cli/shell/open.h"
#include "cli/shell/progress.h"
#include "model/calls/recording.h"
#include "sql/sql.h"

#ifdef CN_HAS_SQLITE

enum {
    TIMEOUT_DEFAULT = 300, /* seconds */
    TIMEOUT_MAX = 1000000,
    MEMORY_DEFAULT = 1024, /* MiB */
    MEMORY_MIN = 16,
    MEMORY_MAX = 1 << 30,
    STATEMENT_MAX = 1 << 20, /* bytes */
    DATA_MAX = 8,
};

static const char main_schema[] = "main";

struct sql_run {
    const struct cn_args *args;
    struct cn_sql *sql;
    struct cn_opened sources[DATA_MAX];
    size_t source_count;
    unsigned kinds; /* of the data */
    struct cn_text statement;
    struct cn_bar bar;

    /* The result. */
    struct cn_column *columns;
    struct cn_text *names; /* of the columns */
    size_t column_count;
    struct cn_table *table;
};

/* Two columns of a join may have the same name; keys of JSON should not. */
static void name_column(struct sql_run *run, size_t i, const char *name)
{
    unsigned number = 1;

    cn_text_str_add(&run->names[i], name);
    for (size_t k = 0; k < i; k++) {
        if (strcmp(cn_text_str(&run->names[k]), cn_text_str(&run->names[i])) != 0)
            continue;
        cn_text_clear(&run->names[i]);
        cn_text_printf(&run->names[i], "%s:%u", name, ++number);
        k = SIZE_MAX; /* from the beginning */
    }
}

static void begin(void *arg, const char *const *names, size_t count)
{
    struct sql_run *run = arg;

    run->column_count = count;
    run->columns = cn_alloc(count, sizeof(*run->columns));
    run->names = cn_alloc(count, sizeof(*run->names));
    for (size_t i = 0; i < count; i++) {
        name_column(run, i, names[i]);
        run->columns[i] = (struct cn_column){.name = cn_text_str(&run->names[i]),
                                             .title = cn_text_str(&run->names[i]),
                                             .kind = CN_COLUMN_ANY};
    }
    cn_bar_hide(&run->bar);
    run->table = cn_cli_table(run->args, run->columns, count);
}

static bool add_row(void *arg, const struct cn_sql_cell *cells, size_t count)
{
    struct sql_run *run = arg;

    for (size_t i = 0; i < count; i++) {
        switch (cells[i].kind) {
        case CN_SQL_NULL:
            cn_table_none(run->table);
            break;
        case CN_SQL_INTEGER:
            cn_table_i64(run->table, cells[i].integer);
            break;
        case CN_SQL_REAL:
            cn_table_f64(run->table, cells[i].real);
            break;
        case CN_SQL_TEXT:
            cn_table_str(run->table, cells[i].text);
            break;
        }
    }
    cn_table_end_row(run->table);
    return !ferror(stdout);
}

static bool read_stream(FILE *from, const char *path, struct cn_text *out,
                        struct cn_error *err)
{
    char buffer[4096];
    size_t len;

    while ((len = fread(buffer, 1, sizeof(buffer), from)) > 0) {
        if (out->len + len > STATEMENT_MAX)
            return cn_fail(err, CN_ERR_USAGE, "%s: a statement has at most %d bytes",
                           path, STATEMENT_MAX);
        cn_text_add(out, buffer, len);
    }
    return !ferror(from) || cn_fail_errno(err, "cannot read %s", path);
}

/* The statement: the second operand, or the contents of --file. */
static bool read_statement(struct sql_run *run, struct cn_error *err)
{
    const char *path = cn_args_value(run->args, "file");
    const char *operand = cn_args_find_operand(run->args, 1);
    bool is_stdin = path && strcmp(path, "-") == 0, ok;

    if (operand && path)
        return cn_fail(err, CN_ERR_USAGE, "--file and a statement were given");
    if (operand)
        cn_text_str_add(&run->statement, operand);
    if (!path)
        return true;
    FILE *from = is_stdin ? stdin : fopen(path, "re");
    if (!from)
        return cn_fail_errno(err, "cannot open %s", path);
    ok = read_stream(from, is_stdin ? "standard input" : path, &run->statement, err);
    if (!is_stdin)
        (void)fclose(from);
    if (ok && memchr(cn_text_str(&run->statement), '\0', run->statement.len))
        ok = cn_fail(err, CN_ERR_USAGE, "%s: the statement contains a NUL byte", path);
    return ok;
}

static bool add_source(struct sql_run *run, const char *schema, const char *path,
                       struct cn_error *err)
{
    struct cn_open_options options = {.recording.demangle =
                                          cn_recording_demangle(run->args),
                                      .is_raw = cn_args_has(run->args, "raw")};

    if (run->source_count == DATA_MAX)
        return cn_fail(err, CN_ERR_USAGE, "at most %d --with", DATA_MAX - 1);
    struct cn_opened *source = &run->sources[run->source_count];
    if (!cn_cli_open(source, run->args, path, CN_OWN, &options, err))
        return false;
    run->source_count++;
    run->kinds |= cn_cli_kinds_of(source);
    cn_cli_warn_opened(run->args, source);
    if (source->store)
        return cn_sql_add_store(run->sql, schema, path, err);
    return source->rec
               ? cn_sql_add_recording(run->sql, schema, source->rec, options.is_raw, err)
               : cn_sql_add_database(run->sql, schema, source->db, err);
}

/* --with NAME=DATA */
static bool add_other(struct sql_run *run, const char *value, struct cn_error *err)
{
    const char *equals = strchr(value, '=');
    struct cn_text name = {0};
    bool ok;

    if (!equals || equals == value || equals[1] == '\0')
        return cn_fail(err, CN_ERR_USAGE, "--with %s: expected NAME=DATA", value);
    cn_text_add(&name, value, (size_t)(equals - value));
    ok = strcmp(cn_text_str(&name), main_schema) != 0 ||
         cn_fail(err, CN_ERR_USAGE, "--with %s: main is the first DATA", value);
    ok = ok && add_source(run, cn_text_str(&name), equals + 1, err);
    cn_text_done(&name);
    return ok;
}

static bool open_all(struct sql_run *run, struct cn_error *err)
{
    struct cn_values others = cn_args_values(run->args, "with");
    struct cn_sql_limits limits = {.has_options = true, .progress = &run->bar.progress};
    uint64_t seconds, megabytes;

    if (!cn_args_u64(run->args, "timeout", 0, TIMEOUT_MAX, TIMEOUT_DEFAULT, &seconds,
                     err) ||
        !cn_args_u64(run->args, "max-memory", MEMORY_MIN, MEMORY_MAX, MEMORY_DEFAULT,
                     &megabytes, err))
        return false;
    limits.timeout_ns = seconds * 1000000000;
    limits.memory_max = megabytes << 20;
    if (!cn_sql_open(&run->sql, &limits, err) ||
        !add_source(run, main_schema, cn_args_operand(run->args, 0), err))
        return false;
    for (size_t i = 0; i < others.count; i++)
        if (!add_other(run, others.list[i], err))
            return false;
    return cn_kinds_check(run->args, run->kinds, cn_args_operand(run->args, 0), err);
}

/* What is damaged was read up to the damage. */
static bool check_damage(const struct sql_run *run, struct cn_error *err)
{
    if (!cn_sql_check_damage(run->sql, err))
        return cn_fail_in(err, "the result is incomplete");
    for (size_t i = 0; i < run->source_count; i++) {
        const struct cn_opened *source = &run->sources[i];

        if (cn_opened_is_damaged(source))
            return cn_fail(err, CN_ERR_FORMAT, "%s is damaged: the result %s",
                           source->path, source->rec ? "may be wrong" : "is incomplete");
    }
    return true;
}

static void close_all(struct sql_run *run)
{
    cn_sql_close(run->sql);
    for (size_t i = 0; i < run->source_count; i++)
        cn_opened_close(&run->sources[i]);
    for (size_t i = 0; i < run->column_count; i++)
        cn_text_done(&run->names[i]);
    free(run->names);
    free(run->columns);
    cn_text_done(&run->statement);
}

static bool run(const struct cn_args *args, struct cn_error *err)
{
    static const struct cn_sql_sink sink = {.begin = begin, .row = add_row};
    struct sql_run *run = cn_alloc(1, sizeof(*run));
    bool ok;

    run->args = args;
    cn_bar_begin(&run->bar, args);
    ok = read_statement(run, err) && open_all(run, err);
    if (ok && !cn_args_has(args, "file") && cn_args_count(args) == 1)
        cn_sql_list(run->sql, &sink, run);
    else
        ok = ok && cn_sql_run(run->sql, cn_text_str(&run->statement), &sink, run, err);
    cn_table_free(run->table);
    ok = ok && check_damage(run, err);
    cn_bar_end(&run->bar);
    close_all(run);
    free(run);
    return ok;
}

#else

static bool run(const struct cn_args *args, struct cn_error *err)
{
    (void)args;
    return cn_fail(err, CN_ERR_USAGE, "this cairn was built without SQLite");
}

#endif

static const struct cn_option options[] = {
    CN_OPTION("file", 0, "FILE",
              "read the statement from FILE; -: from "
              "standard input"),
    CN_OPTION_LIST("with", 0, "NAME=DATA",
                   "also open DATA, as the schema NAME: NAME.calls"),
    CN_OPTION("timeout", 0, "SECONDS",
              "stop after this time (default: 300; 0: no limit)"),
    CN_OPTION("max-memory", 0, "MIB",
              "stop when a statement needs more memory (default: 1024)"),
    CN_RECORDING_RAW_OPTION,
    CN_RECORDING_DEMANGLE_OPTION,
    CN_OPTION("format", 0, "text|json|csv|markdown",
              "print as aligned text (the default), as JSON, CSV or a Markdown table"),
    {0},
};

static const struct cn_example examples[] = {
    {"cairn sql run.db", "list the tables and their columns"},
    {"cairn sql uftrace.data 'SELECT name, self_ns FROM report ORDER BY 2 DESC'",
     "show the costs of functions"},
    {"cairn sql uftrace.data 'SELECT * FROM calls WHERE total_ns > 1e6'",
     "list the slow calls"},
    {"cairn sql shop \"SELECT count(*), type FROM spans('errors') GROUP BY 2\"",
     "count the failed spans of a store by type"},
    {"cairn sql new.data --with old=old.data --file compare.sql --format csv",
     "join two recordings"},
    {0},
};

const struct cn_command cn_cmd_sql = {
    .name = "sql",
    .operands = "PATH [STATEMENT]",
    .operand_min = 1,
    .operand_max = 2,
    .scope = CN_FOR_DATA,
    .summary = "query a database, recording or store with SQL",
    .description =
        "Runs one SELECT of SQLite on tables that are read from PATH when they are "
        "needed: nothing is converted first. Tables and columns have the names of cairn "
        "convert --to sqlite. Without a statement, all of them are listed; bounds on "
        "columns marked \"key\" (time, thread, context, name) skip data instead of "
        "reading it, and a \"parameter\" is passed as in report(2).\n\n"
        "A statement can only read: no other files, no extensions, no changes. It ends "
        "with an error at the limits of time and memory. Sorting may use temporary files "
        "in $SQLITE_TMPDIR or $TMPDIR.\n\n"
        "Damaged data is read up to the damage, which is then reported; the exit status "
        "is 3.",
    .examples = examples,
    .options = options,
    .run = run,
};
