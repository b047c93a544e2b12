/* Slots of the memory that cairn sample shares with a program (shared.h), and what the program leaves
 * in them: a copy of its stack, frames of its interpreter.
 *
 *     cn_inside_map(path);
 *     slot = cn_inside_take(CN_INSIDE_SAMPLE);
 *     slot->registers[...] = ...;
 *     cn_inside_copy_stack(slot, slot->registers[SP]);
 *     cn_inside_read_frames(slot);
 *     cn_inside_give(slot);
 *
 * Threads: any thread, also in signal handlers, but for cn_inside_map() and
 * cn_inside_find_stack().
 */
#ifndef CN_SAMPLER_INSIDE_SLOT_H
#define CN_SAMPLER_INSIDE_SLOT_H

#include <stdbool.h>
#include <stdint.h>

#include "sampler/inside/shared.h"

/* NULL: not mapped. */
extern struct cn_inside_shared *cn_inside;

/* The program has restricted its system calls: none is made for cairn. */
extern _Atomic bool cn_inside_is_sandboxed;

/* The library is told of that before, once; it is in the thread that does it. */
void cn_inside_sandboxed(void);

/* Find the functions of the C library by which programs do that. */
void cn_inside_find_calls(void);

/* True if samples are wanted. */
static inline bool cn_inside_is_on(void)
{
    return cn_inside && !atomic_load(&cn_inside->is_over) &&
           !atomic_load(&cn_inside_is_sandboxed);
}

/* False if the path is no such memory. */
bool cn_inside_map(const char *path);

/* A slot that is filled with the task and the time; NULL: all are in use, one more is lost. */
struct cn_inside_slot *cn_inside_take(uint32_t kind);

/* Find where the stack of this thread is: only that page of it that is copied from is safe
 * before. Allocates. */
void cn_inside_find_stack(void);

/* Copy the stack from an address in it. */
void cn_inside_copy_stack(struct cn_inside_slot *slot, uintptr_t from);

/* The frames of an interpreter that this thread runs. */
void cn_inside_read_frames(struct cn_inside_slot *slot);

/* After a fork: what is known of the interpreter is the parent's. */
void cn_inside_forget(void);

/* Leave the slot to cairn. */
static inline void cn_inside_give(struct cn_inside_slot *slot)
{
    atomic_store_explicit(&slot->state, CN_INSIDE_FULL, memory_order_release);
}

#endif
