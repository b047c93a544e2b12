#include "record/heap/operators.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#define EXPORT     __attribute__((visibility("default")))
#define RARELY(is) __builtin_expect(!!(is), 0)
#define CALLER()   ((uintptr_t)__builtin_extract_return_addr(__builtin_return_address(0)))

/* Their names on processors with 64 bits. */
#define NEWS(F)                           \
    F(_Znwm)                              \
    F(_Znam)                              \
    F(_ZnwmRKSt9nothrow_t)                \
    F(_ZnamRKSt9nothrow_t)                \
    F(_ZnwmSt11align_val_t)               \
    F(_ZnamSt11align_val_t)               \
    F(_ZnwmSt11align_val_tRKSt9nothrow_t) \
    F(_ZnamSt11align_val_tRKSt9nothrow_t)
#define DELETES(F)                         \
    F(_ZdlPv)                              \
    F(_ZdaPv)                              \
    F(_ZdlPvm)                             \
    F(_ZdaPvm)                             \
    F(_ZdlPvRKSt9nothrow_t)                \
    F(_ZdaPvRKSt9nothrow_t)                \
    F(_ZdlPvSt11align_val_t)               \
    F(_ZdaPvSt11align_val_t)               \
    F(_ZdlPvmSt11align_val_t)              \
    F(_ZdaPvmSt11align_val_t)              \
    F(_ZdlPvSt11align_val_tRKSt9nothrow_t) \
    F(_ZdaPvSt11align_val_tRKSt9nothrow_t)

#define NUMBER(name) NUMBER_OF##name,
enum { NEWS(NUMBER) DELETES(NUMBER) OPERATORS };

#define NAME(name) #name,
static const char *const names[] = {NEWS(NAME) DELETES(NAME)};

/* With the most parameters that one has: the others ignore those that follow theirs. */
typedef void *make_fn(size_t size, uintptr_t second, uintptr_t third);
typedef void drop_fn(void *block, uintptr_t second, uintptr_t third);

static void *_Atomic next[OPERATORS];

static _Atomic enum { UNKNOWN, PASSED_ON, NOTED } state;

__thread uint64_t cn_operators_count;

static bool is_own(const void *at)
{
    Dl_info info, own;

    return at && dladdr(at, &info) && dladdr(names, &own) &&
           info.dli_fbase == own.dli_fbase;
}

/* A library that dlopen() has loaded may be the only one with its C++ library. For the program itself,
 * all libraries are searched, this one before others. */
static void *find_in(const void *caller, const char *name)
{
    Dl_info info;
    void *library = dladdr(caller, &info) && info.dli_fname
                        ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD)
                        : NULL;
    void *found = library ? dlsym(library, name) : NULL;

    if (library)
        (void)dlclose(library);
    return is_own(found) ? NULL : found;
}

/* For a caller that was linked with no C++ library: it found the operators here. */
static void *make_plain(size_t size, uintptr_t second, uintptr_t third)
{
    (void)second;
    (void)third;
    return malloc(size);
}

static void *make_aligned(size_t size, uintptr_t alignment, uintptr_t third)
{
    (void)third;
    if (size > SIZE_MAX - alignment)
        return NULL;
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void drop_block(void *block, uintptr_t second, uintptr_t third)
{
    (void)second;
    (void)third;
    free(block);
}

static void *own(unsigned number)
{
    make_fn *make = number < NUMBER_OF_ZnwmSt11align_val_t ? make_plain : make_aligned;
    drop_fn *drop = drop_block;
    void *at;

    if (number < NUMBER_OF_ZdlPv)
        __builtin_memcpy(&at, &make, sizeof(at));
    else
        __builtin_memcpy(&at, &drop, sizeof(at));
    return at;
}

static void *find(unsigned number, uintptr_t caller)
{
    int error = errno;

    cn_operators_quiet();
    void *found = dlsym(RTLD_NEXT, names[number]);
    if (!found)
        found = find_in((const void *)caller, names[number]);
    cn_operators_loud();
    errno = error;
    if (!found)
        found = own(number);
    atomic_store_explicit(&next[number], found, memory_order_release);
    return found;
}

static inline void *next_of(unsigned number, uintptr_t caller)
{
    void *found = atomic_load_explicit(&next[number], memory_order_acquire);

    return RARELY(!found) ? find(number, caller) : found;
}

static __attribute__((noinline)) bool find_state(uintptr_t caller)
{
    void *make_at = next_of(NUMBER_OF_Znwm, caller);
    void *drop_at = next_of(NUMBER_OF_ZdlPv, caller);
    make_fn *make;
    drop_fn *drop;
    int error = errno;

    __builtin_memcpy(&make, &make_at, sizeof(make));
    __builtin_memcpy(&drop, &drop_at, sizeof(drop));
    cn_operators_quiet();
    uint64_t before = cn_operators_count;
    drop(make(1, 0, 0), 0, 0);
    bool calls_malloc = cn_operators_count != before;
    cn_operators_loud();
    errno = error;
    atomic_store(&state, calls_malloc ? PASSED_ON : NOTED);
    return !calls_malloc;
}

static inline bool is_noted(uintptr_t caller)
{
    int known = (int)atomic_load_explicit(&state, memory_order_relaxed);

    return RARELY(known == UNKNOWN) ? find_state(caller) : known == NOTED;
}

/* An operator may call another one, or aligned_alloc(). */
static inline __attribute__((always_inline)) void *
noted(make_fn *make, size_t size, uintptr_t second, uintptr_t third, uintptr_t caller)
{
    uint64_t before = cn_operators_count;
    void *block = make(size, second, third);

    if (block && cn_operators_count == before)
        cn_operators_made(block, size, caller);
    return block;
}

/* What is passed on leaves no frame here: the last call is a jump. */
#define NEW(name)                                              \
    EXPORT make_fn name;                                       \
    void *name(size_t size, uintptr_t second, uintptr_t third) \
    {                                                          \
        void *at = next_of(NUMBER_OF##name, CALLER());         \
        make_fn *make;                                         \
                                                               \
        __builtin_memcpy(&make, &at, sizeof(make));            \
        if (!is_noted(CALLER()))                               \
            return make(size, second, third);                  \
        return noted(make, size, second, third, CALLER());     \
    }
NEWS(NEW)

#define DELETE(name)                                          \
    EXPORT drop_fn name;                                      \
    void name(void *block, uintptr_t second, uintptr_t third) \
    {                                                         \
        void *at = next_of(NUMBER_OF##name, CALLER());        \
        drop_fn *drop;                                        \
                                                              \
        __builtin_memcpy(&drop, &at, sizeof(drop));           \
        if (is_noted(CALLER()) && block)                      \
            cn_operators_freed(block);                        \
        drop(block, second, third);                           \
    }
DELETES(DELETE)
