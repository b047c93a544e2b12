/* Specs of arguments and return values, "arg1/s,arg2%rsi", and the enums they name.
 *
 * Strings are allocated in the caller's arena.
 * Threads: any thread.
 */
#ifndef CN_FORMATS_UFTRACE_TEXT_ARGSPEC_H
#define CN_FORMATS_UFTRACE_TEXT_ARGSPEC_H

#include "base/arena.h"
#include "base/bytes/bytes.h"
#include "base/map.h"
#include "formats/uftrace/format.h"
#include "model/calls/recording.h"

/* Enums by name; the newest of a name wins. A zeroed one is ready for use. */
struct cn_uft_enums {
    struct cn_names names;
    const struct cn_enum **list; /* by the number of the name; NULL: not defined yet */
    size_t count, capacity;
};

void cn_uft_enums_done(struct cn_uft_enums *enums);

/* Add all enums of "enum A {X, Y=5};enum B {...}"; skips what it cannot parse. */
void cn_uft_enums_add(struct cn_uft_enums *enums, struct cn_bytes text,
                      struct cn_arena *arena);

/* The enum of this name; NULL when there is none. */
const struct cn_enum *cn_uft_enums_find(struct cn_uft_enums *enums, const char *name);

/* Specs being collected for one function. */
struct cn_uft_specs {
    struct cn_argument_spec list[CN_UFT_SPECS_MAX];
    size_t count;
};

/* What cn_uft_spec_parse() needs. */
struct cn_uft_spec_parser {
    unsigned word_len;          /* bytes of an address */
    struct cn_arena *arena;     /* for the strings of specs */
    struct cn_uft_enums *enums; /* that specs may name */
};

/* Parse one spec, "arg2/x32%rsi". False when it is none. */
bool cn_uft_spec_parse(const struct cn_uft_spec_parser *parser, struct cn_bytes text,
                       struct cn_argument_spec *out);

/* Append a spec. A second spec for an argument replaces the first when it `is_exact`, and
 * is dropped otherwise. */
void cn_uft_specs_add(struct cn_uft_specs *specs, const struct cn_argument_spec *spec,
                      bool is_exact);

/* Copy the specs into the arena. */
struct cn_argument_specs cn_uft_specs_copy(const struct cn_uft_specs *specs,
                                           struct cn_arena *arena);

#endif
