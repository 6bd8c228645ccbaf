#include "textflag.h"

// The assembler does not know these. SDOT adds the products of the bytes of vectors n and m, by
// fours, to d; the others are for four float32.
#define SDOT(m, n, d) WORD $(0x4E809400 | m<<16 | n<<5 | d)
#define SCVTF(n, d) WORD $(0x4E21D800 | n<<5 | d)
#define FMUL(m, n, d) WORD $(0x6E20DC00 | m<<16 | n<<5 | d)
#define FADD(m, n, d) WORD $(0x4E20D400 | m<<16 | n<<5 | d)

// PRODUCT adds the products of four codes of a row with 16 columns of weights to four sums.
#define PRODUCT(row, s0, s1, s2, s3) \
	VLD1R.P 4(row), [V28.S4]; \
	SDOT(28, 24, s0);         \
	SDOT(28, 25, s1);         \
	SDOT(28, 26, s2);         \
	SDOT(28, 27, s3)

// COLUMNS writes the results of a row in four columns: the sums s, times scale and factors, plus
// bias, plus middle times the columns' sums. Each product is rounded before it is added.
#define COLUMNS(s, v) \
	VLD1R.P 4(R16), [V27.S4]; \
	VLD1R.P 4(R17), [V28.S4]; \
	SCVTF(s, s);              \
	FMUL(27, s, s);           \
	FMUL(24, s, s);           \
	FADD(25, s, s);           \
	FMUL(26, 28, 29);         \
	FADD(29, s, s);           \
	VST1    [v.S4], (R19);    \
	ADD     R10, R19, R19

// GROUP writes the results of six rows in the next four columns.
#define GROUP(s0, v0, s1, v1, s2, v2, s3, v3, s4, v4, s5, v5) \
	VLD1.P 16(R13), [V24.S4]; \
	VLD1.P 16(R14), [V26.S4]; \
	VLD1.P 16(R15), [V25.S4]; \
	MOVD   R11, R16;          \
	MOVD   R12, R17;          \
	MOVD   R9, R19;           \
	COLUMNS(s0, v0);          \
	COLUMNS(s1, v1);          \
	COLUMNS(s2, v2);          \
	COLUMNS(s3, v3);          \
	COLUMNS(s4, v4);          \
	COLUMNS(s5, v5);          \
	ADD    $16, R9, R9

#define CLEAR(v) VEOR v.B16, v.B16, v.B16

// func dotNEON(codes *int8, depth int, weights *uint8, scales, middles, factors, sums, bias, out *float32, stride int)
//
// Six rows times 64 columns, sixteen columns at a time: 24 running sums. The weights are made signed
// again, so nothing is left to correct.
TEXT ·dotNEON(SB), NOSPLIT, $0-80
	MOVD scales+24(FP), R11
	MOVD middles+32(FP), R12
	MOVD factors+40(FP), R13
	MOVD sums+48(FP), R14
	MOVD bias+56(FP), R15
	MOVD out+64(FP), R9
	MOVD stride+72(FP), R10
	LSL  $2, R10, R10
	MOVD weights+16(FP), R20
	MOVD $4, R8
	MOVD $128, R21
	VDUP R21, V31.B16

sixteen:
	MOVD codes+0(FP), R0
	MOVD depth+8(FP), R7
	ADD  R7, R0, R1
	ADD  R7, R1, R2
	ADD  R7, R2, R3
	ADD  R7, R3, R4
	ADD  R7, R4, R5
	MOVD R20, R6
	CLEAR(V0)
	CLEAR(V1)
	CLEAR(V2)
	CLEAR(V3)
	CLEAR(V4)
	CLEAR(V5)
	CLEAR(V6)
	CLEAR(V7)
	CLEAR(V8)
	CLEAR(V9)
	CLEAR(V10)
	CLEAR(V11)
	CLEAR(V12)
	CLEAR(V13)
	CLEAR(V14)
	CLEAR(V15)
	CLEAR(V16)
	CLEAR(V17)
	CLEAR(V18)
	CLEAR(V19)
	CLEAR(V20)
	CLEAR(V21)
	CLEAR(V22)
	CLEAR(V23)

step:
	VLD1 (R6), [V24.B16, V25.B16, V26.B16, V27.B16]
	ADD  $256, R6, R6
	VEOR V31.B16, V24.B16, V24.B16
	VEOR V31.B16, V25.B16, V25.B16
	VEOR V31.B16, V26.B16, V26.B16
	VEOR V31.B16, V27.B16, V27.B16
	PRODUCT(R0, 0, 1, 2, 3)
	PRODUCT(R1, 4, 5, 6, 7)
	PRODUCT(R2, 8, 9, 10, 11)
	PRODUCT(R3, 12, 13, 14, 15)
	PRODUCT(R4, 16, 17, 18, 19)
	PRODUCT(R5, 20, 21, 22, 23)
	SUBS $4, R7, R7
	BGT  step

	GROUP(0, V0, 4, V4, 8, V8, 12, V12, 16, V16, 20, V20)
	GROUP(1, V1, 5, V5, 9, V9, 13, V13, 17, V17, 21, V21)
	GROUP(2, V2, 6, V6, 10, V10, 14, V14, 18, V18, 22, V22)
	GROUP(3, V3, 7, V7, 11, V11, 15, V15, 19, V19, 23, V23)
	ADD  $64, R20, R20
	SUBS $1, R8, R8
	BGT  sixteen
	RET
