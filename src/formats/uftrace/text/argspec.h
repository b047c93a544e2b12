/* Specifications of arguments and return values, as the recorder was given them:
 * "arg1/s,arg2%rsi", and the enums they name.
 *
 * Results live in the arena that is handed in.
 * Threads: any thread.
 */
#ifndef CN_FORMATS_UFTRACE_TEXT_ARGSPEC_H
#define CN_FORMATS_UFTRACE_TEXT_ARGSPEC_H

#include "base/arena.h"
#include "base/bytes/bytes.h"
#include "base/map.h"
#include "formats/uftrace/format.h"
#include "model/calls/recording.h"

/* The enums that are known, by name; the newest of a name wins. A zeroed one is
 * ready for use. */
struct cn_uft_enums {
    struct cn_names names;
    const struct cn_enum **list; /* by the number of the name; NULL: was only asked for */
    size_t count, capacity;
};

void cn_uft_enums_done(struct cn_uft_enums *enums);

/* Add all enums of "enum A {X, Y=5};enum B {...}"; what is not understood is left
 * out. */
void cn_uft_enums_add(struct cn_uft_enums *enums, struct cn_bytes text,
                      struct cn_arena *arena);

/* The one with this name; NULL when there is none. */
const struct cn_enum *cn_uft_enums_find(struct cn_uft_enums *enums, const char *name);

/* Specs being collected for one function. */
struct cn_uft_specs {
    struct cn_argument_spec list[CN_UFT_SPECS_MAX];
    size_t count;
};

/* What specs are read with. */
struct cn_uft_spec_parser {
    unsigned word_len;          /* bytes of an address */
    struct cn_arena *arena;     /* for the strings of specs */
    struct cn_uft_enums *enums; /* that specs may name */
};

/* One spec, "arg2/x32%rsi". False when it is none. */
bool cn_uft_spec_parse(const struct cn_uft_spec_parser *parser, struct cn_bytes text,
                       struct cn_argument_spec *out);

/* Add a spec at the end. The same argument again takes the place of the one before
 * when it `is_exact`, and is left out otherwise. */
void cn_uft_specs_add(struct cn_uft_specs *specs, const struct cn_argument_spec *spec,
                      bool is_exact);

/* Copy what was collected into the arena. */
struct cn_argument_specs cn_uft_specs_keep(const struct cn_uft_specs *specs,
                                           struct cn_arena *arena);

#endif
