/* The files of the viewer, embedded in the program.
 * Threads: immutable.
 */
#ifndef CN_SERVER_PAGE_ASSETS_H
#define CN_SERVER_PAGE_ASSETS_H

#include "base/bytes/bytes.h"

struct cn_asset {
    const char *path; /* "/app.js" */
    const char *type; /* "text/javascript; charset=utf-8" */
    const uint8_t *begin, *end;
};

/* Ends with a path of NULL. */
extern const struct cn_asset cn_assets[];

#endif
