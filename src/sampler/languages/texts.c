#include "sampler/languages/texts.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum { TEXTS_MAX = 1 << 16, TEXTS_LEN_MAX = 64 << 20 };

void cn_language_texts_done(struct cn_language_texts *texts)
{
    cn_map_done(&texts->number_of);
    cn_arena_done(&texts->arena);
    free(texts->list);
    *texts = (struct cn_language_texts){0};
}

const struct cn_language_text *
cn_language_texts_find(const struct cn_language_texts *texts, uint64_t address)
{
    uint32_t at = cn_map_find(&texts->number_of, address, UINT32_MAX);

    return at != UINT32_MAX ? &texts->list[at] : NULL;
}

struct cn_language_text *cn_language_texts_add(struct cn_language_texts *texts,
                                               uint64_t address, uint64_t check,
                                               const char *chars, size_t len)
{
    if (texts->count >= TEXTS_MAX || texts->len >= TEXTS_LEN_MAX)
        cn_language_texts_done(texts);
    char *copy = cn_arena_copy(&texts->arena, chars, len);
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)copy[i] < ' ' || copy[i] == 0x7f)
            copy[i] = '?';
    texts->len += len + 1;
    uint32_t at = *cn_map_at(&texts->number_of, address, (uint32_t)texts->count);
    if (at == texts->count)
        CN_PUSH(texts->list, texts->count, texts->capacity, (struct cn_language_text){0});
    texts->list[at] = (struct cn_language_text){.chars = copy, .check = check};
    return &texts->list[at];
}
