#include "textflag.h"

// Four running sums of eight lanes keep both multipliers busy.
#define STEP(at, s, t) \
	VMOVUPS     at(AX)(DX*4), t;   \
	VFMADD231PS at(BX)(DX*4), t, s

// func dot256(a, b *float32, dims int) float32
//
// dims is a multiple of 32.
TEXT ·dot256(SB), NOSPLIT, $0-28
	MOVQ   a+0(FP), AX
	MOVQ   b+8(FP), BX
	MOVQ   dims+16(FP), CX
	XORQ   DX, DX
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3

loop:
	STEP(0, Y0, Y4)
	STEP(32, Y1, Y5)
	STEP(64, Y2, Y6)
	STEP(96, Y3, Y7)
	ADDQ $32, DX
	CMPQ DX, CX
	JLT  loop

	VADDPS       Y1, Y0, Y0
	VADDPS       Y3, Y2, Y2
	VADDPS       Y2, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VADDPS       X1, X0, X0
	VHADDPS      X0, X0, X0
	VHADDPS      X0, X0, X0
	VMOVSS       X0, ret+24(FP)
	VZEROUPPER
	RET
