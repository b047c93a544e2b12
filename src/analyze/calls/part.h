/* Parts of a long task, counted by several threads and joined in order. The result is that of
 * reading the task as a whole.
 *
 * The state of the task at the start of a later part is unknown. The part leaves out its first
 * calls, up to an exit, which has a depth: so many calls are open there. They are guessed: each
 * gets a frame that stands for it, and its return is noted instead of counted. Corrected times
 * are off by a constant (clock.h). When all parts before it are joined, the calls that it
 * left out are counted, and if the guess is right, the returns are counted and the calls that
 * are open at its end are appended. If the guess was wrong, for example after longjmp() or
 * where more than 1024 calls are open, the part is counted again.
 *
 * Threads: one thread at a time for each guess.
 */
#ifndef CN_ANALYZE_CALLS_PART_H
#define CN_ANALYZE_CALLS_PART_H

#include "analyze/calls/feed.h"
#include "analyze/calls/stack.h"

/* A guessed call that returned. */
struct cn_call_return {
    struct cn_call call;
    uint64_t child_ns; /* time of the calls it made in this part */
    uint64_t count;    /* for the view */
};

/* Of a part: the calls that are guessed to be open after those that it left out. Zeroed before
 * the part is read. */
struct cn_call_guess {
    bool has_begun, is_wrong;
    uint64_t left_out;          /* calls */
    uint64_t begin_ns;          /* time of the last one */
    struct cn_call_clock clock; /* after them */
    uint32_t depth;             /* guessed calls: frames 0.. of the stack */
    uint32_t open_count;        /* those that did not return yet */
    struct cn_call_return *returns;
    size_t return_count, return_capacity;
};

void cn_call_guess_free(struct cn_call_guess *guess); /* NULL is fine */

/* Push the guessed calls to an empty stack, after the first batch was read. */
void cn_call_guess_begin(struct cn_call_guess *guess, struct cn_call_stack *stack,
                         const struct cn_call_feed *feed);

/* What the next call of a part is. */
enum cn_guess_step {
    CN_GUESS_INSIDE, /* to be counted */
    CN_GUESS_RETURN, /* the return of a guessed call: it was noted, as the last one */
    CN_GUESS_WRONG,  /* the guess is wrong */
};
enum cn_guess_step cn_call_guess_check(struct cn_call_guess *guess,
                                       struct cn_call_stack *stack,
                                       const struct cn_call *call);

/* True if the open calls of the task, counted up to what the part left out, are those that
 * were guessed, and the clock was right. */
bool cn_call_guess_fits(const struct cn_call_guess *guess,
                        const struct cn_call_stack *stack,
                        const struct cn_call_clock *clock);

/* The constant by which the times of the part are ahead of those of the task. */
static inline uint64_t cn_call_guess_ahead_ns(const struct cn_call_guess *guess,
                                              const struct cn_call_clock *clock)
{
    return guess->clock.now_ns - clock->now_ns;
}

/* Join the stack of a part that fits to that of the task: `leave` counts the returns of
 * guessed calls, in order, then the calls open at the end are appended. Returns how many calls
 * are open before these. */
uint32_t cn_call_guess_join(const struct cn_call_guess *guess,
                            const struct cn_call_stack *part, struct cn_call_stack *stack,
                            uint64_t ahead_ns,
                            void (*leave)(void *arg, const struct cn_call *call),
                            void *arg);

/* The clock of the task after the part. */
struct cn_call_clock cn_call_guess_clock(const struct cn_call_clock *part,
                                         uint64_t ahead_ns);

/* True if tasks can be read in parts: filters and time ranges depend on the past. */
bool cn_call_query_is_divisible(const struct cn_call_query *query);

/* A part to be counted. */
struct cn_part_job {
    size_t owner; /* index of its task in a list of the caller */
    struct cn_call_part part;
    uint32_t number; /* in its task */
    bool is_last;
};

struct cn_part_jobs {
    struct cn_part_job *list;
    size_t count, capacity;
};

/* True if other workers would wait at the end for a task of `len` bytes of `all_len`. */
bool cn_call_task_is_long(uint64_t len, uint64_t all_len, unsigned workers);

/* Add the parts of a task; returns how many, 0 if it has none. */
size_t cn_part_jobs_add(struct cn_part_jobs *jobs, size_t owner,
                        const struct cn_recording *rec, uint32_t task, uint64_t part_len);
void cn_part_jobs_done(struct cn_part_jobs *jobs);

#endif
