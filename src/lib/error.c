#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "lib/lib.h"

bool cn_lib_has(const char *names, const void *const *pointers, size_t count,
                struct cairn_error *given)
{
    struct cn_error dropped;

    for (size_t i = 0; i < count; i++) {
        if (!pointers[i])
            return cn_fail(given ? &given->error : &dropped, CN_ERR_USAGE, "%.*s is NULL",
                           (int)strcspn(names, ","), names);
        names += strcspn(names, ",");
        names += strspn(names, ", ");
    }
    return true;
}

bool cn_lib_is_whole(const bool *is_broken, struct cn_error *err)
{
    return !is_broken || !*is_broken ||
           cn_fail(err, CN_ERR_NO_MEMORY,
                   "out of memory in an earlier call: only release the object");
}

bool cn_lib_begin(struct cn_lib_call *call, bool *is_broken,
                  const struct cairn_data *data, struct cairn_error *given)
{
    call->is_broken = is_broken;
    call->data = (struct cairn_data *)(uintptr_t)data;
    call->err = given ? &given->error : &call->dropped;
    cn_memory_scope_begin(&call->scope);
    return cn_lib_is_whole(is_broken, call->err);
}

void cn_lib_end(struct cn_lib_call *call)
{
    cn_memory_scope_end(&call->scope);
    if (!call->scope.has_failed)
        return;
    (void)cn_fail(call->err, CN_ERR_NO_MEMORY, "out of memory");
    if (call->is_broken)
        *call->is_broken = true;
    if (call->data && call->scope.has_broken)
        call->data->is_broken = true;
}

struct cairn_error *cairn_error_new(void)
{
    CN_LIB_BEGIN(NULL, NULL, NULL, NULL);

    return cn_alloc(1, sizeof(struct cairn_error));
}

void cairn_error_free(struct cairn_error *err)
{
    free(err);
}

enum cairn_error_kind cairn_error_kind(const struct cairn_error *err)
{
    return err ? (enum cairn_error_kind)err->error.kind : CAIRN_ERR_NONE;
}

const char *cairn_error_text(const struct cairn_error *err)
{
    return err ? err->error.text : "";
}

size_t cairn_error_cause_count(const struct cairn_error *err)
{
    return cairn_error_kind(err) == CAIRN_ERR_NONE ? 0 : 1U + err->error.cause_count;
}

const char *cairn_error_cause(const struct cairn_error *err, size_t number)
{
    if (number >= cairn_error_cause_count(err))
        return NULL;
    return err->error.text + (number > 0 ? err->error.causes[number - 1] : 0);
}
