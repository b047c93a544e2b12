/* Frames of Perl (5.28 to 5.40), read from the memory of a process.
 *
 *     perl = cn_perl_open(memory, &place, names);
 *     cn_perl_describe(perl, &table);                    how they are read at the sample
 *     count = cn_perl_finish(perl, sample, chain, count, most);
 *
 * Perl has a stack of contexts, of which calls of subs are some; each has the line of its caller.
 * The memory is not trusted: values are used only if they have the type that they should have,
 * and every loop is bounded.
 * Threads: one thread at a time.
 */
#ifndef CN_SAMPLER_LANGUAGES_PERL_H
#define CN_SAMPLER_LANGUAGES_PERL_H

#include "sampler/languages/file.h"
#include "sampler/languages/languages.h"

struct cn_frame_table;

/* Offsets that differ between versions. */
struct cn_perl_layout {
    uint8_t version;                    /* 36 is 5.36 */
    uint16_t contexts, line;            /* of the interpreter, if it has threads */
    uint8_t context_len, sub, required; /* of a context */
    uint8_t array_kind;                 /* of an array of contexts */
    bool has_more_in_body;              /* where the name of a package is */
};

/* That of a version; NULL if it is not known. */
const struct cn_perl_layout *cn_perl_layout_find(uint8_t version);

/* Where the parts of the interpreter are in a process; 0: unknown. */
struct cn_perl_place {
    uint8_t revision, version, subversion;
    struct cn_language_variable state; /* PL_current_context */
    uint64_t key;                      /* PL_thr_key, where there is no such variable */
    uint64_t contexts, line; /* PL_curstackinfo, PL_curcop of builds without threads */
    uint64_t first;          /* PL_curinterp: that of the main thread */
    uint64_t runops_begin, runops_end; /* the function that interprets */
    uint64_t run_begin, run_end;       /* the one that runs the program */
};

struct cn_perl;
struct cn_perl *cn_perl_open(struct cn_memory *memory, const struct cn_perl_place *place,
                             struct cn_stored_names *names);
void cn_perl_close(struct cn_perl *perl); /* NULL is fine */

enum cn_language_table cn_perl_describe(struct cn_perl *perl, struct cn_frame_table *out);

/* Remember a frame of the copy of a stack. */
void cn_perl_see(struct cn_perl *perl, const struct cn_unwind_step *step);

/* Put frames in the place of calls of the function that interprets them. */
size_t cn_perl_finish(struct cn_perl *perl, const struct cn_language_sample *sample,
                      uint64_t *chain, size_t count, size_t most);

/* A version that is not known, as "5.20.2"; NULL if it is known. */
const char *cn_perl_problem(const struct cn_perl *perl);

#endif
