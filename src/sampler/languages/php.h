/* Frames of PHP (7.4 to 8.5), read from the memory of a process.
 *
 *     php = cn_php_open(memory, &place, names);
 *     cn_php_describe(php, &table);                    how they are read at the sample
 *     count = cn_php_finish(php, sample, chain, count, most);
 *
 * The interface of its modules has a number for each version, which is in the file of the program;
 * with it the layout is known. The memory is not trusted, and every loop is bounded. Names are
 * shown if the hashes of the strings are those that they had at the sample.
 * Threads: one thread at a time.
 */
#ifndef CN_SAMPLER_LANGUAGES_PHP_H
#define CN_SAMPLER_LANGUAGES_PHP_H

#include "sampler/languages/languages.h"

struct cn_frame_table;

/* Offsets that differ between versions. */
struct cn_php_layout {
    uint32_t api;                             /* ZEND_MODULE_API_NO */
    const char *name;                         /* "8.2" */
    uint32_t globals_len;                     /* of executor_globals */
    uint32_t current;                         /* frame, in them */
    uint32_t last, opcodes, file, first_line; /* of a function */
    uint32_t variables, temporaries;          /* their numbers, of a function */
    uint32_t generator_frame;                 /* of a generator */
};

/* That of a version; NULL if it is not known. */
const struct cn_php_layout *cn_php_layout_find(uint32_t api);

/* Where the parts of the interpreter are in a process. */
struct cn_php_place {
    uint64_t globals, globals_len;       /* executor_globals */
    uint64_t execute_begin, execute_end; /* the function that interprets frames */
    uint32_t api;                        /* ZEND_MODULE_API_NO; 0: not known */
    bool has_threads;                    /* ZTS: each has its own globals */
};

struct cn_php;
struct cn_php *cn_php_open(struct cn_memory *memory, const struct cn_php_place *place,
                           struct cn_stored_names *names);
void cn_php_close(struct cn_php *php); /* NULL is fine */

enum cn_language_table cn_php_describe(struct cn_php *php, struct cn_frame_table *out);

/* Remember a frame of the copy of a stack. */
void cn_php_see(struct cn_php *php, const struct cn_unwind_step *step);

/* Put frames in the place of calls of the function that interprets them. */
size_t cn_php_finish(struct cn_php *php, const struct cn_language_sample *sample,
                     uint64_t *chain, size_t count, size_t most);

/* What is not known, as "8.9" or "8.2 with threads"; NULL if there is nothing. */
const char *cn_php_problem(const struct cn_php *php);

#endif
