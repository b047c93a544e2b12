#include "formats/uftrace/write/syscalls_writer.h"

#include <string.h>

#include "base/files/out.h"
#include "base/map.h"
#include "base/text.h"
#include "formats/uftrace/format.h"
#include "model/contexts/context.h"
#include "model/io/calls.h"
#include "model/io/system_calls.h"

static void add_call(const struct cn_io_calls *calls, const struct cn_io_call *call,
                     uint32_t tid, struct cn_names *names, struct cn_text *out)
{
    uint8_t bytes[cn_uft_syscall_record_size];

    cn_uft_syscall_record_encode(
        &(struct cn_uft_syscall_record){
            .begin_ns = call->begin_ns,
            .end_ns = call->end_ns,
            .result = (uint64_t)call->result,
            .tid = tid,
            .name = cn_names_add(names, cn_system_call(call->call)->name),
            .target = call->target < calls->target_count
                          ? cn_names_add(names, calls->targets[call->target])
                          : CN_NONE,
            .descriptor = (uint32_t)call->descriptor,
        },
        bytes);
    cn_text_add(out, (const char *)bytes, sizeof(bytes));
}

bool cn_uft_syscalls_write(const char *dir, const struct cn_io_calls *calls,
                           const uint32_t *tids, struct cn_error *err)
{
    struct cn_uft_syscalls_head head = {CN_UFT_SYSCALLS_MAGIC, CN_UFT_SYSCALLS_VERSION,
                                        0};
    struct cn_names names = {0};
    struct cn_text text = {0};

    cn_text_fill(&text, '\0', cn_uft_syscalls_head_size);
    for (size_t i = 0; i < calls->count; i++) {
        uint32_t tid = tids[calls->list[i].profile];

        if (tid == 0)
            continue;
        add_call(calls, &calls->list[i], tid, &names, &text);
        head.count++;
    }
    cn_uft_syscalls_head_encode(&head, (uint8_t *)text.chars);
    for (size_t i = 0; i < names.count; i++)
        cn_text_add(&text, names.list[i], strlen(names.list[i]) + 1);
    bool ok = cn_out_replace(dir, CN_UFT_SYSCALLS_NAME, text.chars, text.len, err);
    cn_names_done(&names);
    cn_text_done(&text);
    return ok;
}
