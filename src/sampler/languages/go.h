/* Goroutines of Go programs (1.18 to 1.25): which one a thread runs, what created it, and its stack
 * where the run-time works for it on the stack of the thread.
 *
 *     go = cn_go_open(&place, &file, &go_table, names);
 *     cn_go_describe(go, &table);                     what is read at the sample
 *     count = cn_go_finish(go, sample, chain, count, most);
 *
 * Functions and lines of Go need none of it: they are in a table of the program.
 * Threads: one thread at a time.
 */
#ifndef CN_SAMPLER_LANGUAGES_GO_H
#define CN_SAMPLER_LANGUAGES_GO_H

#include "base/files/file.h"
#include "sampler/languages/frame_walk.h"
#include "sampler/languages/languages.h"
#include "unwind/go_table.h"

/* Offsets that differ between versions. */
struct cn_go_layout {
    uint16_t minor;           /* the first version of it: 21 is 1.21 */
    uint16_t curg;            /* of a thread (m): the goroutine that it runs */
    uint16_t fp, id, creator; /* of a goroutine (g) */
};

/* That of a version; NULL if it is not known. */
const struct cn_go_layout *cn_go_layout_find(unsigned minor);

struct cn_go_place {
    unsigned minor;     /* of the version */
    uint64_t bias;      /* from addresses of the file to those of the process */
    uint64_t state_off; /* of the variable of a thread that points to its goroutine */
    struct cn_frame_range changes[CN_FRAME_CHANGES_MAX], resumed;
    struct cn_frame_range outermost; /* the function that a goroutine begins with */
};

struct cn_go;

/* Takes the file over; `table` is that of it. */
struct cn_go *cn_go_open(const struct cn_go_place *place, struct cn_file *file,
                         const struct cn_go_table *table, struct cn_stored_names *names);
void cn_go_close(struct cn_go *go); /* NULL is fine */

enum cn_language_table cn_go_describe(const struct cn_go *go, struct cn_frame_table *out);

/* Add what created the goroutine at the end of its stack. Returns the number of addresses. */
size_t cn_go_finish(struct cn_go *go, const struct cn_language_sample *sample,
                    uint64_t *chain, size_t count, size_t most);

#endif
