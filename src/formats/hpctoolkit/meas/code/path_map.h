/* Prefixes of recorded paths and their replacements on this machine.
 * Threads: any thread.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_MEAS_CODE_PATH_MAP_H
#define CN_FORMATS_HPCTOOLKIT_MEAS_CODE_PATH_MAP_H

#include <stddef.h>

#include "base/text.h"

struct cn_path_map {
    const char *from; /* whole components; "*" matches any one */
    const char *to;
};

/* Parse "FROM=TO", with "\=" for a '=' in a name. Splits `text` in place and borrows it. */
CN_CHECK bool cn_path_map_parse(char *text, struct cn_path_map *out,
                                struct cn_error *err);

/* Append `path` with the first prefix replaced that matches and gives an existing path;
 * `path` itself if there is none. */
void cn_path_map_apply(const struct cn_path_map *maps, size_t count, const char *path,
                       struct cn_text *out);

#endif
