/* The hooks on aarch64.
 *
 *   _mcount        after the prologue: x29 points to the caller's x29 and x30 in memory
 *   cn_rec_patched instead of the body of a patched function, whose address is in x17, and
 *                  which it calls
 *   cn_rec_moved   the same for a function whose first instruction was moved
 *   cn_rec_libcall a library call: x17 is its number, x30 its return address
 *   cn_rec_return  calls return to stubs (state/returns.h), which jump here
 *
 * Vector registers are not used, neither here nor in the C code, which is built without
 * them; x0 to x8 are preserved. Temporary registers are free at the entry of a function, and
 * preserved at its end: with -fipa-ra a caller may rely on those that a function does not
 * use.
 *
 * A frame whose return address was in a register has loc = sp | 1.
 */
#include "record/layout.h"

#define T(member) [x9, #CN_REC_T_##member]

	.macro	function name, align=4
	.globl	\name
	.type	\name, %function
	.p2align \align
\name:
	.cfi_startproc
	.endm

	.macro	hidden_function name
	.hidden	\name
	function \name
	.endm

	.macro	end_function name
	.cfi_endproc
	.size	\name, .-\name
	.endm

	.macro	load_self
	mrs	x9, tpidr_el0
	adrp	x12, :gottprel:cn_rec_self
	ldr	x12, [x12, #:gottprel_lo12:cn_rec_self]
	ldr	x9, [x9, x12]
	.endm

/* As on x86_64: claim the slot of a record, its position to x15; or go to \full. Uses
 * x14, x16. */
	.macro	take_slot full
1:	ldr	x14, T(TRACK)
	ldr	x15, [x14]
	ldr	x16, T(LIMIT)
	cmp	x15, x16
	b.hs	\full
	ldr	x16, T(SLOT)
	cmp	x15, x16
	b.eq	\full
	str	x15, T(SLOT)
	ldr	x16, [x14]
	cmp	x15, x16
	b.eq	2f
	ldr	x16, T(STEPPED)
	cmp	x15, x16
	b.ne	1b
2:
	.endm

/* The time, to x16. */
	.macro	load_time temp, other
	mrs	x16, cntvct_el0
	ldr	\temp, T(MULT)
	mul	\other, x16, \temp
	umulh	x16, x16, \temp
	extr	x16, x16, \other, #32
	ldr	\temp, T(BASE_NS)
	add	x16, x16, \temp
	.endm

/* The address of the record at the position \at, to \place. */
	.macro	load_place place, at, temp
	ldr	\place, T(MASK)
	and	\place, \place, \at
	ldr	\temp, T(RING)
	add	\place, \place, \temp
	.endm

/* Store the record with the word in x13 there; when a signal handler has stepped over the slot, go
 * to \again. Uses x12, x16, x17. */
	.macro	store_record again
	load_time x17, x12
	load_place x17, x15, x12
	stp	x16, x13, [x17]
	add	x12, x15, #16
2:	ldxr	x16, [x14]
	cmp	x16, x15
	b.ne	\again
	stlxr	w16, x12, [x14]
	cbnz	w16, 2b
	.endm

/* Complete the record with the word in x13 at x15. */
	.macro	finish_record
	clrex
	save_all
	mov	x0, x13
	mov	x1, x15
	bl	cn_rec_finish_slot
	restore_all
	.endm

	.macro	finish_record_and_return
	clrex
	mov	x0, x13
	mov	x1, x15
	b	cn_rec_finish_slot
	.endm

	.macro	save_all
	stp	x29, x30, [sp, #-176]!
	.cfi_adjust_cfa_offset 176
	.cfi_rel_offset x29, 0
	.cfi_rel_offset x30, 8
	mov	x29, sp
	stp	x0, x1, [sp, #16]
	stp	x2, x3, [sp, #32]
	stp	x4, x5, [sp, #48]
	stp	x6, x7, [sp, #64]
	stp	x8, x9, [sp, #80]
	stp	x10, x11, [sp, #96]
	stp	x12, x13, [sp, #112]
	stp	x14, x15, [sp, #128]
	stp	x16, x17, [sp, #144]
	str	x18, [sp, #160]
	.endm

	.macro	restore_all
	ldp	x0, x1, [sp, #16]
	ldp	x2, x3, [sp, #32]
	ldp	x4, x5, [sp, #48]
	ldp	x6, x7, [sp, #64]
	ldp	x8, x9, [sp, #80]
	ldp	x10, x11, [sp, #96]
	ldp	x12, x13, [sp, #112]
	ldp	x14, x15, [sp, #128]
	ldp	x16, x17, [sp, #144]
	ldr	x18, [sp, #160]
	ldp	x29, x30, [sp], #176
	.cfi_adjust_cfa_offset -176
	.cfi_restore x29
	.cfi_restore x30
	.endm

/* The stub of the frame above x11, to x16; or go to \none. */
	.macro	load_stub none
	ldr	x16, [x11, #CN_REC_F_SIZE+CN_REC_F_STUB]
	cbz	x16, \none
	.endm

/* The value of the stub \stub. */
	.macro	load_value reg, stub
	add	\reg, \stub, #CN_REC_RETURNS_LEN
	ldur	\reg, [\reg, #-4]
	.endm

/* Push the frame above x11, with loc x10. */
	.macro	push_frame ret, function, flags
	add	x11, x11, #CN_REC_F_SIZE
	str	x11, T(TOP)
	str	x10, [x11, #CN_REC_F_LOC]
	stp	\ret, \function, [x11, #CN_REC_F_RET]
	str	\flags, [x11, #CN_REC_F_FLAGS]
	.endm

/* Push the frame above x11 of a filtered call, with loc x10, and \pair as of `filter`: it is complete
 * when the flags are set, except for the time of one that must last, which is counted here. */
	.macro	push_filtered_frame ret, function, flags, pair
	add	x11, x11, #CN_REC_F_SIZE
	str	x11, T(TOP)
	str	x10, [x11, #CN_REC_F_LOC]
	stp	\ret, \function, [x11, #CN_REC_F_RET]
	str	x\pair, [x11, #CN_REC_F_SHOWN]
	str	\flags, [x11, #CN_REC_F_FLAGS]
	.endm

	.macro	push_waiting ret, function, flags, pair
	add	x11, x11, #CN_REC_F_SIZE
	str	x11, T(TOP)
	str	x10, [x11, #CN_REC_F_LOC]
	stp	\ret, \function, [x11, #CN_REC_F_RET]
	stp	x\pair, xzr, [x11, #CN_REC_F_SHOWN]
	count_shown \pair
	str	\flags, [x11, #CN_REC_F_FLAGS]
	.endm

/* Unwinders of a call that returns to the stub x16 see the return address \seen. Signal handlers
 * use the stub before its frame is pushed. Uses x17. */
	.macro	set_value seen
	add	x17, x16, #CN_REC_RETURNS_LEN
	stur	\seen, [x17, #-4]
	.endm

/* As on x86_64. Uses x12. */
	.macro	pop_frame
	mov	x12, #-1
	str	x12, [x11, #CN_REC_F_LOC]
	sub	x11, x11, #CN_REC_F_SIZE
	str	x11, T(TOP)
	.endm

/* The word of a record about the frame x11, to x13. Uses x12. */
	.macro	make_word function, type
	ldr	x12, T(FRAMES)
	sub	x12, x11, x12
	sub	x12, x12, #CN_REC_F_SIZE
	and	x12, x12, #CN_REC_DEPTH_MASK
	orr	x13, x12, \function, lsl #16
	mov	x12, #\type
	orr	x13, x13, x12
	.endm

/* Filters, as calls/filter.h describes. What was decided about \function, to x14, without its
 * address: 0 if it has no rule. Uses x16. */
	.macro	load_decision function
	ubfx	x14, \function, #CN_REC_DECISION_SKIP, #CN_REC_DECISION_BITS
	adrp	x16, cn_rec_decisions
	add	x16, x16, #:lo12:cn_rec_decisions
	ldr	x14, [x16, x14, lsl #3]
	eor	x14, x14, \function
	.endm

/* C looks after calls while recording is switched off. */
	.macro	check_on temp, slow
	ldr	x\temp, T(IS_ON)
	ldr	w\temp, [x\temp]
	cbz	w\temp, \slow
	.endm

/* Filter a call of \function: `shown` and its limit to x\pair. Falls through if it is recorded now;
 * goes to \beyond if it is left out and has no rule, to \slow if C must look at it; else to a label
 * of filter_rest. Uses x14, x16. */
	.macro	filter function, pair, beyond, slow
	ldr	x14, T(FILTER_END)
	cmp	x11, x14
	b.hs	\slow
	load_decision \function
	ldr	x\pair, T(SHOWN)
	cbnz	x14, 31f
	lsr	x16, x\pair, #32
	cmp	w\pair, w16
	b.hs	\beyond
	check_on 16, \slow
	ldr	x16, T(TIME_LIMIT)
	cbnz	x16, 33f
	.endm

/* The rest goes to \silent if the call is left out by a rule, to \not and \only if it also has that
 * rule, to \waits if it must last. */
	.macro	filter_rest silent, not, only, waits, slow
31:	tst	x14, #(1 << CN_REC_DECISION_SHIFT) - 1
	b.ne	\slow		/* of another function */
	tbz	x14, #63, \silent
	ldr	w16, T(OUT)
	cbnz	w16, \silent	/* inside RULE_NOT no rule counts */
	tbz	x14, #62, \not
	check_on 16, \slow
	ldr	x16, T(TIME_LIMIT)
	cbnz	x16, \slow
	b	\only
33:	b	\waits
	.endm

/* Count a call that is recorded, and was pushed. As on x86_64, both numbers are one word. */
	.macro	count_shown pair
	add	x\pair, x\pair, #1
	str	x\pair, T(SHOWN)
	.endm

/* The same for a call with RULE_ONLY; and one with RULE_NOT. Uses x14. */
	.macro	count_only pair
	ldr	w14, T(IN)
	add	w14, w14, #1
	str	w14, T(IN)
	ldr	w14, T(ONLY_DEPTH)
	adds	w14, w14, w\pair
	csinv	w14, w14, wzr, cc
	add	w\pair, w\pair, #1
	orr	x\pair, x\pair, x14, lsl #32
	str	x\pair, T(SHOWN)
	.endm

	.macro	count_not
	mov	w14, #1
	str	w14, T(OUT)
	str	wzr, T(SHOWN_LIMIT)
	.endm

/* Undo count_shown or count_only for the frame x11. Uses x12, x13. */
	.macro	uncount
	ldr	x12, [x11, #CN_REC_F_FLAGS]
	ldr	x13, [x11, #CN_REC_F_SHOWN]
	str	x13, T(SHOWN)
	tbz	x12, #CN_REC_F_ONLY_BIT, 30f
	ldr	w13, T(IN)
	sub	w13, w13, #1
	str	w13, T(IN)
30:
	.endm

/* The word of a record about a filtered call, to x13. Uses x14. */
	.macro	make_shown_word function, shown, type
	ubfiz	x14, \shown, #6, #10
	orr	x13, x14, \function, lsl #16
	add	x13, x13, #\type
	.endm

	.macro	pop_called hooked
	.if	\hooked
	ldr	x30, [x11, #CN_REC_F_RET]
	.endif
	pop_frame
	.endm

/* End the filtered call of the frame x11, go to \done; or to \slow. What was counted is restored
 * last: calls of signal handlers must not have a lower depth. */
	.macro	leave_filtered hooked, done, slow
28:	ldr	x12, [x11, #CN_REC_F_FLAGS]
	tbnz	x12, #CN_REC_F_PENDING_BIT, 33f
	tbnz	x12, #CN_REC_F_SILENT_BIT, 31f
29:	ldr	x10, [x11, #CN_REC_F_SHOWN]
	check_on 14, \slow
	ldr	x13, [x11, #CN_REC_F_ADDRESS]
	make_shown_word x13, x10, CN_REC_EXIT_WORD
	take_slot \slow
	tbnz	x12, #CN_REC_F_ONLY_BIT, 34f
30:	str	xzr, [x11, #CN_REC_F_FLAGS]
	pop_called \hooked
	store_record 35f
	str	x10, T(SHOWN)
	b	\done
31:	tbz	x12, #CN_REC_F_NOT_BIT, 32f
	ldr	x10, [x11, #CN_REC_F_SHOWN]
	str	wzr, T(OUT)
	str	x10, T(SHOWN)
32:	pop_called \hooked
	b	\done
33:	ldr	x14, T(TRACK)
	ldr	x15, [x14]	/* the position, before the time is read */
	load_time x13, x17
	ldp	x10, x13, [x11, #CN_REC_F_SHOWN]	/* and the time of its entry */
	sub	x13, x16, x13
	ldr	x17, T(TIME_LIMIT)
	cmp	x13, x17
	b.hs	36f
	str	xzr, [x11, #CN_REC_F_FLAGS]	/* no signal handler records its entry from now on */
	ldr	x13, [x11, #CN_REC_F_ENTRY_NS]
	cbz	x13, 42f
	pop_called \hooked
	str	x10, T(SHOWN)
	b	\done
42:	and	x12, x12, #~CN_REC_F_PENDING	/* one has recorded it */
	str	x12, [x11, #CN_REC_F_FLAGS]
	b	29b
34:	ldr	w16, T(IN)
	sub	w16, w16, #1
	str	w16, T(IN)
	b	30b
35:	finish_record
	str	x10, T(SHOWN)
	b	\done
	/* It has lasted. Find the first call that is pending, x10. */
36:	check_on 13, \slow
	ldr	x13, T(SETTLING)
	cbnz	x13, \slow		/* in a signal handler that interrupted this */
	mov	x10, x11
37:	ldr	x13, [x10, #CN_REC_F_ENTRY_NS]
	cbz	x13, \slow		/* it has no time yet, or was recorded */
	ldur	x12, [x10, #CN_REC_F_FLAGS-CN_REC_F_SIZE]
	tbz	x12, #CN_REC_F_PENDING_BIT, 38f
	tbz	x12, #CN_REC_F_QUICK_BIT, \slow
	sub	x10, x10, #CN_REC_F_SIZE
	b	37b
38:	tbnz	x12, #CN_REC_F_SILENT_BIT, \slow	/* its callers may be pending */
	tbnz	x12, #CN_REC_F_OFF_BIT, \slow
	tbnz	x12, #CN_REC_F_QUICK_BIT, 39f
	tbz	x12, #CN_REC_F_FILTERED_BIT, \slow	/* it is being pushed or popped */
	/* As take_slot, for the entries from there and the exit, unless a signal handler has recorded
	 * any since. */
39:	ldr	x13, [x14]
	cmp	x13, x15
	b.ne	28b
	ldr	x13, T(SLOT)
	cmp	x13, x15
	b.eq	\slow
	sub	x13, x11, x10
	lsr	x13, x13, #2	/* 16 bytes for each, except for the first */
	add	x12, x15, x13
	add	x12, x12, #16
	ldr	x17, T(LIMIT)
	cmp	x12, x17
	b.hs	\slow
	add	x13, x13, #32
	str	x13, T(SLOT_LEN)
	str	x11, T(SETTLING_END)
	str	x15, T(SETTLING_AT)
	str	x10, T(SETTLING)
	str	x15, T(SLOT)
	ldr	x17, [x14]
	cmp	x17, x15
	b.eq	43f
	ldr	x17, T(STEPPED)
	cmp	x17, x15
	b.ne	46f
43:	mov	x17, x15
44:	ldr	w12, [x10, #CN_REC_F_SHOWN]
	ldr	x13, [x10, #CN_REC_F_ADDRESS]
	make_shown_word x13, x12, CN_REC_ENTRY_WORD
	load_place x12, x17, x14
	ldr	x14, [x10, #CN_REC_F_ENTRY_NS]
	stp	x14, x13, [x12]
	add	x17, x17, #16
	cmp	x10, x11
	add	x10, x10, #CN_REC_F_SIZE
	b.lo	44b
	load_place x12, x17, x14
	add	x13, x13, #1	/* of the exit */
	stp	x16, x13, [x12]
	add	x17, x17, #16
	/* It ends now, whatever a signal handler does; one that runs before the flags are stored may have
	 * settled it, which must not be undone. */
	ldr	x12, [x11, #CN_REC_F_FLAGS]
	and	x12, x12, #~CN_REC_F_PENDING
	orr	x12, x12, #CN_REC_F_SILENT
	str	x12, [x11, #CN_REC_F_FLAGS]
	ldr	x14, T(TRACK)
2:	ldxr	x12, [x14]
	cmp	x12, x15
	b.ne	41f
	stlxr	w12, x17, [x14]
	cbnz	w12, 2b
40:	sub	x10, x15, x17
	add	x10, x11, x10, lsl #2
	add	x10, x10, #128	/* the first one again: handlers change `settling` */
45:	ldr	x12, [x10, #CN_REC_F_FLAGS]
	and	x12, x12, #~CN_REC_F_PENDING
	str	x12, [x10, #CN_REC_F_FLAGS]
	str	xzr, [x10, #CN_REC_F_ENTRY_NS]
	cmp	x10, x11
	add	x10, x10, #CN_REC_F_SIZE
	b.lo	45b
	mov	x12, #16
	str	x12, T(SLOT_LEN)
	str	xzr, T(SETTLING)
	ldr	x10, [x11, #CN_REC_F_SHOWN]
	str	xzr, [x11, #CN_REC_F_FLAGS]
	pop_called \hooked
	str	x10, T(SHOWN)
	b	\done
41:	clrex
	save_all
	mov	x0, x15
	mov	x1, x16
	sub	x2, x17, x15
	bl	cn_rec_finish_settled
	restore_all
	b	40b
46:	mov	x12, #16
	str	x12, T(SLOT_LEN)
	str	xzr, T(SETTLING)
	b	28b
	.endm

/* Callee-saved registers: arguments may have been moved there. */
	.macro	save_callee_saved at
	stp	x19, x20, [sp, #\at]
	stp	x21, x22, [sp, #\at+16]
	stp	x23, x24, [sp, #\at+32]
	stp	x25, x26, [sp, #\at+48]
	stp	x27, x28, [sp, #\at+64]
	.endm

	.text
	.globl	_mcount, mcount
	.type	_mcount, %function
	.type	mcount, %function
	.p2align 4
_mcount:
mcount:
.Lmcount:
	.cfi_startproc
	hint	#34		/* bti c */
	load_self
	add	x10, x29, #8
	cbz	x9, 7f
	ldr	x11, T(TOP)
	ldr	x12, [x11, #CN_REC_F_LOC]
	cmp	x10, x12
	b.hs	6f
	ldr	x13, [x29]	/* is the caller the innermost open call? */
	sub	x12, x12, #8
	cmp	x12, x13
	b.hi	19f
	b.ne	6f
	ldr	x12, [x10]
	lsr	x13, x12, #48	/* a signed address must not be changed */
	cbnz	x13, 8f
	sub	x15, x12, #1	/* not of a signal handler: these have other callers */
5:	ldr	x13, T(END)
	cmp	x11, x13
	b.hs	20f
	load_stub 7f
	push_frame x12, x30, xzr
	set_value x15
	str	x16, [x10]
	make_word x30, CN_REC_ENTRY_WORD
	take_slot 10f	/* after the frame, as on x86_64 */
	store_record 9f
8:	ret
9:	finish_record
	ret
6:	ldr	x13, [x11, #CN_REC_F_STUB]	/* a tail call: the address is that of its stub */
	ldr	x12, [x10]
	cmp	x12, x13
	b.ne	7f
	load_value x15, x12
	b	5b
/* Called by a function that has no frame: the limit may be reached, as for that one. */
19:	ldr	x14, T(FILTER_END)
	cmp	x11, x14
	b.hs	6b
	load_decision x30
	ldr	x17, T(SHOWN)
	cbnz	x14, 6b
	lsr	x16, x17, #32
	cmp	w17, w16
	b.lo	6b
	ret
/* Beyond the limit (8b) its callees are left out as well: it needs no frame, and returns as without a
 * recorder. */
20:	filter x30, 17, 8b, 7f
	mov	x13, #CN_REC_F_QUICK
	load_stub 7f
	push_filtered_frame x12, x30, x13, 17
	make_shown_word x30, x17, CN_REC_ENTRY_WORD
	count_shown 17
21:	set_value x15
	str	x16, [x10]
	take_slot 27f
	store_record 9b
	ret
22:	mov	x13, #CN_REC_F_QUICK | CN_REC_F_SILENT
	load_stub 7f
	push_filtered_frame x12, x30, x13, 17
23:	set_value x15
	str	x16, [x10]
	ret
24:	mov	x13, #CN_REC_F_QUICK | CN_REC_F_SILENT | CN_REC_F_NOT
	load_stub 7f
	push_filtered_frame x12, x30, x13, 17
	count_not
	b	23b
25:	mov	x13, #CN_REC_F_QUICK | CN_REC_F_ONLY
	load_stub 7f
	push_filtered_frame x12, x30, x13, 17
	make_shown_word x30, x17, CN_REC_ENTRY_WORD
	count_only 17
	b	21b
26:	mov	x13, #CN_REC_F_QUICK | CN_REC_F_PENDING
	load_stub 7f
	push_waiting x12, x30, x13, 17
	set_value x15
	str	x16, [x10]
	load_time x13, x14
	str	x16, [x11, #CN_REC_F_ENTRY_NS]
	ret
	filter_rest 22b, 24b, 25b, 26b, 7f
27:	uncount
10:	ldr	x12, [x11, #CN_REC_F_RET]
	str	x12, [x10]
	pop_frame
7:	ldr	x12, [x10]
	lsr	x13, x12, #48
	cbnz	x13, 8b
	sub	sp, sp, #80
	.cfi_adjust_cfa_offset 80
	save_callee_saved 0
	save_all
	mov	x0, x10
	mov	x1, x30
	mov	x2, sp
	mov	x3, #0
	bl	cn_rec_enter
	restore_all
	add	sp, sp, #80
	.cfi_adjust_cfa_offset -80
	ret
	end_function _mcount

/* Restore what cn_rec_moved saved. */
	.macro	leave_room room
	.if	\room
	ldp	x9, x10, [sp]
	ldp	x11, x12, [sp, #16]
	ldp	x13, x14, [sp, #32]
	ldr	x15, [sp, #48]
	add	sp, sp, #\room
	.cfi_adjust_cfa_offset -\room
	.endif
	.endm

/* As on x86_64: the body at x17 is called once the return address is in a frame. The
 * address to record is after the landing place, or before moved instructions. \room bytes
 * are on the stack. */
	.macro	load_function reg, room
	.if	\room
	ldur	\reg, [x17, #-8]
	.else
	add	\reg, x17, #4
	.endif
	.endm

	.macro	push_filtered flags
	mov	x14, #CN_REC_F_QUICK | \flags
	load_stub 7f
	push_filtered_frame x30, x13, x14, 12
	str	x29, [x11, #CN_REC_F_CALLER]
	.endm

	.macro	enter_called room
	load_self
	add	x10, sp, #\room
	orr	x10, x10, #1
	cbz	x9, 7f
	ldr	x11, T(TOP)
	ldr	x12, [x11, #CN_REC_F_LOC]
	cmp	x10, x12
	b.hs	6f
	cmn	x12, #3		/* CN_REC_LOC_GONE: C removes it */
	b.eq	7f
	ldr	x12, T(SIGRETURN)
	cmp	x30, x12
	cset	x15, ne
	sub	x15, x30, x15
5:	load_function x13, \room
	ldr	x12, T(END)
	cmp	x11, x12
	b.hs	20f
	load_stub 7f
	push_frame x30, x13, xzr
	str	x29, [x11, #CN_REC_F_CALLER]
	mov	x10, x17
	set_value x15
	mov	x30, x16
	make_word x13, CN_REC_ENTRY_WORD
	take_slot 10f	/* after the frame, as on x86_64 */
	store_record 9f
8:	mov	x17, x10
	sub	x16, x30, #4
	.cfi_remember_state
	leave_room \room
	br	x16		/* to the call before x30 */
	.cfi_restore_state
6:	b.ne	7f
	ldr	x13, [x11, #CN_REC_F_STUB]	/* a tail call */
	cmp	x30, x13
	b.ne	7f
	load_value x15, x30
	b	5b
20:	filter x13, 12, 13f, 7f
	push_filtered 0
	make_shown_word x13, x12, CN_REC_ENTRY_WORD
	count_shown 12
21:	mov	x10, x17
	set_value x15
	mov	x30, x16
	take_slot 27f
	store_record 9f
	b	8b
22:	push_filtered CN_REC_F_SILENT
23:	mov	x10, x17
	set_value x15
	mov	x30, x16
	b	8b
24:	push_filtered CN_REC_F_SILENT | CN_REC_F_NOT
	count_not
	b	23b
25:	push_filtered CN_REC_F_ONLY
	make_shown_word x13, x12, CN_REC_ENTRY_WORD
	count_only 12
	b	21b
26:	mov	x14, #CN_REC_F_QUICK | CN_REC_F_PENDING
	load_stub 7f
	push_waiting x30, x13, x14, 12
	str	x29, [x11, #CN_REC_F_CALLER]
	mov	x10, x17
	set_value x15
	mov	x30, x16
	load_time x13, x14
	str	x16, [x11, #CN_REC_F_ENTRY_NS]
	b	8b
	filter_rest 22b, 24b, 25b, 26b, 7f
27:	uncount
10:	ldr	x30, [x11, #CN_REC_F_RET]
	mov	x17, x10
	pop_frame
7:	save_all
	mov	x0, sp
	add	x0, x0, #176+\room
	load_function x1, \room
	mov	x2, x30
	mov	x3, sp
	bl	cn_rec_enter_register
	cbz	x0, 12f
	str	x0, [sp, #8]	/* comes back as x30 */
12:	str	x0, [sp, #144]	/* as x16 */
	restore_all
	cbz	x16, 13f
	sub	x16, x16, #4
	.cfi_remember_state
	leave_room \room
	br	x16
	.cfi_restore_state
13:	leave_room \room
	br	x17		/* not recorded */
	.if	\room
	.cfi_adjust_cfa_offset \room
	.endif
9:	finish_record
	b	8b
	.endm

	hidden_function cn_rec_patched
	hint	#34
	enter_called 0
	end_function cn_rec_patched

/* As on x86_64: callers may rely on registers that the function does not use, except for x16
 * and x17. */
	hidden_function cn_rec_moved
	hint	#34
	sub	sp, sp, #64
	.cfi_adjust_cfa_offset 64
	stp	x9, x10, [sp]
	stp	x11, x12, [sp, #16]
	stp	x13, x14, [sp, #32]
	str	x15, [sp, #48]
	enter_called 64
	end_function cn_rec_moved

/* -finstrument-functions: ordinary calls, see hooks_x86_64.S. */
	function __cyg_profile_func_enter
	hint	#34
	load_self
	sub	x10, sp, #8
	cbz	x9, 8f
	ldr	x11, T(TOP)
	ldr	x12, [x11, #CN_REC_F_LOC]
	cmp	x10, x12
	b.hi	8f
	ldr	x12, [x11, #CN_REC_F_FLAGS]
	cmp	x12, #CN_REC_F_UNHOOKED
	b.ne	20f
	ldr	x12, T(END)
	cmp	x11, x12
	b.hs	20f
	mov	x12, #CN_REC_F_UNHOOKED
	push_frame xzr, x0, x12
	make_word x0, CN_REC_ENTRY_WORD
	take_slot 7f
	store_record 9f
	ret
9:	finish_record_and_return
20:	ldr	x12, [x11, #CN_REC_F_FLAGS]
	tbz	x12, #CN_REC_F_UNHOOKED_BIT, 8f
	filter x0, 12, 22f, 8f
	mov	x14, #CN_REC_F_QUICK | CN_REC_F_UNHOOKED
	push_filtered_frame xzr, x0, x14, 12
	make_shown_word x0, x12, CN_REC_ENTRY_WORD
	count_shown 12
21:	take_slot 27f
	store_record 9b
	ret
22:	mov	x14, #CN_REC_F_QUICK | CN_REC_F_UNHOOKED | CN_REC_F_SILENT
	push_filtered_frame xzr, x0, x14, 12
	ret
24:	mov	x14, #CN_REC_F_QUICK | CN_REC_F_UNHOOKED | CN_REC_F_SILENT
	orr	x14, x14, #CN_REC_F_NOT
	push_filtered_frame xzr, x0, x14, 12
	count_not
	ret
25:	mov	x14, #CN_REC_F_QUICK | CN_REC_F_UNHOOKED | CN_REC_F_ONLY
	push_filtered_frame xzr, x0, x14, 12
	make_shown_word x0, x12, CN_REC_ENTRY_WORD
	count_only 12
	b	21b
26:	mov	x14, #CN_REC_F_QUICK | CN_REC_F_UNHOOKED | CN_REC_F_PENDING
	push_waiting xzr, x0, x14, 12
	load_time x13, x14
	str	x16, [x11, #CN_REC_F_ENTRY_NS]
	ret
	filter_rest 22b, 24b, 25b, 26b, 8f
27:	uncount
7:	pop_frame
8:
	stp	x29, x30, [sp, #-272]!
	.cfi_def_cfa_offset 272
	.cfi_offset x29, -272
	.cfi_offset x30, -264
	save_callee_saved 16+19*8
	str	x29, [sp, #16+29*8]
	mov	x29, sp
	add	x2, sp, #264
	add	x3, sp, #16
	mov	x4, x30
	bl	cn_rec_instrument_enter
	ldp	x29, x30, [sp], #272
	.cfi_def_cfa_offset 0
	.cfi_restore x29
	.cfi_restore x30
	ret
	end_function __cyg_profile_func_enter

	function __cyg_profile_func_exit
	hint	#34
	load_self
	cbz	x9, cn_rec_instrument_leave
	ldr	x11, T(TOP)
	ldp	x12, x13, [x11, #CN_REC_F_ADDRESS] /* and the flags */
	cmp	x12, x0
	b.ne	cn_rec_instrument_leave
	cmp	x13, #CN_REC_F_UNHOOKED
	b.ne	20f
	ldr	x12, T(END)
	cmp	x11, x12
	b.hi	cn_rec_instrument_leave
	take_slot cn_rec_instrument_leave
	make_word x0, CN_REC_EXIT_WORD
	pop_frame
	store_record 9f
8:	ret
9:	finish_record_and_return
20:	tbz	x13, #CN_REC_F_QUICK_BIT, 7f
	ldr	x13, T(FILTER_END)
	cmp	x11, x13
	b.hi	7f
	leave_filtered 0, 8b, 7f
7:	b	cn_rec_instrument_leave
	end_function __cyg_profile_func_exit

/* Empty functions, to measure the cost of recording. */
	hidden_function cn_rec_probe
	stp	x29, x30, [sp, #-32]!
	.cfi_def_cfa_offset 32
	.cfi_offset x30, -24
	str	x29, [sp, #16]
	.cfi_offset x29, -16
	load_self
	ldr	x11, T(TOP)
	ldr	x12, [x11, #CN_REC_F_LOC]
	sub	x12, x12, #8	/* as if the innermost open call were the caller: most are called so */
	str	x12, [sp]
	mov	x29, sp
	bl	.Lmcount
	ldp	x30, x29, [sp, #8]
	add	sp, sp, #32
	.cfi_def_cfa_offset 0
	.cfi_restore x29
	.cfi_restore x30
	ret
	end_function cn_rec_probe

	hidden_function cn_rec_probe_patched
	adr	x17, 1f
	b	cn_rec_patched
1:	hint	#34
	ret
	end_function cn_rec_probe_patched

	hidden_function cn_rec_probe_plain
	ret
	end_function cn_rec_probe_plain

/* x16 must contain the address of the slot, for the loader to bind it. */
	hidden_function cn_rec_libcall
	hint	#36		/* bti j */
	save_all
	add	x1, sp, #176
	stp	x17, x1, [sp, #112]	/* number, stack pointer; comes back as x12, x13 */
	stp	x30, xzr, [sp, #128]	/* return address, target: x14, x15 */
	add	x0, sp, #112
	mov	x1, sp
	bl	cn_rec_libcall_enter_register
	restore_all
	mov	x16, x12		/* the address of the slot replaced the number */
	mov	x17, x15
	mov	x30, x14
	cbz	x13, 1f			/* a passage replaced the stack pointer */
	stp	x29, x30, [sp, #-16]!	/* which loads these and returns */
	.cfi_adjust_cfa_offset 16
	mov	x30, x13
1:	br	x17
	end_function cn_rec_libcall

	.macro	forward name, number
	function \name
	hint	#34
	save_all
	add	x0, sp, #176
	mov	w1, #\number
	add	x2, sp, #16
	bl	cn_rec_forward_begin
	str	x0, [sp, #144]	/* comes back as x16 */
	restore_all
	br	x16
	end_function \name
	.endm

	forward	dlopen, 0
	forward	dlmopen, 1
	forward	prctl, 2
	forward	syscall, 3
	forward	makecontext, 4

/* Calls return to a stub, which jumps here with its address in x30. */
	hidden_function cn_rec_return
	sub	sp, sp, #64
	.cfi_def_cfa_offset 64
	stp	x9, x10, [sp]
	stp	x11, x12, [sp, #16]
	stp	x13, x14, [sp, #32]
	str	x15, [sp, #48]
	load_self
	cbz	x9, 9f
	ldr	x11, T(TOP)
	ldr	x12, [x11, #CN_REC_F_STUB]
	cmp	x12, x30
	b.ne	9f
	ldr	x12, [x11, #CN_REC_F_FLAGS]
	cbnz	x12, 20f
	ldr	x13, [x11, #CN_REC_F_ADDRESS]
	make_word x13, CN_REC_EXIT_WORD
	take_slot 9f
	ldr	x30, [x11, #CN_REC_F_RET]
	pop_frame
	store_record 11f
10:	ldp	x9, x10, [sp]
	ldp	x11, x12, [sp, #16]
	ldp	x13, x14, [sp, #32]
	ldr	x15, [sp, #48]
	add	sp, sp, #64
	.cfi_def_cfa_offset 0
	ret
	.cfi_def_cfa_offset 64
9:	save_all
	add	x0, sp, #8	/* the saved x30 */
	mov	x1, sp
	bl	cn_rec_leave
	restore_all
	b	10b
11:	finish_record
	b	10b
20:	tbz	x12, #CN_REC_F_QUICK_BIT, 9b
	leave_filtered 1, 10b, 9b
	end_function cn_rec_return

/* The stubs and their values; hooks_x86_64.S explains why this is a signal frame. The
 * expression of x30, which is the address of a stub: *(x30 - 4 + CN_REC_RETURNS_LEN) */
	.section .bss.returns, "aw", %nobits
	.p2align 16
	.globl	cn_rec_returns
	.hidden	cn_rec_returns
	.type	cn_rec_returns, %object
cn_rec_returns:
	.cfi_startproc
	.cfi_signal_frame
	.cfi_def_cfa sp, 0
	.cfi_escape 0x16, 30, 6
	.cfi_escape 0x8e, 0xfc, 0xff, 0xff, 0x03	/* breg30 CN_REC_RETURNS_LEN - 4 */
	.cfi_escape 0x06	/* deref */
	.zero	CN_REC_RETURNS_LEN
	.cfi_endproc
	.zero	CN_REC_RETURNS_LEN
	.size	cn_rec_returns, .-cn_rec_returns

	.section .note.GNU-stack,"",%progbits
