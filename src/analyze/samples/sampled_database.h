/* From sampled measurements to a database: hpcprof's work.
 *
 * One pass over the profiles builds the context tree and puts the values and samples
 * of every thread, propagated and in order, into a nameless file; the database reads
 * them from there. Memory grows with the number of contexts and, a little, with that
 * of threads. The result does not depend on the number of workers.
 *
 * Several processes may do it together, each with some of the profiles: all call with
 * the same measurements and get a database that they share; the bytes written from it
 * are those that one process would write.
 * Threads: one thread at a time builds; the database is immutable.
 */
#ifndef CN_ANALYZE_SAMPLES_SAMPLED_DATABASE_H
#define CN_ANALYZE_SAMPLES_SAMPLED_DATABASE_H

#include "model/contexts/samples.h"

struct cn_progress;
struct cn_ranks;

/* What is kept over threads besides the sum. */
enum {
    CN_SAMPLED_NORMAL = 1 << 0,  /* number and squares: mean and deviation */
    CN_SAMPLED_EXTREMA = 1 << 1, /* minimum and maximum */
};

struct cn_sampled_options {
    struct cn_ranks *ranks; /* that do this together; NULL: this process alone */
    unsigned workers;       /* 0: as many as there are processors */
    unsigned statistics;    /* CN_SAMPLED_* bits */
    bool without_roots;     /* present no metric */
    bool is_hpcprof_compatible;
    bool is_strict;                   /* damage is a failure */
    const char *title;                /* NULL: the name of the program */
    const char *spool_folder;         /* for the nameless file */
    const char *const *only_programs; /* names of files; other profiles are left out */
    size_t only_program_count;
    const struct cn_progress *progress; /* may be NULL */
    /* Something that cannot be read: a whole profile, or part of one. May be
     * NULL. */
    void (*on_damage)(void *arg, const char *text);
    void *on_damage_arg;
};

/* What the pass came across. */
struct cn_sampled_totals {
    size_t profile_count, unreadable_count, excluded_count;
    uint64_t value_count, sample_count;
};

/* The measurements stay the caller's and must outlive the database. `totals` may
 * be NULL. */
CN_CHECK bool cn_sampled_database_build(struct cn_database **out,
                                        struct cn_measurements *measurements,
                                        const struct cn_sampled_options *options,
                                        struct cn_sampled_totals *totals,
                                        struct cn_error *err);

#endif
