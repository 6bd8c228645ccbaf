#include "textflag.h"

// The kernel loads 16 codes of two rows once and multiplies them by those of
// all four queries: eight running sums, V0-V3 for the first row and V4-V7 for
// the second. The processor multiplies signed bytes: codes lose their 128, and
// sums start with what that takes off, 128 times the sum of the query.

#define CLEAR(v) VEOR v.B16, v.B16, v.B16

// SDOT adds the products of bytes of vectors n and m, by fours, to d; the
// assembler does not know it.
#define SDOT(m, n, d) WORD $(0x4E809400 | m<<16 | n<<5 | d)

#define STEP(query, s0, s4) \
	VLD1.P 16(query), [V10.B16]; \
	SDOT(10, 8, s0);             \
	SDOT(10, 9, s4)

// START has SDOT add up a query times -128 and turns the sign.
#define START(query, v, number) \
	VLD1.P 16(query), [V10.B16]; \
	SDOT(10, 31, number)

#define NEGATE(v) VSUB v.S4, V30.S4, v.S4

#define QUERIES \
	MOVD R10, R2;       \
	ADD  R9, R2, R3;    \
	ADD  R9, R3, R4;    \
	ADD  R9, R4, R5

// FOLD makes four sums of four times four lanes, in s0.
#define FOLD(s0, s1, s2, s3) \
	VADDP s1.S4, s0.S4, s0.S4; \
	VADDP s3.S4, s2.S4, s2.S4; \
	VADDP s2.S4, s0.S4, s0.S4

// func dotsNEON(rows *byte, n, width int, queries *int8, out *[4][64]int32)
TEXT ·dotsNEON(SB), NOSPLIT, $0-40
	MOVD  rows+0(FP), R0
	MOVD  n+8(FP), R8
	MOVD  width+16(FP), R9
	MOVD  queries+24(FP), R10
	MOVD  out+32(FP), R11
	MOVD  $128, R12
	VDUP  R12, V31.B16
	CLEAR(V30)
	CLEAR(V24)
	CLEAR(V25)
	CLEAR(V26)
	CLEAR(V27)
	QUERIES
	MOVD  R9, R6

start:
	START(R2, V24, 24)
	START(R3, V25, 25)
	START(R4, V26, 26)
	START(R5, V27, 27)
	SUBS  $16, R6, R6
	BGT   start
	NEGATE(V24)
	NEGATE(V25)
	NEGATE(V26)
	NEGATE(V27)

pair:
	// Without a second row, the first one is taken twice.
	ADD   R9, R0, R1
	CMP   $1, R8
	CSEL  GT, R1, R0, R1
	VMOV  V24.B16, V0.B16
	VMOV  V25.B16, V1.B16
	VMOV  V26.B16, V2.B16
	VMOV  V27.B16, V3.B16
	VMOV  V24.B16, V4.B16
	VMOV  V25.B16, V5.B16
	VMOV  V26.B16, V6.B16
	VMOV  V27.B16, V7.B16
	QUERIES
	MOVD  R9, R6

loop:
	VLD1.P 16(R0), [V8.B16]
	VLD1.P 16(R1), [V9.B16]
	VEOR   V31.B16, V8.B16, V8.B16
	VEOR   V31.B16, V9.B16, V9.B16
	STEP(R2, 0, 4)
	STEP(R3, 1, 5)
	STEP(R4, 2, 6)
	STEP(R5, 3, 7)
	SUBS   $16, R6, R6
	BGT    loop

	FOLD(V0, V1, V2, V3)
	FOLD(V4, V5, V6, V7)

	// The sums of two rows go beside one another, for each query.
	VZIP1 V4.S4, V0.S4, V8.S4
	VZIP2 V4.S4, V0.S4, V9.S4
	VMOV  V8.D[0], R2
	VMOV  V8.D[1], R3
	VMOV  V9.D[0], R4
	VMOV  V9.D[1], R5
	MOVD  R2, 0(R11)
	MOVD  R3, 256(R11)
	MOVD  R4, 512(R11)
	MOVD  R5, 768(R11)
	ADD   $8, R11, R11
	MOVD  R1, R0
	SUBS  $2, R8, R8
	BGT   pair
	RET
