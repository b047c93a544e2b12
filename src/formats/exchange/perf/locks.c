#include "formats/exchange/perf/locks.h"

#include <string.h>
#include <xxhash.h>

#include "base/text.h"
#include "formats/exchange/perf/file.h"
#include "formats/exchange/perf/stack.h"
#include "formats/exchange/read/stacks/import.h"
#include "model/locks.h"
#include "symbols/demangle.h"
#include "symbols/program/resolver.h"

/* A variable that is not larger is the lock. */
enum { NULL_PAGE_LEN = 4096, LOCK_LEN_MAX = 64 };

bool cn_perf_is_futex(const char *function)
{
    return strstr(function, "futex") != NULL || strstr(function, "lll_lock_wait") != NULL;
}

void cn_perf_futex_see(struct cn_perf_futex_signs *signs,
                       const struct cn_perf_frames *frames, bool is_kernel)
{
    if (is_kernel) {
        signs->has_kernel = signs->has_kernel || frames->is_named;
        signs->is_in_kernel = signs->is_in_kernel || frames->is_futex;
    } else if (!signs->has_user) {
        signs->has_user = true;
        signs->is_in_user = frames->is_futex;
    }
}

/* The address that a thread waits on; 0: its registers are unknown. */
static uint64_t futex_of(const struct cn_perf_file *file,
                         const struct cn_perf_sample *sample)
{
    uint64_t mask = file->events[sample->event].attr.sample_regs_user;
    unsigned bit = cn_unwind_perf_argument(cn_perf_machine(file));
    size_t before = (size_t)cn_perf_count(mask, (UINT64_C(1) << bit) - 1);
    struct cn_bytes value;

    if (!(mask >> bit & 1) ||
        !cn_bytes_slice(sample->user_registers, 8 * before, sizeof(uint64_t), &value))
        return 0;
    return cn_u64_get(value.ptr);
}

/* What the file itself says. */
static bool find_stored(const struct cn_perf_names *names, uint64_t key,
                        struct cn_waited_lock *lock)
{
    const struct cn_stored_symbols *symbols = &names->file->symbols;
    const struct cn_stored_symbol *stored = cn_stored_symbols_find(symbols, key);

    if (!stored || stored->count == 0)
        return false;
    lock->variable = symbols->levels[stored->first].name;
    lock->offset = stored->offset - symbols->levels[stored->first].offset;
    return true;
}

static void keep(const struct cn_perf_names *names, uint64_t key,
                 const struct cn_unwind_mapping *mapping,
                 const struct cn_waited_lock *lock)
{
    struct cn_stored_symbols *kept = names->symbols->kept;

    if (!kept)
        return;
    cn_stored_symbols_level(kept, &(struct cn_stored_level){
                                      .name = lock->variable,
                                      .module = mapping->path,
                                      .build_id = mapping->build_id,
                                      .file = "",
                                  });
    cn_stored_symbols_add(kept, key,
                          &(struct cn_stored_symbol){
                              .module = mapping->path,
                              .build_id = mapping->build_id,
                              .offset = lock->offset,
                          });
}

/* The variable that the lock is in; false: it is on the heap or a stack. */
static bool find_variable(const struct cn_perf_names *names,
                          const struct cn_perf_process *process,
                          struct cn_waited_lock *lock, struct cn_text *name)
{
    const struct cn_unwind_mapping *mapping;
    struct cn_symbol symbol;

    if (!process)
        return false;
    /* Data of a program or library is mapped after its code. */
    mapping = cn_unwind_space_before(process->space, lock->address);
    if (!mapping || mapping->path[0] != '/')
        return false;
    uint64_t distance = lock->address - mapping->begin;
    uint64_t key = cn_stored_symbols_key(mapping->path, mapping->build_id,
                                         mapping->file_off + distance);
    if (find_stored(names, key, lock)) {
        keep(names, key, mapping, lock);
        return true;
    }
    if (!cn_resolver_variable(names->symbols->resolver, mapping->path, mapping->build_id,
                              mapping->file_off, distance, &symbol, &lock->offset))
        return false;
    lock->variable = symbol.name;
    if (symbol.len <= LOCK_LEN_MAX)
        lock->offset = 0;
    if (cn_demangle(symbol.name, CN_DEMANGLE_FULL, name))
        lock->variable = cn_text_str(name);
    keep(names, key, mapping, lock);
    return true;
}

uint32_t cn_perf_lock_of(struct cn_perf_locks *locks, struct cn_perf_names *names,
                         const struct cn_perf_sample *sample)
{
    uint64_t key[2] = {sample->pid, futex_of(names->file, sample)};
    uint32_t *at = cn_map_at(&locks->lock_of, XXH3_64bits(key, sizeof(key)), CN_NONE);
    struct cn_waited_lock lock = {
        .address = key[1], .process = sample->pid, .variable = ""};
    struct cn_text name = {0};

    if (*at != CN_NONE || key[1] < NULL_PAGE_LEN)
        return *at;
    (void)find_variable(names, cn_perf_process_find(names->spaces, sample->pid), &lock,
                        &name);
    *at = cn_import_lock(names->import, &lock);
    cn_text_done(&name);
    return *at;
}

void cn_perf_locks_done(struct cn_perf_locks *locks)
{
    cn_map_done(&locks->lock_of);
    *locks = (struct cn_perf_locks){0};
}
