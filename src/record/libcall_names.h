/* What is known about library functions, and about libraries, by their names.
 * Threads: any thread; none of it uses the C library.
 */
#ifndef CN_RECORD_LIBCALL_NAMES_H
#define CN_RECORD_LIBCALL_NAMES_H

#include <stdbool.h>

/* Functions that look at their return address, or return twice. */
bool cn_rec_name_is_quick(const char *name);

/* The hooks themselves, and functions with rules of their own for registers. */
bool cn_rec_name_is_left_out(const char *name);

/* Libraries whose own calls are never recorded: those that everything is made of, where
 * the recorder could get in its own way. */
bool cn_rec_name_is_base(const char *path);

#endif
