#include "textflag.h"

#define ARGUMENTS \
	MOVQ values+0(FP), AX;  \
	MOVQ factors+8(FP), BX

// SCALE makes the score of a stretch of rows.
#define SCALE(LOAD, at, offset, s) \
	LOAD      at(AX), s;    \
	VPADDD    offset, s, s; \
	VCVTDQ2PS s, s;         \
	VMULPS    at(BX), s, s

// Comparisons are "greater or equal", false for NaN.
#define GE $13

// FLAGS512 moves the bits of 16 rows into a mask.
#define FLAGS512(at, shift) \
	SCALE(VMOVDQU32, at, Z0, Z2) \
	VCMPPS GE, Z1, Z2, K1;       \
	KMOVW  K1, CX;               \
	SHLQ   shift, CX;            \
	ORQ    CX, DX

// func above512(values *[64]int32, factors *[64]float32, offset int32, floor float32) uint64
TEXT ·above512(SB), NOSPLIT, $0-32
	ARGUMENTS
	MOVL         offset+16(FP), CX
	VPBROADCASTD CX, Z0
	VBROADCASTSS floor+20(FP), Z1
	XORQ         DX, DX
	FLAGS512(0, $0)
	FLAGS512(64, $16)
	FLAGS512(128, $32)
	FLAGS512(192, $48)
	MOVQ         DX, ret+24(FP)
	VZEROUPPER
	RET

// FLAGS256 moves the bits of 8 rows into a mask.
#define FLAGS256(at, shift) \
	SCALE(VMOVDQU, at, Y0, Y2) \
	VCMPPS    GE, Y1, Y2, Y2;  \
	VMOVMSKPS Y2, CX;          \
	SHLQ      shift, CX;       \
	ORQ       CX, DX

// func above256(values *[64]int32, factors *[64]float32, offset int32, floor float32) uint64
TEXT ·above256(SB), NOSPLIT, $0-32
	ARGUMENTS
	MOVL         offset+16(FP), CX
	VMOVD        CX, X0
	VPBROADCASTD X0, Y0
	VBROADCASTSS floor+20(FP), Y1
	XORQ         DX, DX
	FLAGS256(0, $0)
	FLAGS256(32, $8)
	FLAGS256(64, $16)
	FLAGS256(96, $24)
	FLAGS256(128, $32)
	FLAGS256(160, $40)
	FLAGS256(192, $48)
	FLAGS256(224, $56)
	MOVQ         DX, ret+24(FP)
	VZEROUPPER
	RET
