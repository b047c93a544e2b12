/* Links to a trace as the pages of Jaeger and Zipkin and dashboards have them: /trace/ID,
 * /jaeger/trace/ID and /zipkin/traces/ID open the trace in the viewer.
 * Threads: any thread.
 */
#ifndef CN_SERVER_COMPAT_LINK_H
#define CN_SERVER_COMPAT_LINK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct cn_served_list;

/* The digits in the address of such a link, borrowed from it; NULL for other addresses. */
const char *cn_compat_link_id(const char *path);

/* The address in the viewer of the first store that has the trace. Fails with CN_ERR_NOT_FOUND if
 * none has. */
CN_CHECK bool cn_compat_link_open(const struct cn_served_list *sources, const char *id,
                                  char out[64], struct cn_error *err);

#endif
