/* A file format: functions that recognise, open, write, verify and dump its data, NULL
 * where it cannot.
 *
 * Each format defines one `const struct cn_format`; open/formats.h lists them all.
 * Threads: immutable.
 */
#ifndef CN_MODEL_FORMAT_H
#define CN_MODEL_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes/bytes.h"
#include "base/error.h"
#include "base/findings.h"

struct cn_database;
struct cn_export;
struct cn_progress;
struct cn_record_layout;
struct cn_recording;
struct cn_trace;

/* One structure of a file, for `cairn dump`. `bytes` has layout->size bytes or more;
 * `text` is what the structure points at (a name), or NULL. */
struct cn_dump_item {
    const char *file;
    uint64_t off;
    const struct cn_record_layout *layout;
    struct cn_bytes bytes;
    const char *text;
    uint64_t index; /* in its array */
};
/* False stops the dump, which then ends early and succeeds. */
typedef bool (*cn_dump_fn)(void *arg, const struct cn_dump_item *item);

/* Reports that the target format cannot store `count` of "values of the lex_aware scope". */
typedef void (*cn_loss_fn)(void *arg, const char *what, uint64_t count);

struct cn_write_options {
    bool replace;      /* an existing target may be replaced */
    unsigned workers;  /* number of threads; 0: one per processor */
    size_t memory_len; /* for sorting; 0: the default of the format */
    bool without_timelines, without_sources;
    bool without_values; /* calls without arguments and return values */
    uint64_t first_ns,
        last_ns; /* recordings: only records of this time; last_ns 0: all */
    /* Of the samples in so many ns, one is kept; 0: all. If a timeline has more samples than
     * the limit, its resolution is made coarser; 0: no limit. */
    uint64_t timeline_resolution_ns, timeline_sample_max;
    bool is_strict;     /* formats that are one file: fail instead of losing anything */
    const char *metric; /* formats with one metric: its name; NULL: the first */
    bool counts_waits;  /* formats that add up times count waiting */
    uint64_t unit_ns;   /* folded stacks: time of one sample; 0: a nanosecond */
    const struct cn_progress *progress; /* may be NULL */
    cn_loss_fn on_loss;                 /* may be NULL */
    void *on_loss_arg;
    /* write_recording, and traces: receives the first damage of the source, which is written up
     * to it; may be NULL. */
    struct cn_error *damage;
};

/* Report a loss unless `count` is 0. `options` may be NULL. */
static inline void cn_write_lose(const struct cn_write_options *options, const char *what,
                                 uint64_t count)
{
    if (count > 0 && options && options->on_loss)
        options->on_loss(options->on_loss_arg, what, count);
}

enum cn_demangle {
    CN_DEMANGLE_SIMPLE, /* ns::Class::function, no arguments, no template arguments */
    CN_DEMANGLE_FULL,   /* ns::Class<int>::function(int) const */
    CN_DEMANGLE_NO,     /* the mangled name */
};

/* How a recording is opened; all zero is the default. */
struct cn_recording_options {
    enum cn_demangle demangle;
    const char *symbols; /* folder of .sym files to use first; NULL: none */
};

/* A request trace that began at `begin_ns` since the epoch, valid during the call. */
typedef bool (*cn_trace_fn)(void *arg, const struct cn_trace *trace, uint64_t begin_ns,
                            struct cn_error *err);

struct cn_trace_visitor {
    cn_trace_fn visit;
    void *arg;
    struct cn_error *damage; /* receives the first; what it does not concern is visited */
};

/* Write the source of an export: see formats/exchange/export.h. */
typedef bool (*cn_export_fn)(struct cn_export *x, struct cn_error *err);

struct cn_format {
    const char *name, *summary;
    const char *holds;  /* "database", "recording", "measurements" or "traces" */
    bool is_file;       /* written as one file, which may be standard output: "-" */
    bool is_gzipped;    /* always compressed with gzip */
    bool keeps_flows;   /* between calls of a recording, where it is written */
    bool keeps_states;  /* of threads of a database, which becomes calls, and wake-ups */
    bool keeps_metrics; /* of a database, all that add up */
    bool has_time_axis; /* what is written of a recording is on one: times as recorded */
    bool is_store;      /* many request traces, which can be searched */
    bool is_measured;   /* measurements, which are analysed to a database */

    /* True if the file or directory looks like this format. Cheap; never fails. NULL:
     * the format cannot be read. */
    bool (*probe)(const char *path);

    bool (*open_database)(struct cn_database **out, const char *path,
                          struct cn_error *err);
    /* The same with progress, which may be NULL, where that takes long: a database that is shown
     * with the symbols of this machine. */
    bool (*open_samples)(struct cn_database **out, const char *path,
                         const struct cn_progress *progress, struct cn_error *err);
    bool (*write_database)(struct cn_database *db, const char *path,
                           const struct cn_write_options *options, struct cn_error *err);
    bool (*open_recording)(struct cn_recording **out, const char *path,
                           const struct cn_recording_options *options,
                           struct cn_error *err);
    bool (*write_recording)(const struct cn_recording *rec, const char *path,
                            const struct cn_write_options *options, struct cn_error *err);
    /* Exchange formats: called by cn_export_calls() and the like. */
    cn_export_fn export_calls, export_database, export_traces;
    /* The traces that match a query, as a recording of calls; "" matches all. */
    bool (*open_traces)(struct cn_recording **out, const char *path, const char *query,
                        struct cn_error *err);
    bool (*walk_traces)(const char *path, const struct cn_trace_visitor *visitor,
                        struct cn_error *err);
    bool (*verify)(const char *path, const struct cn_progress *progress,
                   cn_finding_fn report, void *arg, struct cn_error *err);
    bool (*dump)(const char *path, cn_dump_fn emit, void *arg, struct cn_error *err);
};

#endif
