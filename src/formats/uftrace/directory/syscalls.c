#include "formats/uftrace/directory/syscalls.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/search.h"
#include "base/sort.h"
#include "model/io/calls.h"
#include "model/io/names.h"
#include "model/io/system_calls.h"

#define MODULE "[kernel.kallsyms]"
/* Of their symbols, which are not looked up. */
#define ADDRESS_BASE UINT64_C(0xf00000000000)

/* Entry of the call, entry and exit of what it is about, exit of the call. */
enum { STEPS = 4 };

static bool take_call(struct cn_uft_directory *dir, struct cn_bytes *rest,
                      const struct cn_io_names *names, struct cn_io_call *out,
                      struct cn_error *err)
{
    struct cn_uft_syscall_record call;
    struct cn_bytes bytes;

    if (!cn_bytes_take(rest, cn_uft_syscall_record_size, &bytes) ||
        !cn_uft_syscall_record_decode(bytes, &call))
        return cn_fail(err, CN_ERR_FORMAT, "cut off");
    *out = (struct cn_io_call){
        .begin_ns = call.begin_ns,
        .end_ns = call.end_ns,
        .result = (int64_t)call.result,
        .profile = cn_recording_find_task(&dir->rec, call.tid),
        .target = call.target,
        .descriptor = (int32_t)call.descriptor,
    };
    return cn_io_names_settle(names, call.name, out, err);
}

/* Drop the calls of tasks that were not recorded, those that begin inside of another one, and those that
 * begin when nothing can end. */
static size_t settle(struct cn_io_call *list, size_t count)
{
    size_t kept = 0;

    CN_SORT(list, count, CN_UP(struct cn_io_call, profile),
            CN_UP(struct cn_io_call, begin_ns));
    for (size_t i = 0; i < count; i++) {
        const struct cn_io_call *last = kept > 0 ? &list[kept - 1] : NULL;

        if (list[i].profile == CN_NONE || list[i].begin_ns == UINT64_MAX)
            continue;
        if (last && last->profile == list[i].profile &&
            (list[i].begin_ns <= last->begin_ns || list[i].begin_ns < last->end_ns))
            continue;
        list[kept++] = list[i];
    }
    return kept;
}

static uint32_t add_function(struct cn_uft_directory *dir, uint32_t module,
                             const char *name)
{
    uint32_t index = (uint32_t)dir->function_count;

    if (dir->function_count >= CN_UFT_SYMBOLS_MAX)
        return CN_NONE;
    cn_uft_function_add(
        dir, (struct cn_call_function){
                 .name = name,
                 .raw_name = name,
                 .module = module,
                 .type = 'K',
                 .offset = ADDRESS_BASE + index - dir->modules[module].first_function,
                 .size = 1,
                 .file = "",
             });
    return index;
}

/* Symbols of the calls and files that are used. */
static void add_functions(struct cn_uft_directory *dir, struct cn_uft_syscalls *s,
                          const struct cn_io_calls *io)
{
    uint32_t module = cn_uft_module_add_own(dir, MODULE);

    dir->modules[module].first_function = (uint32_t)dir->function_count;
    s->call_functions = cn_alloc(cn_system_call_count(), sizeof(*s->call_functions));
    s->target_functions = cn_alloc(io->target_count + 1, sizeof(*s->target_functions));
    memset(s->call_functions, 0xff, cn_system_call_count() * sizeof(*s->call_functions));
    memset(s->target_functions, 0xff, io->target_count * sizeof(*s->target_functions));
    for (size_t i = 0; i < io->count; i++) {
        const struct cn_io_call *call = &io->list[i];

        if (s->call_functions[call->call] == CN_NONE)
            s->call_functions[call->call] =
                add_function(dir, module, cn_system_call(call->call)->name);
        if (call->target != CN_NONE && s->target_functions[call->target] == CN_NONE)
            s->target_functions[call->target] =
                add_function(dir, module, io->targets[call->target]);
    }
    dir->modules[module].function_count =
        (uint32_t)dir->function_count - dir->modules[module].first_function;
}

static void add_calls(struct cn_uft_directory *dir, struct cn_io_call *list, size_t count,
                      const struct cn_io_names *names)
{
    struct cn_uft_syscalls *s = cn_alloc(1, sizeof(*s));
    struct cn_io_calls *io = cn_arena_alloc(&dir->rec.arena, 1, sizeof(*io));

    *io = (struct cn_io_calls){list, names->list, settle(list, count), names->count};
    s->list = list;
    s->begins = cn_alloc(dir->task_count + 1, sizeof(*s->begins));
    for (size_t i = 0; i < io->count; i++)
        s->begins[io->list[i].profile + 1]++;
    for (size_t i = 0; i < dir->task_count; i++)
        s->begins[i + 1] += s->begins[i];
    add_functions(dir, s, io);
    dir->rec.io = io;
    dir->syscalls = s;
}

void cn_uft_syscalls_build(struct cn_uft_directory *dir)
{
    struct cn_uft_syscalls_head head;
    struct cn_io_names names = {0};
    struct cn_error err = {0};
    struct cn_bytes rest, calls, bytes;
    struct cn_io_call *list = NULL;
    size_t count = 0;

    if (!cn_uft_directory_find(dir, CN_UFT_SYSCALLS_NAME, &rest))
        return;
    bool ok = cn_bytes_take(&rest, cn_uft_syscalls_head_size, &bytes) &&
              cn_uft_syscalls_head_decode(bytes, &head) &&
              head.magic == CN_UFT_SYSCALLS_MAGIC;
    if (!ok)
        (void)cn_fail(&err, CN_ERR_FORMAT, "it does not begin as a file of system calls");
    else if (head.version != CN_UFT_SYSCALLS_VERSION)
        ok = cn_fail(&err, CN_ERR_VERSION, "version %" PRIu64 ", known is %d",
                     head.version, CN_UFT_SYSCALLS_VERSION);
    else if (head.count > rest.len / cn_uft_syscall_record_size)
        ok = cn_fail(&err, CN_ERR_FORMAT, "%" PRIu64 " system calls in %zu bytes",
                     head.count, rest.len);
    ok = ok &&
         cn_bytes_take(&rest, (size_t)head.count * cn_uft_syscall_record_size, &calls) &&
         cn_io_names_read(&names, rest, &dir->rec.arena, &err);
    if (ok)
        list = cn_arena_alloc(&dir->rec.arena, (size_t)head.count + 1, sizeof(*list));
    for (; ok && count < head.count; count += ok) {
        ok = take_call(dir, &calls, &names, &list[count], &err);
        if (!ok)
            (void)cn_fail_in(&err, "system call %zu", count);
    }
    if (!ok)
        cn_recording_warn(&dir->rec, true, "%s: %s", CN_UFT_SYSCALLS_NAME, err.text);
    /* What is before the damage is sound. */
    if (count > 0)
        add_calls(dir, list, count, &names);
}

void cn_uft_syscalls_free(struct cn_uft_syscalls *s)
{
    if (!s)
        return;
    free(s->begins);
    free(s->call_functions);
    free(s->target_functions);
    free(s);
}

void cn_uft_syscalls_task(const struct cn_uft_directory *dir, uint32_t task,
                          size_t *begin, size_t *end)
{
    *begin = dir->syscalls ? STEPS * dir->syscalls->begins[task] : 0;
    *end = dir->syscalls ? STEPS * dir->syscalls->begins[task + 1] : 0;
}

size_t cn_uft_syscalls_skip(const struct cn_uft_directory *dir, size_t number)
{
    const struct cn_io_call *call = &dir->syscalls->list[number / STEPS];
    size_t step = number % STEPS;

    return call->target == CN_NONE && (step == 1 || step == 2) ? number + STEPS - 1 - step
                                                               : number;
}

/* A call whose end is unknown, or that lasted no time, takes a nanosecond: the next one begins later. */
uint64_t cn_uft_syscall_time(const struct cn_uft_directory *dir, size_t number)
{
    const struct cn_io_call *call = &dir->syscalls->list[number / STEPS];

    return number % STEPS < STEPS / 2      ? call->begin_ns
           : call->end_ns > call->begin_ns ? call->end_ns
                                           : call->begin_ns + 1;
}

static bool is_before(const void *dir, uint64_t number, uint64_t time_ns)
{
    return cn_uft_syscall_time(dir, (size_t)number) < time_ns;
}

size_t cn_uft_syscalls_find(const struct cn_uft_directory *dir, size_t begin, size_t end,
                            uint64_t time_ns)
{
    return (size_t)cn_search(begin, end, is_before, dir, time_ns);
}

void cn_uft_syscall_decode(const struct cn_uft_directory *dir, size_t number,
                           struct cn_call *call)
{
    const struct cn_uft_syscalls *s = dir->syscalls;
    const struct cn_io_call *of = &s->list[number / STEPS];
    unsigned step = number % STEPS;
    bool is_target = step == 1 || step == 2;

    *call = (struct cn_call){
        .time_ns = cn_uft_syscall_time(dir, number),
        .function =
            is_target ? s->target_functions[of->target] : s->call_functions[of->call],
        .depth = is_target,
        .kind = step < STEPS / 2 ? CN_CALL_ENTER : CN_CALL_EXIT,
        .flags = CN_CALL_KERNEL,
    };
    call->address =
        call->function != CN_NONE ? dir->functions[call->function].offset : ADDRESS_BASE;
}
