#include "textflag.h"

// Instructions that the assembler does not know, on four lanes: conversion to
// float, product, and comparison "greater or equal", false for NaN.
#define SCVTF(n, d) WORD $(0x4E21D800 | n<<5 | d)
#define FMUL(m, n, d) WORD $(0x6E20DC00 | m<<16 | n<<5 | d)
#define FCMGE(m, n, d) WORD $(0x6E20E400 | m<<16 | n<<5 | d)

DATA weights<>+0(SB)/4, $1
DATA weights<>+4(SB)/4, $2
DATA weights<>+8(SB)/4, $4
DATA weights<>+12(SB)/4, $8
GLOBL weights<>(SB), RODATA|NOPTR, $16

// func aboveNEON(values *[64]int32, factors *[64]float32, offset int32, floor float32) uint64
TEXT ·aboveNEON(SB), NOSPLIT, $0-32
	MOVD  values+0(FP), R0
	MOVD  factors+8(FP), R1
	MOVW  offset+16(FP), R2
	MOVWU floor+20(FP), R3
	VDUP  R2, V0.S4
	VDUP  R3, V1.S4
	MOVD  $weights<>(SB), R4
	VLD1  (R4), [V2.S4]
	MOVD  $0, R5
	MOVD  $0, R6

loop:
	VLD1.P 16(R0), [V3.S4]
	VLD1.P 16(R1), [V4.S4]
	VADD   V0.S4, V3.S4, V3.S4
	SCVTF(3, 3)
	FMUL(4, 3, 3)
	FCMGE(1, 3, 3)
	VAND   V2.B16, V3.B16, V3.B16
	VADDV  V3.S4, V3
	VMOV   V3.S[0], R7
	LSL    R6, R7, R7
	ORR    R7, R5, R5
	ADD    $4, R6, R6
	CMP    $64, R6
	BLT    loop

	MOVD R5, ret+24(FP)
	RET
