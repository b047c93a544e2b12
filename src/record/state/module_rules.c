#include "record/state/module_rules.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/auxv.h>
#include <time.h>

#include "record/layout.h"
#include "record/process.h"
#include "record/state/maps.h"
#include "record/state/memory.h"
#include "record/state/thread.h"
#include "record/state/track.h"
#include "record/syscalls.h"
#include "record/text.h"

enum {
    MODULES_MAX = 256, /* files with rules */
    NAP_MS = 50,
    PATIENCE_NAPS = 200, /* then continue without rules */
    GONE = 1,            /* the file was unmapped; lower than any address */
};

/* What the launcher knows about a file, in shared memory. */
struct ranges {
    uint32_t file; /* its number in rule sets */
    uint32_t patch_first, patch_count;
    uint32_t rule; /* of a function of Python, whose number is `file` */
};

struct ruled_module {
    uintptr_t low;
    _Atomic uintptr_t high; /* 0 until the entry is complete; GONE */
    struct ranges ranges;
};

static struct {
    struct ruled_module list[MODULES_MAX];
    _Atomic uint32_t count; /* may exceed MODULES_MAX */
    _Atomic bool is_hopeless;
    uint32_t python[CN_REC_PYTHON_MAX]; /* by address: 1 + the index of a rule; 0: none */
    uintptr_t program_at;               /* an address in the program */
} modules;

_Atomic uint64_t cn_rec_decisions[1 << CN_REC_DECISION_BITS];
static _Atomic uint32_t decisions_epoch;
static _Atomic bool has_decisions;

uint32_t cn_rec_decisions_epoch(void)
{
    return atomic_load(&decisions_epoch);
}

void cn_rec_decide(uintptr_t address, enum cn_rec_decision decision, uint32_t epoch)
{
    uint64_t index = (address >> CN_REC_DECISION_SKIP) % (1 << CN_REC_DECISION_BITS);
    _Atomic uint64_t *slot = &cn_rec_decisions[index];

    if (address < CN_REC_PYTHON_MAX || address >> CN_REC_DECISION_SHIFT)
        return;
    atomic_store(&has_decisions, true);
    atomic_store(slot, address | (uint64_t)decision << CN_REC_DECISION_SHIFT);
    if (cn_rec_decisions_epoch() != epoch)
        atomic_store(slot, 0);
}

static void forget_decisions(void)
{
    atomic_fetch_add(&decisions_epoch, 1);
    if (!atomic_exchange(&has_decisions, false))
        return;
    for (int i = 0; i < 1 << CN_REC_DECISION_BITS; i++)
        atomic_store_explicit(&cn_rec_decisions[i], 0, memory_order_relaxed);
}

static void add(uintptr_t low, uintptr_t high, const struct ranges *ranges)
{
    const struct cn_rec_shared *shared = cn_rec_process.shared;
    uint32_t used = atomic_load(&modules.count), at = 0;
    uintptr_t gone = GONE;

    if (ranges->file >= CN_REC_FILE_MAX)
        return;
    const struct cn_rec_rule_set *set =
        cn_rec_rule_set(shared, atomic_load(&shared->rule_version));
    if (!shared->has_agent && atomic_load(&set->files[ranges->file]) >> 32 == 0)
        return;
    /* Reuse the entry of a file that was unmapped, else take a new one. */
    while (at < used && at < MODULES_MAX &&
           !atomic_compare_exchange_strong(&modules.list[at].high, &gone, 0)) {
        gone = GONE;
        at++;
    }
    if (at == used || at == MODULES_MAX)
        at = atomic_fetch_add(&modules.count, 1);
    if (at >= MODULES_MAX)
        return;
    modules.list[at].low = low;
    modules.list[at].ranges = *ranges;
    atomic_store(&modules.list[at].high, high);
    forget_decisions();
}

/* Wait until the state of the request changes from `state`. */
static bool wait_while(struct cn_rec_request *request, uint32_t state)
{
    struct timespec nap = {.tv_nsec = NAP_MS * 1000000L};
    long launcher = (long)cn_rec_process.shared->launcher_pid;

    for (int i = 0; i < PATIENCE_NAPS; i++) {
        if (atomic_load(&request->state) != state)
            return true;
        (void)cn_rec_syscall6(SYS_futex, (long)&request->state, FUTEX_WAIT, (long)state,
                              (long)&nap, 0, 0);
        if (cn_rec_syscall3(SYS_kill, launcher, 0, 0) == -ESRCH)
            return false;
    }
    return false;
}

/* There is one request at a time, for all processes. */
static bool take_request(struct cn_rec_request *request)
{
    for (int i = 0; i < PATIENCE_NAPS; i++) {
        uint32_t state = CN_REC_REQUEST_FREE;

        if (atomic_compare_exchange_strong(&request->state, &state,
                                           CN_REC_REQUEST_TAKEN)) {
            atomic_store(&request->owner, cn_rec_pid());
            return true;
        }
        if (!wait_while(request, state))
            return false;
    }
    return false;
}

static void set_state(struct cn_rec_request *request, uint32_t state)
{
    atomic_store(&request->state, state);
    (void)cn_rec_syscall3(SYS_futex, (long)&request->state, FUTEX_WAKE, 1 << 30);
}

static bool is_range(uint32_t first, uint32_t count, uint32_t max)
{
    return first <= max && count <= max - first;
}

/* Request the number of a file from the launcher, which stores its rules before. */
static bool ask(const char *path, bool is_program, struct ranges *ranges)
{
    struct cn_rec_request *request = &cn_rec_process.shared->request;
    uint32_t len = 0;

    if (!take_request(request))
        return false;
    do
        request->path[len] = path[len];
    while (path[len++] && len < CN_REC_EXE_MAX);
    request->path[CN_REC_EXE_MAX - 1] = '\0';
    request->is_program = is_program;
    atomic_store(&request->state, CN_REC_REQUEST_ASKED);
    cn_rec_track_ring_bell();
    if (!wait_while(request, CN_REC_REQUEST_ASKED)) {
        set_state(request, CN_REC_REQUEST_FREE);
        return false;
    }
    *ranges = (struct ranges){request->file, request->patch_first, request->patch_count,
                              request->rule};
    set_state(request, CN_REC_REQUEST_FREE);
    return is_range(ranges->patch_first, ranges->patch_count, CN_REC_PATCH_MAX);
}

bool cn_rec_module_rules_name(const char *text, uint32_t *number)
{
    struct ranges answer = {0};

    if (atomic_load(&modules.is_hopeless))
        return false;
    if (!ask(text, false, &answer)) {
        atomic_store(&modules.is_hopeless, true);
        return false;
    }
    if (answer.file == 0 || answer.file >= CN_REC_PYTHON_MAX)
        return false;
    if (answer.rule > 0 && cn_rec_memory_rules())
        modules.python[answer.file] = answer.rule;
    *number = answer.file;
    return true;
}

void cn_rec_module_rules_add(const char *path, uintptr_t start, uintptr_t end)
{
    struct cn_rec_shared *shared = cn_rec_process.shared;
    struct ranges ranges = {0};

    if (!shared->has_patterns)
        return;
    if (cn_rec_text_is_same(path, shared->exe)) {
        ranges.patch_count = shared->program_patch_count;
        add(start, end, &ranges);
        return;
    }
    if (atomic_load(&modules.is_hopeless))
        return;
    if (ask(path, modules.program_at - start < end - start, &ranges) &&
        cn_rec_memory_rules())
        add(start, end, &ranges);
    else
        atomic_store(&modules.is_hopeless, true);
}

void cn_rec_module_rules_remove(uintptr_t start)
{
    uint32_t count = atomic_load(&modules.count);

    for (uint32_t i = 0; i < count && i < MODULES_MAX; i++) {
        if (modules.list[i].low == start && atomic_load(&modules.list[i].high) > GONE)
            atomic_store(&modules.list[i].high, GONE);
    }
    forget_decisions();
}

static void add_mapping(const struct cn_rec_mapping *mapping, void *arg)
{
    (void)arg;
    if (mapping->is_code && mapping->path[0] == '/')
        cn_rec_module_rules_add(mapping->path, mapping->start, mapping->end);
}

void cn_rec_module_rules_begin(void)
{
    atomic_store(&modules.count, 0);
    modules.program_at = getauxval(AT_PHDR);
    if (cn_rec_process.shared->has_patterns)
        (void)cn_rec_maps_walk(add_mapping, NULL);
}

void cn_rec_module_rules_use(struct cn_rec_filter_state *filter, uint32_t version)
{
    const struct cn_rec_rule_set *set = cn_rec_rule_set(cn_rec_process.shared, version);

    if (!cn_rec_memory_rules())
        return;
    filter->version = version;
    filter->time_limit_ns = set->time_limit_ns;
    filter->only_depth = set->depth_limit ? set->depth_limit : UINT32_MAX;
    filter->shown_limit = filter->only_depth;
    if (filter->out > 0 || (filter->in == 0 && set->has_only))
        filter->shown_limit = 0;
    filter->size_min = set->size_min;
    filter->needs_match = set->has_caller;
}

static const struct cn_rec_rule *find_in(uint32_t version,
                                         const struct ruled_module *module, uint64_t at)
{
    const struct cn_rec_shared *shared = cn_rec_process.shared;
    const struct cn_rec_rule_set *set = cn_rec_rule_set(shared, version);
    uint64_t range =
        atomic_load_explicit(&set->files[module->ranges.file], memory_order_acquire);
    const struct cn_rec_rule *rules = cn_rec_process.rules + (uint32_t)range;
    uint32_t low = 0, count = (uint32_t)(range >> 32), high = count;

    /* The launcher may have reused the set of a call that has been open for long. */
    if (atomic_load_explicit(&shared->rule_version, memory_order_relaxed) - version >=
        CN_REC_SET_COUNT - 1)
        return NULL;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (rules[middle].high <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && at >= rules[low].low ? &rules[low] : NULL;
}

/* The file at an address. Search backwards: a later library may be mapped where another one
 * was. */
static const struct ruled_module *find_module(uintptr_t address)
{
    uint32_t count = atomic_load_explicit(&modules.count, memory_order_relaxed);

    for (uint32_t i = count < MODULES_MAX ? count : MODULES_MAX; i-- > 0;) {
        const struct ruled_module *module = &modules.list[i];

        if (address < atomic_load_explicit(&module->high, memory_order_acquire) &&
            address >= module->low)
            return module;
    }
    return NULL;
}

const struct cn_rec_rule *cn_rec_module_rules_find(uint32_t version, uintptr_t address,
                                                   uintptr_t *base)
{
    if (address < CN_REC_PYTHON_MAX) {
        *base = 0;
        return modules.python[address] > 0
                   ? &cn_rec_process.rules[modules.python[address] - 1]
                   : NULL;
    }
    const struct ruled_module *module = find_module(address);
    if (!module)
        return NULL;
    *base = module->low;
    return find_in(version, module, address - module->low);
}

const struct cn_rec_patch *cn_rec_module_patches(uintptr_t address, uintptr_t *base,
                                                 uint32_t *count)
{
    const struct ruled_module *module = find_module(address);

    *count = module ? module->ranges.patch_count : 0;
    *base = module ? module->low : 0;
    return module ? cn_rec_process.patches + module->ranges.patch_first : NULL;
}
