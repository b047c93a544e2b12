/* Library calls of the program and, with --nest-libcall, of its libraries: the slots of
 * their GOTs are pointed to the recorder.
 *
 * Each slot gets a stub, which passes the number of the slot to cn_rec_libcall. A slot that
 * is not bound yet is bound by the loader at its first call, and pointed to the stub again
 * when that call returns; in the program itself already at the next recorded call of any thread.
 * Threads: add and remove: one thread at a time; all else: any thread.
 */
#ifndef CN_RECORD_CODE_LIBCALLS_H
#define CN_RECORD_CODE_LIBCALLS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct cn_rec_image;

/* How a function returns. */
enum cn_rec_libcall_kind {
    CN_REC_LIBCALL_PLAIN,
    CN_REC_LIBCALL_QUICK,   /* to any place: its end is recorded when it is called */
    CN_REC_LIBCALL_LANDS,   /* as QUICK, and again after a jump: setjmp() */
    CN_REC_LIBCALL_JUMPS,   /* to where such a function was called: longjmp() */
    CN_REC_LIBCALL_THROWS,  /* to a handler in one of its callers */
    CN_REC_LIBCALL_CATCHES, /* plainly, in such a handler */
    CN_REC_LIBCALL_FORKS,   /* in a child, which shares the stack, and again: vfork() */
    CN_REC_LIBCALL_EXECS,   /* not at all, unless it fails: execve() */
    CN_REC_LIBCALL_ENDS,    /* not at all, the thread ends: pthread_exit() */
    CN_REC_LIBCALL_ASKS,    /* plainly, but it looks at its return address: dlopen() */
};

struct cn_rec_libcall {
    uintptr_t *_Atomic slot; /* NULL: its file is unmapped */
    uintptr_t stub;          /* address of its stub */
    _Atomic uintptr_t target;
    /* Of kind ASKS: code of its file that returns to the address above the next. */
    uintptr_t passage;
    bool is_code;  /* the code that calls it is changed, not the slot */
    bool is_bound; /* the slot contained the address of the function */
    uint8_t kind;  /* enum cn_rec_libcall_kind */
};

extern struct cn_rec_libcall *cn_rec_libcalls; /* by number; number 0 is the probe */

/* True for functions whose calls are never recorded. */
bool cn_rec_libcall_is_left_out(const char *name);

/* True for calls that are not recorded, and only show that others have ended. */
bool cn_rec_libcall_is_silent(const struct cn_rec_libcall *call);

/* True if the library calls of the library `path`, or of the program for NULL, are
 * recorded. */
bool cn_rec_libcalls_are_wanted(const struct cn_rec_image *image, const char *path);

/* Record the library calls of a file after its relocation. Does not use the C library
 * once the program runs. */
bool cn_rec_libcalls_add(const struct cn_rec_image *image);

/* The file was unmapped. */
void cn_rec_libcalls_remove(const struct cn_rec_image *image);

/* All files of the start were added: the first is the program, or linked to it. */
void cn_rec_libcalls_started(void);

/* A call through slot `number`, which is not bound, begins; and has ended. */
void cn_rec_libcall_begin(uint64_t number);
void cn_rec_libcall_leave(uint64_t number);

/* Point slots to their stubs that the loader has bound, in calls that have not ended. True if
 * there are no other such calls. */
bool cn_rec_libcalls_look(void);

/* A library call of an empty function; NULL when library calls are not recorded. */
extern void (*cn_rec_libcall_probe)(void);

#endif
