/* One page that holds everything it shows: the viewer with its data inside.
 * Threads: one thread at a time.
 */
#ifndef CN_SERVER_PAGE_PAGE_EXPORT_H
#define CN_SERVER_PAGE_PAGE_EXPORT_H

#include "base/error.h"
#include "base/text.h"

/* Append the page for a database or recording: tree, flame graph and a summary of the
 * timeline. */
CN_CHECK bool cn_page_export(const char *path, struct cn_text *out, struct cn_error *err);

#endif
