#include "cli/recording/call_names.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/calls/stack.h"
#include "base/alloc.h"
#include "base/bytes/utf8.h"
#include "base/text.h"

void cn_call_names_init(struct cn_call_names *names, const struct cn_recording *rec)
{
    struct cn_text text = {0};

    *names = (struct cn_call_names){
        .rec = rec,
        .list = cn_alloc(rec->function_count, sizeof(*names->list)),
        .lens = cn_alloc(rec->function_count, sizeof(*names->lens)),
    };
    for (uint32_t i = 0; i < rec->function_count; i++) {
        const char *name = rec->functions[i].name;

        cn_text_clear(&text);
        cn_utf8_add_printable(&text, name);
        names->list[i] = strcmp(cn_text_str(&text), name) == 0
                             ? name
                             : cn_arena_copy(&names->arena, text.chars, text.len);
        names->lens[i] = text.len;
    }
    cn_text_done(&text);
}

void cn_call_names_done(struct cn_call_names *names)
{
    free(names->list);
    free(names->lens);
    cn_arena_done(&names->arena);
    *names = (struct cn_call_names){0};
}

const char *cn_call_names_at(const struct cn_call_names *names, uint32_t function,
                             uint64_t address, char *buffer, size_t *len)
{
    if (function < names->rec->function_count) {
        *len = names->lens[function];
        return names->list[function];
    }
    const char *name = cn_call_name(names->rec, function, address, buffer);
    *len = strlen(name);
    return name;
}
