/* Labels of contexts, functions and locations: "main", "loop at solve.c:12",
 * "solve.c:15", "libm.so.6+0x1a2b0".
 * Threads: any thread, each with a text of its own.
 */
#ifndef CN_MODEL_LABELS_CONTEXT_H
#define CN_MODEL_LABELS_CONTEXT_H

#include "base/text.h"
#include "model/contexts/database.h"

/* Append the label of a context. Names are those of the file; the caller makes them
 * printable. */
CN_CHECK bool cn_label_context(struct cn_database *db, const struct cn_context *context,
                               struct cn_text *text, struct cn_error *err);

/* The same for the parts; CN_NONE gives "<unknown function>" and so on. */
CN_CHECK bool cn_label_function(struct cn_database *db, uint32_t function,
                                struct cn_text *text, struct cn_error *err);
CN_CHECK bool cn_label_file(struct cn_database *db, uint32_t file, struct cn_text *text,
                            struct cn_error *err);
CN_CHECK bool cn_label_module(struct cn_database *db, uint32_t module,
                              struct cn_text *text, struct cn_error *err);

#endif
