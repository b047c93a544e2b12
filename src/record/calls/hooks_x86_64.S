/* The hooks on x86_64.
 *
 * They run where the program expects no call: all registers except r11 are preserved.
 * Vector and x87 registers are not used, neither here nor in the C code, which is built
 * without them.
 *
 *   mcount         after the prologue: the return address is at 8(%rbp), except in functions
 *                  that align their stack
 *   __fentry__     before the prologue: it is at 8(%rsp), after that of the hook, except in
 *                  nested functions
 *   cn_rec_patched instead of the body of a patched function, which it calls
 *   cn_rec_moved   the same for a function whose first instructions were moved
 *   cn_rec_return  calls return to stubs (state/returns.h), which jump here
 */
#include "record/layout.h"

#define T(member) CN_REC_T_##member(%r11)

/* The value of the stub in a register, and the call before it. */
#define VALUE(reg) (CN_REC_RETURNS_LEN - 5)(reg)
#define CALL_LEN   5

/* The most bytes that a function may skip to align its stack. */
#define REALIGNED_MAX 256

	.macro	function name, align=4
	.globl	\name
	.type	\name, @function
	.p2align \align
\name:
	.cfi_startproc
	.endm

	.macro	hidden_function name, align=4
	.hidden	\name
	function \name, \align
	.endm

	.macro	end_function name
	.cfi_endproc
	.size	\name, .-\name
	.endm

	.macro	load_self
	movq	cn_rec_self@gottpoff(%rip), %r11
	movq	%fs:(%r11), %r11
	.endm

	.macro	save reg
	pushq	\reg
	.cfi_adjust_cfa_offset 8
	.endm

	.macro	restore reg
	popq	\reg
	.cfi_adjust_cfa_offset -8
	.endm

	.macro	save_arguments
	save	%rax
	save	%rcx
	save	%rdx
	save	%rsi
	save	%rdi
	.endm

	.macro	restore_arguments
	restore	%rdi
	restore	%rsi
	restore	%rdx
	restore	%rcx
	restore	%rax
	.endm

/* Claim the slot of the next record: its position to %rcx, the track to %rax; or go to \full.
 * Again if a signal handler has taken it; one that runs from now on leaves it to this
 * record. */
	.macro	take_slot full
1:	movq	T(TRACK), %rax
	movq	(%rax), %rcx
	cmpq	T(LIMIT), %rcx
	jae	\full
	cmpq	T(SLOT), %rcx
	je	\full
	movq	%rcx, T(SLOT)
	cmpq	(%rax), %rcx
	je	2f
	cmpq	T(STEPPED), %rcx
	jne	1b
2:
	.endm

/* The time, to %rax. Uses rdx. */
	.macro	load_time
	rdtsc
	shlq	$32, %rdx
	orq	%rdx, %rax
	mulq	T(MULT)
	shrdq	$32, %rdx, %rax
	addq	T(BASE_NS), %rax
	.endm

/* The address of the record at the position rcx, to rdx. */
	.macro	load_place
	movq	T(MASK), %rdx
	andq	%rcx, %rdx
	addq	T(RING), %rdx
	.endm

/* Store the record with the word in %rdi there. It is valid once `recorded` is after it.
 * When a signal handler has moved `recorded` already, go to \again. Uses rax, rdx; rcx becomes
 * the position after the record. */
	.macro	store_record again
	load_time
	load_place
	movq	%rax, (%rdx)
	movq	%rdi, 8(%rdx)
	movq	T(TRACK), %rdx
	movq	%rcx, %rax
	addq	$16, %rcx
	cmpxchgq %rcx, (%rdx)
	jne	\again
	.endm

/* Call C and preserve all registers that C may change; rdi and rsi are its arguments. rbx
 * contains the stack pointer meanwhile. */
	.macro	call_c function
	save	%r8
	save	%r9
	save	%r10
	save	%r11
	save	%rbx
	movq	%rsp, %rbx
	.cfi_remember_state
	.cfi_def_cfa_register %rbx
	andq	$-16, %rsp
	cld
	call	\function
	movq	%rbx, %rsp
	.cfi_restore_state
	restore	%rbx
	restore	%r11
	restore	%r10
	restore	%r9
	restore	%r8
	.endm

/* Complete the record with the word in %rdi that ends at rcx: \again of store_record. */
	.macro	finish_record
	leaq	-16(%rcx), %rsi
	call_c	cn_rec_finish_slot
	.endm

/* Pop the frame \frame, which is \above bytes above the register. Its loc was that of a call that
 * has ended: a signal handler that interrupts the next push, before it stores another, would
 * close the frame. */
	.macro	pop_frame frame, above=0
	movq	$-1, \above+CN_REC_F_LOC(\frame)
	subq	$CN_REC_F_SIZE, T(TOP)
	.endm

/* Push the frame above %rdx. */
	.macro	push_frame loc, ret, function, flags
	addq	$CN_REC_F_SIZE, T(TOP)
	movq	\loc, CN_REC_F_SIZE+CN_REC_F_LOC(%rdx)
	movq	\ret, CN_REC_F_SIZE+CN_REC_F_RET(%rdx)
	movq	\function, CN_REC_F_SIZE+CN_REC_F_ADDRESS(%rdx)
	movq	\flags, CN_REC_F_SIZE+CN_REC_F_FLAGS(%rdx)
	.endm

/* The word of a record, to %rdi, from the function in %rdi and a frame in %rdx: for an
 * exit the frame itself, for an entry the one below. */
	.macro	make_entry_word
	subq	T(FRAMES), %rdx
	andl	$CN_REC_DEPTH_MASK, %edx
	shlq	$16, %rdi
	leaq	CN_REC_ENTRY_WORD(%rdi,%rdx), %rdi
	.endm

	.macro	make_exit_word
	subq	T(FRAMES), %rdx
	subl	$CN_REC_F_SIZE, %edx
	andl	$CN_REC_DEPTH_MASK, %edx
	shlq	$16, %rdi
	leaq	CN_REC_EXIT_WORD(%rdi,%rdx), %rdi
	.endm

/* C looks after calls while recording is switched off. Uses \temp. */
	.macro	check_on temp, slow
	movq	T(IS_ON), \temp
	cmpl	$0, (\temp)
	je	\slow
	.endm

/* Filters, as calls/filter.h describes. What was decided about the function \name, rsi or rdi, to
 * rcx, without its address: 0 if it has no rule. Uses \temp. */
	.macro	load_decision name, temp
	movl	%e\name, %ecx
	shrl	$CN_REC_DECISION_SKIP, %ecx
	andl	$(1 << CN_REC_DECISION_BITS) - 1, %ecx
	leaq	cn_rec_decisions(%rip), \temp
	movq	(\temp,%rcx,8), %rcx
	xorq	%r\name, %rcx
	.endm

/* Go to \beyond if a call without rules is left out: the limit is reached. Uses \temp. */
	.macro	check_limit temp, beyond
	movl	T(SHOWN), \temp
	cmpl	T(SHOWN_LIMIT), \temp
	jae	\beyond
	.endm

/* The decision in rcx is not 0: go to \silent if the call is left out, to \not and \only if it also
 * has that rule, to \slow if C must look at it. Uses rcx, \temp. */
	.macro	obey_rule temp, silent, not, only, slow
	movq	%rcx, \temp
	shlq	$64 - CN_REC_DECISION_SHIFT, \temp
	jnz	\slow		/* of another function */
	testq	%rcx, %rcx
	jns	\silent
	cmpl	$0, T(OUT)
	jne	\silent		/* inside RULE_NOT no rule counts */
	btq	$62, %rcx
	jnc	\not
	check_on \temp, \slow
	cmpq	$0, T(TIME_LIMIT)
	je	\only
	jmp	\slow
	.endm

/* Fill the frame above %rdx of a filtered call: it is complete when the flags are set, except for its
 * return address, and the time of one that must last, which is counted here. Uses rax. */
	.macro	fill_filtered flags
	movq	T(SHOWN), %rax	/* and its limit */
	movq	%rax, CN_REC_F_SIZE+CN_REC_F_SHOWN(%rdx)
	.if	(\flags) & CN_REC_F_PENDING
	movq	$0, CN_REC_F_SIZE+CN_REC_F_ENTRY_NS(%rdx)
	count_shown
	.endif
	movq	$(\flags | CN_REC_F_QUICK), CN_REC_F_SIZE+CN_REC_F_FLAGS(%rdx)
	.endm

/* Count a call that is recorded; one with RULE_ONLY, uses rax, rcx; and one with RULE_NOT. `shown` and
 * its limit are stored as one word: the next call would wait to load a word that was stored in
 * parts. */
	.macro	count_shown
	incq	T(SHOWN)
	.endm

	.macro	count_only
	incl	T(IN)
	movl	T(SHOWN), %ecx
	movl	%ecx, %eax
	addl	T(ONLY_DEPTH), %eax
	jnc	30f
	movl	$-1, %eax
30:	shlq	$32, %rax
	leaq	1(%rax,%rcx), %rax
	movq	%rax, T(SHOWN)
	.endm

	.macro	count_not
	movl	$1, T(OUT)
	movl	$0, T(SHOWN_LIMIT)
	.endm

/* Undo count_shown or count_only. Uses rcx. */
	.macro	uncount
	movq	CN_REC_F_SIZE+CN_REC_F_SHOWN(%rdx), %rcx
	movq	%rcx, T(SHOWN)
	testl	$CN_REC_F_ONLY, CN_REC_F_SIZE+CN_REC_F_FLAGS(%rdx)
	jz	30f
	decl	T(IN)
30:
	.endm

/* The word of a record about a filtered call, to %rdi, from the function in %rdi and `shown` in
 * \shown. */
	.macro	make_shown_word shown, wide, type
	shll	$6, \shown
	andl	$CN_REC_DEPTH_MASK, \shown
	shlq	$16, %rdi
	leaq	\type(%rdi,\wide), %rdi
	.endm

/* The call of the frame above %rdx must last: store the time of its entry. */
	.macro	begin_waiting
	movq	%rdx, %rcx
	load_time
	movq	%rax, CN_REC_F_SIZE+CN_REC_F_ENTRY_NS(%rcx)
	.endm

/* Return to the caller of the frame %rdx; the address of the stub of a hooked call is at %rdi. Uses
 * rax. */
	.macro	restore_return hooked
	.if	\hooked
	movq	CN_REC_F_RET(%rdx), %rax
	movq	%rax, (%rdi)
	.endif
	.endm

	.macro	pop_called hooked
	restore_return \hooked
	pop_frame %rdx
	.endm

/* What rdi was when a call ended: the address of the stub, below what was saved since; or the
 * function. */
	.macro	load_leaving hooked
	movq	T(TOP), %rdx
	.if	\hooked
	leaq	64(%rsp), %rdi
	.else
	movq	CN_REC_F_ADDRESS(%rdx), %rdi
	.endif
	.endm

/* Record the end of the filtered call of the frame %rdx at the claimed slot. What was counted is
 * restored last: calls of signal handlers must not have a lower depth. Uses rsi. */
	.macro	record_filtered_exit hooked
	movq	CN_REC_F_SHOWN(%rdx), %rsi
	restore_return \hooked
	movq	CN_REC_F_ADDRESS(%rdx), %rdi
	movq	$0, CN_REC_F_FLAGS(%rdx)
	pop_frame %rdx
	movl	%esi, %eax
	make_shown_word %eax, %rax, CN_REC_EXIT_WORD
	store_record 35f
34:	movq	%rsi, T(SHOWN)
	.endm

	.macro	finish_filtered_exit
35:	save	%rsi
	finish_record
	restore	%rsi
	jmp	34b
	.endm

/* End the filtered call of the frame %rdx, and go to \done with its flags in r9; or to \slow. Uses
 * r8. */
	.macro	leave_filtered hooked, done, slow
28:	movq	CN_REC_F_FLAGS(%rdx), %r9
	testl	$CN_REC_F_PENDING, %r9d
	jnz	33f
	testl	$CN_REC_F_SILENT, %r9d
	jnz	31f
29:	check_on %rax, \slow
	take_slot \slow
	testl	$CN_REC_F_ONLY, %r9d
	jz	30f
	decl	T(IN)
30:	record_filtered_exit \hooked
	jmp	\done
	finish_filtered_exit
31:	testl	$CN_REC_F_NOT, %r9d
	jz	32f
	movq	CN_REC_F_SHOWN(%rdx), %rsi
	movl	$0, T(OUT)
	movq	%rsi, T(SHOWN)
32:	pop_called \hooked
	jmp	\done
33:	movq	T(TRACK), %rax
	movq	(%rax), %rsi	/* the position, before the time is read */
	movq	%rdx, %rcx
	load_time
	movq	%rcx, %rdx
	movq	%rax, %r8
	subq	CN_REC_F_ENTRY_NS(%rdx), %rax
	cmpq	T(TIME_LIMIT), %rax
	jae	36f
	movq	$0, CN_REC_F_FLAGS(%rdx)	/* no signal handler records its entry from now on */
	cmpq	$0, CN_REC_F_ENTRY_NS(%rdx)
	je	43f
	movq	CN_REC_F_SHOWN(%rdx), %rsi
	pop_called \hooked
	movq	%rsi, T(SHOWN)
	jmp	\done
43:	andl	$~CN_REC_F_PENDING, %r9d	/* one has recorded it */
	movq	%r9, CN_REC_F_FLAGS(%rdx)
	jmp	29b
	/* It has lasted. Find the first call that is pending, r9. */
36:	check_on %rax, \slow
	cmpq	$0, T(SETTLING)
	jne	\slow		/* in a signal handler that interrupted this */
	movq	%rdx, %r9
37:	cmpq	$0, CN_REC_F_ENTRY_NS(%r9)
	je	\slow		/* it has no time yet, or was recorded */
	movl	CN_REC_F_FLAGS-CN_REC_F_SIZE(%r9), %eax
	testl	$CN_REC_F_PENDING, %eax
	jz	38f
	testl	$CN_REC_F_QUICK, %eax
	jz	\slow
	subq	$CN_REC_F_SIZE, %r9
	jmp	37b
38:	testl	$CN_REC_F_SILENT | CN_REC_F_OFF, %eax
	jnz	\slow		/* its callers may be pending */
	testl	$CN_REC_F_QUICK | CN_REC_F_FILTERED, %eax
	jz	\slow		/* it is being pushed or popped */
	/* As take_slot, for the entries from there and the exit, unless a signal handler has recorded
	 * any since. */
	movq	T(TRACK), %rax
	cmpq	(%rax), %rsi
	jne	28b
	cmpq	T(SLOT), %rsi
	je	\slow
	movq	%rdx, %rcx
	subq	%r9, %rcx
	shrq	$2, %rcx	/* 16 bytes for each, except for the first */
	leaq	16(%rsi,%rcx), %rdi
	cmpq	T(LIMIT), %rdi
	jae	41f
	addl	$32, %ecx
	movl	%ecx, T(SLOT_LEN)
	movq	%rdx, T(SETTLING_END)
	movq	%rsi, T(SETTLING_AT)
	movq	%r9, T(SETTLING)
	movq	%rsi, T(SLOT)
	cmpq	(%rax), %rsi
	je	45f
	cmpq	T(STEPPED), %rsi
	jne	44f
45:	movq	%rsi, %rcx
39:	movl	CN_REC_F_SHOWN(%r9), %eax
	movq	CN_REC_F_ADDRESS(%r9), %rdi
	make_shown_word %eax, %rax, CN_REC_ENTRY_WORD
	load_place
	movq	CN_REC_F_ENTRY_NS(%r9), %rax
	movq	%rax, (%rdx)
	movq	%rdi, 8(%rdx)
	addq	$16, %rcx
	addq	$CN_REC_F_SIZE, %r9
	cmpq	T(TOP), %r9
	jbe	39b
	load_place
	incq	%rdi		/* of the exit */
	movq	%r8, (%rdx)
	movq	%rdi, 8(%rdx)
	addq	$16, %rcx
	load_leaving \hooked
	orq	$CN_REC_F_SILENT, CN_REC_F_FLAGS(%rdx)	/* it ends now, whatever a signal handler does */
	movq	T(TRACK), %r9
	movq	%rsi, %rax
	cmpxchgq %rcx, (%r9)
	jne	42f
40:	subq	%rcx, %rsi
	leaq	128(%rdx,%rsi,4), %r9	/* the first one again: handlers change `settling` */
46:	andq	$~CN_REC_F_PENDING, CN_REC_F_FLAGS(%r9)
	movq	$0, CN_REC_F_ENTRY_NS(%r9)
	addq	$CN_REC_F_SIZE, %r9
	cmpq	%rdx, %r9
	jbe	46b
	movl	$16, T(SLOT_LEN)
	movq	$0, T(SETTLING)
	movq	CN_REC_F_FLAGS(%rdx), %r9
	movq	CN_REC_F_SHOWN(%rdx), %rsi
	movq	$0, CN_REC_F_FLAGS(%rdx)
	pop_called \hooked
	movq	%rsi, T(SHOWN)
	jmp	\done
41:	load_leaving \hooked
	jmp	\slow
42:	save	%rdi
	save	%rsi
	save	%rcx
	movq	%rsi, %rdi
	subq	%rsi, %rcx
	movq	%rcx, %rdx
	movq	%r8, %rsi
	call_c	cn_rec_finish_settled
	restore	%rcx
	restore	%rsi
	restore	%rdi
	movq	T(TOP), %rdx
	jmp	40b
44:	movl	$16, T(SLOT_LEN)
	movq	$0, T(SETTLING)
	load_leaving \hooked
	jmp	28b
	.endm

	.text

/* rdi: address of the return address, rsi: the function, r11: the thread. The frame is
 * pushed before the record is stored, and popped after: what a signal handler records in
 * between is one level too deep, which readers accept. Records that are not deep enough
 * would end the call that was interrupted. With \flags = CN_REC_F_CALLED the function is called
 * from its stub. */
/* The stub of the frame above %rdx, to rcx, or go to \none. */
	.macro	load_stub none
	movq	CN_REC_F_SIZE+CN_REC_F_STUB(%rdx), %rcx
	testq	%rcx, %rcx
	jz	\none
	.endm

	.macro	push_hooked flags
	addq	$CN_REC_F_SIZE, T(TOP)
	movq	%rdi, CN_REC_F_SIZE+CN_REC_F_LOC(%rdx)
	movq	%rsi, CN_REC_F_SIZE+CN_REC_F_ADDRESS(%rdx)
	movq	\flags, CN_REC_F_SIZE+CN_REC_F_FLAGS(%rdx)
	.endm

/* Return to the stub rcx, of which unwinders see rax. Signal handlers use the stub before its
 * frame is pushed. */
	.macro	set_stub
	movq	%rax, VALUE(%rcx)
	movq	(%rdi), %rax
	movq	%rax, CN_REC_F_SIZE+CN_REC_F_RET(%rdx)
	movq	%rcx, (%rdi)
	.endm

/* The same for a filtered call. */
	.macro	push_filtered flags
	load_stub 28f
	addq	$CN_REC_F_SIZE, T(TOP)
	movq	%rax, VALUE(%rcx)
	movq	%rdi, CN_REC_F_SIZE+CN_REC_F_LOC(%rdx)
	movq	%rsi, CN_REC_F_SIZE+CN_REC_F_ADDRESS(%rdx)
	fill_filtered \flags
	movq	(%rdi), %rax
	movq	%rax, CN_REC_F_SIZE+CN_REC_F_RET(%rdx)
	movq	%rcx, (%rdi)
	.endm

	.macro	enter flags
	testq	%r11, %r11
	jz	.Lslow\@
	movq	T(TOP), %rdx
	cmpq	CN_REC_F_LOC(%rdx), %rdi
	jae	.Lodd\@
	movq	(%rdi), %rax
	decq	%rax
.Lpush\@: /* unwinders see the return address rax */
	cmpq	T(END), %rdx
	jae	.Lfilter\@
	load_stub .Lslow\@
	push_hooked $\flags
	set_stub
	take_slot .Lfull\@
	movq	%rsi, %rdi
	make_entry_word
	store_record .Lagain\@
.Ldone\@:
	.if \flags == CN_REC_F_CALLED
	movq	56(%rsp), %rax	/* the stub, see set_stub */
.Lcall\@: /* the function is at -16(%rsp), then */
	.cfi_remember_state
	subq	$CALL_LEN, %rax
	restore	%rdi
	movq	%rax, -8(%rsp)
	restore	%rsi
	restore	%rdx
	restore	%rcx
	restore	%rax
	restore	%r11
	leaq	16(%rsp), %rsp
	.cfi_adjust_cfa_offset -16
	notrack jmp *-64(%rsp)
	.cfi_restore_state
	.else
	.cfi_remember_state
	restore_arguments
	ret
	.cfi_restore_state
	.endif
.Lodd\@: /* a tail call: the address is that of its stub; C handles everything else */
	jne	.Lslow\@
	movq	(%rdi), %rax
	cmpq	CN_REC_F_STUB(%rdx), %rax
	jne	.Lslow\@
	movq	VALUE(%rax), %rax
	jmp	.Lpush\@
.Lfilter\@:
	cmpq	T(FILTER_END), %rdx
	jae	.Lslow\@
	load_decision si, %rdx
	jnz	.Lruled\@
	/* Beyond the limit its callees are left out as well: it needs no frame, and returns as without a
	 * recorder. */
	.if \flags == CN_REC_F_CALLED
	check_limit %ecx, .Lskip\@
	.else
	check_limit %ecx, .Ldone\@
	.endif
	check_on %rcx, .Lslow\@
	movq	T(TOP), %rdx
	cmpq	$0, T(TIME_LIMIT)
	jne	.Lwaits\@
	push_filtered \flags
	count_shown
.Lshown\@:
	take_slot .Luncount\@
	movl	CN_REC_F_SIZE+CN_REC_F_SHOWN(%rdx), %edx
	movq	%rsi, %rdi
	make_shown_word %edx, %rdx, CN_REC_ENTRY_WORD
	store_record .Lagain\@
	jmp	.Ldone\@
.Lwaits\@:
	push_filtered (\flags | CN_REC_F_PENDING)
	begin_waiting
	jmp	.Ldone\@
.Lruled\@:
	obey_rule %rdx, 22f, 24f, 25f, 28f
22:	movq	T(TOP), %rdx
	push_filtered (\flags | CN_REC_F_SILENT)
	jmp	.Ldone\@
24:	movq	T(TOP), %rdx
	push_filtered (\flags | CN_REC_F_SILENT | CN_REC_F_NOT)
	count_not
	jmp	.Ldone\@
25:	movq	T(TOP), %rdx
	push_filtered (\flags | CN_REC_F_ONLY)
	count_only
	jmp	.Lshown\@
.Luncount\@:
	uncount
.Lfull\@:
	movq	CN_REC_F_SIZE+CN_REC_F_RET(%rdx), %rax
	movq	%rax, (%rdi)
	pop_frame %rdx, CN_REC_F_SIZE
28:
.Lslow\@:
	leaq	-40(%rsp), %rdx	/* the registers saved here and by call_c */
	movl	$\flags, %ecx
	call_c	cn_rec_enter
	.if \flags == CN_REC_F_CALLED
	testq	%rax, %rax
	jnz	.Lcall\@
.Lskip\@: /* not recorded */
	.cfi_remember_state
	restore_arguments
	restore	%r11
	leaq	8(%rsp), %rsp
	.cfi_adjust_cfa_offset -8
	notrack jmp *-8(%rsp)
	.cfi_restore_state
	.else
	jmp	.Ldone\@
	.endif
.Lagain\@:
	finish_record
	jmp	.Ldone\@
	.endm

	.globl	mcount, _mcount
	.type	mcount, @function
	.type	_mcount, @function
	.p2align 5
mcount:
_mcount:
	.cfi_startproc
	endbr64
	save_arguments
	load_self
	leaq	8(%rbp), %rdi
	leaq	-24(%r10), %rax
	subq	%rbp, %rax
	cmpq	$REALIGNED_MAX, %rax
	jb	.Lmay_be_realigned
.Lmcount_known:
	movq	40(%rsp), %rsi
	enter	0
/* A function that aligns its stack and has stack arguments has their address in r10, and
 * a copy of its return address at 8(%rbp). The true one is below r10. */
.Lmay_be_realigned:
	movq	-8(%r10), %rax
	cmpq	(%rdi), %rax
	jne	.Lmcount_known
	leaq	-8(%r10), %rdi
	jmp	.Lmcount_known
	.cfi_endproc
	.size	mcount, .-mcount
	.size	_mcount, .-_mcount

	function __fentry__, 5
.Lfentry:
	endbr64
	save_arguments
	load_self
	leaq	48(%rsp), %rdi
	movq	40(%rsp), %rsi
	cmpq	(%rdi), %r10
	je	.Lmay_be_nested
.Lfentry_known:
	enter	0
/* A nested function of GCC saves its static chain, r10, around the call of the hook. */
.Lmay_be_nested:
	cmpw	$0x5a41, (%rsi)	/* pop %r10 */
	jne	.Lfentry_known
	addq	$8, %rdi
	jmp	.Lfentry_known
	end_function __fentry__

/* A patched function jumps here, with the address of its body in r11. The body is called
 * once the return address is in a frame: the call, in a return stub, stores the address of
 * the stub in its place, so that stack arguments stay where they are. A `ret` for each `call`:
 * the processor expects both returns. */
	hidden_function cn_rec_patched, 5
	endbr64
	save	%r11
	save	%r11
	save_arguments
	movq	%r11, %rsi
.Lpatched:
	leaq	56(%rsp), %rdi
	load_self
	enter	CN_REC_F_CALLED
	end_function cn_rec_patched

/* The first instructions of the function were moved: its stub pushed their new address,
 * before which is that of the function. All registers are preserved: a caller that was
 * compiled with the function, without hooks, may rely on those that it does not use. */
	hidden_function cn_rec_moved, 5
	.cfi_def_cfa_offset 16
	endbr64
	save	%r11
	save_arguments
	movq	48(%rsp), %rsi
	movq	-8(%rsi), %rsi
	jmp	.Lpatched
	end_function cn_rec_moved

/* -finstrument-functions: ordinary calls, so all caller-saved registers are free. Both
 * hooks are called with the same stack pointer, which identifies the call. Arguments may
 * be in callee-saved registers, which are saved for C by their DWARF numbers. */
	function __cyg_profile_func_enter
	endbr64
	load_self
	testq	%r11, %r11
	jz	.Linstrument_slow
	movq	T(TOP), %rdx
	cmpq	%rsp, CN_REC_F_LOC(%rdx)
	jb	.Linstrument_slow
	cmpq	$CN_REC_F_UNHOOKED, CN_REC_F_FLAGS(%rdx)
	jne	.Linstrument_filter
	cmpq	T(END), %rdx
	jae	.Linstrument_filter
	push_frame %rsp, $0, %rdi, $CN_REC_F_UNHOOKED
	take_slot .Linstrument_full
	make_entry_word
	store_record .Linstrument_again
	ret
	.macro	push_instrumented flags
	addq	$CN_REC_F_SIZE, T(TOP)
	movq	%rsp, CN_REC_F_SIZE+CN_REC_F_LOC(%rdx)
	movq	$0, CN_REC_F_SIZE+CN_REC_F_RET(%rdx)
	movq	%rdi, CN_REC_F_SIZE+CN_REC_F_ADDRESS(%rdx)
	fill_filtered (\flags | CN_REC_F_UNHOOKED)
	.endm
.Linstrument_filter:
	testl	$CN_REC_F_UNHOOKED, CN_REC_F_FLAGS(%rdx)
	jz	.Linstrument_slow
	cmpq	T(FILTER_END), %rdx
	jae	.Linstrument_slow
	load_decision di, %r8
	jnz	20f
	check_limit %ecx, 22f
	check_on %rcx, .Linstrument_slow
	cmpq	$0, T(TIME_LIMIT)
	jne	26f
	push_instrumented 0
	count_shown
23:	take_slot 27f
	movl	CN_REC_F_SIZE+CN_REC_F_SHOWN(%rdx), %edx
	make_shown_word %edx, %rdx, CN_REC_ENTRY_WORD
	store_record .Linstrument_again
	ret
20:	obey_rule %r8, 22f, 24f, 25f, .Linstrument_slow
22:	push_instrumented CN_REC_F_SILENT
	ret
24:	push_instrumented (CN_REC_F_SILENT | CN_REC_F_NOT)
	count_not
	ret
25:	push_instrumented CN_REC_F_ONLY
	count_only
	jmp	23b
26:	push_instrumented CN_REC_F_PENDING
	begin_waiting
	ret
.Linstrument_again:
	leaq	-16(%rcx), %rsi
	jmp	cn_rec_finish_slot
27:	uncount
.Linstrument_full:
	pop_frame %rdx, CN_REC_F_SIZE
.Linstrument_slow:
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	subq	$128, %rsp
	movq	(%rbp), %rax
	movq	%rbx, 24(%rsp)
	movq	%rax, 48(%rsp)
	movq	%r12, 96(%rsp)
	movq	%r13, 104(%rsp)
	movq	%r14, 112(%rsp)
	movq	%r15, 120(%rsp)
	leaq	8(%rbp), %rdx
	movq	%rsp, %rcx
	movq	8(%rbp), %r8
	call	cn_rec_instrument_enter
	leave
	.cfi_def_cfa %rsp, 8
	ret
	end_function __cyg_profile_func_enter

	function __cyg_profile_func_exit
	endbr64
	load_self
	testq	%r11, %r11
	jz	cn_rec_instrument_leave
	movq	T(TOP), %rdx
	cmpq	%rdi, CN_REC_F_ADDRESS(%rdx)
	jne	cn_rec_instrument_leave
	movq	CN_REC_F_FLAGS(%rdx), %r9
	cmpq	$CN_REC_F_UNHOOKED, %r9
	jne	.Linstrument_leave_filtered
	cmpq	T(END), %rdx
	ja	cn_rec_instrument_leave
	take_slot cn_rec_instrument_leave
	pop_frame %rdx
	make_exit_word
	store_record .Linstrument_again
.Linstrument_left:
	ret
.Linstrument_leave_filtered:
	cmpq	T(FILTER_END), %rdx
	ja	cn_rec_instrument_leave
	cmpq	$CN_REC_F_QUICK | CN_REC_F_UNHOOKED, %r9
	jne	28f
	check_on %rax, cn_rec_instrument_leave
	take_slot cn_rec_instrument_leave
	record_filtered_exit 0
	ret
	finish_filtered_exit
28:	testl	$CN_REC_F_QUICK, %r9d
	jz	cn_rec_instrument_leave
	leave_filtered 0, .Linstrument_left, cn_rec_instrument_leave
	end_function __cyg_profile_func_exit

/* Empty functions, to measure the cost of recording. */
	hidden_function cn_rec_probe
	call	.Lfentry
	ret
	end_function cn_rec_probe

	hidden_function cn_rec_probe_patched
	leaq	1f(%rip), %r11
	jmp	cn_rec_patched
1:	ret
	end_function cn_rec_probe_patched

	hidden_function cn_rec_probe_plain
	ret
	end_function cn_rec_probe_plain

/* A library call: its number was pushed after the return address. The jump to the
 * function uses r11, which a PLT may change. If there is a passage, it returns there, which
 * releases the number and returns to the return address. */
	hidden_function cn_rec_libcall, 5
	.cfi_def_cfa_offset 16
	endbr64
	save_arguments
	leaq	48(%rsp), %rdi
	movq	40(%rsp), %rsi
	leaq	-40(%rsp), %rdx
	call_c	cn_rec_libcall_enter
	movq	%rax, %r11
	testq	%rdx, %rdx
	jnz	.Lthrough_passage
	.cfi_remember_state
	restore_arguments
	leaq	8(%rsp), %rsp
	.cfi_adjust_cfa_offset -8
	jmp	*%r11
	.cfi_restore_state
.Lthrough_passage:
	movq	32(%rsp), %rax
	movq	%rdx, 32(%rsp)
	restore	%rdi
	restore	%rsi
	restore	%rdx
	restore	%rcx
	jmp	*%r11
	end_function cn_rec_libcall

/* dlopen() looks at its return address, and system calls may return in a child: jump to
 * them after taking a note of their arguments. */
	.macro	forward name, number
	function \name
	endbr64
	save_arguments
	leaq	40(%rsp), %rdi
	movl	$\number, %esi
	movq	%rsp, %rdx
	call_c	cn_rec_forward_begin
	movq	%rax, %r11
	restore_arguments
	jmp	*%r11
	end_function \name
	.endm

	forward	dlopen, 0
	forward	dlmopen, 1
	forward	prctl, 2
	forward	syscall, 3
	forward	makecontext, 4

/* Record the return of the call with the frame in %rdx, and return to its caller; the address
 * of the stub is at %rdi. A call that was made from the stub ends with `ret`. For others the
 * return predictor has the address of the caller's caller: they jump. Signal handlers do not
 * use the 128 bytes below the stack pointer. */
	.macro	leave_call way
	take_slot .Lleave_slow
	movq	CN_REC_F_ADDRESS(%rdx), %rsi
	movq	CN_REC_F_RET(%rdx), %rax
	movq	%rax, (%rdi)
	pop_frame %rdx
	movq	%rsi, %rdi
	make_exit_word
	store_record .Lagain\@
.Lleave_\way:
	.cfi_remember_state
	restore	%r11
	restore_arguments
	.ifc \way, returning
	ret
	.else
	leaq	8(%rsp), %rsp
	.cfi_adjust_cfa_offset -8
	jmp	*-8(%rsp)
	.endif
	.cfi_restore_state
.Lagain\@:
	finish_record
	jmp	.Lleave_\way
	.endm

/* The same for a call that was filtered, and has no rule. */
	.macro	leave_shown way
	check_on %rax, .Lleave_slow
	take_slot .Lleave_slow
	record_filtered_exit 1
	jmp	.Lleave_\way
	finish_filtered_exit
	.endm

/* Calls return to a stub, which jumps here. Its address is still below the stack pointer, and
 * is the return address of this function until the true one replaces it. */
	hidden_function cn_rec_return, 5
	.cfi_def_cfa_offset 0
	leaq	-8(%rsp), %rsp
	.cfi_def_cfa_offset 8
	save_arguments
	save	%r11
	load_self
	leaq	48(%rsp), %rdi
	testq	%r11, %r11
	jz	.Lleave_slow
	movq	T(TOP), %rdx
	movq	(%rdi), %rax
	cmpq	CN_REC_F_STUB(%rdx), %rax
	jne	.Lleave_slow
	cmpq	$CN_REC_F_CALLED, CN_REC_F_FLAGS(%rdx)
	jne	.Lnot_called
	leave_call returning
.Lnot_called:
	cmpq	$0, CN_REC_F_FLAGS(%rdx)
	jne	.Lleave_filtered
	leave_call jumping
.Lleave_filtered:
	movq	CN_REC_F_FLAGS(%rdx), %rax
	cmpq	$CN_REC_F_QUICK | CN_REC_F_CALLED, %rax
	je	.Lleave_shown_called
	cmpq	$CN_REC_F_QUICK, %rax
	je	.Lleave_shown
	testl	$CN_REC_F_QUICK, %eax
	jz	.Lleave_slow
	save	%r8
	save	%r9
	leave_filtered 1, 48f, 49f
48:	testl	$CN_REC_F_CALLED, %r9d
	.cfi_remember_state
	restore	%r9
	restore	%r8
	jnz	.Lleave_returning
	jmp	.Lleave_jumping
	.cfi_restore_state
49:	restore	%r9
	restore	%r8
.Lleave_slow:
	leaq	48(%rsp), %rdi
	leaq	-40(%rsp), %rsi
	call_c	cn_rec_leave
	testl	$CN_REC_F_CALLED, %eax
	jnz	.Lleave_returning
	jmp	.Lleave_jumping
.Lleave_shown_called:
	leave_shown returning
.Lleave_shown:
	leave_shown jumping
	end_function cn_rec_return

/* The stubs and their values. An unwinder finds the address of a stub as that of a caller, and
 * gets the true return address from an expression:
 *
 *	stub = rip	in the last unit of a group, which all its stubs jump to: *(CFA - 8)
 *	return *(stub + CN_REC_RETURNS_LEN & -8)
 *
 * It is marked as a signal frame: its CFA is that of its caller, and unwinders distinguish
 * the two by that mark. They do not subtract 1 from the address in the caller of a signal
 * frame, so the value is less by 1: it is in the call instruction. */
	.section .bss.returns, "aw", @nobits
	.p2align 16
	.globl	cn_rec_returns
	.hidden	cn_rec_returns
	.type	cn_rec_returns, @object
cn_rec_returns:
	.cfi_startproc
	.cfi_signal_frame
	.cfi_def_cfa %rsp, 0
	.cfi_escape 0x16, 16, 25
	.cfi_escape 0x80, 0x00		/* breg16 0			[CFA rip] */
	.cfi_escape 0x12, 0x08, 0x78, 0x1a	/* dup const1u 0x78 and */
	.cfi_escape 0x08, 0x78, 0x2e	/* const1u 0x78 ne */
	.cfi_escape 0x28, 4, 0		/* bra 1f */
	.cfi_escape 0x13, 0x38, 0x1c, 0x06	/* drop lit8 minus deref	[stub] */
	.cfi_escape 0x23, 0x80, 0x80, 0x80, 0x04	/* 1: plus_uconst CN_REC_RETURNS_LEN */
	.cfi_escape 0x09, 0xf8, 0x1a	/* const1s -8 and */
	.cfi_escape 0x06		/* deref */
	.zero	CN_REC_RETURNS_LEN
	.cfi_endproc
	.zero	CN_REC_RETURNS_LEN
	.size	cn_rec_returns, .-cn_rec_returns

	.section .note.GNU-stack,"",@progbits
