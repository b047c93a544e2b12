/* Library calls, where their stubs arrive. */

#include <stddef.h>

#include "record/arguments.h"
#include "record/hooks.h"
#include "record/libcalls.h"
#include "record/loader.h"
#include "record/thread.h"

static void record_quick(const struct cn_rec_libcall *call, uintptr_t *loc,
                         const struct cn_rec_registers *registers)
{
    struct cn_rec_thread *self = cn_rec_self ? cn_rec_self : cn_rec_thread_begin();

    if (!self || self->is_off || !cn_rec_thread_is_ours(self))
        return;
    if (loc >= self->top->loc)
        cn_rec_close_dead(self, loc);
    if (self->dlopen_sp)
        cn_rec_loader_find_new(self, (uintptr_t)loc);
    if (cn_rec_push(self, loc, 0, (uintptr_t)call->slot, CN_REC_FRAME_UNHOOKED)) {
        cn_rec_enter_pushed(self, registers);
        cn_rec_pop(self);
    }
}

static uint64_t flags_of(const struct cn_rec_libcall *call)
{
    return call->is_bound
               ? 0
               : CN_REC_FRAME_LIBCALL | (uint64_t)(call - cn_rec_libcalls) << 32;
}

void cn_rec_libcall_enter_register(struct cn_rec_register_call *register_call,
                                   const uint64_t *saved)
{
    struct cn_rec_libcall *call = &cn_rec_libcalls[register_call->number];
    struct cn_rec_registers registers = {saved, CN_REC_SAVED_AT_ENTRY, register_call->sp,
                                         0, register_call->ret};

    if (call->is_quick)
        record_quick(call, (uintptr_t *)(register_call->sp | CN_REC_LOC_REGISTER),
                     &registers);
    else
        register_call->ret =
            cn_rec_enter_register_flagged(register_call->sp, (uintptr_t)call->slot,
                                          register_call->ret, flags_of(call), saved);
    register_call->target = atomic_load_explicit(&call->target, memory_order_relaxed);
    register_call->number = (uintptr_t)call->slot;
}

uintptr_t cn_rec_libcall_enter(uintptr_t *loc, uint64_t number, const uint64_t *saved)
{
    struct cn_rec_registers registers = {saved, CN_REC_SAVED_AT_ENTRY,
                                         (uintptr_t)(loc + 1), 0, *loc};
    struct cn_rec_libcall *call = &cn_rec_libcalls[number];
    uint64_t flags = flags_of(call);

    if (call->is_quick)
        record_quick(call, loc, &registers);
    else
        cn_rec_enter_flagged(loc, (uintptr_t)call->slot, flags, &registers);
    return atomic_load_explicit(&call->target, memory_order_relaxed);
}
