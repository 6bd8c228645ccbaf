#include "textflag.h"

// The kernels load a stretch of two rows of codes once and multiply it by the
// same stretch of all four queries: eight running sums of 32-bit integers, 0-3
// for the first row and 4-7 for the second.

// The processor's own prefetching stops at the end of a page; AHEAD bytes on is
// some rows of 384 components, and past the end is harmless.
#define AHEAD 4096

// Without a second row, the first one is taken twice.
#define ARGUMENTS \
	MOVQ rows+0(FP), AX;     \
	MOVQ n+8(FP), CX;        \
	MOVQ width+16(FP), SI;   \
	MOVQ queries+24(FP), R8; \
	MOVQ out+32(FP), DI;     \
	LEAQ (R8)(SI*1), R9;     \
	LEAQ (R9)(SI*1), R10;    \
	LEAQ (R10)(SI*1), R11

#define PAIR \
	MOVQ    AX, BX;          \
	LEAQ    (AX)(SI*1), R12; \
	CMPQ    CX, $1;          \
	CMOVQGT R12, BX;         \
	XORQ    DX, DX

#define CLEAR(s) VPXOR s, s, s

#define CLEAR8 \
	CLEAR(Y0); \
	CLEAR(Y1); \
	CLEAR(Y2); \
	CLEAR(Y3); \
	CLEAR(Y4); \
	CLEAR(Y5); \
	CLEAR(Y6); \
	CLEAR(Y7)

// FOLD makes four sums of four times eight lanes.
#define FOLD(s0, s1, s2, s3, low) \
	VPHADDD      s1, s0, s0; \
	VPHADDD      s3, s2, s2; \
	VPHADDD      s2, s0, s0; \
	VEXTRACTI128 $1, s0, X8; \
	VPADDD       X8, low, low

// STORE puts the sums of two rows beside one another, for each query.
#define STORE \
	FOLD(Y0, Y1, Y2, Y3, X0)      \
	FOLD(Y4, Y5, Y6, Y7, X4)      \
	VPUNPCKLDQ X4, X0, X1;        \
	VPUNPCKHDQ X4, X0, X2;        \
	VMOVQ      X1, 0(DI);         \
	VMOVHPS    X1, 256(DI);       \
	VMOVQ      X2, 512(DI);       \
	VMOVHPS    X2, 768(DI)

#define NEXT \
	LEAQ (AX)(SI*2), AX; \
	ADDQ $8, DI;         \
	SUBQ $2, CX

// HALVE adds the upper half of a 512-bit sum to its lower half.
#define HALVE(z, y) \
	VEXTRACTI64X4 $1, z, Y8; \
	VPADDD        Y8, y, y

// DOT512 multiplies 64 codes of both rows by those of one query.
#define DOT512(query, s0, s4) \
	VMOVDQU32 (query)(DX*1), Z10; \
	VPDPBUSD  Z10, Z8, s0;        \
	VPDPBUSD  Z10, Z9, s4

// func dots512(rows *byte, n, width int, queries *int8, out *[4][64]int32)
TEXT ·dots512(SB), NOSPLIT, $0-40
	ARGUMENTS

pair:
	PAIR
	CLEAR8

loop:
	PREFETCHT0 AHEAD(AX)(DX*1)
	PREFETCHT0 AHEAD(BX)(DX*1)
	VMOVDQU32  (AX)(DX*1), Z8
	VMOVDQU32  (BX)(DX*1), Z9
	DOT512(R8, Z0, Z4)
	DOT512(R9, Z1, Z5)
	DOT512(R10, Z2, Z6)
	DOT512(R11, Z3, Z7)
	ADDQ       $64, DX
	CMPQ       DX, SI
	JLT        loop

	HALVE(Z0, Y0)
	HALVE(Z1, Y1)
	HALVE(Z2, Y2)
	HALVE(Z3, Y3)
	HALVE(Z4, Y4)
	HALVE(Z5, Y5)
	HALVE(Z6, Y6)
	HALVE(Z7, Y7)
	STORE
	NEXT
	JGT        pair

	VZEROUPPER
	RET

// DOT256 multiplies 16 codes of both rows by those of one query. AVX2's own
// product of bytes saturates, so they are widened first.
#define DOT256(query, s0, s4) \
	VPMOVSXBW (query)(DX*1), Y10; \
	VPMADDWD  Y10, Y8, Y11;       \
	VPADDD    Y11, s0, s0;        \
	VPMADDWD  Y10, Y9, Y11;       \
	VPADDD    Y11, s4, s4

// func dots256(rows *byte, n, width int, queries *int8, out *[4][64]int32)
TEXT ·dots256(SB), NOSPLIT, $0-40
	ARGUMENTS

pair:
	PAIR
	CLEAR8

loop:
	PREFETCHT0 AHEAD(AX)(DX*1)
	PREFETCHT0 AHEAD(BX)(DX*1)
	VPMOVZXBW  (AX)(DX*1), Y8
	VPMOVZXBW  (BX)(DX*1), Y9
	DOT256(R8, Y0, Y4)
	DOT256(R9, Y1, Y5)
	DOT256(R10, Y2, Y6)
	DOT256(R11, Y3, Y7)
	ADDQ       $16, DX
	CMPQ       DX, SI
	JLT        loop

	STORE
	NEXT
	JGT        pair

	VZEROUPPER
	RET

// func dot512(rows *byte, n, width int, query *int8, out *[64]int32)
//
// One query takes four rows at a time, so that four stretches of memory are
// under way and nothing is multiplied for queries that are not there. Rows
// beyond the last are the first one again.
TEXT ·dot512(SB), NOSPLIT, $0-40
	MOVQ rows+0(FP), AX
	MOVQ n+8(FP), CX
	MOVQ width+16(FP), SI
	MOVQ query+24(FP), R8
	MOVQ out+32(FP), DI

four:
	LEAQ    (AX)(SI*1), BX
	LEAQ    (AX)(SI*2), R9
	LEAQ    (BX)(SI*2), R10
	CMPQ    CX, $2
	CMOVQLT AX, BX
	CMPQ    CX, $3
	CMOVQLT AX, R9
	CMPQ    CX, $4
	CMOVQLT AX, R10
	XORQ    DX, DX
	CLEAR(Y0)
	CLEAR(Y1)
	CLEAR(Y2)
	CLEAR(Y3)

stretch:
	PREFETCHT0 AHEAD(AX)(DX*1)
	PREFETCHT0 AHEAD(BX)(DX*1)
	PREFETCHT0 AHEAD(R9)(DX*1)
	PREFETCHT0 AHEAD(R10)(DX*1)
	VMOVDQU32  (R8)(DX*1), Z10
	VMOVDQU32  (AX)(DX*1), Z8
	VMOVDQU32  (BX)(DX*1), Z9
	VMOVDQU32  (R9)(DX*1), Z11
	VMOVDQU32  (R10)(DX*1), Z12
	VPDPBUSD   Z10, Z8, Z0
	VPDPBUSD   Z10, Z9, Z1
	VPDPBUSD   Z10, Z11, Z2
	VPDPBUSD   Z10, Z12, Z3
	ADDQ       $64, DX
	CMPQ       DX, SI
	JLT        stretch

	HALVE(Z0, Y0)
	HALVE(Z1, Y1)
	HALVE(Z2, Y2)
	HALVE(Z3, Y3)
	FOLD(Y0, Y1, Y2, Y3, X0)
	VMOVDQU X0, (DI)
	LEAQ    (AX)(SI*4), AX
	ADDQ    $16, DI
	SUBQ    $4, CX
	JGT     four

	VZEROUPPER
	RET
