#include "formats/hpctoolkit/v4/write/states_io.h"

#include <string.h>

#include "base/files/blocks.h"
#include "base/map.h"
#include "formats/hpctoolkit/v4/states_format.h"
#include "model/contexts/context.h"
#include "model/io/calls.h"
#include "model/io/system_calls.h"

static bool write_call(const struct cn_io_calls *calls, const struct cn_io_call *call,
                       struct cn_names *names, struct cn_block_writer *out,
                       struct cn_error *err)
{
    uint8_t bytes[cn_hpc_states_io_call_size];

    cn_hpc_states_io_call_encode(
        &(struct cn_hpc_states_io_call){
            .begin_ns = call->begin_ns,
            .end_ns = call->end_ns,
            .result = (uint64_t)call->result,
            .profile = call->profile,
            .caller = call->caller,
            .context = call->context,
            .name = cn_names_add(names, cn_system_call(call->call)->name),
            .target = call->target < calls->target_count
                          ? cn_names_add(names, calls->targets[call->target])
                          : CN_NONE,
            .descriptor = (uint32_t)call->descriptor,
        },
        bytes);
    return cn_block_writer_add(out, bytes, sizeof(bytes), err);
}

bool cn_hpc_states_write_io(const struct cn_io_calls *calls, struct cn_block_writer *out,
                            struct cn_error *err)
{
    struct cn_names names = {0};
    bool ok = cn_block_writer_section(out, CN_HPC_STATES_IO_CALLS, err);

    for (size_t i = 0; ok && i < calls->count; i++)
        ok = write_call(calls, &calls->list[i], &names, out, err);
    ok = ok && cn_block_writer_section(out, CN_HPC_STATES_IO_NAMES, err);
    for (size_t i = 0; ok && i < names.count; i++)
        ok = cn_block_writer_add(out, (const uint8_t *)names.list[i],
                                 strlen(names.list[i]) + 1, err);
    cn_names_done(&names);
    return ok;
}
