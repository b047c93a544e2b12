#include "support/listing.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int is_recording(const struct dirent *entry)
{
    return !strchr(entry->d_name, '.') && strcmp(entry->d_name, "src") != 0;
}

static struct cn_listing list(const char *folder, int (*has)(const struct dirent *entry))
{
    struct cn_listing listing = {0};
    struct dirent **entries;
    int count = scandir(folder, &entries, has, alphasort);

    if (count < 0) {
        perror(folder);
        exit(EXIT_FAILURE);
    }
    listing.names = cn_alloc((size_t)count, sizeof(*listing.names));
    for (int i = 0; i < count; i++) {
        listing.names[listing.count++] = cn_strdup(entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    return listing;
}

struct cn_listing cn_listing_of(const char *folder)
{
    return list(folder, is_visible);
}

struct cn_listing cn_listing_of_recordings(const char *folder)
{
    return list(folder, is_recording);
}

void cn_listing_done(struct cn_listing *listing)
{
    for (size_t i = 0; i < listing->count; i++)
        free(listing->names[i]);
    free(listing->names);
    *listing = (struct cn_listing){0};
}
