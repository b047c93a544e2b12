#include "formats/hpctoolkit/v4/read/states_io.h"

#include <inttypes.h>

#include "formats/hpctoolkit/v4/read/states_reader.h"
#include "formats/hpctoolkit/v4/states_format.h"
#include "model/io/calls.h"
#include "model/io/names.h"

static bool take_call(struct cn_bytes *rest, uint32_t profile_count,
                      const struct cn_io_names *names, struct cn_io_call *out,
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
    *out = (struct cn_io_call){
        .begin_ns = call.begin_ns,
        .end_ns = call.end_ns,
        .result = (int64_t)call.result,
        .profile = call.profile,
        .caller = call.caller,
        .context = call.context,
        .target = call.target,
        .descriptor = (int32_t)call.descriptor,
    };
    return cn_io_names_settle(names, call.name, out, err);
}

bool cn_hpc_states_read_io(const struct cn_hpc_states_file *file, uint32_t profile_count,
                           struct cn_arena *arena, const struct cn_io_calls **out,
                           struct cn_error *err)
{
    struct cn_bytes rest = file->io_calls;
    struct cn_io_names names;
    struct cn_io_calls *calls;

    *out = NULL;
    if (rest.len == 0)
        return true;
    if (rest.len % cn_hpc_states_io_call_size != 0)
        return cn_fail(err, CN_ERR_FORMAT, "the last system call is cut off");
    if (!cn_io_names_read(&names, file->io_names, arena, err))
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
