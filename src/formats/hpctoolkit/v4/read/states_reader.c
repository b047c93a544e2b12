#include "formats/hpctoolkit/v4/read/states_reader.h"

#include <inttypes.h>

#include "base/files/blocks.h"
#include "formats/hpctoolkit/v4/states_format.h"

bool cn_hpc_states_is(struct cn_bytes file)
{
    struct cn_block_file_header header;

    return cn_block_file_header_decode(file, &header) &&
           header.magic == CN_HPC_STATES_MAGIC;
}

bool cn_hpc_states_open(struct cn_block_file *out, struct cn_bytes file,
                        struct cn_bytes *profiles, struct cn_bytes *changes,
                        struct cn_error *err)
{
    if (!cn_block_file_init(out, file, CN_HPC_STATES_MAGIC, CN_HPC_STATES_VERSION, err))
        return false;
    if (cn_block_file_section(out, CN_HPC_STATES_PROFILES, profiles, err) &&
        cn_block_file_section(out, CN_HPC_STATES_CHANGES, changes, err) &&
        cn_block_file_check(out, *profiles, err) &&
        cn_block_file_check(out, *changes, err))
        return true;
    cn_block_file_close(out);
    return false;
}

static bool take_change(struct cn_bytes *changes, const struct cn_thread_states *before,
                        bool is_last, struct cn_state_change *out, struct cn_error *err)
{
    struct cn_hpc_states_change change;
    struct cn_bytes bytes;

    if (!cn_bytes_take(changes, cn_hpc_states_change_size, &bytes) ||
        !cn_hpc_states_change_decode(bytes, &change))
        return cn_fail(err, CN_ERR_FORMAT, "there are fewer changes than profiles have");
    if (change.state > CN_TASK_UNKNOWN || (is_last && change.state != CN_TASK_UNKNOWN))
        return cn_fail(err, CN_ERR_FORMAT, "state %u at %" PRIu64, change.state,
                       change.time_ns);
    if (before->count > 0 && change.time_ns < before->list[before->count - 1].time_ns)
        return cn_fail(err, CN_ERR_FORMAT,
                       "time runs backwards: %" PRIu64 " after %" PRIu64, change.time_ns,
                       before->list[before->count - 1].time_ns);
    *out = (struct cn_state_change){change.time_ns, (enum cn_task_state)change.state};
    return true;
}

static bool take_profile(struct cn_bytes *profiles, struct cn_bytes *changes,
                         uint64_t *end, struct cn_arena *arena,
                         struct cn_thread_states *out, struct cn_error *err)
{
    struct cn_hpc_states_profile profile;
    struct cn_bytes bytes;

    if (!cn_bytes_take(profiles, cn_hpc_states_profile_size, &bytes) ||
        !cn_hpc_states_profile_decode(bytes, &profile) || profile.end < *end ||
        profile.end - *end > changes->len / cn_hpc_states_change_size)
        return cn_fail(err, CN_ERR_FORMAT, "its changes do not fit the section");
    uint64_t count = profile.end - *end;
    *end = profile.end;
    if (count > 0)
        out->list = cn_arena_alloc(arena, (size_t)count, sizeof(*out->list));
    for (; out->count < count; out->count++)
        if (!take_change(changes, out, out->count + 1 == count, &out->list[out->count],
                         err))
            return false;
    return true;
}

bool cn_hpc_states_read(struct cn_bytes file, uint32_t profile_count,
                        struct cn_arena *arena, const struct cn_thread_states **out,
                        struct cn_error *err)
{
    struct cn_thread_states *states;
    struct cn_bytes profiles, changes;
    struct cn_block_file blocks;
    uint64_t end = 0;
    bool ok = true;

    if (!cn_hpc_states_open(&blocks, file, &profiles, &changes, err))
        return false;
    if (profiles.len / cn_hpc_states_profile_size != profile_count)
        ok = cn_fail(err, CN_ERR_FORMAT, "%zu profiles, profile.db has %" PRIu32,
                     profiles.len / cn_hpc_states_profile_size, profile_count);
    states = cn_arena_alloc(arena, (size_t)profile_count + 1, sizeof(*states));
    for (uint32_t i = 0; ok && i < profile_count; i++)
        ok = take_profile(&profiles, &changes, &end, arena, &states[i], err) ||
             cn_fail_in(err, "profile %" PRIu32, i);
    cn_block_file_close(&blocks);
    if (ok)
        *out = states;
    return ok;
}
