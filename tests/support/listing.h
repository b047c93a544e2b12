/* The names in a folder, in alphabetical order, without those that begin with a dot. Ends the
 * process if the folder cannot be read.
 * Threads: any thread.
 */
#ifndef CN_TEST_LISTING_H
#define CN_TEST_LISTING_H

#include <stddef.h>

struct cn_listing {
    char **names;
    size_t count;
};

struct cn_listing cn_listing_of(const char *folder);

/* Only the recordings in the folder of fixtures `uftrace`, which also has texts and sources. */
struct cn_listing cn_listing_of_recordings(const char *folder);

void cn_listing_done(struct cn_listing *listing);

#endif
