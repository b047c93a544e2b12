#include "model/io/names.h"

#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "model/contexts/context.h"
#include "model/io/calls.h"
#include "model/io/system_calls.h"

bool cn_io_names_read(struct cn_io_names *out, struct cn_bytes bytes,
                      struct cn_arena *arena, struct cn_error *err)
{
    struct cn_io_names names = {0};
    const char *name;

    for (size_t i = 0; i < bytes.len; i++)
        names.count += bytes.ptr[i] == '\0';
    if (bytes.len > 0 && bytes.ptr[bytes.len - 1] != '\0')
        return cn_fail(err, CN_ERR_FORMAT, "the last name is cut off");
    names.list = cn_arena_alloc(arena, names.count + 1, sizeof(*names.list));
    names.calls = cn_arena_alloc(arena, names.count + 1, sizeof(*names.calls));
    for (size_t i = 0, at = 0; i < names.count; i++, at += strlen(name) + 1) {
        name = (const char *)bytes.ptr + at;
        names.list[i] = cn_arena_strdup(arena, name);
        names.calls[i] = cn_system_call_named(name);
    }
    *out = names;
    return true;
}

bool cn_io_names_settle(const struct cn_io_names *names, uint32_t name,
                        struct cn_io_call *call, struct cn_error *err)
{
    if (name >= names->count || names->calls[name] == CN_SYSTEM_CALL_NONE)
        return cn_fail(err, CN_ERR_FORMAT, "name %" PRIu32 " is of no known system call",
                       name);
    if (call->target != CN_NONE && call->target >= names->count)
        return cn_fail(err, CN_ERR_FORMAT, "file %" PRIu32 ", of %zu", call->target,
                       names->count);
    if (call->end_ns != 0 && call->end_ns < call->begin_ns)
        return cn_fail(err, CN_ERR_FORMAT,
                       "it ends at %" PRIu64 ", before it begins at %" PRIu64,
                       call->end_ns, call->begin_ns);
    call->call = names->calls[name];
    return true;
}
