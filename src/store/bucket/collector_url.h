/* The addresses of collectors: what readers ask them, see store/bucket/unsealed.h.
 * Threads: immutable.
 */
#ifndef CN_STORE_BUCKET_COLLECTOR_URL_H
#define CN_STORE_BUCKET_COLLECTOR_URL_H

#define CN_FRESH_PATH "/collector/segments"

/* That the URL of a collector may have: nothing that means more than itself in a request. */
#define CN_COLLECTOR_URL_CHARACTERS \
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/:[]"

#endif
