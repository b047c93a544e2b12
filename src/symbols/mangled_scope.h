/* The qualified name in a mangled C++ name, without arguments: for names that the demangler of
 * libiberty does not read, as those of functions that take generic lambdas of templates.
 *
 *     _ZN3c1012function_refIFvPPcPKlllEE11callback_fnIZN2at18Tensor...
 *     c10::function_ref<...>::callback_fn<...>
 *
 * Threads: any thread.
 */
#ifndef CN_SYMBOLS_MANGLED_SCOPE_H
#define CN_SYMBOLS_MANGLED_SCOPE_H

#include <stdbool.h>

struct cn_text;

/* Append it. False, with part of it appended, if the name is damaged, or its scope is said by
 * reference. Linear in the length of the name. */
bool cn_mangled_scope(const char *raw, struct cn_text *out);

#endif
