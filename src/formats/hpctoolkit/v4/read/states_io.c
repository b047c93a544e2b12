#include "formats/hpctoolkit/v4/read/states_io.h"

#include <inttypes.h>
#include <string.h>

#include "formats/hpctoolkit/v4/read/states_reader.h"
#include "formats/hpctoolkit/v4/states_format.h"
#include "model/contexts/context.h"
#include "model/io/calls.h"
#include "model/io/system_calls.h"

struct io_names {
    const char **list;
    uint16_t *calls; /* the system call of this name, or CN_SYSTEM_CALL_NONE */
    size_t count;
};

static bool take_names(struct cn_bytes bytes, struct cn_arena *arena,
                       struct io_names *out, struct cn_error *err)
{
    const char *name;

    for (size_t i = 0; i < bytes.len; i++)
        out->count += bytes.ptr[i] == '\0';
    if (bytes.len > 0 && bytes.ptr[bytes.len - 1] != '\0')
        return cn_fail(err, CN_ERR_FORMAT, "the last name of a file is cut off");
    out->list = cn_arena_alloc(arena, out->count + 1, sizeof(*out->list));
    out->calls = cn_arena_alloc(arena, out->count + 1, sizeof(*out->calls));
    for (size_t i = 0, at = 0; i < out->count; i++, at += strlen(name) + 1) {
        name = (const char *)bytes.ptr + at;
        out->list[i] = cn_arena_strdup(arena, name);
        out->calls[i] = cn_system_call_named(name);
    }
    return true;
}

static bool take_call(struct cn_bytes *rest, uint32_t profile_count,
                      const struct io_names *names, struct cn_io_call *out,
                      struct cn_error *err)
{
    struct cn_hpc_states_io_call call;
    struct cn_bytes bytes;

    if (!cn_bytes_take(rest, cn_hpc_states_io_call_size, &bytes) ||
        !cn_hpc_states_io_call_decode(bytes, &call))
        return cn_fail(err, CN_ERR_FORMAT, "cut off");
    if (call.profile == 0 || call.profile >= profile_count)
        return cn_fail(err, CN_ERR_FORMAT,
                       "profile %" PRIu32 ", which profile.db does not have",
                       call.profile);
    if (call.name >= names->count || names->calls[call.name] == CN_SYSTEM_CALL_NONE)
        return cn_fail(err, CN_ERR_FORMAT, "name %" PRIu32 " is of no known system call",
                       call.name);
    if (call.target != CN_NONE && call.target >= names->count)
        return cn_fail(err, CN_ERR_FORMAT, "file %" PRIu32 ", of %zu", call.target,
                       names->count);
    if (call.end_ns != 0 && call.end_ns < call.begin_ns)
        return cn_fail(err, CN_ERR_FORMAT,
                       "it ends at %" PRIu64 ", before it begins at %" PRIu64,
                       call.end_ns, call.begin_ns);
    *out = (struct cn_io_call){
        .begin_ns = call.begin_ns,
        .end_ns = call.end_ns,
        .result = (int64_t)call.result,
        .profile = call.profile,
        .caller = call.caller,
        .context = call.context,
        .target = call.target,
        .descriptor = (int32_t)call.descriptor,
        .call = names->calls[call.name],
    };
    return true;
}

bool cn_hpc_states_read_io(const struct cn_hpc_states_file *file, uint32_t profile_count,
                           struct cn_arena *arena, const struct cn_io_calls **out,
                           struct cn_error *err)
{
    struct cn_bytes rest = file->io_calls;
    struct io_names names = {0};
    struct cn_io_calls *calls;

    *out = NULL;
    if (rest.len == 0)
        return true;
    if (rest.len % cn_hpc_states_io_call_size != 0)
        return cn_fail(err, CN_ERR_FORMAT, "the last system call is cut off");
    if (!take_names(file->io_names, arena, &names, err))
        return false;
    calls = cn_arena_alloc(arena, 1, sizeof(*calls));
    calls->count = rest.len / cn_hpc_states_io_call_size;
    calls->list = cn_arena_alloc(arena, calls->count + 1, sizeof(*calls->list));
    calls->targets = names.list;
    calls->target_count = names.count;
    for (size_t i = 0; i < calls->count; i++) {
        if (!take_call(&rest, profile_count, &names, &calls->list[i], err))
            return cn_fail_in(err, "system call %zu", i);
        if (i > 0 && calls->list[i].begin_ns < calls->list[i - 1].begin_ns)
            return cn_fail(err, CN_ERR_FORMAT,
                           "system call %zu: time runs backwards: %" PRIu64
                           " after %" PRIu64,
                           i, calls->list[i].begin_ns, calls->list[i - 1].begin_ns);
    }
    *out = calls;
    return true;
}
