/* libcairn: call-path performance data for other programs.
 *
 * Data has one of three shapes: a database of calling contexts with values, a recording of
 * calls, a store of request traces. cairn_open() recognises every format that cairn reads.
 * Most results are tables (cairn_table): columns in memory, laid out as Arrow arrays.
 *
 *     struct cairn_error *err = cairn_error_new();
 *     struct cairn_data *data = cairn_open("run.db", err);
 *
 *     if (!data)
 *         fprintf(stderr, "%s\n", cairn_error_text(err));
 *     cairn_close(data);
 *     cairn_error_free(err);
 *
 * Memory: objects belong to the caller and are released with the function of their name;
 * NULL is allowed there. Strings and arrays are borrowed from the object that returned them.
 * Objects that were made from data borrow it: close the data last.
 * Failure: a function that can fail has `err` last, which may be NULL. It returns NULL, false
 * or CAIRN_FAIL and leaves its outputs unchanged. Damaged files never crash the program, nor
 * does memory that the system refuses: the function fails with CAIRN_ERR_NO_MEMORY, or returns
 * NULL if it has no `err`. What it had allocated is not released then; an object that it was
 * changing can only be released, data can still be read.
 * Misuse: a pointer that is NULL where that is not allowed, data of another shape and a number
 * that does not exist are failures, CAIRN_ERR_USAGE or CAIRN_ERR_NOT_FOUND. A function without
 * `err` returns NULL, "", 0 or false then. Released and invalid pointers are not detected.
 * Threads: the library has no global state. Data is immutable: any thread may read it, at the
 * same time as others. All other objects, errors included, belong to one thread at a time.
 * Some functions start threads, which have ended when the function returns.
 * Versions: functions and structs of this header stay as they are within SONAME 1. Structs of
 * options begin with their size and may grow; set `size` to sizeof and the rest to zero.
 */
#ifndef CAIRN_H
#define CAIRN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CAIRN_API __attribute__((visibility("default")))

/* An index or id that means "none". */
#define CAIRN_NONE UINT32_MAX

struct cairn_builder;
struct cairn_calls;
struct cairn_data;
struct cairn_diff;
struct cairn_error;
struct cairn_recorder;
struct cairn_table;
struct cairn_values;
struct cairn_walk;

/** cairn_error: errors with their causes */

enum cairn_error_kind {
    CAIRN_ERR_NONE,
    CAIRN_ERR_USAGE,       /* the caller asked for something impossible */
    CAIRN_ERR_IO,          /* the operating system refused */
    CAIRN_ERR_FORMAT,      /* the bytes break the rules of their format */
    CAIRN_ERR_VERSION,     /* newer than this library */
    CAIRN_ERR_LIMIT,       /* larger than the library accepts */
    CAIRN_ERR_NOT_FOUND,   /* no such file, thread, metric, ... */
    CAIRN_ERR_INTERRUPTED, /* not returned by this version */
    CAIRN_ERR_REJECTED,    /* not returned by this version */
    CAIRN_ERR_BUSY,        /* not now: the same call may succeed later */
    CAIRN_ERR_NO_MEMORY,   /* the system has no memory left for it */
};

/* An error for any number of calls; each failure replaces the one before it. NULL without
 * memory. */
CAIRN_API struct cairn_error *cairn_error_new(void);
CAIRN_API void cairn_error_free(struct cairn_error *err);

CAIRN_API enum cairn_error_kind cairn_error_kind(const struct cairn_error *err);

/* The last failure in one line, from the outermost context to the cause:
 * "run.db: trace.db: trace 17: time runs backwards: 25 after 99". "" if there was none. */
CAIRN_API const char *cairn_error_text(const struct cairn_error *err);

/* The chain of causes: each text is the end of cairn_error_text() that begins with the next
 * inner context. Number 0 is the whole text, the last one the cause alone. */
CAIRN_API size_t cairn_error_cause_count(const struct cairn_error *err);
CAIRN_API const char *cairn_error_cause(const struct cairn_error *err, size_t number);

/** cairn_open: open, analyse and write data of any format */

enum cairn_shape { CAIRN_DATABASE, CAIRN_RECORDING, CAIRN_STORE };

/* The version of the library, "0.9.0". */
CAIRN_API const char *cairn_version(void);

/* Open a file or directory of any format, or a store in object storage ("s3://..."). A measurement
 * directory of hpcrun and perf.data are analysed into a database first, as by cairn_analyze(). */
CAIRN_API struct cairn_data *cairn_open(const char *path, struct cairn_error *err);
CAIRN_API void cairn_close(struct cairn_data *data);

CAIRN_API enum cairn_shape cairn_data_shape(const struct cairn_data *data);

/* The name of the format, as `cairn formats` lists it; "memory" of data that was built. */
CAIRN_API const char *cairn_data_format(const struct cairn_data *data);
CAIRN_API const char *cairn_data_path(const struct cairn_data *data);

/* What could not be read, or may surprise: warning number 0, 1, ...; NULL after the last. */
CAIRN_API const char *cairn_data_warning(const struct cairn_data *data, size_t number);

/* The database that `cairn analyze` makes of a recording or a store. It is cached in
 * $XDG_CACHE_HOME/cairn/views, or ~/.cache/cairn/views, until the data changes; where that cannot be
 * written, it is in a temporary folder ($TMPDIR) until it is closed. It borrows nothing. Starts a
 * thread per processor unless it is cached. */
CAIRN_API struct cairn_data *cairn_analyze(struct cairn_data *data,
                                           struct cairn_error *err);

/* The names of the formats, "hpctoolkit-v4", "uftrace", "chrome", ...: number 0, 1, ...;
 * NULL after the last. */
CAIRN_API const char *cairn_format_name(size_t number);
CAIRN_API bool cairn_format_is_writable(const char *name);

/* Called for what the format cannot represent: "values of the lex_aware scope", 12 of them; and
 * for damage of calls, which are written up to it. */
typedef void (*cairn_loss_fn)(void *arg, const char *what, uint64_t count);

/* Write a database, a recording or the calls of a store in a format, as `cairn convert`. An
 * existing path is replaced if `replace` is set; otherwise it is a failure. `on_loss` may be
 * NULL. A failure leaves the path as it was. */
CAIRN_API bool cairn_write(struct cairn_data *data, const char *path, const char *format,
                           bool replace, cairn_loss_fn on_loss, void *arg,
                           struct cairn_error *err);

/** cairn_table: results as columns in memory */

enum cairn_type {
    CAIRN_U16,      /* uint16_t */
    CAIRN_U32,      /* uint32_t */
    CAIRN_U64,      /* uint64_t */
    CAIRN_F64,      /* double */
    CAIRN_TEXT,     /* UTF-8: row i is chars[offsets[i]] up to chars[offsets[i + 1]] */
    CAIRN_CATEGORY, /* int32_t: an index of such texts, or -1 */
};

/* The buffers are those of an Arrow array; a category is a dictionary-encoded one. */
struct cairn_column {
    const char *name;       /* stable, with its unit: "total_ns" */
    enum cairn_type type;   /* of the values */
    uint64_t count;         /* rows */
    uint64_t null_count;    /* rows that are unknown */
    const void *values;     /* NULL for CAIRN_TEXT */
    const uint8_t *valid;   /* bits, the lowest first; 0: unknown. NULL: all are known */
    const int64_t *offsets; /* of texts: text_count + 1 */
    const char *chars;
    uint64_t text_count; /* texts; of CAIRN_TEXT the number of rows */
};

CAIRN_API uint64_t cairn_table_row_count(const struct cairn_table *table);
CAIRN_API size_t cairn_table_column_count(const struct cairn_table *table);

/* Column `number`; all zero if there is no such column. */
CAIRN_API void cairn_table_column(const struct cairn_table *table, size_t number,
                                  struct cairn_column *out);

/* The number of the column of this name; cairn_table_column_count() if there is none. */
CAIRN_API size_t cairn_table_find(const struct cairn_table *table, const char *name);

/* The text of a row in a column of texts or categories, and its length; NULL if unknown, or if there
 * is no such row. The text has no NUL at its end. */
CAIRN_API const char *cairn_table_text(const struct cairn_table *table, size_t column,
                                       uint64_t row, size_t *len);
CAIRN_API void cairn_table_free(struct cairn_table *table);

/** cairn_database: threads, metrics and tables of a database */

struct cairn_thread {
    const char *name; /* NULL: unknown */
    uint64_t value_count;
    uint32_t context_count; /* with values */
    bool is_summary;        /* over threads; number 0 is the summary over all threads */
};

/* A kind of values of threads: a metric in a scope of the context tree. */
struct cairn_metric {
    const char *name;  /* "CPUTIME (sec)" */
    const char *scope; /* "point", "function", "lex_aware", "execution" */
    uint32_t id;       /* in cairn_value.metric */
};

/* A kind of values of summaries: combine(formula(value of each thread)). */
struct cairn_statistic {
    const char *metric, *scope;
    const char *formula; /* "$$": the value, "1", "($$^2)" */
    const char *combine; /* "sum", "min", "max" */
    uint32_t id;         /* in cairn_value.metric of summaries */
};

struct cairn_function {
    const char *name;   /* "" if it has none */
    const char *module; /* path; NULL: unknown */
    const char *file;   /* path; NULL: unknown */
    uint32_t line;      /* 0: unknown */
    uint64_t offset;    /* of the function in its module */
};

CAIRN_API const char *cairn_database_title(const struct cairn_data *data);

/* The number of threads and summaries; numbers begin with 0, the summary over all. */
CAIRN_API uint32_t cairn_database_thread_count(const struct cairn_data *data);
CAIRN_API bool cairn_database_thread(const struct cairn_data *data, uint32_t number,
                                     struct cairn_thread *out, struct cairn_error *err);

/* Write "NODE 0x7f0101 RANK 3 THREAD 0" and a NUL to `buffer`, shortened to `len` bytes.
 * `needed` receives the length without NUL; `buffer` may be NULL if `len` is 0. */
CAIRN_API bool cairn_database_identity(const struct cairn_data *data, uint32_t number,
                                       char *buffer, size_t len, size_t *needed,
                                       struct cairn_error *err);

/* False after the last metric or statistic. */
CAIRN_API bool cairn_database_metric(const struct cairn_data *data, size_t number,
                                     struct cairn_metric *out);
CAIRN_API bool cairn_database_statistic(const struct cairn_data *data, size_t number,
                                        struct cairn_statistic *out);

CAIRN_API uint32_t cairn_database_function_count(const struct cairn_data *data);
CAIRN_API bool cairn_database_function(const struct cairn_data *data, uint32_t number,
                                       struct cairn_function *out,
                                       struct cairn_error *err);

/* The time that samples span, in ns since the epoch; both 0 without samples. */
CAIRN_API void cairn_database_time(const struct cairn_data *data, uint64_t *begin_ns,
                                   uint64_t *end_ns);

/* Which costs a table has. */
struct cairn_cost_options {
    size_t size;                /* sizeof(struct cairn_cost_options) */
    const char *const *metrics; /* names or their unique beginnings; none: the default */
    size_t metric_count;
    bool has_all_metrics;
    const char *threads;   /* "RANK 0-3 THREAD 0" or numbers "5-8"; NULL: all */
    const char *statistic; /* over threads: "sum" (NULL), "mean", "min", "max", "stddev",
                              "count" */
    bool counts_waits;     /* the default metric is all time, not running time */
    uint32_t depth_max;    /* of views: levels; 0: all, five of callers */
    double percent_min;    /* of views: rows below this share of the whole are left out */
};

/* All contexts, callers before callees: id, parent (an id), depth, kind, relation, name,
 * function, module, file, line, offset, the costs, then language ("c++", "python") and code
 * ("mine", "library", "runtime", "kernel", "startup"; both null of what is no function).
 * `options` may be NULL. */
CAIRN_API struct cairn_table *
cairn_database_contexts(struct cairn_data *data, const struct cairn_cost_options *options,
                        struct cairn_error *err);

enum cairn_view { CAIRN_TREE, CAIRN_FLAT, CAIRN_CALLERS };

/* The rows of `cairn tree`, `flat` or `callers`, in the order shown: depth, kind, context,
 * name, module, file, line, the costs, then language and code. */
CAIRN_API struct cairn_table *
cairn_database_view(struct cairn_data *data, enum cairn_view view,
                    const struct cairn_cost_options *options, struct cairn_error *err);

/* The values of a thread (context, metric, value) or, of CAIRN_NONE, of all threads (thread
 * first). Metrics are numbers, as in cairn_metric.id. */
CAIRN_API struct cairn_table *
cairn_database_values(struct cairn_data *data, uint32_t thread, struct cairn_error *err);

/* The samples of a thread: time_ns, context; of CAIRN_NONE those of all threads (thread
 * first). Context 0: the thread does not run. */
CAIRN_API struct cairn_table *
cairn_database_samples(struct cairn_data *data, uint32_t thread, struct cairn_error *err);

/* When a thread ran and waited: begin_ns, end_ns, state ("running", "blocked", "pre-empted"); of
 * CAIRN_NONE all threads (thread first). No rows unless the data has switches. */
CAIRN_API struct cairn_table *
cairn_database_states(struct cairn_data *data, uint32_t thread, struct cairn_error *err);

/* Every time that a thread waited, and what ended that: thread, begin_ns, woken_ns, end_ns, kind ("thread",
 * "timer", "pre-empted", ...), context, waker (a thread), waker_context, is_inferred, lock. Unknown cells where it
 * is not known. No rows unless the data has switches. */
CAIRN_API struct cairn_table *cairn_database_waits(struct cairn_data *data,
                                                   struct cairn_error *err);

/* The locks that threads waited for, a row for each place that gave one back: lock, address, time_ns, count,
 * threads, longest_ns, longest_at_ns, kept_count, kept_ns, longest_kept_ns, waits_in, given_by, given_in,
 * meanwhile, taken_in. */
CAIRN_API struct cairn_table *cairn_database_locks(struct cairn_data *data,
                                                   struct cairn_error *err);

/* Of ranks of an MPI program, the calls of MPI that wait, or of which that is unknown: rank, begin_ns,
 * end_ns, wait_ns, cause ("late rank", "late sender", ..., "unknown"), path, late_rank, late_path. Unknown
 * cells where the cause is unknown. No rows without timelines or calls of MPI. */
CAIRN_API struct cairn_table *cairn_database_mpi_waits(struct cairn_data *data,
                                                       struct cairn_error *err);

/* Operations of GPUs, each with the call that launched it, by stream and time: thread, launch_ns, stream (a
 * thread as well), begin_ns, end_ns, context. The last two are unknown where the timeline of the stream
 * does not tell. No rows without GPU work; a database keeps the first 1,048,576. */
CAIRN_API struct cairn_table *cairn_database_launches(struct cairn_data *data,
                                                      struct cairn_error *err);

/** cairn_walk: contexts, values and samples one by one */

enum cairn_step { CAIRN_FAIL, CAIRN_ITEM, CAIRN_END };

enum cairn_context_kind {
    CAIRN_CONTEXT_FUNCTION,
    CAIRN_CONTEXT_LOOP,
    CAIRN_CONTEXT_LINE,
    CAIRN_CONTEXT_INSTRUCTION,
    CAIRN_CONTEXT_ENTRY, /* how the operating system entered the program */
};

enum cairn_relation { CAIRN_LEXICAL, CAIRN_CALL, CAIRN_INLINED_CALL };

/* `kind` and `relation` may have values of later versions of a format. */
struct cairn_context {
    uint32_t id;               /* never 0 */
    uint32_t parent;           /* id; 0 at the top */
    uint32_t depth;            /* 0 at the top */
    uint8_t kind;              /* enum cairn_context_kind */
    uint8_t relation;          /* to the parent: enum cairn_relation */
    uint32_t function;         /* number; CAIRN_NONE: unknown */
    const char *module, *file; /* paths; NULL: unknown */
    uint32_t line;             /* 0: unknown */
    uint64_t offset;           /* in the module */
};

/* Walk over all contexts, callers first. Memory does not grow with their number. */
CAIRN_API struct cairn_walk *cairn_walk_new(struct cairn_data *data,
                                            struct cairn_error *err);
CAIRN_API enum cairn_step cairn_walk_next(struct cairn_walk *walk,
                                          struct cairn_context *out,
                                          struct cairn_error *err);

/* The label of the current context as views show it: "main", "loop at solve.c:12". Valid
 * until the next call with this walk; NULL on failure. */
CAIRN_API const char *cairn_walk_label(struct cairn_walk *walk, struct cairn_error *err);
CAIRN_API void cairn_walk_free(struct cairn_walk *walk);

struct cairn_value {
    double value;
    uint32_t key;    /* context; in the values of a context the thread */
    uint16_t metric; /* cairn_metric.id; in summaries cairn_statistic.id */
    uint16_t reserved;
};

/* The values of a thread for contexts `first` to `last` (0 to UINT32_MAX: all), by context and
 * metric; or those of a context over all threads, by metric and thread. */
CAIRN_API struct cairn_values *cairn_values_of_thread(struct cairn_data *data,
                                                      uint32_t thread, uint32_t first,
                                                      uint32_t last,
                                                      struct cairn_error *err);
CAIRN_API struct cairn_values *cairn_values_of_context(struct cairn_data *data,
                                                       uint32_t context,
                                                       struct cairn_error *err);

/* The next values, valid until the next call; never an empty batch. */
CAIRN_API enum cairn_step cairn_values_next(struct cairn_values *values,
                                            const struct cairn_value **out, size_t *count,
                                            struct cairn_error *err);
CAIRN_API void cairn_values_free(struct cairn_values *values);

struct cairn_sample {
    uint64_t time_ns; /* since the epoch */
    uint32_t context; /* 0: the thread does not run */
    uint32_t reserved;
};

/* Read samples of a thread from number `first` on; all must exist. */
CAIRN_API bool cairn_samples_count(struct cairn_data *data, uint32_t thread,
                                   uint64_t *count, struct cairn_error *err);
CAIRN_API bool cairn_samples_read(struct cairn_data *data, uint32_t thread,
                                  uint64_t first, size_t count, struct cairn_sample *out,
                                  struct cairn_error *err);

/** cairn_recording: tasks, functions and calls of a recording */

struct cairn_task {
    const char *name;
    uint32_t tid, pid;
    uint32_t parent; /* number of the task that created it; CAIRN_NONE: unknown */
    uint64_t start_ns;
};

CAIRN_API uint32_t cairn_recording_task_count(const struct cairn_data *data);
CAIRN_API bool cairn_recording_task(const struct cairn_data *data, uint32_t number,
                                    struct cairn_task *out, struct cairn_error *err);
CAIRN_API uint32_t cairn_recording_function_count(const struct cairn_data *data);
CAIRN_API bool cairn_recording_function(const struct cairn_data *data, uint32_t number,
                                        struct cairn_function *out,
                                        struct cairn_error *err);

/* Which calls. */
struct cairn_call_options {
    size_t size;             /* sizeof(struct cairn_call_options) */
    uint64_t from_ns, to_ns; /* recorded times, both included; to_ns 0: no end */
    const uint32_t *tasks;   /* numbers, ascending; none: all */
    size_t task_count;
    bool is_raw;     /* times as recorded, not corrected for the cost of recording */
    bool has_values; /* columns for arguments and results */
};

/* One row per call, task after task in the order in which calls end: task, tid, depth, name,
 * function, begin_ns, end_ns (as recorded), total_ns, self_ns (corrected), and with
 * has_values arguments and result. Damaged tasks have the calls before the damage, which
 * cairn_table_damage() describes. `options` may be NULL. */
CAIRN_API struct cairn_table *
cairn_recording_calls(struct cairn_data *data, const struct cairn_call_options *options,
                      struct cairn_error *err);

/* Time and calls per function, as `cairn report`: name, module, file, line, calls, total_ns,
 * self_ns, and of the durations total_min_ns, total_max_ns, total_p50_ns, total_p90_ns,
 * total_p99_ns. By total time, the largest first. */
CAIRN_API struct cairn_table *
cairn_recording_report(struct cairn_data *data, const struct cairn_call_options *options,
                       struct cairn_error *err);

/* How long each task was running, blocked, pre-empted and without data (state: "no data"), as
 * `cairn report --task` and the table `states` of `cairn sql`: task, tid, state, ns, and of ns
 * outside_ns, while no call was open. Recorded times. No rows without scheduler events. Of
 * `options`, which may be NULL, the range and the tasks count. */
CAIRN_API struct cairn_table *
cairn_recording_states(struct cairn_data *data, const struct cairn_call_options *options,
                       struct cairn_error *err);

/* Arrows from a call to one of another task, as the table `flows` of `cairn sql`: from_task,
 * from_ns, from_depth (of the call that it leaves; unknown: the innermost one), to_task, to_ns,
 * name. */
CAIRN_API struct cairn_table *cairn_recording_flows(struct cairn_data *data,
                                                    struct cairn_error *err);

/* Operations of GPUs, each with the call that launched it, by time: task, launch_ns (both unknown where
 * the launch is), stream (a task as well), begin_ns, end_ns, function (a number), bytes (of copies and
 * memsets). */
CAIRN_API struct cairn_table *cairn_recording_launches(struct cairn_data *data,
                                                       struct cairn_error *err);

/* Damage that a table leaves out, or NULL: "task 12: 12.dat: truncated". */
CAIRN_API const char *cairn_table_damage(const struct cairn_table *table);

enum cairn_call_kind { CAIRN_ENTER, CAIRN_EXIT, CAIRN_LOST, CAIRN_EVENT };

/* One record as it is in the file. */
struct cairn_call {
    uint64_t time_ns;
    uint64_t address;  /* of an event its id, of a loss the number of lost records */
    uint32_t function; /* number; CAIRN_NONE: unknown */
    uint16_t depth;
    uint8_t kind;  /* enum cairn_call_kind */
    uint8_t flags; /* 1: it has arguments, a result or data; 4: of the kernel */
    uint32_t reserved[2];
};

/* The records of a task from `from_ns` to `to_ns` (0: no end), in batches. */
CAIRN_API struct cairn_calls *cairn_calls_new(struct cairn_data *data, uint32_t task,
                                              uint64_t from_ns, uint64_t to_ns,
                                              struct cairn_error *err);

/* The next records, valid until the next call; never an empty batch. CAIRN_FAIL: the task is
 * damaged from here on. */
CAIRN_API enum cairn_step cairn_calls_next(struct cairn_calls *calls,
                                           const struct cairn_call **out, size_t *count,
                                           struct cairn_error *err);

/* Arguments "(1, "x")", result " = 3" or data of a record of the current batch, "" if it has
 * none; NULL without memory. Valid until the next call. */
CAIRN_API const char *cairn_calls_values(struct cairn_calls *calls, size_t number);
CAIRN_API void cairn_calls_free(struct cairn_calls *calls);

/** cairn_store: search request traces */

/* Which traces. */
struct cairn_search_options {
    size_t size; /* sizeof(struct cairn_search_options) */
    const char
        *sort; /* "time" (NULL), "duration", "spans", "calls", "errors", "records" */
    bool is_reversed;       /* the smallest or oldest first */
    bool has_spans;         /* rows are spans, not traces */
    uint64_t offset, limit; /* limit 0: no limit */
};

/* Traces or spans that match a query of `cairn store search`, "errors last 2h", or one in TraceQL,
 * "{ status = error }"; "" matches all.
 * Traces: time_ns, duration_ns, spans, errors, type, services, calls, records, trace_id,
 * span_id, method. Spans: time_ns, duration_ns, type, service, errors, calls, records,
 * trace_id, span_id, parent_id, method. */
CAIRN_API struct cairn_table *
cairn_store_search(struct cairn_data *data, const char *query,
                   const struct cairn_search_options *options, struct cairn_error *err);

/* Groups of the matching traces or spans by a field or attribute, as `cairn store search
 * --group-by`: value, count, error_count, p50_ns, p90_ns, p99_ns, max_ns, total_ns. */
CAIRN_API struct cairn_table *cairn_store_groups(struct cairn_data *data,
                                                 const char *query, const char *by,
                                                 bool of_spans, struct cairn_error *err);

/* The number of matching traces. */
CAIRN_API bool cairn_store_count(struct cairn_data *data, const char *query,
                                 uint64_t *count, struct cairn_error *err);

/* The calls of the matching traces, as a recording. */
CAIRN_API struct cairn_data *cairn_store_calls(struct cairn_data *data, const char *query,
                                               struct cairn_error *err);

/** cairn_diff: compare two sets of runs */

/* Runs of side 0 (A) and side 1 (B): databases, of which nothing is borrowed. */
CAIRN_API struct cairn_diff *cairn_diff_new(void);
CAIRN_API void cairn_diff_free(struct cairn_diff *diff);

/* Add a run. `metric` is the name of a metric or its unique beginning, the same for all runs;
 * NULL: the default one. `threads` selects threads as in cairn_cost_options. */
CAIRN_API bool cairn_diff_add(struct cairn_diff *diff, int side, struct cairn_data *data,
                              const char *metric, const char *threads,
                              struct cairn_error *err);

/* What explains the difference, the largest change first, as `cairn diff`: kind, name, path,
 * a, b, difference, ratio, plus_minus, share_percent, verdict, p, calls_a, calls_b. No run can be added
 * afterwards. */
CAIRN_API struct cairn_table *cairn_diff_changes(struct cairn_diff *diff,
                                                 struct cairn_error *err);

/* Every row that changed, as `cairn diff --tree`, `--flat` or `--callers`: depth, name, a, b,
 * difference, ratio, plus_minus, share_percent, verdict, p, calls_a, calls_b. Totals of a tree, self
 * costs of the others. */
CAIRN_API struct cairn_table *
cairn_diff_rows(struct cairn_diff *diff, enum cairn_view view, struct cairn_error *err);

/** cairn_builder: a database from a program's own data */

/* Add metrics, then threads, functions and contexts, then values and samples; strings are
 * copied. Values of callers are computed: add those measured at a context itself. */
CAIRN_API struct cairn_builder *cairn_builder_new(const char *title);
CAIRN_API void cairn_builder_free(struct cairn_builder *builder);

/* Each returns the number of the new element, CAIRN_NONE on failure. */
CAIRN_API uint32_t cairn_builder_metric(struct cairn_builder *builder, const char *name,
                                        struct cairn_error *err);

/* A thread of a process (rank), both numbered by the caller. `name` may be NULL. */
CAIRN_API uint32_t cairn_builder_thread(struct cairn_builder *builder, uint32_t rank,
                                        uint32_t thread, const char *name,
                                        struct cairn_error *err);

/* `module` and `file` are paths; NULL: unknown. */
CAIRN_API uint32_t cairn_builder_function(struct cairn_builder *builder, const char *name,
                                          const char *module, const char *file,
                                          uint32_t line, struct cairn_error *err);

/* A call of `function` by the context `parent`, or by none: 0. Returns an id, never 0. */
CAIRN_API uint32_t cairn_builder_call(struct cairn_builder *builder, uint32_t parent,
                                      uint32_t function, struct cairn_error *err);

/* A line of the function that the context `parent` stands for. Returns an id. */
CAIRN_API uint32_t cairn_builder_line(struct cairn_builder *builder, uint32_t parent,
                                      const char *file, uint32_t line,
                                      struct cairn_error *err);

/* Values of the same thread, context and metric add up. */
CAIRN_API bool cairn_builder_value(struct cairn_builder *builder, uint32_t thread,
                                   uint32_t context, uint32_t metric, double value,
                                   struct cairn_error *err);

/* In the order of time for each thread; context 0: the thread does not run. */
CAIRN_API bool cairn_builder_sample(struct cairn_builder *builder, uint32_t thread,
                                    uint64_t time_ns, uint32_t context,
                                    struct cairn_error *err);

/* The database, for tables, views and cairn_write(). Releases the builder, on failure too. */
CAIRN_API struct cairn_data *cairn_builder_finish(struct cairn_builder *builder,
                                                  struct cairn_error *err);

/** cairn_recorder: a recording from a program's own data */

/* Calls in any order; they are sorted and nested. `program` names what was recorded. */
CAIRN_API struct cairn_recorder *cairn_recorder_new(const char *program);
CAIRN_API void cairn_recorder_free(struct cairn_recorder *recorder);

/* The number of a task, CAIRN_NONE on failure; the same ids have the same number. */
CAIRN_API uint32_t cairn_recorder_task(struct cairn_recorder *recorder, uint64_t pid,
                                       uint64_t tid, const char *name,
                                       struct cairn_error *err);

/* A call with its begin and duration. A call inside another one of its task is its callee. */
CAIRN_API bool cairn_recorder_call(struct cairn_recorder *recorder, uint32_t task,
                                   const char *function, uint64_t begin_ns,
                                   uint64_t duration_ns, struct cairn_error *err);

/* Begin a call; end the innermost one that began so. */
CAIRN_API bool cairn_recorder_enter(struct cairn_recorder *recorder, uint32_t task,
                                    const char *function, uint64_t time_ns,
                                    struct cairn_error *err);
CAIRN_API bool cairn_recorder_exit(struct cairn_recorder *recorder, uint32_t task,
                                   uint64_t time_ns, struct cairn_error *err);

/* The recording. Releases the recorder, on failure too. */
CAIRN_API struct cairn_data *cairn_recorder_finish(struct cairn_recorder *recorder,
                                                   struct cairn_error *err);

#ifdef __cplusplus
}
#endif

#endif
