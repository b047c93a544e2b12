/* The tables of an experiment.xml: everything before its context tree.
 *
 * Rows keep the order of the file. Strings live in the arena.
 * Threads: one thread at a time; immutable once read.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_XML_READ_HEAD_READER_H
#define CN_FORMATS_HPCTOOLKIT_XML_READ_HEAD_READER_H

#include "base/arena.h"
#include "base/bytes/bytes.h"
#include "base/error.h"

/* A row of the tables of identifiers, modules, files and procedures. */
struct cn_hpc_xml_row {
    int64_t id;
    const char *name;
    uint64_t address; /* of a procedure: `v` */
    int64_t flags;    /* of a procedure: `f` */
};

struct cn_hpc_xml_rows {
    struct cn_hpc_xml_row *list;
    size_t count, capacity;
};

struct cn_hpc_xml_metric {
    int64_t id;
    const char *name;
    const char *type;    /* "inclusive", "exclusive", or "" */
    const char *format;  /* or NULL */
    const char *combine; /* formula, or "" */
    const char *view;    /* formula, or ""; also called finalize */
    int64_t show;
    int64_t show_percent;
};

/* A metric of threads; a row of 4.0 has only id and name. */
struct cn_hpc_xml_metric_db {
    int64_t id;
    const char *name, *type;
    int64_t column; /* db-id */
};

struct cn_hpc_xml_head {
    unsigned major, minor;
    const char *title, *description;
    bool lines_have_calls; /* CN_HPC_XML_LINES_NAME is set */
    struct cn_hpc_xml_rows identifiers, modules, files, procedures;
    struct cn_hpc_xml_metric *metrics;
    size_t metric_count, metric_capacity;
    struct cn_hpc_xml_metric_db *metric_dbs;
    size_t metric_db_count, metric_db_capacity;
    bool has_times; /* a <TraceDB> has a range of times */
    uint64_t begin, end, ticks_per_second;
    uint64_t tree_off; /* of the first byte inside <SecCallPathProfileData> */
    bool tree_is_empty;
};

/* Messages name line and column. On failure *out is unchanged. */
CN_CHECK bool cn_hpc_xml_head_read(struct cn_hpc_xml_head *out, struct cn_bytes text,
                                   struct cn_arena *arena, struct cn_error *err);
void cn_hpc_xml_head_done(struct cn_hpc_xml_head *head);

/* The major version in the first bytes of a file; false if it is no experiment.xml. */
bool cn_hpc_xml_sniff(struct cn_bytes text, unsigned *major);

#endif
