#include "record/calls/filter.h"

#include <link.h>
#include <stddef.h>
#include <sys/auxv.h>

#include "record/calls/arguments.h"
#include "record/calls/readings.h"
#include "record/calls/watch.h"
#include "record/layout.h"
#include "record/process.h"
#include "record/state/module_rules.h"
#include "record/state/returns.h"
#include "record/state/ring.h"
#include "record/state/thread.h"

static int find_program(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct cn_rec_process *process = arg;

    (void)size;
    process->program_low = info->dlpi_addr;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

        if (segment->p_type == PT_LOAD)
            process->program_high = info->dlpi_addr + segment->p_vaddr + segment->p_memsz;
    }
    return 1;
}

static bool has_watches(void)
{
    return cn_rec_process.shared->watches_cpu || cn_rec_process.shared->watch_count > 0;
}

void cn_rec_filter_begin(void)
{
    struct cn_rec_process *process = &cn_rec_process;
    const struct cn_rec_shared *shared = process->shared;

    process->page_kb = getauxval(AT_PAGESZ) / 1024;
    (void)dl_iterate_phdr(find_program, process);
    cn_rec_module_rules_begin();
    /* Rules about patching alone do not need filters at each call. */
    const struct cn_rec_rule_set *set =
        cn_rec_rule_set(shared, atomic_load(&shared->rule_version));
    process->has_filters = shared->has_call_rules || set->time_limit_ns > 0 ||
                           set->depth_limit > 0 || shared->has_sites ||
                           shared->has_signals || has_watches() || shared->has_agent ||
                           !atomic_load(&shared->is_on);
    process->has_quick_filters = process->has_filters && !shared->has_sites &&
                                 !has_watches() && !shared->has_agent &&
                                 !shared->has_slow_rules;
}

/* What the rules of a call say together. */
struct orders {
    uint32_t actions; /* CN_REC_RULE_* */
    uint32_t depth, size_min;
    uint64_t time_ns;
};

/* In an inlined copy of the function the arguments are elsewhere. */
static bool has_arguments(const struct cn_rec_rule *rule, uintptr_t base,
                          const struct cn_rec_registers *registers)
{
    return registers &&
           (registers->saver == CN_REC_SAVED_AT_ENTRY) == (rule->call_off == 0) &&
           (rule->call_off == 0 ||
            registers->call_pc - base == rule->low + rule->call_off);
}

static bool is_true(const struct cn_rec_rule *rule, uintptr_t base,
                    const struct cn_rec_registers *registers)
{
    int64_t number = 0;

    if (rule->compare != CN_REC_ALWAYS &&
        (!has_arguments(rule, base, registers) ||
         !cn_rec_arguments_number(rule->condition, registers, &number)))
        return false;
    switch ((enum cn_rec_compare)rule->compare) {
    case CN_REC_EQUAL:
        return number == rule->limit;
    case CN_REC_UNEQUAL:
        return number != rule->limit;
    case CN_REC_LESS:
        return number < rule->limit;
    case CN_REC_LESS_EQUAL:
        return number <= rule->limit;
    case CN_REC_MORE:
        return number > rule->limit;
    case CN_REC_MORE_EQUAL:
        return number >= rule->limit;
    case CN_REC_BITS:
        return (number & rule->limit) != 0;
    case CN_REC_ALWAYS:
        break;
    }
    return true;
}

/* The last one of -F and -N counts. */
static struct orders orders_of(const struct cn_rec_rule *rule, uintptr_t base,
                               const struct cn_rec_registers *registers)
{
    const uint32_t either = CN_REC_RULE_ONLY | CN_REC_RULE_NOT;
    struct orders orders = {0};

    for (bool has_more = rule; has_more; has_more = (rule++)->has_more) {
        if (!is_true(rule, base, registers))
            continue;
        if (rule->actions & either)
            orders.actions &= ~either;
        orders.actions |= rule->actions;
        if (rule->actions & CN_REC_RULE_DEPTH)
            orders.depth = rule->depth;
        if (rule->actions & CN_REC_RULE_TIME)
            orders.time_ns = rule->time_ns;
        if (rule->actions & CN_REC_RULE_SIZE)
            orders.size_min = rule->size_min;
    }
    return orders;
}

static uint32_t limit_after(uint32_t shown, uint32_t depth)
{
    return depth < UINT32_MAX - shown ? shown + depth : UINT32_MAX;
}

static void obey(struct cn_rec_thread *self, const struct orders *orders)
{
    struct cn_rec_shared *shared = cn_rec_process.shared;
    struct cn_rec_filter_state *filter = &self->filter;
    uint32_t actions = orders->actions;

    if (actions & CN_REC_RULE_ONLY)
        filter->shown_limit = limit_after(filter->shown, filter->only_depth);
    if (actions & CN_REC_RULE_DEPTH)
        filter->shown_limit = limit_after(filter->shown, orders->depth);
    if (actions & CN_REC_RULE_TIME)
        filter->time_limit_ns = orders->time_ns;
    if (actions & CN_REC_RULE_SIZE)
        filter->size_min = orders->size_min;
    if (actions & CN_REC_RULE_ON)
        atomic_store(&shared->is_on, 1);
    if (actions & CN_REC_RULE_OFF)
        atomic_store(&shared->is_on, 0);
    if (atomic_load_explicit(&shared->stop, memory_order_relaxed))
        cn_rec_wiped(self)->limit = 0;
}

static bool is_on(void)
{
    return atomic_load_explicit(&cn_rec_process.shared->is_on, memory_order_relaxed);
}

/* Apply the rules of a call. True if it is recorded, or would be if recording were
 * switched on. Where nothing is recorded, no trigger acts. */
static bool is_chosen(struct cn_rec_thread *self, const struct cn_rec_rule *rule,
                      const struct orders *orders)
{
    struct cn_rec_filter_state *filter = &self->filter;

    filter->in += (orders->actions & CN_REC_RULE_ONLY) != 0;
    filter->out += (orders->actions & CN_REC_RULE_NOT) != 0;
    if (filter->out > 0)
        filter->shown_limit = 0;
    if (filter->out > 0 ||
        (filter->in == 0 &&
         cn_rec_rule_set(cn_rec_process.shared, filter->version)->has_only))
        return false;
    if (orders->actions)
        obey(self, orders);
    return filter->shown < filter->shown_limit && !(orders->actions & CN_REC_RULE_HIDE) &&
           !((orders->actions & CN_REC_RULE_SIZED) && rule->size < filter->size_min);
}

/* How long a call must last to be recorded: UINT64_MAX when it must lead to another. */
static uint64_t least_of(const struct cn_rec_filter_state *filter,
                         const struct orders *orders)
{
    if (orders->actions & CN_REC_RULE_TRACE)
        return 0;
    if (filter->needs_match && !(orders->actions & CN_REC_RULE_CALLER))
        return UINT64_MAX;
    return filter->time_limit_ns;
}

void cn_rec_filter_finish(struct cn_rec_thread *self)
{
    uint32_t running = CN_REC_RUNNING;

    (void)atomic_compare_exchange_strong(&cn_rec_process.shared->stop, &running,
                                         CN_REC_STOP_FINISH);
    if (self)
        cn_rec_wiped(self)->limit = 0;
}

/* Append the arguments of a call to the values of the thread; returns their length. */
static uint32_t store_arguments(struct cn_rec_thread *self,
                                const struct cn_rec_rule *rule, uintptr_t base,
                                const struct cn_rec_registers *registers)
{
    if (!rule || rule->argument_count == 0 || !has_arguments(rule, base, registers))
        return 0;
    return cn_rec_arguments_store(self, rule->arguments, rule->argument_count, registers);
}

static void record_with(struct cn_rec_thread *self, uint64_t time_ns, uint64_t word,
                        const uint8_t *values, uint32_t len)
{
    cn_rec_add(self, time_ns, word | CN_REC_MORE_BIT, (const uint64_t *)values, len);
}

/* The call site of a call, if it is recorded. Tail calls have none. */
static uintptr_t site_of(uint32_t actions, const struct cn_rec_registers *registers)
{
    bool is_wanted = cn_rec_process.shared->has_sites || (actions & CN_REC_RULE_SITE);

    if (!is_wanted || !registers || cn_rec_is_return(registers->site))
        return 0;
    return registers->site;
}

static void record_site(struct cn_rec_thread *self, uint64_t time_ns, uintptr_t site)
{
    uint64_t payload[2] = {CN_REC_SITE_LEN | (uint64_t)site << 16, (uint64_t)site >> 48};

    cn_rec_add(self, time_ns, CN_REC_SITE_WORD, payload, sizeof(payload));
}

/* The offset of a frame's readings. */
static uint32_t readings_at(const struct cn_rec_note *note)
{
    return note->before.values_used + note->values_len;
}

static bool is_pending(const struct cn_rec_frame *frame)
{
    return frame->flags & CN_REC_FRAME_PENDING;
}

/* The entry is no longer pending. */
static void settle(struct cn_rec_frame *frame)
{
    frame->entry_ns = 0;
    frame->flags &= ~(uint64_t)CN_REC_FRAME_PENDING;
}

/* The time of a pending entry, not before that of other records. If a signal handler interrupted
 * the call before its time was known, it is that of the first call of the handler. 0: now. */
static uint64_t entry_time(const struct cn_rec_thread *self,
                           const struct cn_rec_frame *frame,
                           const struct cn_rec_frame *last)
{
    uint64_t time_ns = 0;

    for (; frame <= last && time_ns == 0; frame++)
        if (is_pending(frame))
            time_ns = frame->entry_ns;
    return time_ns > 0 && time_ns < self->passed_ns ? self->passed_ns : time_ns;
}

/* Record a pending entry with what belongs to it, without a record of a signal handler in
 * between. */
static void record_whole(struct cn_rec_thread *self, struct cn_rec_frame *frame,
                         uint64_t time_ns)
{
    const struct cn_rec_note *note = &self->notes[frame - self->frames];
    uint64_t before;

    cn_rec_block_signals(&before);
    if (is_pending(frame)) {
        if (note->site)
            record_site(self, time_ns, note->site);
        if (note->values_len > 0)
            record_with(self, time_ns, cn_rec_frame_shown_word(frame) | CN_REC_ENTRY_WORD,
                        self->values + note->before.values_used, note->values_len);
        else
            cn_rec_record_at(self, time_ns,
                             cn_rec_frame_shown_word(frame) | CN_REC_ENTRY_WORD);
        if (frame->flags & CN_REC_FRAME_READS)
            cn_rec_readings_record(self, note->readings, readings_at(note), time_ns);
        settle(frame);
    }
    cn_rec_restore_signals(&before);
}

/* True if the entry of a call was recorded. That of a frame that is being pushed or popped
 * was not, or its exit is recorded already. */
static bool is_open(const struct cn_rec_frame *frame)
{
    const uint64_t not_recorded =
        CN_REC_FRAME_PENDING | CN_REC_FRAME_SILENT | CN_REC_FRAME_OFF;
    uint64_t flags = frame->flags;

    return !(flags & not_recorded) &&
           (flags & (CN_REC_FRAME_FILTERED | CN_REC_FRAME_QUICK));
}

/* Record the entries of a call and of its callers, where they are pending. */
static void record_pending(struct cn_rec_thread *self, struct cn_rec_frame *last)
{
    struct cn_rec_frame *frame = last;

    cn_rec_settle(self);
    /* The callers of a recorded call are recorded. */
    while (frame > self->frames && !is_open(frame))
        frame--;
    for (frame++; frame <= last; frame++) {
        const struct cn_rec_note *note = &self->notes[frame - self->frames];
        uint64_t flags = frame->flags, time_ns = entry_time(self, frame, last);

        if (!(flags & CN_REC_FRAME_PENDING))
            continue;
        if (!(flags & CN_REC_FRAME_QUICK) &&
            (note->site || note->values_len > 0 || (flags & CN_REC_FRAME_READS))) {
            record_whole(self, frame, time_ns);
            continue;
        }
        cn_rec_record_pending(self, frame, time_ns,
                              cn_rec_frame_shown_word(frame) | CN_REC_ENTRY_WORD);
        settle(frame);
    }
    self->settling = last == self->top ? NULL : self->frames;
}

/* The entry of a call is pending from now on. Signal handlers may record it at once, so that
 * this is the last step; it begins when they have not. */
static void begin_waiting(const struct cn_rec_thread *self, struct cn_rec_frame *frame,
                          bool has_readings)
{
    frame->entry_ns = 0;
    frame->flags |= CN_REC_FRAME_FILTERED | CN_REC_FRAME_PENDING |
                    (has_readings ? CN_REC_FRAME_READS : 0);
    frame->entry_ns = cn_rec_now(self);
}

/* Record the entry of a call now. */
static void record_entry(struct cn_rec_thread *self, struct cn_rec_frame *frame,
                         uint32_t values_len)
{
    const struct cn_rec_note *note = &self->notes[frame - self->frames];

    if (self->has_watched)
        cn_rec_watch_check(self);
    if (note->site)
        record_site(self, 0, note->site);
    if (values_len > 0) {
        record_with(self, 0, cn_rec_frame_shown_word(frame) | CN_REC_ENTRY_WORD,
                    self->values + note->before.values_used, values_len);
        self->filter.values_used = note->before.values_used;
    } else {
        cn_rec_record(self, cn_rec_frame_shown_word(frame) | CN_REC_ENTRY_WORD);
    }
    /* Events are shown inside calls: the first ones follow the first call. */
    if (!self->has_watched && has_watches())
        cn_rec_watch_check(self);
}

/* The same where its callers may be pending. */
static void record_after_waiting(struct cn_rec_thread *self, struct cn_rec_frame *frame,
                                 bool has_readings)
{
    record_pending(self, frame - 1);
    if (self->has_watched)
        cn_rec_watch_check(self);
    begin_waiting(self, frame, has_readings);
    record_pending(self, frame);
    if (!has_readings)
        self->filter.values_used = self->notes[frame - self->frames].before.values_used;
    if (!self->has_watched && has_watches())
        cn_rec_watch_check(self);
}

/* Let assembly filter the next calls of this function, if its rule allows it. */
static void decide(uintptr_t address, const struct cn_rec_rule *rule, uint32_t size_min,
                   uint32_t epoch)
{
    const uint32_t patching =
        CN_REC_RULE_PATCH | CN_REC_RULE_UNPATCH | CN_REC_RULE_PATCH_NAMED;
    uint32_t actions = rule ? rule->actions & ~patching : 0;
    enum cn_rec_decision decision = CN_REC_DECIDE_PLAIN;

    if (rule && (rule->has_more || rule->compare != CN_REC_ALWAYS ||
                 rule->argument_count > 0 || rule->result_count > 0))
        return;
    if (actions & CN_REC_RULE_SIZED) {
        actions &= ~(uint32_t)CN_REC_RULE_SIZED;
        if (rule->size < size_min && (actions & ~(uint32_t)CN_REC_RULE_HIDE))
            return;
        if (rule->size < size_min)
            actions = CN_REC_RULE_HIDE;
    }
    if (actions == CN_REC_RULE_HIDE)
        decision = CN_REC_DECIDE_HIDE;
    else if (actions == CN_REC_RULE_NOT)
        decision = CN_REC_DECIDE_NOT;
    else if (actions == CN_REC_RULE_ONLY)
        decision = CN_REC_DECIDE_ONLY;
    else if (actions)
        return;
    cn_rec_decide(address, decision, epoch);
}

void cn_rec_filter_enter(struct cn_rec_thread *self, struct cn_rec_frame *frame,
                         const struct cn_rec_registers *registers)
{
    struct cn_rec_note *note = &self->notes[frame - self->frames];
    uint32_t version =
        atomic_load_explicit(&cn_rec_process.shared->rule_version, memory_order_acquire);
    uint32_t epoch = cn_rec_decisions_epoch();
    uintptr_t base = 0;
    struct orders orders = {0};

    if (version != self->filter.version)
        cn_rec_module_rules_use(&self->filter, version);
    const struct cn_rec_rule *rule =
        cn_rec_module_rules_find(self->filter.version, frame->address, &base);
    if (cn_rec_process.has_quick_filters)
        decide(frame->address, rule, self->filter.size_min, epoch);
    note->before = self->filter;
    frame->shown = self->filter.shown;
    if (rule && self->filter.out == 0)
        orders = orders_of(rule, base, registers);
    if (!is_chosen(self, rule, &orders)) {
        frame->flags |= CN_REC_FRAME_FILTERED | CN_REC_FRAME_SILENT;
        return;
    }
    self->filter.shown++;
    if (!is_on()) {
        frame->flags |= CN_REC_FRAME_FILTERED | CN_REC_FRAME_OFF;
        return;
    }
    note->site = site_of(orders.actions, registers);
    note->least_ns = least_of(&self->filter, &orders);
    note->readings = orders.actions;
    uint32_t len = store_arguments(self, rule, base, registers);
    note->values_len = 0;
    if (cn_rec_process.shared->has_waits) {
        note->values_len = len;
        bool has_readings = cn_rec_readings_begin(self, orders.actions);
        if (note->least_ns > 0)
            begin_waiting(self, frame, has_readings);
        else
            record_after_waiting(self, frame, has_readings);
    } else {
        frame->flags |= CN_REC_FRAME_FILTERED;
        record_entry(self, frame, len);
        if (cn_rec_readings_begin(self, orders.actions)) {
            frame->flags |= CN_REC_FRAME_READS;
            cn_rec_readings_record(self, orders.actions, readings_at(note), 0);
        }
    }
    if (orders.actions & CN_REC_RULE_FINISH) {
        record_pending(self, frame);
        cn_rec_filter_finish(self);
    }
}

bool cn_rec_filter_depth(const struct cn_rec_thread *self,
                         const struct cn_rec_frame *frame, uint64_t *depth)
{
    *depth = frame->flags & (CN_REC_FRAME_FILTERED | CN_REC_FRAME_QUICK)
                 ? frame->shown
                 : (uint64_t)(frame - self->frames) - 1;
    return !(frame->flags &
             (CN_REC_FRAME_SILENT | CN_REC_FRAME_PENDING | CN_REC_FRAME_OFF));
}

void cn_rec_filter_resume(struct cn_rec_thread *self, struct cn_rec_frame *frame)
{
    self->notes[frame - self->frames] = (struct cn_rec_note){.before = self->filter};
    frame->shown = self->filter.shown;
    frame->flags |= CN_REC_FRAME_FILTERED;
}

static void record_exit(struct cn_rec_thread *self, const struct cn_rec_frame *frame,
                        const struct cn_rec_registers *registers)
{
    const struct cn_rec_note *note = &self->notes[frame - self->frames];
    uint64_t word = cn_rec_frame_shown_word(frame) | CN_REC_EXIT_WORD;
    uintptr_t base;
    const struct cn_rec_rule *rule =
        registers ? cn_rec_module_rules_find(note->before.version, frame->address, &base)
                  : NULL;
    uint32_t at = self->filter.values_used, len = 0;

    if (self->has_watched)
        cn_rec_watch_check(self);
    if (frame->flags & CN_REC_FRAME_READS)
        cn_rec_readings_record_changes(self, note->readings, readings_at(note));
    if (rule && rule->result_count > 0)
        len = cn_rec_arguments_store(self, rule->results, rule->result_count, registers);
    if (len > 0)
        record_with(self, 0, word, self->values + at, len);
    else
        cn_rec_record(self, word);
    self->filter.values_used = at;
}

/* Record the entry of a call that ends, if it is pending and the call has lasted. A signal
 * handler may have recorded it since. */
static bool records_pending(struct cn_rec_thread *self, struct cn_rec_frame *frame,
                            uint64_t least_ns)
{
    if (!self->is_off && least_ns < UINT64_MAX &&
        cn_rec_now(self) - frame->entry_ns >= least_ns) {
        record_pending(self, frame);
        return true;
    }
    frame->flags = (frame->flags & ~(uint64_t)CN_REC_FRAME_PENDING) | CN_REC_FRAME_SILENT;
    return frame->entry_ns == 0;
}

/* True if the exit of a call is recorded. A call that was entered while recording was
 * switched off may have an exit alone. */
static bool records_exit(struct cn_rec_thread *self, struct cn_rec_frame *frame)
{
    uint64_t least_ns = frame->flags & CN_REC_FRAME_QUICK
                            ? self->filter.time_limit_ns
                            : self->notes[frame - self->frames].least_ns;

    if ((frame->flags & CN_REC_FRAME_SILENT) || !is_on())
        return false;
    if (frame->flags & CN_REC_FRAME_OFF)
        return self->filter.time_limit_ns == 0 && !self->filter.needs_match;
    return !is_pending(frame) || records_pending(self, frame, least_ns);
}

/* The same for a call that assembly filtered. */
static void leave_quick(struct cn_rec_thread *self, struct cn_rec_frame *frame)
{
    struct cn_rec_filter_state *filter = &self->filter;

    if (records_exit(self, frame))
        cn_rec_record(self, cn_rec_frame_shown_word(frame) | CN_REC_EXIT_WORD);
    filter->in -= (frame->flags & CN_REC_FRAME_ONLY) != 0;
    filter->out -= (frame->flags & CN_REC_FRAME_NOT) != 0;
    filter->shown = frame->shown;
    filter->shown_limit = frame->limit;
}

void cn_rec_filter_leave(struct cn_rec_thread *self, struct cn_rec_frame *frame,
                         const struct cn_rec_registers *registers)
{
    uint32_t values_used = self->filter.values_used;

    if (frame->flags & CN_REC_FRAME_QUICK) {
        leave_quick(self, frame);
    } else {
        if (records_exit(self, frame))
            record_exit(self, frame, registers);
        self->filter = self->notes[frame - self->frames].before;
    }
    if (frame == self->top)
        return;
    /* Calls that are open on other stacks may have values, and their entries may be pending:
     * C records these, with a later time. */
    self->filter.values_used = values_used;
    self->passed_ns = cn_rec_now(self);
    self->settling = self->frames;
}
