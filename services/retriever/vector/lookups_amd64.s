#include "textflag.h"

// A byte of a column holds two fours of signs of one row. Each chooses one of
// 16 bytes of the table, all rows at once. Four of those fit into a byte when
// added up. Sums of bytes go to sums of words by adding each word twice: as it
// is, and shifted to leave its upper byte alone. The first sum is then too
// large by 256 times the second.

// The processor's own prefetching stops at the end of a page; AHEAD bytes on is
// the next block of 384 dimensions, and past the end is harmless.
#define AHEAD 3328

DATA nibble<>+0(SB)/8, $0x0f0f0f0f0f0f0f0f
GLOBL nibble<>(SB), RODATA|NOPTR, $8

#define ARGUMENTS \
	MOVQ block+0(FP), AX;   \
	MOVQ columns+8(FP), CX; \
	MOVQ table+16(FP), BX;  \
	MOVQ out+24(FP), DI

// LOOKUP replaces four columns of fours, in the low bits of c0-c3, by the sum
// of what they choose from four tables. MASK has those bits.
#define LOOKUP(LOAD, AND, table, MASK, c0, c1, c2, c3, t0, t1, t2, t3) \
	AND     MASK, c0, c0;     \
	AND     MASK, c1, c1;     \
	AND     MASK, c2, c2;     \
	AND     MASK, c3, c3;     \
	LOAD    0(table), t0;     \
	LOAD    16(table), t1;    \
	LOAD    32(table), t2;    \
	LOAD    48(table), t3;    \
	VPSHUFB c0, t0, t0;       \
	VPSHUFB c1, t1, t1;       \
	VPSHUFB c2, t2, t2;       \
	VPSHUFB c3, t3, t3;       \
	VPADDB  t1, t0, t0;       \
	VPADDB  t3, t2, t2;       \
	VPADDB  t2, t0, t0

// WIDEN adds bytes to the sums of words.
#define WIDEN(bytes, tmp, all, upper) \
	VPADDW bytes, all, all;  \
	VPSRLW $8, bytes, tmp;   \
	VPADDW tmp, upper, upper

// PART takes the upper byte's share off the sums of the lower.
#define PART(tmp, all, upper) \
	VPSLLW $8, upper, tmp; \
	VPSUBW tmp, all, all

// func lookups512(block *byte, columns int, table *byte, out *[64]int32)
TEXT ·lookups512(SB), NOSPLIT, $0-32
	ARGUMENTS
	VPBROADCASTQ nibble<>(SB), Z31
	VPXORD       Z0, Z0, Z0
	VPXORD       Z1, Z1, Z1

loop:
	PREFETCHT0 AHEAD(AX)
	PREFETCHT0 (AHEAD+64)(AX)
	VMOVDQU32  (AX), Z2
	VMOVDQU32  64(AX), Z4
	VPSRLW     $4, Z2, Z3
	VPSRLW     $4, Z4, Z5
	LOOKUP(VBROADCASTI32X4, VPANDQ, BX, Z31, Z2, Z3, Z4, Z5, Z6, Z7, Z8, Z9)
	WIDEN(Z6, Z7, Z0, Z1)
	ADDQ       $128, AX
	ADDQ       $64, BX
	SUBQ       $2, CX
	JGT        loop

	PART(Z2, Z0, Z1)
	VEXTRACTI64X4 $1, Z0, Y2
	VEXTRACTI64X4 $1, Z1, Y3
	VPMOVZXWD     Y0, Z0
	VPMOVZXWD     Y2, Z2
	VPMOVZXWD     Y1, Z1
	VPMOVZXWD     Y3, Z3
	VMOVDQU32     Z0, 0(DI)
	VMOVDQU32     Z2, 64(DI)
	VMOVDQU32     Z1, 128(DI)
	VMOVDQU32     Z3, 192(DI)
	VZEROUPPER
	RET

// WORDS stores 16 words as 32-bit integers.
#define WORDS(y, low, out) \
	VEXTRACTI128 $1, y, X4;     \
	VPMOVZXWD    low, Y5;       \
	VMOVDQU      Y5, 0+out(DI); \
	VPMOVZXWD    X4, Y5;        \
	VMOVDQU      Y5, 32+out(DI)

// HALF takes 32 bytes of each of two columns.
#define HALF(offset, all, upper) \
	VMOVDQU offset(AX), Y4;    \
	VMOVDQU 64+offset(AX), Y6; \
	VPSRLW  $4, Y4, Y5;        \
	VPSRLW  $4, Y6, Y7;        \
	LOOKUP(VBROADCASTI128, VPAND, BX, Y15, Y4, Y5, Y6, Y7, Y8, Y9, Y10, Y11) \
	WIDEN(Y8, Y9, all, upper)

// func lookups256(block *byte, columns int, table *byte, out *[64]int32)
TEXT ·lookups256(SB), NOSPLIT, $0-32
	ARGUMENTS
	VPBROADCASTQ nibble<>(SB), Y15
	VPXOR        Y0, Y0, Y0
	VPXOR        Y1, Y1, Y1
	VPXOR        Y2, Y2, Y2
	VPXOR        Y3, Y3, Y3

loop:
	PREFETCHT0 AHEAD(AX)
	PREFETCHT0 (AHEAD+64)(AX)
	HALF(0, Y0, Y1)
	HALF(32, Y2, Y3)
	ADDQ       $128, AX
	ADDQ       $64, BX
	SUBQ       $2, CX
	JGT        loop

	PART(Y4, Y0, Y1)
	PART(Y4, Y2, Y3)
	WORDS(Y0, X0, 0)
	WORDS(Y2, X2, 64)
	WORDS(Y1, X1, 128)
	WORDS(Y3, X3, 192)
	VZEROUPPER
	RET
