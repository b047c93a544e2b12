/* The files that this process has mapped, and its stack, from /proc/self/maps.
 *
 * The parts of one file, which lie next to each other, are handed out as one.
 * Threads: any thread.
 */
#ifndef CN_RECORD_MAPS_H
#define CN_RECORD_MAPS_H

#include <stdbool.h>
#include <stdint.h>

struct cn_rec_mapping {
    uintptr_t start, end;
    bool is_code;     /* a part of it can be run */
    const char *path; /* borrowed during the visit */
};

typedef void (*cn_rec_mapping_visit)(const struct cn_rec_mapping *mapping, void *arg);

/* Visit them in the order of their addresses. False when they cannot be read. */
bool cn_rec_maps_walk(cn_rec_mapping_visit visit, void *arg);

#endif
