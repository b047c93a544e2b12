/* Where files lie on this machine: prefixes of recorded paths and what to put in
 * their place.
 * Threads: any thread.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_MEAS_CODE_PATH_MAP_H
#define CN_FORMATS_HPCTOOLKIT_MEAS_CODE_PATH_MAP_H

#include <stddef.h>

#include "base/text.h"

struct cn_path_map {
    const char *from; /* whole components; "*" stands for any one */
    const char *to;
};

/* "FROM=TO", "\=" for a '=' in a name; split in place. */
CN_CHECK bool cn_path_map_parse(char *text, struct cn_path_map *out,
                                struct cn_error *err);

/* Append `path` with the first prefix that matches and leads to something that
 * exists replaced; `path` itself when none does. */
void cn_path_map_apply(const struct cn_path_map *maps, size_t count, const char *path,
                       struct cn_text *out);

#endif
