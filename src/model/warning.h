/* Warnings about data that was opened, in the order in which they were found.
 * Threads: one thread at a time.
 */
#ifndef CN_MODEL_WARNING_H
#define CN_MODEL_WARNING_H

#include <stdarg.h>
#include <stdbool.h>

#include "base/error.h"

struct cn_arena;

struct cn_warning {
    struct cn_warning *next;
    const char *text;
    bool is_damage; /* data is missing: commands exit with status 3 */
};

/* Append a warning, formatted by vprintf(), to a list in an arena. Drops the warnings after
 * the first hundred: a hostile file could cause millions. */
CN_PRINTF(4, 0)
void cn_warning_add(struct cn_warning **list, struct cn_arena *arena, bool is_damage,
                    const char *fmt, va_list args);

/* The first warning about damage; NULL: there is none. */
static inline const struct cn_warning *cn_warning_damage(const struct cn_warning *list)
{
    while (list && !list->is_damage)
        list = list->next;
    return list;
}

#endif
