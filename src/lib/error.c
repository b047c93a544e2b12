#include <stdlib.h>

#include "base/alloc.h"
#include "lib/lib.h"

struct cairn_error *cairn_error_new(void)
{
    return cn_alloc(1, sizeof(struct cairn_error));
}

void cairn_error_free(struct cairn_error *err)
{
    free(err);
}

enum cairn_error_kind cairn_error_kind(const struct cairn_error *err)
{
    return (enum cairn_error_kind)err->error.kind;
}

const char *cairn_error_text(const struct cairn_error *err)
{
    return err->error.text;
}

size_t cairn_error_cause_count(const struct cairn_error *err)
{
    return err->error.kind == CN_ERR_NONE ? 0 : 1U + err->error.cause_count;
}

const char *cairn_error_cause(const struct cairn_error *err, size_t number)
{
    if (number >= cairn_error_cause_count(err))
        return NULL;
    return err->error.text + (number > 0 ? err->error.causes[number - 1] : 0);
}
