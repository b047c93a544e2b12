/* Rules of profile.db, cct.db and trace.db, of any generation of the format.
 *
 * A generation checks the frame of a file, fills in one of the structs below, and hooks in
 * the rules that are its own. Work is linear in the size of the file: bytes that several
 * records point at are reported as an overlap and checked once.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_VALUES_CHECKS_H
#define CN_FORMATS_HPCTOOLKIT_VALUES_CHECKS_H

#include "base/map.h"
#include "formats/hpctoolkit/check.h"
#include "formats/hpctoolkit/values/reader.h"
#include "model/contexts/database.h"

struct cn_hpc_summary_check;

/* Sections that values and samples must not lie in. */
struct cn_hpc_taken {
    const struct cn_hpc_span *sections;
    const char *const *names;
    size_t count;
};

/* profile.db or cct.db. Set the first group, zero the rest. */
struct cn_hpc_plane_check {
    struct cn_hpc_check *c;
    struct cn_hpc_planes planes;
    struct cn_hpc_taken taken;
    unsigned value_align, index_align, tuple_align; /* 0: none */
    unsigned id_min;                                /* ids in an identity tuple */
    bool is_strict; /* metrics of a context are sorted; blocks may have gaps */
    void (*check_record)(struct cn_hpc_plane_check *p, uint32_t number, uint64_t off);
    void (*check_identity)(struct cn_hpc_plane_check *p, uint32_t number,
                           struct cn_bytes id, uint64_t off);

    struct cn_hpc_extents extents;
    uint64_t budget;           /* bytes that may still be checked */
    struct cn_names tuples;    /* identities of all profiles */
    struct cn_hpc_set metrics; /* of the context being checked */
};

/* These fail only when the user asks to stop. */
CN_CHECK bool cn_hpc_check_planes(struct cn_hpc_plane_check *p, struct cn_error *err);

/* Report a cct.db with fewer contexts than meta.db or profile.db know. */
void cn_hpc_check_context_count(struct cn_hpc_check *c, uint32_t count, uint64_t off);

/* trace.db. Set the first group, zero the rest. */
struct cn_hpc_trace_check {
    struct cn_hpc_check *c;
    struct cn_hpc_traces traces;
    struct cn_hpc_taken taken;
    bool has_range;     /* traces.begin_ns and end_ns are declared */
    uint64_t range_off; /* where */
    bool is_strict;     /* the rules since v4 */

    struct cn_hpc_extents extents;
    uint64_t budget;           /* bytes that may still be checked */
    struct cn_hpc_set traced;  /* profiles that have a trace */
    uint64_t begin_ns, end_ns; /* of the samples seen */
    bool has_samples;
};

CN_CHECK bool cn_hpc_check_traces(struct cn_hpc_trace_check *t, struct cn_error *err);

/* Compare cct.db with profile.db, and the summary with the threads. `values` are those of
 * `db`. Only where nothing was wrong: the reader stops at the first damage. */
CN_CHECK bool cn_hpc_check_values(struct cn_hpc_check *c, struct cn_database *db,
                                  const struct cn_hpc_values *values,
                                  struct cn_error *err);

/* Check the statistics of the summary against the values of the threads.
 *
 * One struct per worker; it borrows the database. */

struct cn_hpc_summary_check *cn_hpc_summary_check_new(struct cn_database *db);
void cn_hpc_summary_check_free(struct cn_hpc_summary_check *s); /* NULL is fine */

/* Compare the summary's values of a context with the statistics of its plane, sorted by
 * (metric, profile). If *differs, the text describes the first difference. */
enum { CN_HPC_SUMMARY_TEXT_LEN = 160 };
CN_CHECK bool cn_hpc_summary_check_context(struct cn_hpc_summary_check *s,
                                           uint32_t context, struct cn_value_batch plane,
                                           bool *differs,
                                           char text[CN_HPC_SUMMARY_TEXT_LEN],
                                           struct cn_error *err);

#endif
