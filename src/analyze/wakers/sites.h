/* What people call a context in which a thread waits or is woken: the innermost function of the program
 * that was run, and what that called: "take_job → pthread_cond_wait". In a stack without functions of the
 * program, those of libraries stand for them, except of the C library and the like.
 *
 *     cn_wait_sites_init(&sites, frames, codes);
 *     site = cn_wait_site_of(&sites, context);
 *     cn_wait_site_print(&sites, site, &text);
 *     cn_wait_sites_done(&sites);
 *
 * Borrows the frames and the codes. Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_WAKERS_SITES_H
#define CN_ANALYZE_WAKERS_SITES_H

#include <stdbool.h>
#include <stdint.h>

#include "model/contexts/context.h"

struct cn_codes;
struct cn_frames;
struct cn_text;

/* Places of frames; CN_NONE: none. */
struct cn_wait_site {
    uint32_t own;  /* the function of the program */
    uint32_t call; /* what it called: a function of a library or of the kernel */
};

struct cn_wait_sites {
    const struct cn_frames *frames;
    struct cn_wait_site *of_frame;
};

void cn_wait_sites_init(struct cn_wait_sites *sites, const struct cn_frames *frames,
                        const struct cn_codes *codes);
void cn_wait_sites_done(struct cn_wait_sites *sites);

/* The site of a context; 0: of none. */
struct cn_wait_site cn_wait_site_of(const struct cn_wait_sites *sites, uint32_t context);

static inline bool cn_wait_site_is_known(struct cn_wait_site site)
{
    return site.own != CN_NONE || site.call != CN_NONE;
}

/* Append it; "[unknown]" if nothing is known of it. */
void cn_wait_site_print(const struct cn_wait_sites *sites, struct cn_wait_site site,
                        struct cn_text *out);

#endif
