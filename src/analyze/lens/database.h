/* A database seen through a lens (lens.h), as a database of its own: every view, timeline, export
 * and query of a database is one of a lens as well, and all agree.
 *
 * Contexts that are shown keep their ids and `at`; of merged ones, the first. cn_context_at() of a
 * context that is not shown gives the nearest one that is. Functions of the lens follow those of the
 * whole: one for each library that is collapsed. Costs of functions that are not shown move to the
 * nearest shown caller, except numbers and durations of calls, which belong to their function. So
 * totals stay, and total is the sum of self, except for `drop` and `focus`, which remove costs from
 * the whole as well. Of statistics over threads only sums and extremes are known.
 *
 * Its origin names the rules, so that a database that is written from it tells them.
 *
 * It borrows the whole database, which must outlive it; cn_database_close() releases it.
 * Threads: as model/contexts/database.h.
 */
#ifndef CN_ANALYZE_LENS_DATABASE_H
#define CN_ANALYZE_LENS_DATABASE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/run/progress.h"

struct cn_codes;
struct cn_database;
struct cn_lens;

/* A difference of sums that is this small, in proportion, is one of equal sums. */
#define CN_LENS_ROUNDING 1e-12

/* Takes the codes, which are those of the whole for the patterns of the lens. On failure nothing is
 * left to release. */
CN_CHECK bool cn_lens_database_open(struct cn_database **out, struct cn_database *whole,
                                    struct cn_codes *codes, const struct cn_lens *lens,
                                    const struct cn_progress *progress,
                                    struct cn_error *err);

/* True for such a database. */
bool cn_database_has_lens(const struct cn_database *db);

/* Of such a database: the code of its functions, those of libraries included; what it is a view of;
 * and how many functions of the whole each rule applies to. */
const struct cn_codes *cn_lens_codes(const struct cn_database *db);
struct cn_database *cn_lens_whole(const struct cn_database *db);
uint64_t cn_lens_match_count(const struct cn_database *db, size_t rule);

/* Which values of a context of the whole count for one of the lens: bits. */
enum cn_lens_part {
    CN_LENS_POINT = 1,
    CN_LENS_SELF = 2,
    CN_LENS_OWN_LOOP = 4, /* self without inner loops: lex_aware */
    CN_LENS_TOTAL = 8,
    CN_LENS_OWN = 16, /* numbers and durations of its calls */
};

/* The bit of a value by its id, which is a prop_id, or of a summary a stat_id; 0: it is left out. */
unsigned cn_lens_part_of(const struct cn_database *db, uint16_t id, bool of_summary);

struct cn_lens_source {
    uint32_t context; /* of the whole */
    uint8_t parts;
};

/* What counts for a context of the lens, in the order of the tree. */
const struct cn_lens_source *cn_lens_sources(const struct cn_database *db,
                                             uint32_t context, size_t *count);

/* A total that counts for a node and all nodes above it, with its sign. */
struct cn_lens_transfer {
    uint32_t context; /* of the whole */
    uint32_t node;
    int32_t sign;
};
const struct cn_lens_transfer *cn_lens_transfers(const struct cn_database *db,
                                                 size_t *count);

/* Nodes: one for each context of the lens, the global context is 0; CN_NONE if there is none. */
uint32_t cn_lens_node(const struct cn_database *db, uint32_t context);
size_t cn_lens_node_count(const struct cn_database *db);

/* Add what each node has, by number, to the nodes above it. */
void cn_lens_add_up(const struct cn_database *db, double *by_node);

/* Ids of contexts, of the whole and of the lens, are below this. */
size_t cn_lens_id_limit(const struct cn_database *db);

/* The contexts of the lens that a value of a context of the whole counts for, with 1 or -1. */
typedef void (*cn_lens_visit)(void *arg, uint32_t context, double factor);
void cn_lens_spread(const struct cn_database *db, uint32_t context, unsigned part,
                    cn_lens_visit visit, void *arg);

#endif
