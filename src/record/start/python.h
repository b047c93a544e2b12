/* Calls of Python functions, where the program is a Python interpreter (3.9 or later).
 *
 * The interpreter is asked to report calls (PyEval_SetProfile) as soon as it is about to run
 * the script, and not any more when the main module has ended. Nothing of Python is linked:
 * functions of the interpreter are looked up by name, and only those of its stable
 * interface use its objects.
 * Threads: any thread that holds the lock of the interpreter.
 */
#ifndef CN_RECORD_START_PYTHON_H
#define CN_RECORD_START_PYTHON_H

#include <stdbool.h>

/* True if the program is an interpreter of Python, and its functions are to be recorded. Programs
 * that contain an interpreter are not. */
bool cn_rec_python_is_program(void);

/* Called before main(). Does nothing if the program is no interpreter, or if the launcher
 * does not want it. */
void cn_rec_python_begin(void);

#endif
