#include "textflag.h"

// AVX-512 kernels. Lanes are 16 floats; every width they are given is a whole
// number of lanes. Products are rounded before they are added, here as in the
// portable kernels, so that both give the same to the last bit.

// func dot512(codes *int8, depth int, weights *uint8, scales, middles *float32, corrections *int32, factors, sums, bias, out *float32, stride int)
//
// Six rows times 64 columns: 24 running sums, four vectors of weights and one
// of activations a step, so that both multipliers are busy at every cycle.
#define ROW(a, s0, s1, s2, s3) \
	VPBROADCASTD a, Z28;       \
	VPDPBUSD     Z28, Z24, s0; \
	VPDPBUSD     Z28, Z25, s1; \
	VPDPBUSD     Z28, Z26, s2; \
	VPDPBUSD     Z28, Z27, s3

#define OUT(at, s0, s1, s2, s3) \
	VPBROADCASTD at(R10), Z28;      \
	VBROADCASTSS at(R9), Z29;       \
	VBROADCASTSS at(AX), Z30;       \
	COLUMNS(0, Z24, s0)             \
	COLUMNS(64, Z25, s1)            \
	COLUMNS(128, Z26, s2)           \
	COLUMNS(192, Z27, s3)           \
	ADDQ         R13, DI

#define COLUMNS(at, factor, s) \
	VPADDD      Z28, s, s;              \
	VCVTDQ2PS   s, s;                   \
	VMULPS      Z29, s, s;              \
	VMULPS      factor, s, s;           \
	VADDPS      at(R12), s, s;          \
	VMULPS      at(BX), Z30, Z31;       \
	VADDPS      Z31, s, s;              \
	VMOVUPS     s, at(DI)

#define ZERO(s) VPXORD s, s, s

TEXT ·dot512(SB), NOSPLIT, $0-88
	MOVQ codes+0(FP), SI
	MOVQ depth+8(FP), CX
	MOVQ weights+16(FP), BX
	MOVQ scales+24(FP), R9
	MOVQ middles+32(FP), AX
	MOVQ corrections+40(FP), R10
	MOVQ factors+48(FP), R11
	MOVQ bias+64(FP), R12
	MOVQ out+72(FP), DI
	MOVQ stride+80(FP), R13
	SHLQ $2, R13
	LEAQ (SI)(CX*2), R8
	ADDQ CX, R8
	MOVQ CX, DX
	SHRQ $2, DX
	ZERO(Z0); ZERO(Z1); ZERO(Z2); ZERO(Z3)
	ZERO(Z4); ZERO(Z5); ZERO(Z6); ZERO(Z7)
	ZERO(Z8); ZERO(Z9); ZERO(Z10); ZERO(Z11)
	ZERO(Z12); ZERO(Z13); ZERO(Z14); ZERO(Z15)
	ZERO(Z16); ZERO(Z17); ZERO(Z18); ZERO(Z19)
	ZERO(Z20); ZERO(Z21); ZERO(Z22); ZERO(Z23)

step:
	VMOVDQU64 (BX), Z24
	VMOVDQU64 64(BX), Z25
	VMOVDQU64 128(BX), Z26
	VMOVDQU64 192(BX), Z27
	ROW((SI), Z0, Z1, Z2, Z3)
	ROW((SI)(CX*1), Z4, Z5, Z6, Z7)
	ROW((SI)(CX*2), Z8, Z9, Z10, Z11)
	ROW((R8), Z12, Z13, Z14, Z15)
	ROW((R8)(CX*1), Z16, Z17, Z18, Z19)
	ROW((R8)(CX*2), Z20, Z21, Z22, Z23)
	ADDQ $256, BX
	ADDQ $4, SI
	ADDQ $4, R8
	DECQ DX
	JNZ  step

	MOVQ    sums+56(FP), BX
	VMOVUPS (R11), Z24
	VMOVUPS 64(R11), Z25
	VMOVUPS 128(R11), Z26
	VMOVUPS 192(R11), Z27
	OUT(0, Z0, Z1, Z2, Z3)
	OUT(4, Z4, Z5, Z6, Z7)
	OUT(8, Z8, Z9, Z10, Z11)
	OUT(12, Z12, Z13, Z14, Z15)
	OUT(16, Z16, Z17, Z18, Z19)
	OUT(20, Z20, Z21, Z22, Z23)
	VZEROUPPER
	RET

// REDUCE leaves op over the lanes of z (y and x are its lower parts) in every
// lane of x.
#define REDUCE(op, z, y, x) \
	VEXTRACTF64X4 $1, z, Y15;       \
	op            Y15, y, y;        \
	VEXTRACTF128  $1, y, X15;       \
	op            X15, x, x;        \
	VPERMILPS     $0x4E, x, X15;    \
	op            X15, x, x;        \
	VPERMILPS     $0xB1, x, X15;    \
	op            X15, x, x

DATA constants<>+0(SB)/4, $0x7FFFFFFF  // all bits but the sign
DATA constants<>+4(SB)/4, $127.0
DATA constants<>+8(SB)/4, $5.0         // where gelu's tail is taken as ended
DATA constants<>+12(SB)/4, $0.4         // 2 / 5
DATA constants<>+16(SB)/4, $-1.0
DATA constants<>+20(SB)/4, $1e-12      // BERT's epsilon
DATA constants<>+24(SB)/4, $1.442695   // 1 / ln 2
DATA constants<>+28(SB)/4, $-80.0      // e^-80 is as good as nothing
DATA constants<>+32(SB)/4, $1.0
DATA constants<>+36(SB)/4, $-1e30
DATA constants<>+40(SB)/4, $0.5
DATA constants<>+44(SB)/4, $254.0
GLOBL constants<>(SB), RODATA|NOPTR, $48

// func quantise512(x, shares *float32, n int, codes *int8) (scale, middle float32, sum int32)
TEXT ·quantise512(SB), NOSPLIT, $0-44
	MOVQ   x+0(FP), SI
	MOVQ   shares+8(FP), R8
	MOVQ   n+16(FP), CX
	MOVQ   codes+24(FP), DI
	VPXORD Z0, Z0, Z0
	VPXORD Z1, Z1, Z1
	VPXORD Z4, Z4, Z4
	XORQ   DX, DX

range:
	VMOVUPS (SI)(DX*4), Z2
	VMULPS  (R8)(DX*4), Z2, Z2
	VMAXPS  Z2, Z0, Z0
	VMINPS  Z2, Z1, Z1
	ADDQ    $16, DX
	CMPQ    DX, CX
	JLT     range

	REDUCE(VMAXPS, Z0, Y0, X0)
	REDUCE(VMINPS, Z1, Y1, X1)
	VADDSS   X1, X0, X2
	VMULSS   constants<>+40(SB), X2, X2
	VMOVSS   X2, middle+36(FP)
	VSUBSS   X1, X0, X0
	VMOVSS   constants<>+44(SB), X6
	VDIVSS   X6, X0, X1            // the range / 254
	VMOVSS   X1, scale+32(FP)
	VUCOMISS X4, X0
	VDIVSS   X0, X6, X1            // 254 / the range
	JNE      some
	VMOVAPS  X4, X1

some:
	VMULSS       X1, X2, X2
	VBROADCASTSS X1, Z1
	VBROADCASTSS X2, Z7
	VBROADCASTSS constants<>+4(SB), Z5
	VSUBPS       Z5, Z4, Z6        // -127
	XORQ         DX, DX

code:
	VMULPS    (SI)(DX*4), Z1, Z2
	VSUBPS    Z7, Z2, Z2
	VMINPS    Z5, Z2, Z2
	VMAXPS    Z6, Z2, Z2
	VCVTPS2DQ Z2, Z2
	VPADDD    Z2, Z4, Z4
	VPMOVDB   Z2, (DI)(DX*1)
	ADDQ      $16, DX
	CMPQ      DX, CX
	JLT       code

	REDUCE(VPADDD, Z4, Y4, X4)
	VMOVD X4, AX
	MOVL  AX, sum+40(FP)
	VZEROUPPER
	RET

// func gelu512(x *float32, n int, tail *float32)
//
// gelu(x) is max(x, 0) less a tail that is even in x; the tail is a polynomial
// of degree 14, its coefficients from the highest.
#define HORNER(c) \
	VMULPS Z2, Z3, Z3; \
	VADDPS c, Z3, Z3

TEXT ·gelu512(SB), NOSPLIT, $0-24
	MOVQ         x+0(FP), SI
	MOVQ         n+8(FP), CX
	MOVQ         tail+16(FP), R8
	VBROADCASTSS 0(R8), Z16
	VBROADCASTSS 4(R8), Z17
	VBROADCASTSS 8(R8), Z18
	VBROADCASTSS 12(R8), Z19
	VBROADCASTSS 16(R8), Z20
	VBROADCASTSS 20(R8), Z21
	VBROADCASTSS 24(R8), Z22
	VBROADCASTSS 28(R8), Z23
	VBROADCASTSS 32(R8), Z24
	VBROADCASTSS 36(R8), Z25
	VBROADCASTSS 40(R8), Z26
	VBROADCASTSS 44(R8), Z27
	VBROADCASTSS 48(R8), Z28
	VBROADCASTSS 52(R8), Z29
	VBROADCASTSS 56(R8), Z30
	VPBROADCASTD constants<>+0(SB), Z10
	VBROADCASTSS constants<>+8(SB), Z11
	VBROADCASTSS constants<>+12(SB), Z12
	VBROADCASTSS constants<>+16(SB), Z13
	VPXORD       Z14, Z14, Z14
	XORQ         DX, DX

gelu:
	VMOVUPS     (SI)(DX*4), Z1
	VPANDD      Z1, Z10, Z2
	VMINPS      Z11, Z2, Z2
	VMULPS      Z12, Z2, Z2
	VADDPS      Z13, Z2, Z2
	VMOVAPS     Z16, Z3
	HORNER(Z17); HORNER(Z18); HORNER(Z19); HORNER(Z20)
	HORNER(Z21); HORNER(Z22); HORNER(Z23); HORNER(Z24)
	HORNER(Z25); HORNER(Z26); HORNER(Z27); HORNER(Z28)
	HORNER(Z29); HORNER(Z30)
	VMAXPS      Z14, Z1, Z1
	VSUBPS      Z3, Z1, Z1
	VMOVUPS     Z1, (SI)(DX*4)
	ADDQ        $16, DX
	CMPQ        DX, CX
	JLT         gelu
	VZEROUPPER
	RET

// func normalise512(x, residual, gain, bias *float32, n int)
TEXT ·normalise512(SB), NOSPLIT, $0-40
	MOVQ   x+0(FP), SI
	MOVQ   residual+8(FP), R8
	MOVQ   gain+16(FP), R9
	MOVQ   bias+24(FP), R10
	MOVQ   n+32(FP), CX
	VPXORD Z0, Z0, Z0
	XORQ   DX, DX

add:
	VMOVUPS (SI)(DX*4), Z1
	VADDPS  (R8)(DX*4), Z1, Z1
	VMOVUPS Z1, (SI)(DX*4)
	VADDPS  Z1, Z0, Z0
	ADDQ    $16, DX
	CMPQ    DX, CX
	JLT     add

	REDUCE(VADDPS, Z0, Y0, X0)
	VCVTSI2SSQ   CX, X5, X5
	VDIVSS       X5, X0, X0
	VBROADCASTSS X0, Z0            // the mean
	VPXORD       Z2, Z2, Z2
	XORQ         DX, DX

square:
	VMOVUPS     (SI)(DX*4), Z1
	VSUBPS      Z0, Z1, Z1
	VMULPS      Z1, Z1, Z1
	VADDPS      Z1, Z2, Z2
	ADDQ        $16, DX
	CMPQ        DX, CX
	JLT         square

	REDUCE(VADDPS, Z2, Y2, X2)
	VDIVSS       X5, X2, X2
	VADDSS       constants<>+20(SB), X2, X2
	VSQRTSS      X2, X2, X2
	VMOVSS       constants<>+32(SB), X3
	VDIVSS       X2, X3, X2
	VBROADCASTSS X2, Z2            // 1 / the deviation
	XORQ         DX, DX

scale:
	VMOVUPS     (SI)(DX*4), Z1
	VSUBPS      Z0, Z1, Z1
	VMULPS      Z2, Z1, Z1
	VMULPS      (R9)(DX*4), Z1, Z1
	VADDPS      (R10)(DX*4), Z1, Z1
	VMOVUPS     Z1, (SI)(DX*4)
	ADDQ        $16, DX
	CMPQ        DX, CX
	JLT         scale
	VZEROUPPER
	RET

// func attend512(q, k, v *float32, width, tokens int, power, scratch, out *float32, outWidth int)
//
// One head of 32 dims. scratch holds 32 x tokens of k turned on its side,
// tokens rounded up to whole lanes, and one row of scores.
TEXT ·attend512(SB), NOSPLIT, $0-72
	MOVQ q+0(FP), SI
	MOVQ k+8(FP), R8
	MOVQ v+16(FP), R9
	MOVQ width+24(FP), CX
	MOVQ tokens+32(FP), DX
	MOVQ scratch+48(FP), DI
	SHLQ $2, CX                    // bytes a row
	LEAQ 15(DX), R10
	ANDQ $-16, R10                 // tokens in whole lanes
	SHLQ $2, R10                   // in bytes: a row of scratch
	MOVQ DX, R11                   // tokens left to turn

	// Lane i reads row i.
	VPBROADCASTD CX, Z30
	VPMULLD      lanes<>(SB), Z30, Z30
	MOVQ         DI, R12

turn:
	MOVL  $0xFFFF, BX
	CMPQ  R11, $16
	JGE   full
	MOVQ  R11, CX
	MOVL  $1, BX
	SHLL  CX, BX
	DECL  BX

full:
	KMOVW BX, K2
	MOVQ  R8, R13
	MOVQ  R12, AX
	MOVQ  $32, CX

dim:
	KMOVW      K2, K1
	VPXORD     Z1, Z1, Z1
	VGATHERDPS (R13)(Z30*1), K1, Z1
	VMOVUPS    Z1, (AX)
	ADDQ       $4, R13
	ADDQ       R10, AX
	DECQ       CX
	JNZ        dim

	ADDQ $64, R12
	MOVQ width+24(FP), CX
	SHLQ $6, CX                    // sixteen rows
	ADDQ CX, R8
	SUBQ $16, R11
	JGT  turn

	// K2 has the last lanes; the row of scores stands after 32 rows.
	MOVQ         R10, AX
	SHLQ         $5, AX
	LEAQ         (DI)(AX*1), R12
	MOVQ         power+40(FP), R8
	VBROADCASTSS 0(R8), Z16
	VBROADCASTSS 4(R8), Z17
	VBROADCASTSS 8(R8), Z18
	VBROADCASTSS 12(R8), Z19
	VBROADCASTSS 16(R8), Z20
	VBROADCASTSS 20(R8), Z21
	VBROADCASTSS constants<>+32(SB), Z22
	VBROADCASTSS constants<>+24(SB), Z23
	VBROADCASTSS constants<>+28(SB), Z24
	VBROADCASTSS constants<>+36(SB), Z25
	MOVQ         out+56(FP), R13
	MOVQ         tokens+32(FP), R11

token:
	// The scores of one token, with their largest in Z0.
	VMOVAPS Z25, Z0
	XORQ    AX, AX                 // byte offset of the lanes

score:
	LEAQ   (DI)(AX*1), R8
	VPXORD Z1, Z1, Z1
	VPXORD Z2, Z2, Z2
	VPXORD Z3, Z3, Z3
	VPXORD Z4, Z4, Z4
	XORQ   BX, BX

product:
	VMOVUPS          (R8), Z5
	VMULPS.BCST      (SI)(BX*4), Z5, Z5
	VADDPS           Z5, Z1, Z1
	VMOVUPS          (R8)(R10*1), Z6
	VMULPS.BCST      4(SI)(BX*4), Z6, Z6
	VADDPS           Z6, Z2, Z2
	LEAQ             (R8)(R10*2), R8
	VMOVUPS          (R8), Z7
	VMULPS.BCST      8(SI)(BX*4), Z7, Z7
	VADDPS           Z7, Z3, Z3
	VMOVUPS          (R8)(R10*1), Z8
	VMULPS.BCST      12(SI)(BX*4), Z8, Z8
	VADDPS           Z8, Z4, Z4
	LEAQ             (R8)(R10*2), R8
	ADDQ             $4, BX
	CMPQ             BX, $32
	JLT              product

	VADDPS Z2, Z1, Z1
	VADDPS Z4, Z3, Z3
	VADDPS Z3, Z1, Z1
	LEAQ   64(AX), BX
	CMPQ   BX, R10
	JLT    whole
	VMOVAPS   Z25, Z2
	VMOVAPS   Z1, K2, Z2
	VMOVAPS   Z2, Z1

whole:
	VMAXPS  Z1, Z0, Z0
	VMOVUPS Z1, (R12)(AX*1)
	MOVQ    BX, AX
	CMPQ    AX, R10
	JLT     score

	REDUCE(VMAXPS, Z0, Y0, X0)
	VBROADCASTSS X0, Z0
	VPXORD       Z9, Z9, Z9        // the sum
	XORQ         AX, AX

exp:
	VMOVUPS     (R12)(AX*1), Z1
	VSUBPS      Z0, Z1, Z1
	VMAXPS      Z24, Z1, Z1
	VMULPS      Z23, Z1, Z1        // in powers of two
	VRNDSCALEPS $0, Z1, Z2
	VSUBPS      Z2, Z1, Z1
	VMOVAPS     Z16, Z3
	VMULPS      Z1, Z3, Z3
	VADDPS      Z17, Z3, Z3
	VMULPS      Z1, Z3, Z3
	VADDPS      Z18, Z3, Z3
	VMULPS      Z1, Z3, Z3
	VADDPS      Z19, Z3, Z3
	VMULPS      Z1, Z3, Z3
	VADDPS      Z20, Z3, Z3
	VMULPS      Z1, Z3, Z3
	VADDPS      Z21, Z3, Z3
	VMULPS      Z1, Z3, Z3
	VADDPS      Z22, Z3, Z3
	VSCALEFPS   Z2, Z3, Z3
	VADDPS      Z3, Z9, Z9
	VMOVUPS     Z3, (R12)(AX*1)
	ADDQ        $64, AX
	CMPQ        AX, R10
	JLT         exp

	REDUCE(VADDPS, Z9, Y9, X9)
	VMOVSS       constants<>+32(SB), X1
	VDIVSS       X9, X1, X9
	VBROADCASTSS X9, Z9

	// The weighted mean of v.
	VPXORD Z1, Z1, Z1
	VPXORD Z2, Z2, Z2
	MOVQ   width+24(FP), CX
	SHLQ   $2, CX
	MOVQ   R9, R8
	XORQ   BX, BX
	MOVQ   tokens+32(FP), DX

mean:
	VBROADCASTSS (R12)(BX*4), Z3
	VMULPS       (R8), Z3, Z4
	VADDPS       Z4, Z1, Z1
	VMULPS       64(R8), Z3, Z5
	VADDPS       Z5, Z2, Z2
	ADDQ         CX, R8
	INCQ         BX
	CMPQ         BX, DX
	JLT          mean

	VMULPS  Z9, Z1, Z1
	VMULPS  Z9, Z2, Z2
	VMOVUPS Z1, (R13)
	VMOVUPS Z2, 64(R13)
	MOVQ    outWidth+64(FP), AX
	LEAQ    (R13)(AX*4), R13
	ADDQ    CX, SI
	DECQ    R11
	JNZ     token
	VZEROUPPER
	RET

DATA lanes<>+0(SB)/4, $0
DATA lanes<>+4(SB)/4, $1
DATA lanes<>+8(SB)/4, $2
DATA lanes<>+12(SB)/4, $3
DATA lanes<>+16(SB)/4, $4
DATA lanes<>+20(SB)/4, $5
DATA lanes<>+24(SB)/4, $6
DATA lanes<>+28(SB)/4, $7
DATA lanes<>+32(SB)/4, $8
DATA lanes<>+36(SB)/4, $9
DATA lanes<>+40(SB)/4, $10
DATA lanes<>+44(SB)/4, $11
DATA lanes<>+48(SB)/4, $12
DATA lanes<>+52(SB)/4, $13
DATA lanes<>+56(SB)/4, $14
DATA lanes<>+60(SB)/4, $15
GLOBL lanes<>(SB), RODATA|NOPTR, $64
