#include "model/warning.h"

#include <stdio.h>

#include "base/arena.h"
#include "base/error.h"

void cn_warning_add(struct cn_warning **list, struct cn_arena *arena, bool is_damage,
                    const char *fmt, va_list args)
{
    enum { WARNINGS_MAX = 100 };
    struct cn_error text;
    unsigned count = 0;

    for (; *list; list = &(*list)->next)
        count++;
    if (count > WARNINGS_MAX)
        return;
    (void)vsnprintf(text.text, sizeof(text.text), fmt, args);
    struct cn_warning *warning = cn_arena_alloc(arena, 1, sizeof(*warning));
    warning->text = count == WARNINGS_MAX ? "more problems were found"
                                          : cn_arena_strdup(arena, text.text);
    warning->is_damage = is_damage;
    *list = warning;
}
