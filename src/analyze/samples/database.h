/* Sampled measurements to a database, like hpcprof.
 *
 * One pass over the profiles builds the context tree and writes the propagated, sorted values
 * and the samples of every thread to an unnamed file, from which the database reads them.
 * Memory grows with the number of contexts and, a little, with that of threads. The result
 * does not depend on the number of workers.
 *
 * Several processes may work together, each with some of the profiles: all call with the same
 * measurements and get the same database; the bytes written from it are those that one process
 * would write.
 * Threads: one thread at a time builds; the database is immutable.
 */
#ifndef CN_ANALYZE_SAMPLES_DATABASE_H
#define CN_ANALYZE_SAMPLES_DATABASE_H

#include "model/contexts/samples.h"

struct cn_progress;
struct cn_ranks;

/* Statistics over threads besides the sum. */
enum {
    CN_SAMPLED_NORMAL = 1 << 0,  /* number and squares: mean and deviation */
    CN_SAMPLED_EXTREMA = 1 << 1, /* minimum and maximum */
};

struct cn_sampled_options {
    struct cn_ranks *ranks; /* processes that work together; NULL: this one alone */
    unsigned workers;       /* 0: one per processor */
    unsigned statistics;    /* CN_SAMPLED_* bits */
    bool without_roots;     /* present no metric */
    bool is_hpcprof_compatible;
    bool is_strict;                   /* damage is a failure */
    const char *title;                /* NULL: the name of the program */
    const char *spool_folder;         /* of the unnamed file */
    const char *const *only_programs; /* file names; other profiles are left out */
    size_t only_program_count;
    const struct cn_progress *progress; /* may be NULL */
    /* Called for a profile, or a part of one, that cannot be read. May be NULL. */
    void (*on_damage)(void *arg, const char *text);
    void *on_damage_arg;
};

struct cn_sampled_totals {
    size_t profile_count, unreadable_count, excluded_count;
    uint64_t value_count, sample_count;
};

/* The caller keeps the measurements, which must outlive the database. NULL: they could not be
 * opened by this process, and none succeeds. `totals` may be NULL. */
CN_CHECK bool cn_sampled_database_build(struct cn_database **out,
                                        struct cn_measurements *measurements,
                                        const struct cn_sampled_options *options,
                                        struct cn_sampled_totals *totals,
                                        struct cn_error *err);

#endif
