#include "analyze/wakers/kernel_names.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/views/frames.h"
#include "base/alloc.h"

/* Names that end with '*' are beginnings. */
static const struct {
    const char *name;
    unsigned marks;
} known[] = {
    {"asm_common_interrupt", CN_KERNEL_INTERRUPT},
    {"asm_sysvec_*", CN_KERNEL_INTERRUPT},
    {"asm_exc_nmi", CN_KERNEL_INTERRUPT},
    {"el0t_64_irq", CN_KERNEL_INTERRUPT},
    {"el1h_64_irq", CN_KERNEL_INTERRUPT},
    {"el0_irq", CN_KERNEL_INTERRUPT},
    {"el1_irq", CN_KERNEL_INTERRUPT},
    {"hrtimer_wakeup", CN_KERNEL_TIMER},
    {"__hrtimer_run_queues", CN_KERNEL_TIMER},
    {"hrtimer_run_softirq", CN_KERNEL_TIMER},
    {"process_timeout", CN_KERNEL_TIMER},
    {"call_timer_fn", CN_KERNEL_TIMER},
    {"it_real_fn", CN_KERNEL_TIMER},
    {"posix_timer_fn", CN_KERNEL_TIMER},
    {"net_rx_action", CN_KERNEL_NETWORK},
    {"net_tx_action", CN_KERNEL_NETWORK},
    {"__napi_poll", CN_KERNEL_NETWORK},
    {"__netif_receive_skb*", CN_KERNEL_NETWORK},
    {"blk_mq_complete_request*", CN_KERNEL_DISK},
    {"blk_mq_end_request*", CN_KERNEL_DISK},
    {"blk_update_request", CN_KERNEL_DISK},
    {"blk_done_softirq", CN_KERNEL_DISK},
    {"blk_complete_reqs", CN_KERNEL_DISK},
    {"bio_endio", CN_KERNEL_DISK},
    {"folio_end_writeback", CN_KERNEL_DISK},
    {"nvme_irq", CN_KERNEL_DISK},
    {"virtblk_done", CN_KERNEL_DISK},
    {"kjournald2", CN_KERNEL_DISK},
    {"jbd2_*", CN_KERNEL_DISK},
    {"xlog_*", CN_KERNEL_DISK},
    {"btrfs_*", CN_KERNEL_DISK},
    {"wb_workfn", CN_KERNEL_DISK},
    {"io_schedule*", CN_KERNEL_DISK},
    {"folio_wait_*", CN_KERNEL_DISK},
    {"wait_on_page_*", CN_KERNEL_DISK},
    {"__wait_on_buffer", CN_KERNEL_DISK},
    {"submit_bio_wait", CN_KERNEL_DISK},
    {"blkdev_issue_flush", CN_KERNEL_DISK},
    {"do_nanosleep", CN_KERNEL_SLEEP},
    {"do_exit", CN_KERNEL_EXIT},
    {"mm_release", CN_KERNEL_EXIT},
    {"do_wait", CN_KERNEL_CHILD},
    {"kernel_wait4", CN_KERNEL_CHILD},
    {"kernel_waitid", CN_KERNEL_CHILD},
    {"kthread", CN_KERNEL_THREAD},
    {"entry_SYSCALL_64_after_hwframe", CN_KERNEL_CALL},
    {"do_syscall_64", CN_KERNEL_CALL},
    {"el0_svc", CN_KERNEL_CALL},
    {"el0t_64_sync", CN_KERNEL_CALL},
};

unsigned cn_kernel_marks_of(const char *name)
{
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        size_t len = strlen(known[i].name);
        bool is_beginning = known[i].name[len - 1] == '*';

        if (is_beginning ? strncmp(name, known[i].name, len - 1) == 0
                         : strcmp(name, known[i].name) == 0)
            return known[i].marks;
    }
    return 0;
}

uint16_t *cn_kernel_marks(const struct cn_frames *frames)
{
    uint16_t *of_place = cn_alloc(frames->names.count + 1, sizeof(*of_place));
    uint16_t *marks = cn_alloc(frames->count + 1, sizeof(*marks));

    for (size_t i = 0; i < frames->names.count; i++)
        of_place[i] = (uint16_t)cn_kernel_marks_of(frames->names.list[i]);
    for (size_t i = 0; i < frames->count; i++) {
        const struct cn_frame *frame = &frames->list[i];

        marks[i] = frame->place < frames->names.count ? of_place[frame->place] : 0;
        if (!(marks[i] & CN_KERNEL_INTERRUPT) && frame->parent < i)
            marks[i] |= marks[frame->parent];
    }
    free(of_place);
    return marks;
}
