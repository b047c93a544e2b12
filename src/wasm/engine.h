/* The engine of the viewer in a page without a server: opens files of the page's memory and
 * answers the questions of the API. These functions are what the page calls; strings are
 * passed in memory of cn_engine_alloc().
 * Threads: one thread at a time.
 */
#ifndef CN_WASM_ENGINE_H
#define CN_WASM_ENGINE_H

#include <stdbool.h>
#include <stddef.h>

#define CN_EXPORTED(name) __attribute__((export_name(#name)))

/* What the engine calls in the page: how far it is, while it opens a source or answers. */
__attribute__((import_module("cairn"), import_name("progress"))) void
cn_engine_progress(const char *what, double done, double total, const char *unit);

/* Memory for a string; the function that receives it frees it. NULL is no string. */
CN_EXPORTED(alloc) char *cn_engine_alloc(size_t len);

/* How content of files is read; called once, first. As cn_ranges_begin(). */
CN_EXPORTED(read_by_range)
void cn_engine_read_by_range(size_t page_len, size_t cached_len);

/* Open a database, recording or store as the next source; `format` and `folder` as in
 * struct cn_served_options. On failure, the answer is the error. */
CN_EXPORTED(open)
bool cn_engine_open(char *path, char *format, char *folder, bool is_raw);

/* Answer an address: "/api/v1/sources/0/info". False if the answer is an error. */
CN_EXPORTED(ask) bool cn_engine_ask(char *address);

/* Decompress deflate of which `len` bytes come; they are the answer. False if it is damaged. */
CN_EXPORTED(inflate) bool cn_engine_inflate(char *packed, size_t packed_len, size_t len);

/* The last answer, valid until the next call. */
CN_EXPORTED(answer) const char *cn_engine_answer(void);
CN_EXPORTED(answer_len) size_t cn_engine_answer_len(void);

#endif
