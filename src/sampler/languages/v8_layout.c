#include <stddef.h>
#include <string.h>

#include "sampler/languages/v8.h"

struct layout_member {
    const char *symbol;
    size_t off;
    int32_t otherwise;
};

static const struct layout_member members[] = {
#define CN_V8_ROW(name, symbol, otherwise) \
    {symbol, offsetof(struct cn_v8_layout, name), otherwise},
    CN_V8_LAYOUT(CN_V8_ROW)
#undef CN_V8_ROW
};

enum { MEMBER_COUNT = sizeof(members) / sizeof(*members) };

static int32_t *value_of(struct cn_v8_layout *layout, const struct layout_member *member)
{
    return (int32_t *)((char *)layout + member->off);
}

static const struct layout_member *find(const char *symbol)
{
    for (size_t i = 0; i < MEMBER_COUNT; i++) {
        size_t len = strlen(members[i].symbol);

        if (strncmp(symbol, members[i].symbol, len) == 0 &&
            (symbol[len] == '\0' || members[i].symbol[len - 1] == '_'))
            return &members[i];
    }
    return NULL;
}

void cn_v8_layout_begin(struct cn_v8_layout *layout)
{
    for (size_t i = 0; i < MEMBER_COUNT; i++)
        *value_of(layout, &members[i]) = CN_V8_UNKNOWN;
}

bool cn_v8_layout_has(const char *symbol)
{
    return find(symbol) != NULL;
}

void cn_v8_layout_set(struct cn_v8_layout *layout, const char *symbol, int32_t value)
{
    const struct layout_member *member = find(symbol);

    if (member)
        *value_of(layout, member) = value;
}

bool cn_v8_layout_end(struct cn_v8_layout *layout)
{
    enum { OFFSET_MAX = 4096, TAGGED_LEN = 8, SMI_SHIFT_LEN = 31 };

    for (size_t i = 0; i < MEMBER_COUNT; i++) {
        int32_t *value = value_of(layout, &members[i]);

        if (*value == CN_V8_UNKNOWN && members[i].otherwise == CN_V8_NEEDED)
            return false;
        if (*value == CN_V8_UNKNOWN)
            *value = members[i].otherwise;
        if (*value != CN_V8_UNKNOWN && (*value < -OFFSET_MAX || *value > OFFSET_MAX))
            return false;
    }
    /* Class constructors and the like have types of their own after that of functions. */
    if (layout->last_function == CN_V8_UNKNOWN)
        layout->last_function = layout->first_function + 16;
    if (layout->deopt_wrapped != CN_V8_UNKNOWN)
        layout->deopt_shared = layout->deopt_wrapped;
    return layout->tagged_len == TAGGED_LEN && layout->smi_shift_len == SMI_SHIFT_LEN;
}
