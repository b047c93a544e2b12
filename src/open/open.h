/* Opens data at any path: finds its format, analyses it where needed, and caches the analysis.
 *
 *     cn_open(&opened, "run.data", CN_CONTEXTS, NULL, err)
 *     ... opened.db ...
 *     cn_opened_close(&opened);
 *
 * A path is a file or directory, an address in object storage ("s3://BUCKET/PREFIX"), or "-" for
 * standard input, from which formats of one file can be read.
 *
 * Databases are opened as they are. The contexts of calls, of measurements and of samples that need
 * the symbols of this machine are analysed first, into a folder of the user's cache, where the next
 * process finds them (cache/analyses.h). Nothing is printed: warnings are part of the result.
 *
 * The handle owns everything in it. Threads: one thread at a time; what is open is as immutable as
 * its model says. While one thread loads more, others may read what was there before.
 */
#ifndef CN_OPEN_OPEN_H
#define CN_OPEN_OPEN_H

#include "base/error.h"
#include "cache/analyses.h"
#include "open/about.h"
#include "open/formats.h"

struct cn_lens;
struct cn_store;

/* What may be wanted besides CN_CALLS, CN_CONTEXTS and CN_TRACES: the first that the data contains,
 * traces, calls or contexts. */
enum { CN_OWN = 8 };

/* All zero is the default. Strings are borrowed until everything that is wanted is open. */
struct cn_open_options {
    bool is_raw;       /* contexts of calls: recorded times, not corrected ones */
    const char *query; /* of a store: only traces that match; NULL: all */
    const struct cn_lens
        *lens; /* through which contexts are seen; NULL: all as they are */
    struct cn_recording_options recording;
    /* Of an exported page: the name of the format, and the folder of an analysis. NULL: found. */
    const char *format, *folder;
};

struct cn_opened {
    char *path;                     /* as it was given */
    char *source;                   /* the path to read: of standard input, a copy */
    const struct cn_format *format; /* NULL: built in memory */
    unsigned contains;              /* bits: what the data itself contains */

    /* What was wanted; else NULL. The warnings of a database are all there are. */
    struct cn_recording *rec;
    struct cn_database *db;
    struct cn_database
        *whole; /* what the database is without its lens; NULL: it has none */
    struct cn_store *store;
    bool is_of_traces; /* the calls are those of request traces */

    /* Of a folder of recordings, one for each rank: their paths. It contains their contexts. */
    char **ranks;
    size_t rank_count;

    struct cn_about about; /* of the analysis of the database; zero if it needed none */
    struct cn_cached_folder folder; /* of the analysis: the database is calls.db in it */

    struct cn_open_options options; /* private, as all below */
    char *spool;                    /* the folder of that copy; NULL: none */
};

/* Open what is wanted, bits; 0: only find the format. Fails with CN_ERR_NOT_FOUND if there is no
 * such path, with CN_ERR_FORMAT if no format recognises it, and with CN_ERR_USAGE if it cannot
 * contain what is wanted. `options` may be NULL. A failure leaves nothing to close. */
CN_CHECK bool cn_open(struct cn_opened *out, const char *path, unsigned wants,
                      const struct cn_open_options *options, struct cn_error *err);

/* Open more of it, with progress, which may be NULL. A failure leaves the handle as it was. */
CN_CHECK bool cn_opened_load(struct cn_opened *opened, unsigned wants,
                             const struct cn_progress *progress, struct cn_error *err);

/* True if the contexts are analysed before they are there, which takes time. */
bool cn_opened_is_analysed(const struct cn_opened *opened);

/* Of what is open, in the order in which they were found. */
const struct cn_warning *cn_opened_warnings(const struct cn_opened *opened);

/* True if a warning is about damage: what is open is incomplete. */
bool cn_opened_is_damaged(const struct cn_opened *opened);

void cn_opened_close(struct cn_opened *opened); /* a zeroed one is fine */

/* Close everything except the calls, which the caller takes. */
struct cn_recording *cn_opened_take_recording(struct cn_opened *opened);

/* Open only the calls, for a caller that takes them. `options` may be NULL. */
CN_CHECK bool cn_open_recording(const char *path,
                                const struct cn_recording_options *options,
                                struct cn_recording **out, struct cn_error *err);

#endif
