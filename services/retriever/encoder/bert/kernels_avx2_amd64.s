#include "textflag.h"

DATA flip<>+0(SB)/8, $0x8080808080808080
DATA flip<>+8(SB)/8, $0x8080808080808080
DATA flip<>+16(SB)/8, $0x8080808080808080
DATA flip<>+24(SB)/8, $0x8080808080808080
GLOBL flip<>(SB), RODATA|NOPTR, $32

// func dot256(codes *int8, depth int, weights *uint8, scales, middles, factors, sums, bias, out *float32, stride int)
//
// Six rows times 64 columns, sixteen columns at a time: twelve running sums.
// The weights are made signed again; their sizes times the activations with
// the weights' signs are then sums of two that fit in 16 bits, so nothing is
// left to correct.
#define PRODUCT(a, s) \
	VPBROADCASTD a, Y14;        \
	VPSIGNB      Y12, Y14, Y14; \
	VPMADDUBSW   Y14, Y13, Y14; \
	VPMADDWD     Y15, Y14, Y14; \
	VPADDD       Y14, s, s

#define WEIGHTS(at) \
	VMOVDQU at(BX), Y12;        \
	VPXOR   flip<>(SB), Y12, Y12; \
	VPABSB  Y12, Y13

#define OUT(at, s0, s1) \
	VBROADCASTSS at(R9), Y12;  \
	VBROADCASTSS at(R10), Y13; \
	COLUMNS(0, s0)             \
	COLUMNS(32, s1)            \
	LEAQ         (AX)(R13*4), AX

#define COLUMNS(at, s) \
	VCVTDQ2PS s, s;               \
	VMULPS    Y12, s, s;          \
	VMULPS    at(R11), s, s;      \
	VADDPS    at(R12), s, s;      \
	VMULPS    at(DX), Y13, Y14;   \
	VADDPS    Y14, s, s;          \
	VMOVUPS   s, at(AX)

#define ZERO(s) VPXOR s, s, s

TEXT ·dot256(SB), NOSPLIT, $8-80
	MOVQ     scales+24(FP), R9
	MOVQ     middles+32(FP), R10
	MOVQ     factors+40(FP), R11
	MOVQ     bias+56(FP), R12
	MOVQ     out+64(FP), DI
	MOVQ     stride+72(FP), R13
	MOVQ     $4, columns-8(SP)

sixteen:
	MOVQ     codes+0(FP), SI
	MOVQ     depth+8(FP), CX
	MOVQ     columns-8(SP), BX
	NEGQ     BX
	ADDQ     $4, BX
	SHLQ     $6, BX
	ADDQ     weights+16(FP), BX
	LEAQ     (SI)(CX*2), R8
	ADDQ     CX, R8
	MOVQ     CX, DX
	SHRQ     $2, DX
	VPCMPEQW Y15, Y15, Y15
	VPABSW   Y15, Y15              // ones
	ZERO(Y0); ZERO(Y1); ZERO(Y2); ZERO(Y3); ZERO(Y4); ZERO(Y5)
	ZERO(Y6); ZERO(Y7); ZERO(Y8); ZERO(Y9); ZERO(Y10); ZERO(Y11)

step:
	WEIGHTS(0)
	PRODUCT((SI), Y0)
	PRODUCT((SI)(CX*1), Y2)
	PRODUCT((SI)(CX*2), Y4)
	PRODUCT((R8), Y6)
	PRODUCT((R8)(CX*1), Y8)
	PRODUCT((R8)(CX*2), Y10)
	WEIGHTS(32)
	PRODUCT((SI), Y1)
	PRODUCT((SI)(CX*1), Y3)
	PRODUCT((SI)(CX*2), Y5)
	PRODUCT((R8), Y7)
	PRODUCT((R8)(CX*1), Y9)
	PRODUCT((R8)(CX*2), Y11)
	ADDQ $256, BX
	ADDQ $4, SI
	ADDQ $4, R8
	DECQ DX
	JNZ  step

	MOVQ columns-8(SP), DX
	NEGQ DX
	ADDQ $4, DX
	SHLQ $6, DX
	ADDQ sums+48(FP), DX
	MOVQ DI, AX
	OUT(0, Y0, Y1)
	OUT(4, Y2, Y3)
	OUT(8, Y4, Y5)
	OUT(12, Y6, Y7)
	OUT(16, Y8, Y9)
	OUT(20, Y10, Y11)
	ADDQ $64, DI
	ADDQ $64, R11
	ADDQ $64, R12
	DECQ columns-8(SP)
	JNZ  sixteen
	VZEROUPPER
	RET
