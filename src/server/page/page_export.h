/* A self-contained page: the viewer, its engine (src/wasm) and the files of a source.
 *
 * The page opens the files as the server does. What only this machine knows is added: the
 * database of a recording, with locations from debug information; samples with their symbols.
 * Threads: one thread at a time.
 */
#ifndef CN_SERVER_PAGE_PAGE_EXPORT_H
#define CN_SERVER_PAGE_PAGE_EXPORT_H

#include "base/error.h"

struct cn_sink;

/* Write the page of a database, recording or store. With `is_raw`, costs of a recording are
 * recorded times, not corrected ones. */
CN_CHECK bool cn_page_export(struct cn_sink *out, const char *path, bool is_raw,
                             struct cn_error *err);

/* Write the viewer without data, into which people drop files. */
CN_CHECK bool cn_page_viewer(struct cn_sink *out, struct cn_error *err);

#endif
