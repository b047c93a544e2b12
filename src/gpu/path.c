#include "gpu/path.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>
#include <unwind.h>

#include "gpu/shared.h"
#include "gpu/thread.h"

/* Memory of this process: the frames of the thread that calls do not change meanwhile, but a table
 * may be wrong. What is no memory is no fault. */
static bool copy_own(struct cn_frame_walk *walk, void *out, size_t len, uint64_t address);
#define CN_FRAME_INLINE                        static inline
#define CN_FRAME_COPY(walk, out, len, address) copy_own(walk, out, len, address)
#include "sampler/languages/frame_steps.h"

enum {
    PAGE_LEN = 4096,
    PAGES = 512,         /* that are known to be memory */
    KNOWN_STACKS = 256,  /* lists of known stacks, by stack pointer */
    KNOWN_TRIES = 16,    /* of a list */
    KNOWN_LEN = 4 << 20, /* bytes of known stacks; then all are forgotten */
    NUMBERS = 1 << 14,   /* of stacks; a power of two */
    HIDDEN_MAX = 8,
    KEY_WORDS =
        2, /* of a frame of an interpreter that tell paths apart: code, instruction */
};

/* A slot of the stack that was read, and what it contained. */
struct stack_slot {
    const uintptr_t *at;
    uintptr_t value;
};

/* A stack that was unwound. The first `count` slots contain return addresses, the innermost first;
 * the others saved frame pointers. */
struct known_stack {
    struct known_stack *next;
    uintptr_t stack_pointer;
    uint64_t hash;
    uint32_t count, slot_count;
    uint32_t shown_from; /* index of the innermost frame that is not hidden */
    bool has_call;
    struct stack_slot slots[];
};

struct cn_gpu_paths {
    struct known_stack *known[KNOWN_STACKS];
    struct known_stack *last;
    size_t known_len;
    struct {
        uint64_t hash;
        uint32_t number; /* 0: unused */
    } numbers[NUMBERS];
    uint32_t number_count;
    uint64_t pages[PAGES];
    /* The stack that is being unwound. */
    struct stack_slot returns[CN_GPU_STACK_MAX], pointers[CN_GPU_STACK_MAX];
    uint32_t return_count, pointer_count;
    uint32_t valid_from; /* of the last stack: its slots from here on have not changed */
    uint32_t joined_at;  /* where its frames follow; its count: nowhere */
    uintptr_t stack_pointer, frame_pointer;
    uintptr_t stack_begin, stack_end; /* of the thread; 0: unknown */
    bool is_bad; /* slots are not known: the stack must be unwound each time */
    _Alignas(16) uint8_t known_bytes[KNOWN_LEN];
    struct cn_frame_walk walk;
};

struct hidden_range {
    uintptr_t begin, end;
};

static struct hidden_range hidden[HIDDEN_MAX];
static size_t hidden_count;
static _Atomic uint32_t last_number;

void cn_gpu_paths_free(struct cn_gpu_paths *paths)
{
    if (paths)
        (void)munmap(paths, sizeof(*paths));
}

static void find_stack(struct cn_gpu_paths *paths)
{
    pthread_attr_t attributes;
    void *at;
    size_t len;

    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return;
    if (pthread_attr_getstack(&attributes, &at, &len) == 0) {
        paths->stack_begin = (uintptr_t)at;
        paths->stack_end = (uintptr_t)at + len;
    }
    (void)pthread_attr_destroy(&attributes);
}

static struct cn_gpu_paths *paths_of(struct cn_gpu_thread *thread)
{
    void *at;

    if (thread->paths)
        return thread->paths;
    at = mmap(NULL, sizeof(*thread->paths), PROT_READ | PROT_WRITE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        return NULL;
    thread->paths = at;
    find_stack(thread->paths);
    return thread->paths;
}

/* The module that contains an address. */
struct module_search {
    uintptr_t address;
    struct hidden_range found;
};

static int look_at_module(struct dl_phdr_info *info, size_t len, void *arg)
{
    struct module_search *search = arg;
    struct hidden_range range = {UINTPTR_MAX, 0};

    (void)len;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t begin = info->dlpi_addr + segment->p_vaddr;

        if (segment->p_type != PT_LOAD)
            continue;
        range.begin = begin < range.begin ? begin : range.begin;
        range.end =
            begin + segment->p_memsz > range.end ? begin + segment->p_memsz : range.end;
    }
    if (search->address < range.begin || search->address >= range.end)
        return 0;
    search->found = range;
    return 1;
}

void cn_gpu_path_hide(const void *address)
{
    struct module_search search = {.address = (uintptr_t)address};

    if (hidden_count < HIDDEN_MAX && dl_iterate_phdr(look_at_module, &search) == 1)
        hidden[hidden_count++] = search.found;
}

static bool is_hidden(uintptr_t address)
{
    for (size_t i = 0; i < hidden_count; i++)
        if (address >= hidden[i].begin && address < hidden[i].end)
            return true;
    return false;
}

#if defined(__x86_64__)
enum { FRAME_POINTER = 6 };
#else
enum { FRAME_POINTER = 29 };
#endif

/* The address in a slot: on aarch64 it may be signed in the bits that addresses do not have. */
static uintptr_t address_in(uintptr_t value)
{
#if defined(__x86_64__)
    return value;
#else
    return value & ((UINT64_C(1) << 48) - 1);
#endif
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static bool is_memory(struct cn_gpu_paths *paths, uint64_t address)
{
    uint64_t page = address / PAGE_LEN;
    uint8_t byte;
    struct iovec to = {&byte, 1}, from = {(void *)(uintptr_t)address, 1};

    if (page == 0) /* also what an unused entry contains */
        return false;
    if (paths->pages[page % PAGES] == page)
        return true;
    if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) != 1)
        return false;
    paths->pages[page % PAGES] = page;
    return true;
}

static bool copy_own(struct cn_frame_walk *walk, void *out, size_t len, uint64_t address)
{
    struct cn_gpu_paths *paths =
        (struct cn_gpu_paths *)((uint8_t *)walk - offsetof(struct cn_gpu_paths, walk));

    if (len == 0 || !is_memory(paths, address) ||
        ((address + len - 1) / PAGE_LEN != address / PAGE_LEN &&
         !is_memory(paths, address + len - 1)))
        return false;
    memcpy(out, (const void *)(uintptr_t)address, len);
    return true;
}

/* True if the slots of a stack from `first` on contain what they did. They are compared from the
 * innermost on: as long as they are the same, the next one is where unwinding would read. */
static bool is_same(const struct known_stack *known, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++)
        if (*known->slots[i].at != known->slots[i].value)
            return false;
    return true;
}

static struct known_stack *find_known(struct cn_gpu_paths *paths, uintptr_t stack_pointer)
{
    struct known_stack **link = &paths->known[stack_pointer / 16 % KNOWN_STACKS];

    for (size_t i = 0; i < KNOWN_TRIES && *link; i++, link = &(*link)->next) {
        struct known_stack *known = *link, **first;

        if (known->stack_pointer != stack_pointer ||
            !is_same(known, 0, known->slot_count))
            continue;
        first = &paths->known[stack_pointer / 16 % KNOWN_STACKS];
        *link = known->next;
        known->next = *first;
        *first = known;
        return known;
    }
    return NULL;
}

/* Where the frame above has the return address to this one; NULL if it is not where it must be. */
static const uintptr_t *return_slot(const struct cn_gpu_paths *paths, uintptr_t cfa,
                                    uintptr_t address)
{
#if defined(__x86_64__)
    const uintptr_t *at = (const uintptr_t *)(cfa - sizeof(uintptr_t));

    (void)paths;
#else
    const uintptr_t *at = (const uintptr_t *)(paths->frame_pointer + sizeof(uintptr_t));

    (void)cfa;
    if (paths->frame_pointer < paths->stack_pointer ||
        paths->frame_pointer % sizeof(uintptr_t) != 0)
        return NULL;
#endif
    return address_in(*at) == address ? at : NULL;
}

/* A frame pointer that the frame above has saved decides where the next frame is. */
static void add_pointer(struct cn_gpu_paths *paths, uintptr_t cfa, uintptr_t pointer)
{
#if defined(__x86_64__)
    const uintptr_t *at = (const uintptr_t *)(cfa - 2 * sizeof(uintptr_t));
#else
    const uintptr_t *at = (const uintptr_t *)paths->frame_pointer;

    if (paths->frame_pointer < paths->stack_pointer ||
        paths->frame_pointer % sizeof(uintptr_t) != 0)
        return;
#endif
    (void)cfa;
    if (*at == pointer && paths->pointer_count < CN_GPU_STACK_MAX)
        paths->pointers[paths->pointer_count++] = (struct stack_slot){at, pointer};
}

/* The frame of the last stack that this one is: its callers have not changed. */
static bool joins_last(struct cn_gpu_paths *paths, struct stack_slot slot)
{
    const struct known_stack *last = paths->last;

    for (uint32_t i = paths->valid_from; last && i < last->count; i++) {
        if (last->slots[i].at > slot.at)
            return false;
        if (last->slots[i].at == slot.at && last->slots[i].value == slot.value) {
            paths->joined_at = i;
            return true;
        }
    }
    return false;
}

static _Unwind_Reason_Code on_frame(struct _Unwind_Context *context, void *arg)
{
    struct cn_gpu_paths *paths = arg;
    uintptr_t address = _Unwind_GetIP(context), cfa = _Unwind_GetCFA(context);
    uintptr_t pointer = _Unwind_GetGR(context, FRAME_POINTER);

    /* The frames of this file. */
    if (cfa <= paths->stack_pointer) {
        paths->frame_pointer = pointer;
        return _URC_NO_REASON;
    }
    if (address == 0 || paths->return_count == CN_GPU_STACK_MAX)
        return _URC_NORMAL_STOP;
    struct stack_slot slot = {return_slot(paths, cfa, address), address};
    if (slot.at)
        slot.value = *slot.at;
    paths->is_bad = paths->is_bad || !slot.at;
    if (!paths->is_bad && joins_last(paths, slot))
        return _URC_NORMAL_STOP;
    add_pointer(paths, cfa, pointer);
    paths->returns[paths->return_count++] = slot;
    paths->frame_pointer = pointer;
    return _URC_NO_REASON;
}

/* The slots of the last stack from which on nothing has changed. They are looked at if they are of the stack
 * of the thread: that of a coroutine may be gone. */
static uint32_t find_valid(const struct cn_gpu_paths *paths, uintptr_t stack_pointer)
{
    const struct known_stack *last = paths->last;
    uint32_t i = last->count;

    if (stack_pointer < paths->stack_begin || stack_pointer >= paths->stack_end)
        return i;
    while (i > 0 && (uintptr_t)last->slots[i - 1].at >= stack_pointer &&
           (uintptr_t)last->slots[i - 1].at < paths->stack_end &&
           *last->slots[i - 1].at == last->slots[i - 1].value)
        i--;
    /* Saved frame pointers between them must be the same as well. */
    for (uint32_t k = last->count; k < last->slot_count; k++)
        while (i < last->count && last->slots[k].at >= last->slots[i].at &&
               (uintptr_t)last->slots[k].at < paths->stack_end &&
               *last->slots[k].at != last->slots[k].value)
            i++;
    return i;
}

/* The module of an address if it is the run-time of CUDA; NULL if it is not. */
static const void *runtime_at(uintptr_t value)
{
    Dl_info info;

    return dladdr((const void *)(address_in(value) - 1), &info) != 0 && info.dli_fname &&
                   strstr(info.dli_fname, "libcudart")
               ? info.dli_fbase
               : NULL;
}

/* Leave out hidden frames, and of the run-time all but the function that was called. */
static void hide_frames(struct known_stack *known)
{
    uint32_t *from = &known->shown_from;

    while (*from < known->count && is_hidden(address_in(known->slots[*from].value) - 1))
        ++*from;
    while (*from < known->count && runtime_at(known->slots[*from].value)) {
        known->has_call = true;
        if (*from + 1 == known->count || !runtime_at(known->slots[*from + 1].value))
            break;
        ++*from;
    }
}

/* Room for a stack that stays known. */
static struct known_stack *new_known(struct cn_gpu_paths *paths, uint32_t slot_count)
{
    size_t len = sizeof(struct known_stack) + slot_count * sizeof(struct stack_slot);

    len = (len + 15) / 16 * 16;
    if (paths->known_len + len > KNOWN_LEN) {
        memset(paths->known, 0, sizeof(paths->known));
        paths->known_len = 0;
        paths->last = NULL;
    }
    struct known_stack *known =
        (struct known_stack *)(void *)(paths->known_bytes + paths->known_len);
    paths->known_len += len;
    return known;
}

/* Append what the last stack has from where the new one joins it. */
static void append_last(struct cn_gpu_paths *paths)
{
    const struct known_stack *last = paths->last;

    if (!last || paths->joined_at == last->count)
        return;
    const struct stack_slot *from = &last->slots[paths->joined_at];
    for (uint32_t i = paths->joined_at; i < last->count; i++)
        if (paths->return_count < CN_GPU_STACK_MAX)
            paths->returns[paths->return_count++] = last->slots[i];
    for (uint32_t i = last->count; i < last->slot_count; i++)
        if (last->slots[i].at >= from->at && paths->pointer_count < CN_GPU_STACK_MAX)
            paths->pointers[paths->pointer_count++] = last->slots[i];
}

static struct known_stack *unwind(struct cn_gpu_paths *paths, uintptr_t stack_pointer)
{
    const struct known_stack *last = paths->last;

    paths->return_count = paths->pointer_count = 0;
    paths->is_bad = false;
    paths->stack_pointer = stack_pointer;
    paths->frame_pointer = 0;
    paths->valid_from = last ? find_valid(paths, stack_pointer) : 0;
    paths->joined_at = last ? last->count : 0;
    (void)_Unwind_Backtrace(on_frame, paths);
    append_last(paths);
    struct known_stack *known =
        new_known(paths, paths->return_count + paths->pointer_count);
    *known = (struct known_stack){
        .stack_pointer = stack_pointer,
        .count = paths->return_count,
        .slot_count = paths->return_count + paths->pointer_count,
    };
    memcpy(known->slots, paths->returns, paths->return_count * sizeof(struct stack_slot));
    memcpy(known->slots + paths->return_count, paths->pointers,
           paths->pointer_count * sizeof(struct stack_slot));
    hide_frames(known);
    for (uint32_t i = known->shown_from; i < known->count; i++)
        known->hash = mix(known->hash, address_in(known->slots[i].value));
    if (!paths->is_bad) {
        struct known_stack **first = &paths->known[stack_pointer / 16 % KNOWN_STACKS];

        known->next = *first;
        *first = known;
    }
    return known;
}

/* The state of this thread in Python; NULL: it has none. */
static void *python_state(void)
{
    static _Atomic(void *) found;
    void *function = atomic_load_explicit(&found, memory_order_relaxed);
    void *(*call)(void);

    if (!function) {
        function = dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState");
        if (!function)
            return NULL;
        atomic_store_explicit(&found, function, memory_order_relaxed);
    }
    memcpy(&call, &function, sizeof(call));
    return call();
}

/* Where the words that tell frames apart are in a frame of a linked list. False if the table has no
 * such list. */
static bool find_keys(const struct cn_frame_table *table, uint32_t offsets[KEY_WORDS])
{
    if (table->order != CN_FRAME_LINKED || table->ending.top > 0 ||
        table->read_count < KEY_WORDS || table->frame_len > CN_FRAME_LEN ||
        table->link + sizeof(uint64_t) > table->frame_len)
        return false;
    for (uint32_t i = 0; i < KEY_WORDS; i++) {
        offsets[i] = (uint32_t)table->reads[i].off;
        if (table->reads[i].from != CN_FRAME_SELF || table->reads[i].off < 0 ||
            offsets[i] / 8 * 8 + sizeof(uint64_t) > table->frame_len)
            return false;
    }
    return true;
}

static uint64_t word_at(uint64_t address)
{
    uint64_t word;

    memcpy(&word, (const void *)(uintptr_t)address, sizeof(word));
    return word;
}

/* A hash of the frames that this thread runs, without reading all of them: code and instruction of each.
 * False if it runs none, or they are not memory. */
static bool hash_frames(struct cn_gpu_paths *paths, const struct cn_frame_table *table,
                        uint64_t *hash)
{
    struct cn_frame_walk *walk = &paths->walk;
    void *state = table->root_kind == CN_FRAME_IN_LISTS ? python_state() : NULL;
    uint32_t offsets[KEY_WORDS];

    if (!state || !find_keys(table, offsets))
        return false;
    walk->state = (uint64_t)(uintptr_t)state;
    if (!cn_frame_walk_enter(walk, table))
        return false;
    for (size_t i = 0; walk->frame != 0 && i < CN_FRAME_STEPS_MAX; i++) {
        uint64_t last = walk->frame + table->frame_len - 1;

        if (!is_memory(paths, walk->frame) ||
            (last / PAGE_LEN != walk->frame / PAGE_LEN && !is_memory(paths, last)))
            return false;
        for (uint32_t k = 0; k < KEY_WORDS; k++)
            *hash = mix(*hash, word_at(walk->frame + offsets[k] / 8 * 8));
        walk->frame = word_at(walk->frame + table->link / 8 * 8);
    }
    return true;
}

/* Read the frames of which hash_frames() made a hash. */
static bool read_frames(struct cn_gpu_paths *paths, const struct cn_frame_table *table)
{
    struct cn_frame_walk *walk = &paths->walk;

    cn_frame_walk_begin(walk, table);
    if (!cn_frame_walk_enter(walk, table))
        return false;
    for (size_t i = 0; i < CN_FRAME_STEPS_MAX && cn_frame_walk_step(walk, table); i++)
        continue;
    if (walk->found.word_count > CN_GPU_STACK_WORDS_MAX) {
        walk->found.is_cut = 1;
        walk->found.word_count =
            walk->found.head_len +
            ((uint32_t)CN_GPU_STACK_WORDS_MAX - walk->found.head_len) /
                walk->found.row_len * walk->found.row_len;
    }
    return !walk->has_failed && walk->found.row_len > 0;
}

static bool write_stack(struct cn_gpu_thread *thread, const struct known_stack *known,
                        uint32_t number, bool has_frames)
{
    const struct cn_frame_walk *walk = &thread->paths->walk;
    uint32_t count = known->count - known->shown_from;
    uint32_t words = has_frames ? walk->found.word_count : 0;
    struct cn_gpu_stack stack = {
        .id = number,
        .count = count,
        .language = has_frames ? walk->found.language : 0,
        .word_count = words,
        .head_len = has_frames ? walk->found.head_len : 0,
        .row_len = has_frames ? walk->found.row_len : 0,
        .is_cut = has_frames ? walk->found.is_cut : 0,
    };
    uint8_t *at = cn_gpu_writer_begin(&thread->writer, CN_GPU_IS_STACK,
                                      cn_gpu_stack_size + 8 * ((size_t)count + words));

    if (!at)
        return false;
    at = cn_gpu_stack_encode(&stack, at) + cn_gpu_stack_size;
    for (uint32_t i = known->shown_from; i < known->count; i++, at += 8)
        cn_u64_put(at, address_in(known->slots[i].value));
    if (words > 0)
        memcpy(at, walk->words, 8 * (size_t)words);
    cn_gpu_writer_end(&thread->writer);
    return true;
}

/* Not inlined: its frame is where known stacks begin. */
__attribute__((noinline)) uint32_t cn_gpu_path_take(struct cn_gpu_thread *thread,
                                                    bool *has_call)
{
    uintptr_t stack_pointer = (uintptr_t)__builtin_frame_address(0);
    struct cn_gpu_paths *paths = paths_of(thread);
    const struct cn_frame_table *table = cn_gpu_file_table();
    struct known_stack *known;
    size_t slot;

    if (!paths)
        return 0;
    known = find_known(paths, stack_pointer);
    if (!known)
        known = unwind(paths, stack_pointer);
    paths->last = known;
    *has_call = known->has_call;
    uint64_t hash = known->hash;
    bool has_frames = table && hash_frames(paths, table, &hash);
    for (slot = hash % NUMBERS; paths->numbers[slot].number > 0;
         slot = (slot + 1) % NUMBERS)
        if (paths->numbers[slot].hash == hash)
            return paths->numbers[slot].number;
    if (paths->number_count > NUMBERS / 2) {
        memset(paths->numbers, 0, sizeof(paths->numbers));
        paths->number_count = 0;
        slot = hash % NUMBERS;
    }
    has_frames = has_frames && read_frames(paths, table);
    uint32_t number =
        atomic_fetch_add_explicit(&last_number, 1, memory_order_relaxed) + 1;
    if (!write_stack(thread, known, number, has_frames))
        return 0;
    paths->numbers[slot].hash = hash;
    paths->numbers[slot].number = number;
    paths->number_count++;
    return number;
}
