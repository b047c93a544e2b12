/* The hooks on aarch64.
 *
 *   _mcount        after the prologue: x29 points to the caller's x29 and x30 in memory
 *   cn_rec_patched instead of the body of a patched function, whose address is in x17, and
 *                  which it calls
 *   cn_rec_moved   the same for a function whose first instruction was moved
 *   cn_rec_libcall a library call: x17 is its number, x30 its return address
 *   cn_rec_return  calls return here instead of to their caller
 *
 * Vector registers are not used, neither here nor in the C code, which is built without
 * them; x0 to x8 are preserved. Temporary registers are free at the entry of a function, and
 * preserved at its end: with -fipa-ra a caller may rely on those that a function does not
 * use.
 *
 * A frame whose return address was in a register has loc = sp | 1. The frame of a call that
 * returns is the highest one with loc <= sp | 1 that was called with the current x29: frames
 * of other stacks, of coroutines and of other threads, were not.
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

/* Store the record with the word in x13 there; when a signal handler has stepped over the
 * slot, go to \again. Uses x12, x16, x17. */
	.macro	store_record again
	mrs	x16, cntvct_el0
	ldr	x17, T(MULT)
	mul	x12, x16, x17
	umulh	x16, x16, x17
	extr	x16, x16, x12, #32
	ldr	x17, T(BASE_NS)
	add	x16, x16, x17
	ldr	x17, T(MASK)
	and	x17, x17, x15
	ldr	x12, T(RING)
	add	x17, x17, x12
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

/* Push a frame with loc x10 above x11. Unwinders of other threads must not see the new
 * top, which is the first member of the thread, before its loc. */
	.macro	push_frame ret, function, flags
	str	x10, [x11, #CN_REC_F_SIZE+CN_REC_F_LOC]
	add	x11, x11, #CN_REC_F_SIZE
	stlr	x11, [x9]
	stp	x10, \ret, [x11, #CN_REC_F_LOC]
	stp	\function, \flags, [x11, #CN_REC_F_ADDRESS]
	.endm

	.macro	pop_frame
	sub	x11, x11, #CN_REC_F_SIZE
	str	x11, T(TOP)
	.endm

/* The word of a record about the frame x11, to x13. Uses x12. */
	.macro	make_word function, type
	ldr	x12, T(FRAMES)
	sub	x12, x11, x12
	sub	x12, x12, #CN_REC_F_SIZE
	lsl	x12, x12, #1
	and	x12, x12, #CN_REC_DEPTH_MASK
	orr	x13, x12, \function, lsl #16
	mov	x12, #\type
	orr	x13, x13, x12
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
	b.ne	7f
5:	ldr	x12, T(END)
	cmp	x11, x12
	b.hs	7f
	ldr	x12, [x10]
	lsr	x13, x12, #48	/* a signed address must not be changed */
	cbnz	x13, 8f
	ldr	x13, [x29]	/* the caller's x29 */
	lsl	x13, x13, #CN_REC_F_CALLER_AT
	push_frame x12, x30, x13
	make_word x30, CN_REC_ENTRY_WORD
	take_slot 10f	/* after the frame, as on x86_64 */
	adr	x12, cn_rec_return
	str	x12, [x10]
	store_record 9f
8:	ret
9:	finish_record
	ret
6:	adr	x13, cn_rec_return	/* a tail call: the address is cn_rec_return */
	ldr	x12, [x10]
	cmp	x12, x13
	b.eq	5b
	lsr	x13, x12, #48
	cbnz	x13, 8b
	b	7f
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
5:	ldr	x12, T(END)
	cmp	x11, x12
	b.hs	7f
	load_function x13, \room
	lsl	x12, x29, #CN_REC_F_CALLER_AT
	push_frame x30, x13, x12
	mov	x10, x17
	make_word x13, CN_REC_ENTRY_WORD
	take_slot 10f	/* after the frame, as on x86_64 */
	store_record 9f
8:	mov	x17, x10
	adr	x30, cn_rec_return
	.cfi_remember_state
	leave_room \room
	b	.Lcall
	.cfi_restore_state
6:	adr	x13, cn_rec_return	/* a tail call */
	b.ne	7f
	cmp	x30, x13
	b.eq	5b
	b	7f
10:	mov	x17, x10
	pop_frame
7:	save_all
	mov	x0, sp
	add	x0, x0, #176+\room
	load_function x1, \room
	mov	x2, x30
	mov	x3, sp
	bl	cn_rec_enter_register
	str	x0, [sp, #8]	/* comes back as x30 */
	restore_all
	adr	x16, cn_rec_return
	cmp	x30, x16
	leave_room \room
	b.eq	.Lcall
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
	b.ne	8f
	ldr	x12, T(END)
	cmp	x11, x12
	b.hs	8f
	mov	x12, #CN_REC_F_UNHOOKED
	push_frame xzr, x0, x12
	make_word x0, CN_REC_ENTRY_WORD
	take_slot 7f
	store_record 9f
	ret
9:	finish_record_and_return
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
	ldp	x12, x13, [x11, #CN_REC_F_ADDRESS]
	cmp	x12, x0
	b.ne	cn_rec_instrument_leave
	cmp	x13, #CN_REC_F_UNHOOKED
	b.ne	cn_rec_instrument_leave
	ldr	x12, T(END)
	cmp	x11, x12
	b.hi	cn_rec_instrument_leave
	take_slot cn_rec_instrument_leave
	make_word x0, CN_REC_EXIT_WORD
	pop_frame
	store_record 9f
	ret
9:	finish_record_and_return
	end_function __cyg_profile_func_exit

/* Empty functions, to measure the cost of recording. */
	hidden_function cn_rec_probe
	stp	x29, x30, [sp, #-16]!
	.cfi_def_cfa_offset 16
	.cfi_offset x29, -16
	.cfi_offset x30, -8
	mov	x29, sp
	bl	.Lmcount
	ldp	x29, x30, [sp], #16
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

/* Calls return here; hooks_x86_64.S explains why this is a signal frame. The expression:
 *
 *	t = CFA + 1, b = 0
 *	for (n = cn_rec_threads; n; n = n->next)
 *		for (p = n->top; p->loc != UINTPTR_MAX; p--)
 *			if (p->loc <= t && (!b || p->loc >= b->loc) && p->ret != cn_rec_return)
 *				b = p
 *	return b ? b->ret - 1 : 0
 */
	.p2align 5
	.xword	cn_rec_threads - .
	.p2align 4
	.cfi_startproc
	.cfi_signal_frame
	.cfi_def_cfa sp, 0
	.cfi_escape 0x16, 30, 0x63
	.cfi_escape 0x23, 0x01, 0x12, 0x30	/* plus_uconst 1 dup lit0	[t t b] */
	.cfi_escape 0x8e, 0x60, 0x12, 0x06, 0x22, 0x06	/* breg30 -32 dup deref plus deref [t t b n] */
	.cfi_escape 0x12, 0x28, 0x10, 0x00	/* L1: dup bra L2 */
	.cfi_escape 0x13, 0x12, 0x28, 0x03, 0x00	/* drop dup bra L9 */
	.cfi_escape 0x2f, 0x4d, 0x00	/* skip END */
	.cfi_escape 0x23, 0x08, 0x06, 0x31, 0x1c, 0x2f, 0x45, 0x00	/* L9: plus_uconst 8 deref lit1 minus skip END */
	.cfi_escape 0x12, 0x06	/* L2: dup deref			[t t b n p] */
	.cfi_escape 0x12, 0x06, 0x12, 0x31, 0x22, 0x28, 0x08, 0x00	/* L3: dup deref dup lit1 plus bra L4 */
	.cfi_escape 0x13, 0x13, 0x23, 0x40, 0x06, 0x2f, 0xda, 0xff	/* drop drop plus_uconst 64 deref skip L1 */
	.cfi_escape 0x12, 0x15, 0x05, 0x2b, 0x28, 0x25, 0x00	/* L4: dup pick 5 gt bra L5 */
	.cfi_escape 0x15, 0x03, 0x12, 0x28, 0x04, 0x00	/* pick 3 dup bra L6 */
	.cfi_escape 0x13, 0x2f, 0x07, 0x00	/* drop skip L7 */
	.cfi_escape 0x06, 0x15, 0x01, 0x2b, 0x28, 0x14, 0x00	/* L6: deref pick 1 gt bra L5 */
	.cfi_escape 0x15, 0x01, 0x23, 0x08, 0x06, 0x8e, 0x00, 0x29, 0x28, 0x09, 0x00	/* L7: pick 1 plus_uconst 8 deref breg30 0 eq bra L5 */
	.cfi_escape 0x13, 0x17, 0x16, 0x13, 0x15, 0x01, 0x2f, 0x01, 0x00	/* drop rot swap drop pick 1 skip L8 */
	.cfi_escape 0x13	/* L5: drop */
	.cfi_escape 0x08, 0x20, 0x1c, 0x2f, 0xbd, 0xff	/* L8: const1u 32 minus skip L3 */
	nop
	nop
	nop
.Lcall: /* of the body of a patched function; x30 is cn_rec_return, as after the call */
	blr	x17
	.globl	cn_rec_return
	.hidden	cn_rec_return
	.type	cn_rec_return, %function
cn_rec_return:
	sub	sp, sp, #80
	.cfi_endproc
	.cfi_startproc
	.cfi_def_cfa_offset 80
	.cfi_undefined x30
	stp	x9, x10, [sp]
	stp	x11, x12, [sp, #16]
	stp	x13, x14, [sp, #32]
	stp	x15, x16, [sp, #48]
	str	x17, [sp, #64]
	load_self
	add	x10, sp, #81	/* the caller's stack pointer + 1 */
	cbz	x9, 9f
	ldr	x11, T(TOP)
	ldr	x12, [x11, #CN_REC_F_LOC]
	cmp	x12, x10
	b.hi	9f
	ldr	x12, [x11, #CN_REC_F_LOC-CN_REC_F_SIZE]
	cmp	x12, x10
	b.ls	9f
	ldr	x12, [x11, #CN_REC_F_FLAGS]
	eor	x12, x12, x29, lsl #CN_REC_F_CALLER_AT
	cbnz	x12, 9f
	ldp	x30, x13, [x11, #CN_REC_F_RET]
	make_word x13, CN_REC_EXIT_WORD
	take_slot 9f
	pop_frame
	store_record 11f
10:	ldp	x9, x10, [sp]
	ldp	x11, x12, [sp, #16]
	ldp	x13, x14, [sp, #32]
	ldp	x15, x16, [sp, #48]
	ldr	x17, [sp, #64]
	add	sp, sp, #80
	.cfi_def_cfa_offset 0
	ret
	.cfi_def_cfa_offset 80
9:	save_all
	sub	x0, x10, #1
	mov	x1, sp
	bl	cn_rec_leave
	str	x0, [sp, #8]	/* comes back as x30 */
	restore_all
	b	10b
11:	finish_record
	b	10b
	end_function cn_rec_return

	.section .note.GNU-stack,"",%progbits
