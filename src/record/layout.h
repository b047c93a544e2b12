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
#define CN_REC_T_LIMIT     16384 /* in the page that fork clears */

/* struct cn_rec_frame */
#define CN_REC_F_LOC      0
#define CN_REC_F_STUB     8
#define CN_REC_F_RET      16
#define CN_REC_F_ADDRESS  24
#define CN_REC_F_FLAGS    32
#define CN_REC_F_CALLER   40
#define CN_REC_F_SIZE     64  /* depths are stored in units of it */
#define CN_REC_F_UNHOOKED 2   /* CN_REC_FRAME_UNHOOKED, in the flags */
#define CN_REC_F_CALLED   512 /* CN_REC_FRAME_CALLED, in the flags */

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
