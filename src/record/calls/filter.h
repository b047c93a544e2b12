/* Filters and triggers, applied at each call.
 *
 * What the rules say about a function is looked up at its first call. If that does not depend
 * on the call, the decision is stored by address (module_rules.h), and assembly filters its next
 * calls alone: QUICK frames, which have no entry in `notes`. All that it needs is in the filter
 * state of the thread: a call is recorded if `shown` is below its limit, which is 0 inside
 * RULE_NOT and outside RULE_ONLY, and waits for its end if there is a time limit. A call with
 * RULE_ONLY or RULE_NOT changes the limit, and restores it when it ends. Where the limit is
 * reached, a call without a rule has no frame and returns to its caller: it changes nothing for
 * the calls inside it. That a recorded call was left by an exception or a jump is noticed at the
 * next call, recorded or not, as without filters. With -finstrument-functions every call has a
 * frame, which its second hook looks for. C handles the functions that switch recording.
 *
 * With values, conditions, counters, call sites, watches, an agent, or limits that change inside
 * a function, C filters every call: the cost of recording that views subtract is one for all.
 * Threads: any thread, its own calls.
 */
#ifndef CN_RECORD_CALLS_FILTER_H
#define CN_RECORD_CALLS_FILTER_H

#include <stdbool.h>

#include <stdint.h>

struct cn_rec_frame;
struct cn_rec_registers;
struct cn_rec_thread;

/* Set up the filters of this process. */
void cn_rec_filter_begin(void);

/* Filter a call that was just pushed, and record its entry unless it is filtered out. The
 * registers are NULL when they were not saved. */
void cn_rec_filter_enter(struct cn_rec_thread *self, struct cn_rec_frame *frame,
                         const struct cn_rec_registers *registers);

/* A call that was just pushed returns for a second time: prepare its exit, without an
 * entry. */
void cn_rec_filter_resume(struct cn_rec_thread *self, struct cn_rec_frame *frame);

/* The depth that an open call was recorded with; false when it was not recorded. */
bool cn_rec_filter_depth(const struct cn_rec_thread *self,
                         const struct cn_rec_frame *frame, uint64_t *depth);

/* End the recording; `self` may be NULL. */
void cn_rec_filter_finish(struct cn_rec_thread *self);

/* Record the exit of a call, and its entry if that is pending. */
void cn_rec_filter_leave(struct cn_rec_thread *self, struct cn_rec_frame *frame,
                         const struct cn_rec_registers *registers);

#endif
