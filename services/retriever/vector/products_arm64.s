#include "textflag.h"

// The kernel loads a stretch of both rows once and multiplies it by the same
// stretch of all four queries: eight running sums, 0-3 for row a and 4-7 for
// row b.

#define CLEAR(v) VEOR v.B16, v.B16, v.B16

#define STEP(query, s0, s4) \
	VLD1.P 16(query), [V10.S4];    \
	VFMLA  V10.S4, V8.S4, s0.S4;   \
	VFMLA  V10.S4, V9.S4, s4.S4

// PLUS adds b to a. The assembler has no sum of vectors of floats, but has one
// of products: V31 is all ones.
#define PLUS(b, a) VFMLA V31.S4, b.S4, a.S4

// FOLD makes four sums of four times four lanes, in s0.
#define FOLD(s0, s1, s2, s3) \
	VZIP1 s2.S4, s0.S4, V8.S4;  \
	VZIP2 s2.S4, s0.S4, V9.S4;  \
	PLUS(V9, V8);                \
	VZIP1 s3.S4, s1.S4, V10.S4; \
	VZIP2 s3.S4, s1.S4, V11.S4; \
	PLUS(V11, V10);              \
	VZIP1 V10.S4, V8.S4, s0.S4; \
	VZIP2 V10.S4, V8.S4, V12.S4; \
	PLUS(V12, s0)

// func productsNEON(rowA, rowB, queries *float32, dims int, out *[8]float32)
TEXT ·productsNEON(SB), NOSPLIT, $0-40
	MOVD  rowA+0(FP), R0
	MOVD  rowB+8(FP), R1
	MOVD  queries+16(FP), R2
	MOVD  dims+24(FP), R6
	MOVD  out+32(FP), R7
	ADD   R6<<2, R2, R3
	ADD   R6<<2, R3, R4
	ADD   R6<<2, R4, R5
	FMOVS $1.0, F31
	VDUP  V31.S[0], V31.S4
	CLEAR(V0)
	CLEAR(V1)
	CLEAR(V2)
	CLEAR(V3)
	CLEAR(V4)
	CLEAR(V5)
	CLEAR(V6)
	CLEAR(V7)

loop:
	VLD1.P 16(R0), [V8.S4]
	VLD1.P 16(R1), [V9.S4]
	STEP(R2, V0, V4)
	STEP(R3, V1, V5)
	STEP(R4, V2, V6)
	STEP(R5, V3, V7)
	SUBS   $4, R6, R6
	BGT    loop

	FOLD(V0, V1, V2, V3)
	FOLD(V4, V5, V6, V7)
	VST1.P [V0.S4], 16(R7)
	VST1   [V4.S4], (R7)
	RET
