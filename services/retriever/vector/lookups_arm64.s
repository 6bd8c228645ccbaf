#include "textflag.h"

// A byte of a column holds two fours of signs of one row. Each chooses one of
// 16 bytes of the table, sixteen rows at once. Four of those fit into a byte
// when added up. Sums of bytes go to sums of words by adding each word twice:
// as it is, and shifted to leave its upper byte alone. The first sum is then
// too large by 256 times the second.

#define CLEAR(v) VEOR v.B16, v.B16, v.B16

// QUARTER takes 16 rows of two columns.
#define QUARTER(c0, c1, all, upper) \
	VAND  V31.B16, c0.B16, V20.B16;     \
	VUSHR $4, c0.B16, V21.B16;          \
	VAND  V31.B16, c1.B16, V22.B16;     \
	VUSHR $4, c1.B16, V23.B16;          \
	VTBL  V20.B16, [V16.B16], V20.B16;  \
	VTBL  V21.B16, [V17.B16], V21.B16;  \
	VTBL  V22.B16, [V18.B16], V22.B16;  \
	VTBL  V23.B16, [V19.B16], V23.B16;  \
	VADD  V21.B16, V20.B16, V20.B16;    \
	VADD  V23.B16, V22.B16, V22.B16;    \
	VADD  V22.B16, V20.B16, V20.B16;    \
	VUSHR $8, V20.H8, V21.H8;           \
	VADD  V20.H8, all.H8, all.H8;       \
	VADD  V21.H8, upper.H8, upper.H8

// PART takes the upper byte's share off the sums of the lower.
#define PART(all, upper) \
	VSHL $8, upper.H8, V20.H8;     \
	VSUB V20.H8, all.H8, all.H8

// WORDS stores eight words as 32-bit integers.
#define WORDS(v) \
	VUXTL  v.H4, V20.S4;                \
	VUXTL2 v.H8, V21.S4;                \
	VST1.P [V20.S4, V21.S4], 32(R3)

// func lookupsNEON(block *byte, columns int, table *byte, out *[64]int32)
TEXT ·lookupsNEON(SB), NOSPLIT, $0-32
	MOVD block+0(FP), R0
	MOVD columns+8(FP), R1
	MOVD table+16(FP), R2
	MOVD out+24(FP), R3
	MOVD $15, R4
	VDUP R4, V31.B16
	CLEAR(V0)
	CLEAR(V1)
	CLEAR(V2)
	CLEAR(V3)
	CLEAR(V4)
	CLEAR(V5)
	CLEAR(V6)
	CLEAR(V7)

loop:
	VLD1.P 64(R0), [V8.B16, V9.B16, V10.B16, V11.B16]
	VLD1.P 64(R0), [V12.B16, V13.B16, V14.B16, V15.B16]
	VLD1.P 64(R2), [V16.B16, V17.B16, V18.B16, V19.B16]
	QUARTER(V8, V12, V0, V4)
	QUARTER(V9, V13, V1, V5)
	QUARTER(V10, V14, V2, V6)
	QUARTER(V11, V15, V3, V7)
	SUBS   $2, R1, R1
	BGT    loop

	PART(V0, V4)
	PART(V1, V5)
	PART(V2, V6)
	PART(V3, V7)
	WORDS(V0)
	WORDS(V1)
	WORDS(V2)
	WORDS(V3)
	WORDS(V4)
	WORDS(V5)
	WORDS(V6)
	WORDS(V7)
	RET
