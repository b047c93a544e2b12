#include "record/filter.h"

#include <limits.h>
#include <link.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "record/layout.h"
#include "record/process.h"
#include "record/thread.h"

/* What only the set-up has to know about does not make calls expensive. */
static bool is_about_calls(const struct cn_rec_shared *shared)
{
    uint32_t for_patching = CN_REC_RULE_PATCH | CN_REC_RULE_UNPATCH;

    for (uint32_t i = 0; i < shared->rule_count; i++) {
        if (cn_rec_process.rules[i].actions & ~for_patching)
            return true;
    }
    return shared->time_limit_ns > 0 || shared->depth_limit > 0 ||
           !atomic_load(&shared->is_on);
}

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
    char exe[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

    (void)dl_iterate_phdr(find_program, process);
    exe[len < 0 ? 0 : len] = '\0';
    process->has_rules = strcmp(exe, process->shared->exe) == 0;
    process->has_filters = is_about_calls(process->shared);
}

const struct cn_rec_rule *cn_rec_filter_find(uintptr_t address)
{
    const struct cn_rec_rule *rules = cn_rec_process.rules;
    uint64_t at = address - cn_rec_process.program_low;
    uint32_t low = 0,
             high = cn_rec_process.has_rules ? cn_rec_process.shared->rule_count : 0;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (rules[middle].high <= at)
            low = middle + 1;
        else
            high = middle;
    }
    if (!cn_rec_process.has_rules || low == cn_rec_process.shared->rule_count ||
        at < rules[low].low)
        return NULL;
    return &rules[low];
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
           filter->out == 0 && (!shared->has_only || filter->in > 0) &&
           filter->shown < filter->shown_limit &&
           !(rule && (rule->actions & CN_REC_RULE_HIDE));
}

/* Depths count what is recorded only. */
static uint64_t word_of(const struct cn_rec_frame *frame,
                        const struct cn_rec_filter_state *note)
{
    return (uint64_t)frame->address << 16 |
           ((uint64_t)note->shown << 6 & CN_REC_DEPTH_MASK);
}

void cn_rec_filter_enter(struct cn_rec_thread *self, struct cn_rec_frame *frame)
{
    struct cn_rec_filter_state *note = &self->notes[frame - self->frames];
    const struct cn_rec_rule *rule = cn_rec_filter_find(frame->address);

    *note = self->filter;
    frame->flags |= CN_REC_FRAME_FILTERED;
    if (rule)
        obey(self, rule);
    if (!is_shown(self, rule)) {
        frame->flags |= CN_REC_FRAME_SILENT;
        return;
    }
    self->filter.shown++;
    if (self->filter.time_limit_ns > 0) {
        note->entry_ns = cn_rec_now(self);
        frame->flags |= CN_REC_FRAME_HELD;
    } else {
        cn_rec_record(self, word_of(frame, note) | CN_REC_ENTRY_WORD);
    }
}

/* A call has lasted long enough: so have those that it was called from. */
static void record_held(struct cn_rec_thread *self, const struct cn_rec_frame *last)
{
    struct cn_rec_frame *frame = self->frames + 1;

    for (; frame <= last; frame++) {
        const struct cn_rec_filter_state *note = &self->notes[frame - self->frames];

        if (!(frame->flags & CN_REC_FRAME_HELD))
            continue;
        cn_rec_add(self, note->entry_ns, word_of(frame, note) | CN_REC_ENTRY_WORD, NULL,
                   0);
        frame->flags &= ~(uint64_t)CN_REC_FRAME_HELD;
    }
}

void cn_rec_filter_leave(struct cn_rec_thread *self, struct cn_rec_frame *frame)
{
    const struct cn_rec_filter_state *note = &self->notes[frame - self->frames];
    bool is_dropped = frame->flags & CN_REC_FRAME_SILENT;

    if (frame->flags & CN_REC_FRAME_HELD) {
        is_dropped = cn_rec_now(self) - note->entry_ns < self->filter.time_limit_ns;
        if (!is_dropped)
            record_held(self, frame);
    }
    if (!is_dropped)
        cn_rec_record(self, word_of(frame, note) | CN_REC_EXIT_WORD);
    self->filter = *note;
}
