/* Names that do not fit: shortened so that the last part, the method, stays visible.
 *
 * What is given up first, until the name fits: the parameters, arguments of templates, the type of
 * the result, scopes from the left, and the middle of what is left:
 *
 *     void std::sort<int*>(int*, int*)       of 32 columns
 *     void std::sort<int*>(…)                of 23
 *     std::sort<…>(…)                        of 18
 *     …::sort<…>(…)                          of 13
 *
 * A method of a language with dots keeps its class: "….Thread.run" of "java.lang.Thread.run", then
 * "Thread.run", then the class cut in the middle.
 *
 * The viewer has the same rule (web/src/shared/names/short_name.ts); both are tested with the same
 * table, tests/support/short_names.tsv.
 * Threads: any thread, each with a text of its own.
 */
#ifndef CN_MODEL_LABELS_SHORT_NAME_H
#define CN_MODEL_LABELS_SHORT_NAME_H

#include <stddef.h>

struct cn_text;

/* Append a printable name in at most `width` columns of a terminal, at least 1. */
void cn_name_shorten(struct cn_text *out, const char *name, size_t width);

/* The same for the names of a call path, "main > solve > sweep": the first ones are given up,
 * "… > sweep". */
void cn_call_path_shorten(struct cn_text *out, const char *path, size_t width);

#endif
