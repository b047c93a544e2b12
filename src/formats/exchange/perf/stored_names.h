/* Frames of interpreters and run-time compilers in a perf.data file.
 *
 * Such a frame has no address of its own that other machines could name. It is given one above
 * CN_STORED_ADDRESS_BASE, equal frames the same, which stands for it in call chains. The file
 * contains a record for each frame, before the first sample with it, of a type that perf
 * ignores (format.h).
 *
 *     address = cn_stored_names_address(&names, &frame);
 *     cn_stored_names_encode(&names, &record)   until it is false
 *     frame = cn_stored_names_find(&names, address);
 *
 * The table copies strings and owns them. Threads: one thread at a time.
 */
#ifndef CN_FORMATS_EXCHANGE_PERF_STORED_NAMES_H
#define CN_FORMATS_EXCHANGE_PERF_STORED_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/bytes/bytes.h"
#include "base/map.h"
#include "symbols/language.h"

struct cn_text;

#define CN_STORED_ADDRESS_BASE (UINT64_C(1) << 60)
#define CN_STORED_LANGUAGE_LEN (UINT64_C(1) << 40) /* addresses of each language */
#define CN_STORED_ADDRESS_END \
    (CN_STORED_ADDRESS_BASE + CN_LANGUAGE_COUNT * CN_STORED_LANGUAGE_LEN)

enum {
    CN_STORED_TEXT_MAX = 4096,      /* bytes of a name or path; the rest is cut off */
    CN_STORED_FRAMES_MAX = 1 << 20, /* others of their language share one frame */
};

struct cn_stored_frame {
    const char *function, *file; /* "" or NULL if unknown */
    uint32_t line;               /* that runs; 0 if unknown */
    enum cn_language language;
    uint32_t first_line; /* of the definition; 0 if unknown */
};

/* A zeroed one is ready for use. */
struct cn_stored_names {
    struct cn_stored_frame *frames;
    size_t count, capacity;
    size_t encoded_count;
    struct cn_map number_of; /* by contents while sampling, by address while reading */
    struct cn_arena arena;
};

void cn_stored_names_done(struct cn_stored_names *names);

/* The address of a frame, added if it is new. */
uint64_t cn_stored_names_address(struct cn_stored_names *names,
                                 const struct cn_stored_frame *frame);

/* Make the record of the next frame that was added, with its head; false: there is no other. */
bool cn_stored_names_encode(struct cn_stored_names *names, struct cn_text *record);

/* Add the frame of a record without its head. Others that have its type are ignored. A table
 * is either read or added to. */
void cn_stored_names_decode(struct cn_stored_names *names, struct cn_bytes body);

/* The frame of an address, or of the one after it, in a table that was read; NULL if it does
 * not contain it. */
const struct cn_stored_frame *cn_stored_names_find(const struct cn_stored_names *names,
                                                   uint64_t address);

/* Does an address stand for a stored frame? */
static inline bool cn_stored_is_frame(uint64_t address)
{
    return address >= CN_STORED_ADDRESS_BASE && address < CN_STORED_ADDRESS_END;
}

/* The language of an address, CN_LANGUAGE_NATIVE for one of code. */
static inline enum cn_language cn_stored_language(uint64_t address)
{
    return cn_stored_is_frame(address)
               ? (enum cn_language)((address - CN_STORED_ADDRESS_BASE) /
                                    CN_STORED_LANGUAGE_LEN)
               : CN_LANGUAGE_NATIVE;
}

#endif
