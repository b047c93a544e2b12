/* Tables that SQL and the library both have. A source lists rows of cells, in the order of its columns:
 *
 *     #define CN_NAME_COLUMNS(F) F("rank", INTEGER) F("cause", TEXT)
 *     cn_list_waits(..., &rows, err) calls rows->add(rows->arg, cells) for each row
 *
 * Texts are valid during the call. Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_LISTED_H
#define CN_ANALYZE_LISTED_H

#include <stdbool.h>
#include <stdint.h>

/* A cell is unknown if it has neither. */
struct cn_listed_cell {
    const char *text;
    uint64_t number;
    bool is_number;
};

struct cn_listed_rows {
    void (*add)(void *arg, const struct cn_listed_cell *cells);
    void *arg;
};

static inline struct cn_listed_cell cn_listed_text(const char *text)
{
    return (struct cn_listed_cell){.text = text};
}

static inline struct cn_listed_cell cn_listed_number(uint64_t number)
{
    return (struct cn_listed_cell){.number = number, .is_number = true};
}

static inline struct cn_listed_cell cn_listed_number_if(bool is_known, uint64_t number)
{
    return (struct cn_listed_cell){.number = is_known ? number : 0,
                                   .is_number = is_known};
}

#endif
