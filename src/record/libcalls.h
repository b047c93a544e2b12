/* Library calls of the program, and on request of its libraries: their tables of addresses
 * are made to lead through us.
 *
 * Each slot of a table gets a few instructions of its own, which name the slot and jump
 * to cn_rec_libcall(). A slot that is not bound yet is bound by the first call, through
 * the loader as always, and is led through us again when that call returns.
 * Threads: add and remove: one thread at a time; all else: any thread.
 */
#ifndef CN_RECORD_LIBCALLS_H
#define CN_RECORD_LIBCALLS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct cn_rec_image;

struct cn_rec_libcall {
    uintptr_t *_Atomic slot; /* NULL: its file is not mapped any more */
    uintptr_t stub;          /* the slot's own instructions */
    _Atomic uintptr_t target;
    bool is_bound; /* the slot held the function itself */
    bool is_quick; /* recorded when called: it must see who called it */
};

extern struct cn_rec_libcall *cn_rec_libcalls; /* by number; number 0 is the probe */

/* Whether the library calls of a file are to be recorded: the library at `path`, or the
 * program, if that is NULL. */
bool cn_rec_libcalls_are_wanted(const struct cn_rec_image *image, const char *path);

/* Record the library calls of a file that was relocated. Uses no function of the C
 * library once the program runs. */
bool cn_rec_libcalls_add(const struct cn_rec_image *image);

/* The file is not mapped any more. */
void cn_rec_libcalls_remove(const struct cn_rec_image *image);

/* The call returned. */
void cn_rec_libcall_leave(uint64_t number);

/* A library call of a function that does nothing; NULL when none are recorded. */
extern void (*cn_rec_libcall_probe)(void);

#endif
