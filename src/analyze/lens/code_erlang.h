/* Whose code a function of Erlang is. What a node compiles has no path that tells: all of it is in
 * "[native]", and names of files are those that the compiler was given.
 *
 * Threads: any thread.
 */
#ifndef CN_ANALYZE_LENS_CODE_ERLANG_H
#define CN_ANALYZE_LENS_CODE_ERLANG_H

#include <stdbool.h>

struct cn_code_module;

/* Code that its run-time makes for itself: "global::garbage_collect". */
bool cn_code_is_erlang_runtime(const struct cn_code_module *module, const char *name);

/* A function of its run-time, kernel or standard library: "maps:update_with/4". */
bool cn_code_is_erlang_library(const char *name);

#endif
