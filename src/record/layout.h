/* Offsets and constants shared by C and assembly; thread.c checks them.
 * Threads: immutable.
 */
#ifndef CN_RECORD_LAYOUT_H
#define CN_RECORD_LAYOUT_H

/* struct cn_rec_thread */
#define CN_REC_T_TOP       0  /* the innermost open call */
#define CN_REC_T_END       8  /* the last frame that assembly may push */
#define CN_REC_T_TRACK     16 /* its first word is `recorded` */
#define CN_REC_T_RING      24
#define CN_REC_T_MASK      32
#define CN_REC_T_MULT      40
#define CN_REC_T_BASE_NS   48
#define CN_REC_T_FRAMES    56
#define CN_REC_T_SLOT      64
#define CN_REC_T_STEPPED   72
#define CN_REC_T_SIGRETURN 80
/* Filters, see calls/filter.h. */
#define CN_REC_T_IS_ON       88 /* address of the switch of all threads */
#define CN_REC_T_SHOWN       96
#define CN_REC_T_SHOWN_LIMIT 100
#define CN_REC_T_TIME_LIMIT  104
#define CN_REC_T_OUT         112
#define CN_REC_T_IN          116
#define CN_REC_T_ONLY_DEPTH  120
/* The frames whose pending entries are being recorded, the position, and the length. */
#define CN_REC_T_SETTLING     144
#define CN_REC_T_SETTLING_END 152
#define CN_REC_T_SETTLING_AT  160
#define CN_REC_T_SLOT_LEN     168
/* In the page that fork clears: as far away as an instruction reaches. */
#if defined(__x86_64__)
#define CN_REC_T_LIMIT 65536
#else
#define CN_REC_T_LIMIT 16384
#endif
#define CN_REC_T_FILTER_END \
    (CN_REC_T_LIMIT + 16) /* the last frame that assembly may push */

/* struct cn_rec_frame */
#define CN_REC_F_LOC      0
#define CN_REC_F_STUB     8
#define CN_REC_F_RET      16
#define CN_REC_F_ADDRESS  24
#define CN_REC_F_FLAGS    32
#define CN_REC_F_CALLER   40
#define CN_REC_F_SHOWN    48 /* and its limit */
#define CN_REC_F_ENTRY_NS 56
#define CN_REC_F_SIZE     64 /* depths are stored in units of it */

/* CN_REC_FRAME_*, in the flags; bits, to test them. */
#define CN_REC_F_UNHOOKED     2
#define CN_REC_F_CALLED       512
#define CN_REC_F_SILENT_BIT   0
#define CN_REC_F_UNHOOKED_BIT 1
#define CN_REC_F_PENDING_BIT  3
#define CN_REC_F_FILTERED_BIT 4
#define CN_REC_F_OFF_BIT      10
#define CN_REC_F_QUICK_BIT    12
#define CN_REC_F_ONLY_BIT     13
#define CN_REC_F_NOT_BIT      14
#define CN_REC_F_SILENT       (1 << CN_REC_F_SILENT_BIT)
#define CN_REC_F_PENDING      (1 << CN_REC_F_PENDING_BIT)
#define CN_REC_F_FILTERED     (1 << CN_REC_F_FILTERED_BIT)
#define CN_REC_F_OFF          (1 << CN_REC_F_OFF_BIT)
#define CN_REC_F_QUICK        (1 << CN_REC_F_QUICK_BIT)
#define CN_REC_F_ONLY         (1 << CN_REC_F_ONLY_BIT)
#define CN_REC_F_NOT          (1 << CN_REC_F_NOT_BIT)

/* Decisions about functions, enum cn_rec_decision: the table has 1 << BITS words, each an
 * address with the decision in its highest bits. */
#define CN_REC_DECISION_SKIP  3 /* bits: no two functions are so close */
#define CN_REC_DECISION_BITS  15
#define CN_REC_DECISION_SHIFT 62

/* The return stubs (state/returns.h): their bytes, and as many for what they stand for. */
#define CN_REC_RETURNS_LEN (8 << 20)

/* A record's second word without address and depth: type and magic. */
#define CN_REC_ENTRY_WORD 0x28
#define CN_REC_EXIT_WORD  0x29
#define CN_REC_LOST_WORD  0x2a
#define CN_REC_EVENT_WORD 0x2b
#define CN_REC_MORE_BIT   0x04
#define CN_REC_TYPE_MASK  0x03
#define CN_REC_EVENT_TYPE 0x03
#define CN_REC_DEPTH_MASK 0xffc0

/* The call site of the next call. */
#define CN_REC_SITE_WORD 0x186ad002f /* event 100013 */
#define CN_REC_SITE_LEN  8

/* The shortest record with a payload that all readers accept: 4 bytes, "on processor
 * 0". */
#define CN_REC_FILL_WORD    0x186ab002f /* event 100011 */
#define CN_REC_FILL_PAYLOAD 4

#endif
