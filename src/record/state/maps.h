/* The mapped files and the stack of this process, from /proc/self/maps. Adjacent segments
 * of a file are merged.
 * Threads: any thread.
 */
#ifndef CN_RECORD_STATE_MAPS_H
#define CN_RECORD_STATE_MAPS_H

#include <stdbool.h>
#include <stdint.h>

struct cn_rec_mapping {
    uintptr_t start, end;
    bool is_code;     /* has an executable segment */
    const char *path; /* borrowed during the visit */
};

typedef void (*cn_rec_mapping_visit)(const struct cn_rec_mapping *mapping, void *arg);

/* Visit the files in the order of their addresses. False when the maps cannot be read. */
bool cn_rec_maps_walk(cn_rec_mapping_visit visit, void *arg);

#endif
