/* Run-times of languages in sampled processes: frames of code that has no unwind tables,
 * because it was made while the program ran, and the functions that interpreters run.
 *
 *     cn_languages_map(&languages, &mapping, memory, names);  for each executable mapping
 *     cn_memory_begin(memory, pid, bytes);                    before each stack
 *     cn_unwind_space_set_foreign(space, cn_languages_undo, languages);
 *     count = cn_languages_finish(languages, &sample, chain, count, most);
 *     cn_languages_free(languages);
 *
 * A run-time is one row of the table in languages.c. Its memory is read through `memory`,
 * within limits; it is not trusted.
 * Threads: one thread at a time.
 */
#ifndef CN_SAMPLER_LANGUAGES_LANGUAGES_H
#define CN_SAMPLER_LANGUAGES_LANGUAGES_H

#include <sys/types.h>

#include "base/map.h"
#include "sampler/languages/memory.h"
#include "unwind/unwind.h"

struct cn_stored_names;
struct cn_frames_found;
struct cn_frame_table;

/* An executable mapping of a file. */
struct cn_language_mapping {
    uint64_t begin, end;
    uint64_t file_off; /* of `begin` */
    const char *path;  /* as this process can open it */
    uint32_t pid;
};

/* A stack that was unwound. */
struct cn_language_sample {
    uint32_t tid;
    bool is_whole;
    /* Frames that were read with the sample; NULL: those of now are used, as far as the stack
     * confirms them. */
    const struct cn_frames_found *found;
    const uint64_t *words;
    bool has_goroutines; /* show each goroutine of Go by its number */
};

/* Can frames of a run-time be read at the sample, by a table? */
enum cn_language_table {
    CN_LANGUAGE_LATER,    /* it has not said enough yet */
    CN_LANGUAGE_NO_TABLE, /* there is nothing to read: its version is not known */
    CN_LANGUAGE_TABLE,
    CN_LANGUAGE_TABLE_BESIDE_COPIES, /* for more than the frames, which copies of stacks have */
};

struct cn_language_runtime {
    bool (*is_runtime)(const char *path);
    /* What is known of a run-time; NULL if nothing can be. The process has not initialised
     * it yet, or runs it for long: nothing is read of `memory` before the first frame is to
     * be undone. `memory` and `names` outlive it; `mapping` does not. */
    void *(*open)(struct cn_memory *memory, const struct cn_language_mapping *mapping,
                  struct cn_stored_names *names);
    bool (*undo)(void *state, struct cn_unwind_step *step); /* a cn_unwind_foreign; may be
                                                             * NULL */
    /* Put what is known in the place of addresses of a stack; may be NULL. Returns the number
     * of addresses. */
    size_t (*finish)(void *state, const struct cn_language_sample *sample,
                     uint64_t *chain, size_t count, size_t most);
    /* True: it makes code, but has no frames of its own beside the stack. */
    bool has_code_only;
    /* The table of frame_walk.h; NULL: the run-time has none, its frames are found in copies of
     * stacks. */
    enum cn_language_table (*describe)(void *state, struct cn_frame_table *out);
    /* Learn what an object is from copies of it, which are all that can be read now; may be NULL. */
    void (*learn)(void *state, uint64_t object);
    /* True if describe() may give more than the last time; may be NULL. */
    bool (*is_stale)(const void *state);
    /* One line about what would show its functions, if they are not: the caller frees it. NULL:
     * nothing is missing. May be NULL. */
    char *(*hint)(const void *state);
    void (*close)(void *state);
};

struct cn_languages;

/* Is a program an interpreter whose frames are read at the sample? Copies of stacks prove few of
 * them. */
bool cn_languages_is_interpreter(const char *path);

/* Look whether a mapping belongs to a run-time; `*languages` is NULL until one does. */
void cn_languages_map(struct cn_languages **languages,
                      const struct cn_language_mapping *mapping, struct cn_memory *memory,
                      struct cn_stored_names *names);

/* The same run-times in a forked process; NULL has none. */
struct cn_languages *cn_languages_copy(const struct cn_languages *languages);
void cn_languages_free(struct cn_languages *languages); /* NULL is fine */

/* The table of the run-time of a process whose frames can be read at the sample. True if nothing
 * else is needed: no other run-time has frames that are found in copies of stacks. */
bool cn_languages_describe(const struct cn_languages *languages,
                           struct cn_frame_table *out, bool *has_table);

/* Copies of an object were made at a sample: the memory reads them. */
void cn_languages_learn(struct cn_languages *languages, uint64_t object);

/* True if cn_languages_describe() may give more than the last time. */
bool cn_languages_is_stale(const struct cn_languages *languages);

/* Add what would show more. */
void cn_languages_hint(const struct cn_languages *languages, struct cn_names *hints);

bool cn_languages_undo(void *languages, struct cn_unwind_step *step);

size_t cn_languages_finish(struct cn_languages *languages,
                           const struct cn_language_sample *sample, uint64_t *chain,
                           size_t count, size_t most);

/* 8 bytes of the copy of the stack. */
bool cn_language_stack(const struct cn_unwind_step *step, uint64_t address,
                       uint64_t *out);

#endif
