#include "record/calls/filter.h"

#include <link.h>
#include <stddef.h>
#include <sys/auxv.h>

#include "record/calls/arguments.h"
#include "record/calls/readings.h"
#include "record/layout.h"
#include "record/process.h"
#include "record/state/module_rules.h"
#include "record/state/thread.h"
#include "record/stubs.h"

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

void cn_rec_filter_begin(void)
{
    struct cn_rec_process *process = &cn_rec_process;
    const struct cn_rec_shared *shared = process->shared;
    const struct cn_rec_rule_set *set;

    process->page_kb = getauxval(AT_PAGESZ) / 1024;
    (void)dl_iterate_phdr(find_program, process);
    cn_rec_module_rules_begin();
    /* Rules about patching alone do not need filters at each call. */
    set = cn_rec_rule_set(shared, atomic_load(&shared->rule_version));
    process->has_filters = shared->has_call_rules || set->time_limit_ns > 0 ||
                           set->depth_limit > 0 || shared->has_sites ||
                           shared->has_agent || !atomic_load(&shared->is_on);
}

static void obey(struct cn_rec_thread *self, const struct cn_rec_rule *rule)
{
    struct cn_rec_shared *shared = cn_rec_process.shared;
    struct cn_rec_filter_state *filter = &self->filter;
    uint32_t running = CN_REC_RUNNING;

    filter->in += (rule->actions & CN_REC_RULE_ONLY) != 0;
    filter->out += (rule->actions & CN_REC_RULE_NOT) != 0;
    if (rule->actions & CN_REC_RULE_DEPTH)
        filter->shown_limit = filter->shown + rule->depth;
    if (rule->actions & CN_REC_RULE_TIME)
        filter->time_limit_ns = rule->time_ns;
    if (rule->actions & CN_REC_RULE_ON)
        atomic_store(&shared->is_on, 1);
    if (rule->actions & CN_REC_RULE_OFF)
        atomic_store(&shared->is_on, 0);
    if (rule->actions & CN_REC_RULE_FINISH)
        (void)atomic_compare_exchange_strong(&shared->stop, &running, CN_REC_STOP_FINISH);
    if (atomic_load_explicit(&shared->stop, memory_order_relaxed))
        cn_rec_wiped(self)->limit = 0;
}

static bool is_shown(const struct cn_rec_thread *self, const struct cn_rec_rule *rule)
{
    const struct cn_rec_shared *shared = cn_rec_process.shared;
    const struct cn_rec_filter_state *filter = &self->filter;

    return atomic_load_explicit(&shared->is_on, memory_order_relaxed) &&
           filter->out == 0 &&
           (filter->in > 0 || !cn_rec_rule_set(shared, filter->version)->has_only) &&
           filter->shown < filter->shown_limit &&
           !(rule && (rule->actions & CN_REC_RULE_HIDE));
}

/* Depths count recorded calls only. */
static uint64_t word_of(const struct cn_rec_frame *frame,
                        const struct cn_rec_filter_state *note)
{
    return (uint64_t)frame->address << 16 |
           ((uint64_t)note->shown << 6 & CN_REC_DEPTH_MASK);
}

/* Append the arguments of a call to the values of the thread; returns their length. */
static uint32_t store_arguments(struct cn_rec_thread *self,
                                const struct cn_rec_rule *rule, uintptr_t base,
                                const struct cn_rec_registers *registers)
{
    if (!rule || !registers || rule->argument_count == 0)
        return 0;
    /* In an inlined copy of the function the arguments are elsewhere. */
    if ((registers->saver == CN_REC_SAVED_AT_ENTRY) != (rule->call_off == 0))
        return 0;
    if (rule->call_off > 0 && registers->call_pc - base != rule->low + rule->call_off)
        return 0;
    return cn_rec_arguments_store(self, rule->arguments, rule->argument_count, registers);
}

static void record_with(struct cn_rec_thread *self, uint64_t time_ns, uint64_t word,
                        const uint8_t *values, uint32_t len)
{
    cn_rec_add(self, time_ns, word | CN_REC_MORE_BIT, (const uint64_t *)values, len);
}

/* The call site of a call, if it is recorded. Tail calls have none. */
static uintptr_t site_of(const struct cn_rec_rule *rule,
                         const struct cn_rec_registers *registers)
{
    bool is_wanted =
        cn_rec_process.shared->has_sites || (rule && (rule->actions & CN_REC_RULE_SITE));

    if (!is_wanted || !registers || registers->site == (uintptr_t)cn_rec_return)
        return 0;
    return registers->site;
}

static void record_site(struct cn_rec_thread *self, uint64_t time_ns, uintptr_t site)
{
    uint64_t payload[2] = {CN_REC_SITE_LEN | (uint64_t)site << 16, (uint64_t)site >> 48};

    cn_rec_add(self, time_ns, CN_REC_SITE_WORD, payload, sizeof(payload));
}

/* The offset of a frame's readings. */
static uint32_t readings_at(const struct cn_rec_filter_state *note)
{
    return note->values_used + note->values_len;
}

/* The actions of a frame's rule, if it has readings. */
static uint32_t reading_actions(const struct cn_rec_frame *frame,
                                const struct cn_rec_filter_state *note)
{
    uintptr_t base;
    const struct cn_rec_rule *rule =
        frame->flags & CN_REC_FRAME_READS
            ? cn_rec_module_rules_find(note->version, frame->address, &base)
            : NULL;

    return rule ? rule->actions : 0;
}

void cn_rec_filter_enter(struct cn_rec_thread *self, struct cn_rec_frame *frame,
                         const struct cn_rec_registers *registers)
{
    struct cn_rec_filter_state *note = &self->notes[frame - self->frames];
    uint32_t version =
        atomic_load_explicit(&cn_rec_process.shared->rule_version, memory_order_acquire);
    uintptr_t base = 0;
    const struct cn_rec_rule *rule;
    uint32_t len;

    if (version != self->filter.version)
        cn_rec_module_rules_use(&self->filter, version);
    rule = cn_rec_module_rules_find(self->filter.version, frame->address, &base);
    *note = self->filter;
    frame->flags |= CN_REC_FRAME_FILTERED;
    if (rule)
        obey(self, rule);
    if (!is_shown(self, rule)) {
        frame->flags |= CN_REC_FRAME_SILENT;
        return;
    }
    self->filter.shown++;
    note->site = site_of(rule, registers);
    if (note->site && self->filter.time_limit_ns == 0)
        record_site(self, 0, note->site);
    len = store_arguments(self, rule, base, registers);
    note->values_len = 0;
    if (self->filter.time_limit_ns > 0) {
        note->values_len = len;
        note->entry_ns = cn_rec_now(self);
        frame->flags |= CN_REC_FRAME_PENDING;
    } else if (len > 0) {
        record_with(self, 0, word_of(frame, note) | CN_REC_ENTRY_WORD,
                    self->values + note->values_used, len);
        self->filter.values_used = note->values_used;
    } else {
        cn_rec_record(self, word_of(frame, note) | CN_REC_ENTRY_WORD);
    }
    if (rule && cn_rec_readings_begin(self, rule->actions)) {
        frame->flags |= CN_REC_FRAME_READS;
        if (!(frame->flags & CN_REC_FRAME_PENDING))
            cn_rec_readings_record(self, rule->actions, readings_at(note), 0);
    }
}

/* Record the entries of a call that lasted long enough, and of its callers, which did so
 * as well. */
static void record_pending(struct cn_rec_thread *self, const struct cn_rec_frame *last)
{
    struct cn_rec_frame *frame = self->frames + 1;

    for (; frame <= last; frame++) {
        const struct cn_rec_filter_state *note = &self->notes[frame - self->frames];

        if (!(frame->flags & CN_REC_FRAME_PENDING))
            continue;
        if (note->site)
            record_site(self, note->entry_ns, note->site);
        if (note->values_len > 0)
            record_with(self, note->entry_ns, word_of(frame, note) | CN_REC_ENTRY_WORD,
                        self->values + note->values_used, note->values_len);
        else
            cn_rec_add(self, note->entry_ns, word_of(frame, note) | CN_REC_ENTRY_WORD,
                       NULL, 0);
        cn_rec_readings_record(self, reading_actions(frame, note), readings_at(note),
                               note->entry_ns);
        frame->flags &= ~(uint64_t)CN_REC_FRAME_PENDING;
    }
}

static void record_exit(struct cn_rec_thread *self, const struct cn_rec_frame *frame,
                        const struct cn_rec_registers *registers)
{
    const struct cn_rec_filter_state *note = &self->notes[frame - self->frames];
    uint64_t word = word_of(frame, note) | CN_REC_EXIT_WORD;
    uintptr_t base;
    const struct cn_rec_rule *rule =
        registers ? cn_rec_module_rules_find(note->version, frame->address, &base) : NULL;
    uint32_t at = self->filter.values_used, len = 0;

    if (frame->flags & CN_REC_FRAME_READS)
        cn_rec_readings_record_changes(self, reading_actions(frame, note),
                                       readings_at(note));
    if (rule && rule->result_count > 0)
        len = cn_rec_arguments_store(self, rule->results, rule->result_count, registers);
    if (len > 0)
        record_with(self, 0, word, self->values + at, len);
    else
        cn_rec_record(self, word);
    self->filter.values_used = at;
}

void cn_rec_filter_leave(struct cn_rec_thread *self, struct cn_rec_frame *frame,
                         const struct cn_rec_registers *registers)
{
    uint32_t values_used = self->filter.values_used;
    const struct cn_rec_filter_state *note = &self->notes[frame - self->frames];
    bool is_dropped = frame->flags & CN_REC_FRAME_SILENT;

    if (frame->flags & CN_REC_FRAME_PENDING) {
        is_dropped = self->is_off ||
                     cn_rec_now(self) - note->entry_ns < self->filter.time_limit_ns;
        if (!is_dropped)
            record_pending(self, frame);
    }
    if (!is_dropped)
        record_exit(self, frame, registers);
    self->filter = *note;
    /* Calls that are open on other stacks may have values above. */
    if (frame != self->top)
        self->filter.values_used = values_used;
}
