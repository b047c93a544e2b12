/* Names of functions as two builds of a program share them.
 * Threads: any thread, each with a text of its own.
 */
#ifndef CN_ANALYZE_COMPARE_FUNCTION_NAME_H
#define CN_ANALYZE_COMPARE_FUNCTION_NAME_H

struct cn_text;

/* Append the name without what compilers add to it: ".constprop.0", ".isra.0", ".part.0",
 * ".cold" and the like, "[clone .isra.0]", ABI tags, hashes of Rust. Of code without a name,
 * "libc.so.6+0x2f00", only the module is left: addresses differ between builds. */
void cn_function_name_add(struct cn_text *text, const char *name);

#endif
