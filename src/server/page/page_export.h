/* A self-contained page: the viewer with the data of a source.
 * Threads: one thread at a time.
 */
#ifndef CN_SERVER_PAGE_PAGE_EXPORT_H
#define CN_SERVER_PAGE_PAGE_EXPORT_H

#include "base/error.h"
#include "base/text.h"

/* Append the page of a database, recording or store: tree, flame graph and timeline. With
 * `is_raw`, costs of a recording are recorded times, not corrected ones. */
CN_CHECK bool cn_page_export(const char *path, bool is_raw, struct cn_text *out,
                             struct cn_error *err);

#endif
