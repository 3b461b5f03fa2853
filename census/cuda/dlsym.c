// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// dlsym. The answer of RTLD_NEXT, and of a handle's own scope, depends on who
// calls, so for all but names of the driver this must be a jump and no call: the
// real dlsym then sees the program's return address. A call instead sends every
// other preload's RTLD_NEXT to the wrong place.
//
// Unversioned, it satisfies references to both versions that glibc has had.

#include "../../libtelemetry/base.h"

#include "../../libtelemetry/banned.h"

// A pair in two registers: what to answer, and whether it is decided.
#if defined(__x86_64__)
__asm__(".text\n"
	".globl dlsym\n"
	".type dlsym, @function\n"
	".p2align 4\n"
	"dlsym:\n"
	"	.cfi_startproc\n"
	"	endbr64\n"
	"	cmpq	$-1, %rdi\n" // RTLD_NEXT
	"	je	1f\n"
	"	testq	%rsi, %rsi\n"
	"	jz	1f\n"
	"	cmpb	$0x63, (%rsi)\n" // c
	"	jne	1f\n"
	"	cmpb	$0x75, 1(%rsi)\n" // u
	"	jne	1f\n"
	"	movzbl	2(%rsi), %eax\n" // A to Z
	"	subl	$0x41, %eax\n"
	"	cmpl	$25, %eax\n"
	"	ja	1f\n"
	"	pushq	%rdi\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	pushq	%rsi\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	subq	$8, %rsp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	movq	24(%rsp), %rdx\n"
	"	call	cuda_dlsym_decide\n"
	"	addq	$8, %rsp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	popq	%rsi\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	popq	%rdi\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	testl	%edx, %edx\n"
	"	jz	1f\n"
	"	ret\n"
	"1:	movq	cuda_next_dlsym(%rip), %rax\n"
	"	testq	%rax, %rax\n"
	"	jz	2f\n"
	"	jmp	*%rax\n"
	"2:	pushq	%rdi\n" // before our constructor: another's looks something up
	"	.cfi_adjust_cfa_offset 8\n"
	"	pushq	%rsi\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	subq	$8, %rsp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	call	cuda_find_dlsym\n"
	"	addq	$8, %rsp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	popq	%rsi\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	popq	%rdi\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	jmp	1b\n"
	"	.cfi_endproc\n"
	".size dlsym, .-dlsym\n");
#elif defined(__aarch64__)
__asm__(".text\n"
	".globl dlsym\n"
	".type dlsym, %function\n"
	".p2align 4\n"
	"dlsym:\n"
	"	.cfi_startproc\n"
	"	cmn	x0, #1\n" // RTLD_NEXT
	"	b.eq	1f\n"
	"	cbz	x1, 1f\n"
	"	ldrb	w9, [x1]\n"
	"	cmp	w9, #0x63\n" // c
	"	b.ne	1f\n"
	"	ldrb	w9, [x1, #1]\n"
	"	cmp	w9, #0x75\n" // u
	"	b.ne	1f\n"
	"	ldrb	w9, [x1, #2]\n" // A to Z
	"	sub	w9, w9, #0x41\n"
	"	cmp	w9, #25\n"
	"	b.hi	1f\n"
	"	stp	x29, x30, [sp, #-32]!\n"
	"	.cfi_def_cfa_offset 32\n"
	"	.cfi_offset 29, -32\n"
	"	.cfi_offset 30, -24\n"
	"	stp	x0, x1, [sp, #16]\n"
	"	mov	x2, x30\n"
	"	bl	cuda_dlsym_decide\n"
	"	mov	x9, x0\n"
	"	mov	x10, x1\n"
	"	ldp	x0, x1, [sp, #16]\n"
	"	ldp	x29, x30, [sp], #32\n"
	"	.cfi_def_cfa_offset 0\n"
	"	.cfi_restore 29\n"
	"	.cfi_restore 30\n"
	"	cbz	w10, 1f\n"
	"	mov	x0, x9\n"
	"	ret\n"
	"1:	adrp	x9, cuda_next_dlsym\n"
	"	ldr	x9, [x9, #:lo12:cuda_next_dlsym]\n"
	"	cbz	x9, 2f\n"
	"	br	x9\n"
	"2:	stp	x29, x30, [sp, #-32]!\n"
	"	.cfi_def_cfa_offset 32\n"
	"	stp	x0, x1, [sp, #16]\n"
	"	bl	cuda_find_dlsym\n"
	"	ldp	x0, x1, [sp, #16]\n"
	"	ldp	x29, x30, [sp], #32\n"
	"	.cfi_def_cfa_offset 0\n"
	"	b	1b\n"
	"	.cfi_endproc\n"
	".size dlsym, .-dlsym\n");
#else
#error "dlsym's tail jump is written for x86-64 and aarch64"
#endif
