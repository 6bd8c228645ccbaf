#include "textflag.h"

// The kernels load a stretch of both rows once and multiply it by the same
// stretch of all four queries: eight running sums, 0-3 for row a and 4-7 for
// row b, enough to keep both multipliers busy.

#define ARGUMENTS \
	MOVQ rowA+0(FP), AX;     \
	MOVQ rowB+8(FP), BX;     \
	MOVQ queries+16(FP), R8; \
	MOVQ dims+24(FP), CX;    \
	MOVQ out+32(FP), DI;     \
	LEAQ (R8)(CX*4), R9;     \
	LEAQ (R9)(CX*4), R10;    \
	LEAQ (R10)(CX*4), R11;   \
	XORQ DX, DX

// The processor's own prefetching stops at the end of a page, every third row;
// AHEAD bytes on is four rows of 384 components, and past the end is harmless.
#define AHEAD 6144

#define STEP(rowA, rowB, q, s0, s1, s2, s3, s4, s5, s6, s7) \
	PREFETCHT0  AHEAD(AX)(DX*4);   \
	PREFETCHT0  AHEAD(BX)(DX*4);   \
	VMOVUPS     (AX)(DX*4), rowA;  \
	VMOVUPS     (BX)(DX*4), rowB;  \
	VMOVUPS     (R8)(DX*4), q;     \
	VFMADD231PS q, rowA, s0;       \
	VFMADD231PS q, rowB, s4;       \
	VMOVUPS     (R9)(DX*4), q;     \
	VFMADD231PS q, rowA, s1;       \
	VFMADD231PS q, rowB, s5;       \
	VMOVUPS     (R10)(DX*4), q;    \
	VFMADD231PS q, rowA, s2;       \
	VFMADD231PS q, rowB, s6;       \
	VMOVUPS     (R11)(DX*4), q;    \
	VFMADD231PS q, rowA, s3;       \
	VFMADD231PS q, rowB, s7

#define CLEAR(s) VXORPS s, s, s

// HALVE adds the upper half of a 512-bit sum to its lower half.
#define HALVE(z, y) \
	VEXTRACTF64X4 $1, z, Y8; \
	VADDPS        Y8, y, y

// FOLD makes four sums of four times eight lanes and stores them.
#define FOLD(s0, s1, s2, s3, low, out) \
	VHADDPS      s1, s0, s0;      \
	VHADDPS      s3, s2, s2;      \
	VHADDPS      s2, s0, s0;      \
	VEXTRACTF128 $1, s0, X8;      \
	VADDPS       X8, low, X8;     \
	VMOVUPS      X8, out

#define RESULT \
	FOLD(Y0, Y1, Y2, Y3, X0, 0(DI))  \
	FOLD(Y4, Y5, Y6, Y7, X4, 16(DI)) \
	VZEROUPPER                       \
	RET

// func products256(rowA, rowB, queries *float32, dims int, out *[8]float32)
TEXT ·products256(SB), NOSPLIT, $0-40
	ARGUMENTS
	CLEAR(Y0)
	CLEAR(Y1)
	CLEAR(Y2)
	CLEAR(Y3)
	CLEAR(Y4)
	CLEAR(Y5)
	CLEAR(Y6)
	CLEAR(Y7)

loop:
	STEP(Y8, Y9, Y10, Y0, Y1, Y2, Y3, Y4, Y5, Y6, Y7)
	ADDQ $8, DX
	CMPQ DX, CX
	JLT  loop

	RESULT

// func products512(rowA, rowB, queries *float32, dims int, out *[8]float32)
TEXT ·products512(SB), NOSPLIT, $0-40
	ARGUMENTS
	CLEAR(Y0)
	CLEAR(Y1)
	CLEAR(Y2)
	CLEAR(Y3)
	CLEAR(Y4)
	CLEAR(Y5)
	CLEAR(Y6)
	CLEAR(Y7)

loop:
	STEP(Z8, Z9, Z10, Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7)
	ADDQ $16, DX
	CMPQ DX, CX
	JLT  loop

	HALVE(Z0, Y0)
	HALVE(Z1, Y1)
	HALVE(Z2, Y2)
	HALVE(Z3, Y3)
	HALVE(Z4, Y4)
	HALVE(Z5, Y5)
	HALVE(Z6, Y6)
	HALVE(Z7, Y7)

	RESULT
