/* What interpreters have in common: the calls of the function that interprets in a stack of
 * native code, and the frames of the language that belong in their place.
 *
 *     cn_interpreter_see(&interpreter, step);          for each frame of a copied stack
 *     count = cn_interpreter_merge(&interpreter, &frames, chain, chain_len, most, is_whole);
 *
 * A language whose frames are found by a table alone is a struct cn_interpreted:
 *
 *     count = cn_interpreted_finish(&interpreted, sample, chain, count, most);
 *
 * A zeroed one with its members at the top set is ready for use, and owns nothing.
 * Threads: one thread at a time.
 */
#ifndef CN_SAMPLER_LANGUAGES_INTERPRETER_H
#define CN_SAMPLER_LANGUAGES_INTERPRETER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes/bytes.h"
#include "sampler/languages/frame_walk.h"
#include "sampler/languages/languages.h"
#include "unwind/unwind.h"

enum {
    CN_INTERPRETER_FRAMES_MAX = 2048,
    CN_INTERPRETER_CALLS_MAX = 256, /* in the copy of a stack */
};

struct cn_interpreter_range {
    uint64_t begin, end;
};

/* A call of the function that interprets, as it was in the copy of the stack. */
struct cn_interpreter_call {
    struct cn_unwind_registers registers;
    uint64_t stack_begin;
    struct cn_bytes stack; /* of its frame; empty if the copy does not have it */
};

struct cn_interpreter {
    struct cn_memory *memory;
    struct cn_interpreter_range entry; /* the code that is called for frames */
    struct cn_interpreter_range
        body;       /* code that only the entry calls, and that is part of
                                        * it; may be empty */
    uint64_t round; /* of the memory: of the sample that calls are of */
    bool is_in_call;
    struct cn_interpreter_call calls[CN_INTERPRETER_CALLS_MAX];
    size_t call_count;
    /* Stacks whose frames were read after them, and those of them that lack some. */
    uint64_t late_count, missing_count;
    uint64_t merged[CN_INTERPRETER_FRAMES_MAX + 1024];
};

/* What is known of each frame of the language. */
enum {
    CN_INTERPRETER_FIRST = 1, /* of the call that interprets it: its caller is native */
    CN_INTERPRETER_EMPTY = 2, /* no function */
};

/* Frames of the language, the innermost first. `name` gives the address that stands for one; 0 if
 * it is not known, or not the one that `call` ran. Of frames that were read after the stack
 * (`is_late`) those that begin a call are confirmed by what it holds; `call` is NULL for others. */
struct cn_interpreter_frames {
    const uint8_t *flags;
    size_t count;
    bool is_late;
    bool is_cut;   /* those of the first calls are missing */
    bool is_early; /* a frame is there before the call that interprets it */
    uint64_t (*name)(void *arg, size_t frame, const struct cn_interpreter_call *call);
    void *arg;
};

/* Is an address of a stack in the function that interprets? */
bool cn_interpreter_is_entry(const struct cn_interpreter *interpreter,
                             const uint64_t *chain, size_t i);

/* Is there such a call in a stack? */
bool cn_interpreter_runs(const struct cn_interpreter *interpreter, const uint64_t *chain,
                         size_t chain_len);

/* Remember a frame of the copy of a stack, if it is of the function that interprets. */
void cn_interpreter_see(struct cn_interpreter *interpreter,
                        const struct cn_unwind_step *step);

/* Does a call hold an address of a range, its end included? Then one that is not its begin, if
 * there is one. */
bool cn_interpreter_holds(const struct cn_interpreter_call *call,
                          struct cn_interpreter_range range, uint64_t *out);

/* Put frames in the place of calls: each stands for the frames up to the next that is first.
 * Nothing changes where the two contradict each other. Returns the number of addresses. */
size_t cn_interpreter_merge(struct cn_interpreter *interpreter,
                            const struct cn_interpreter_frames *frames, uint64_t *chain,
                            size_t chain_len, size_t most, bool is_whole);

/* Count a stack with such a call, whose frames were read after it and merged. */
void cn_interpreter_count_late(struct cn_interpreter *interpreter, const uint64_t *chain,
                               size_t chain_len);

/* One line about stacks that lack functions of a language because they were copied: the caller
 * frees it. NULL: few do. */
char *cn_interpreter_hint(const struct cn_interpreter *interpreter, const char *language);

/* A language whose frames are rows of a walk (frame_walk.h). */
struct cn_interpreted;

struct cn_interpreted_kind {
    uint32_t language; /* enum cn_language */
    uint32_t
        same_mask; /* words of a row that are the same while a function runs, by bit */
    /* Add the frames of rows with cn_interpreted_add(), the innermost first. */
    void (*list)(void *arg, struct cn_interpreted *in);
    /* As in struct cn_interpreter_frames. */
    uint64_t (*name)(void *arg, size_t frame, const struct cn_interpreter_call *call);
    /* The state of a thread, for a walk that the sampler does; 0: not known. */
    uint64_t (*find)(void *arg, uint32_t tid);
};

/* Rows of a sample and their frames. A zeroed one with its members at the top set is ready for use,
 * and owns nothing. */
struct cn_interpreted {
    const struct cn_interpreted_kind *kind;
    void *arg;
    struct cn_frame_table table,
        late; /* of walks at the sample, and of those of the sampler */
    struct cn_interpreter interpreter;
    bool is_late;                /* rows were read after the sample */
    const uint64_t *head, *rows; /* of the sample */
    size_t row_len, row_count;
    uint32_t rows_of[CN_INTERPRETER_FRAMES_MAX]; /* by frame */
    uint8_t flags[CN_INTERPRETER_FRAMES_MAX];
    size_t frame_count;
    struct cn_frame_walk walk;
    uint64_t again[CN_FRAME_WORDS_MAX];
};

void cn_interpreted_add(struct cn_interpreted *in, size_t row, uint8_t flags);

/* The words of a frame's row. */
const uint64_t *cn_interpreted_row(const struct cn_interpreted *in, size_t frame);

/* Put the frames of a sample in the place of calls of the function that interprets. Returns the
 * number of addresses. */
size_t cn_interpreted_finish(struct cn_interpreted *in,
                             const struct cn_language_sample *sample, uint64_t *chain,
                             size_t count, size_t most);

#endif
