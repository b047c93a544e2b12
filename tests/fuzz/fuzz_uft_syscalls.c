/* Any bytes as syscalls.dat of a recording with two tasks: the calls of each are in order, and so are their
 * entries and exits, which are of functions that exist. */

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "formats/uftrace/directory/syscalls.h"
#include "formats/uftrace/format.h"
#include "model/contexts/context.h"
#include "model/io/calls.h"
#include "model/io/system_calls.h"
#include "support/fuzz.h"

enum { FIRST_TID = 100, TASKS = 2 };

static void check_call(const struct cn_uft_directory *dir, const struct cn_io_call *call)
{
    assert(call->profile < TASKS);
    assert(call->end_ns == 0 || call->begin_ns <= call->end_ns);
    assert(call->target == CN_NONE || call->target < dir->rec.io->target_count);
    assert(call->call < cn_system_call_count());
}

/* Each function is entered and left, at times that do not run backwards. */
static void check_steps(const struct cn_uft_directory *dir, uint32_t task)
{
    size_t begin, end;
    uint64_t last_ns = 0;
    uint32_t open = 0;
    struct cn_call call;

    cn_uft_syscalls_task(dir, task, &begin, &end);
    for (size_t at = begin; at < end;
         at = at + 1 < end ? cn_uft_syscalls_skip(dir, at + 1) : end) {
        cn_uft_syscall_decode(dir, at, &call);
        assert(call.time_ns >= last_ns);
        assert(call.function == CN_NONE || call.function < dir->function_count);
        open -= call.kind == CN_CALL_EXIT;
        assert(call.depth == open);
        open += call.kind == CN_CALL_ENTER;
        assert(cn_uft_syscalls_find(dir, begin, end, call.time_ns) <= at);
        last_ns = call.time_ns;
    }
    assert(open == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct cn_uft_entry entry = {.name = CN_UFT_SYSCALLS_NAME,
                                 .file = {.bytes = {data, len}}};
    struct cn_task tasks[TASKS] = {{.tid = FIRST_TID}, {.tid = FIRST_TID + 1}};
    struct cn_uft_directory dir = {.entries = &entry, .entry_count = 1};

    dir.tasks = tasks;
    dir.rec.tasks = tasks;
    dir.task_count = dir.rec.task_count = TASKS;
    cn_uft_syscalls_build(&dir);
    assert(dir.rec.warnings || len >= cn_uft_syscalls_head_size);
    for (size_t i = 0; dir.rec.io && i < dir.rec.io->count; i++)
        check_call(&dir, &dir.rec.io->list[i]);
    for (uint32_t task = 0; task < TASKS; task++)
        check_steps(&dir, task);
    cn_uft_syscalls_free(dir.syscalls);
    free(dir.modules);
    free(dir.functions);
    cn_names_done(&dir.module_keys);
    cn_arena_done(&dir.rec.arena);
    return 0;
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    static const char names[] = "read\0poll\0/home/notes";
    static const struct cn_uft_syscall_record calls[] = {
        {.begin_ns = 10, .end_ns = 20, .result = 7, .tid = 100, .target = 2},
        {.begin_ns = 15, .end_ns = 17, .tid = 100, .target = CN_NONE},
        {.begin_ns = 30, .tid = 100, .name = 1, .target = CN_NONE},
        {.begin_ns = 31, .end_ns = 31, .tid = 100, .target = 2},
        {.begin_ns = 12, .end_ns = 99, .tid = 101, .name = 1, .target = 2},
        {.begin_ns = UINT64_MAX, .end_ns = UINT64_MAX, .tid = 101, .target = 2},
        {.begin_ns = 13, .end_ns = 14, .tid = 9, .target = 2},
    };
    enum { COUNT = sizeof(calls) / sizeof(calls[0]) };
    uint8_t bytes[cn_uft_syscalls_head_size + COUNT * cn_uft_syscall_record_size];
    struct cn_uft_syscalls_head head = {CN_UFT_SYSCALLS_MAGIC, CN_UFT_SYSCALLS_VERSION,
                                        COUNT};
    struct cn_text seed = {0};

    cn_uft_syscalls_head_encode(&head, bytes);
    for (size_t i = 0; i < COUNT; i++)
        cn_uft_syscall_record_encode(&calls[i], bytes + cn_uft_syscalls_head_size +
                                                    i * cn_uft_syscall_record_size);
    cn_text_add(&seed, (const char *)bytes, sizeof(bytes));
    cn_text_add(&seed, names, sizeof(names));
    emit((const uint8_t *)seed.chars, seed.len);
    cn_text_done(&seed);
}
