/* What the terminal viewer shows, computed in the background: each step is a job of its own
 * (base/run/job.h), started when a view asks for it.
 *
 *     switch (cn_tui_data_ask(data, CN_TUI_STEP_GRAPH)) { case CN_TUI_READY: ... }
 *
 * The result of a step belongs to the data and is immutable once it is ready. Warnings are
 * collected, not printed.
 * Threads: one thread at a time asks; jobs are threads of their own.
 */
#ifndef CN_CLI_TUI_DATA_H
#define CN_CLI_TUI_DATA_H

#include "analyze/calls/graph.h"
#include "analyze/calls/report.h"
#include "analyze/lens/code.h"
#include "analyze/lens/lens.h"
#include "base/run/job.h"
#include "cli/recording/options.h"
#include "cli/report/fields.h"
#include "cli/shell/args.h"
#include "cli/shell/open.h"
#include "cli/tui/source.h"

enum cn_tui_step {
    CN_TUI_STEP_RECORDING, /* opens it */
    CN_TUI_STEP_GRAPH,
    CN_TUI_STEP_APART, /* the graph for views of one function, see cairn graph */
    CN_TUI_STEP_REPORT,
    CN_TUI_STEP_DATABASE, /* opens it, or makes it of a recording */
    CN_TUI_STEP_LENS,     /* applies the filters of functions */
    CN_TUI_STEP_TREE,
    CN_TUI_STEP_CALLERS,
    CN_TUI_STEP_FLAT,
    CN_TUI_STEP_INFO,
    CN_TUI_STEP_COUNT,
};

enum cn_tui_state { CN_TUI_BUSY, CN_TUI_READY, CN_TUI_FAILED };

struct cn_tui_data;

/* A step and its job. */
struct cn_tui_load {
    struct cn_tui_data *data;
    enum cn_tui_step step;
    struct cn_job_group group;
    struct cn_job job;
    bool is_started;
    uint64_t begin_ns;
    struct cn_text messages; /* warnings, one a line; of the job, while it runs */
    bool is_damaged;         /* the result is that of the data that could be read */
    struct cn_error damage;
    struct cn_costs *costs; /* of a view */
    struct cn_tui_source *source;
};

struct cn_tui_data {
    const struct cn_args *args;
    const char *path;
    bool has_recording; /* it has a graph and a report */
    char *metric;       /* of the views of the database; NULL: the default */
    struct cn_report_layout layout;
    bool has_extremes; /* the graph counts the shortest and longest calls */
    struct cn_tui_load loads[CN_TUI_STEP_COUNT];
    struct cn_recording_setup setup;
    struct cn_call_graph graph, apart;
    struct cn_call_report report;
    struct cn_opened opened; /* loaded by CN_TUI_STEP_DATABASE */
    struct cn_lens lens;
    struct cn_database *shown; /* by CN_TUI_STEP_LENS: of `opened`, or one of the lens */
    struct cn_codes own_codes;
    const struct cn_codes *codes; /* of functions; NULL: unknown */
    double share; /* of the whole that focus and drop leave; 1: they are not in force */
    struct cn_text info;
};

/* True if the report is the first view: then -f and -s are for it. */
bool cn_tui_begins_with_report(const struct cn_args *args);

/* Find out what the path is. On failure there is nothing to close. */
CN_CHECK bool cn_tui_data_open(struct cn_tui_data **out, const struct cn_args *args,
                               const char *path, struct cn_error *err);

/* Cancel all jobs and release everything. False if a job does not end soon: then nothing is
 * released, and the process has to end. */
bool cn_tui_data_close(struct cn_tui_data *data); /* NULL is fine */

/* Start a step, and the steps that it needs, unless that was done before. */
enum cn_tui_state cn_tui_data_ask(struct cn_tui_data *data, enum cn_tui_step step);

/* Wait until a step is no longer busy. */
enum cn_tui_state cn_tui_data_wait(struct cn_tui_data *data, enum cn_tui_step step);

/* Of a step that is busy: which step of those it needs runs, how much of it is done (0 to 1;
 * 0 if unknown), and for how long it runs. */
struct cn_tui_progress {
    const char *what; /* "reading calls" */
    double share;
    uint64_t elapsed_ns;
};
struct cn_tui_progress cn_tui_data_progress(struct cn_tui_data *data,
                                            enum cn_tui_step step);

/* Of a step that failed. Borrowed. */
const struct cn_error *cn_tui_data_failure(struct cn_tui_data *data,
                                           enum cn_tui_step step);

/* The rows of a step that is ready; NULL if it has none. Borrowed. */
struct cn_tui_source *cn_tui_data_source(struct cn_tui_data *data, enum cn_tui_step step);

/* Forget the results that depend on it: sources of these steps are no longer valid. */
void cn_tui_data_set_metric(struct cn_tui_data *data, const char *metric);
void cn_tui_data_count_extremes(struct cn_tui_data *data);
void cn_tui_data_set_layout(struct cn_tui_data *data,
                            const struct cn_report_layout *layout);

/* Forget the views of the database. The lens may be changed until the next step is asked for. */
struct cn_lens *cn_tui_data_change_lens(struct cn_tui_data *data);

/* The folder of the database, for copies of sources; NULL while it is not ready. */
const char *cn_tui_data_folder(struct cn_tui_data *data);

/* Names of metrics to choose from: name `i`, or NULL. The database is ready. */
const char *cn_tui_data_metric(const struct cn_tui_data *data, size_t i);

/* Append the warnings of all steps that are ready, one a line. */
void cn_tui_data_messages(struct cn_tui_data *data, struct cn_text *out);

/* Fails if a result is incomplete because data is damaged. */
CN_CHECK bool cn_tui_data_result(struct cn_tui_data *data, struct cn_error *err);

#endif
