#include "record/calls/readings.h"

#include <fcntl.h>
#include <stddef.h>
#include <sys/resource.h>

#include "record/calls/pmu.h"
#include "record/layout.h"
#include "record/process.h"
#include "record/state/ring.h"
#include "record/state/thread.h"
#include "record/syscalls.h"

enum {
    EVENT_READ_STATM = 100001,
    EVENT_READ_PAGE_FAULT = 100002,
    EVENT_DIFF_STATM = 100003,
    EVENT_DIFF_PAGE_FAULT = 100004,
    MEMORY_COUNT = 3,
    EVENT_READ_CYCLE = 100005, /* the two of cache and branch follow */
    FAULT_COUNT = 2,
    PMU_COUNT = 2, /* of a pair */
};

struct readings {
    uint64_t memory_kb[MEMORY_COUNT]; /* vmsize, vmrss, shared */
    uint64_t faults[FAULT_COUNT];     /* major, minor */
    uint64_t pmu[CN_REC_PMU_COUNT][PMU_COUNT];
};

static bool reads_pair(uint32_t actions, uint32_t pair)
{
    return actions & (uint32_t)CN_REC_RULE_READ_CYCLES << pair;
}

/* Read the first numbers of /proc/self/statm, which count pages. */
static void read_memory(uint64_t *out)
{
    char text[128];
    long fd, len = 0;
    size_t number = 0;

    fd = cn_rec_syscall6(SYS_openat, AT_FDCWD, (long)"/proc/self/statm",
                         O_RDONLY | O_CLOEXEC, 0, 0, 0);
    if (fd >= 0) {
        len = cn_rec_syscall3(SYS_read, fd, (long)text, sizeof(text));
        (void)cn_rec_syscall3(SYS_close, fd, 0, 0);
    }
    for (long i = 0; i < len && number < MEMORY_COUNT; i++) {
        if (text[i] >= '0' && text[i] <= '9')
            out[number] = out[number] * 10 + (uint64_t)(text[i] - '0');
        else
            number++;
    }
    for (size_t i = 0; i < MEMORY_COUNT; i++)
        out[i] *= cn_rec_process.page_kb;
}

static struct readings read_all(struct cn_rec_thread *self, uint32_t actions)
{
    struct readings now = {0};
    struct rusage usage;

    if (actions & CN_REC_RULE_READ_STATM)
        read_memory(now.memory_kb);
    if ((actions & CN_REC_RULE_READ_FAULTS) &&
        cn_rec_syscall3(SYS_getrusage, RUSAGE_THREAD, (long)&usage, 0) >= 0) {
        now.faults[0] = (uint64_t)usage.ru_majflt;
        now.faults[1] = (uint64_t)usage.ru_minflt;
    }
    for (uint32_t i = 0; i < CN_REC_PMU_COUNT; i++)
        if (reads_pair(actions, i))
            cn_rec_pmu_read(self, i, now.pmu[i]);
    return now;
}

/* Record an event with numbers; their length precedes them in 16 bits. */
static void record(struct cn_rec_thread *self, uint64_t time_ns, uint64_t event,
                   const uint64_t *numbers, uint32_t count)
{
    uint64_t payload[MEMORY_COUNT + 1] = {count * sizeof(*numbers)};

    for (uint32_t i = 0; i < count; i++) {
        payload[i] |= numbers[i] << 16;
        payload[i + 1] = numbers[i] >> 48;
    }
    cn_rec_add(self, time_ns, event << 16 | CN_REC_EVENT_WORD | CN_REC_MORE_BIT, payload,
               (count + 1) * (uint32_t)sizeof(*payload));
}

bool cn_rec_readings_begin(struct cn_rec_thread *self, uint32_t actions)
{
    uint32_t at = self->filter.values_used;

    if (!(actions & CN_REC_RULES_READ) ||
        at > CN_REC_VALUES_LEN - sizeof(struct readings))
        return false;
    *(struct readings *)(self->values + at) = read_all(self, actions);
    self->filter.values_used = at + (uint32_t)sizeof(struct readings);
    return true;
}

static void record_all(struct cn_rec_thread *self, uint64_t time_ns, uint32_t actions,
                       const struct readings *values, bool is_change)
{
    if (actions & CN_REC_RULE_READ_STATM)
        record(self, time_ns, is_change ? EVENT_DIFF_STATM : EVENT_READ_STATM,
               values->memory_kb, MEMORY_COUNT);
    if (actions & CN_REC_RULE_READ_FAULTS)
        record(self, time_ns, is_change ? EVENT_DIFF_PAGE_FAULT : EVENT_READ_PAGE_FAULT,
               values->faults, FAULT_COUNT);
    for (uint32_t i = 0; i < CN_REC_PMU_COUNT; i++)
        if (reads_pair(actions, i))
            record(self, time_ns, EVENT_READ_CYCLE + 2 * i + is_change, values->pmu[i],
                   PMU_COUNT);
}

void cn_rec_readings_record(struct cn_rec_thread *self, uint32_t actions, uint32_t at,
                            uint64_t time_ns)
{
    record_all(self, time_ns, actions, (const struct readings *)(self->values + at),
               false);
}

void cn_rec_readings_record_changes(struct cn_rec_thread *self, uint32_t actions,
                                    uint32_t at)
{
    const struct readings *before = (const struct readings *)(self->values + at);
    struct readings now = read_all(self, actions);

    for (size_t i = 0; i < MEMORY_COUNT; i++)
        now.memory_kb[i] -= before->memory_kb[i];
    for (size_t i = 0; i < FAULT_COUNT; i++)
        now.faults[i] -= before->faults[i];
    for (uint32_t i = 0; i < CN_REC_PMU_COUNT; i++)
        for (uint32_t k = 0; k < PMU_COUNT; k++)
            now.pmu[i][k] -= before->pmu[i][k];
    record_all(self, 0, actions, &now, true);
}
