#include "record/filter.h"

#include "record/layout.h"
#include "record/thread.h"

void cn_rec_filter_enter(struct cn_rec_thread *self, struct cn_rec_frame *frame)
{
    cn_rec_record(self, cn_rec_frame_word(self, frame) | CN_REC_ENTRY_WORD);
}

void cn_rec_filter_leave(struct cn_rec_thread *self, struct cn_rec_frame *frame)
{
    cn_rec_record(self, cn_rec_frame_word(self, frame) | CN_REC_EXIT_WORD);
}
