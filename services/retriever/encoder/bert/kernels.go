package bert

import "math"

// kernels are the expensive loops for one kind of processor. All kinds give the same result to the
// last bit, so a vector does not depend on the processor.
type kernels struct {
	name string
	// dot multiplies six rows by 64 columns.
	dot func(block)
	// quantise rounds x to codes from -127 to 127: x is about scale times code plus middle, unless
	// it is clipped. Scale and middle are such that no x times its share is clipped. sum is the sum
	// of the codes.
	quantise func(x, shares []float32, codes []int8) (scale, middle float32, sum int32)
	// gelu replaces x by its gelu (Hendrycks and Gimpel 2016).
	gelu func(x []float32)
	// normalise adds the residual to x, brings it to mean 0 and variance 1,
	// and applies gain and bias (Ba et al. 2016).
	normalise func(x, residual, gain, bias []float32)
	// attend is one head's attention (Vaswani et al. 2017, §3.2.1).
	attend func(head)
}

// block is what dot multiplies: out, stride numbers a row, becomes codes times weights, corrected,
// times a row's scale and a column's factor, plus bias, plus a row's middle times a column's sum.
type block struct {
	codes               []int8
	weights             []uint8
	scales, middles     []float32
	corrections         []int32
	factors, sums, bias []float32
	out                 []float32
	depth, stride       int
}

// headDims is the width of a head.
const headDims = 32

// head is one head of one text. q, k, v and out begin at the head's first
// number of the first token; the next token's is width, or outWidth, further.
type head struct {
	q, k, v         []float32
	width, outWidth int
	tokens          int
	scratch, out    []float32
}

// scratchFor is the number of scratch values for a head of a text with this many tokens.
func scratchFor(tokens int) int { return (headDims + 1) * ((tokens + 15) &^ 15) }

// geluTail is the difference of gelu to max(x, 0): u(1 - Φ(u)) for u = |x| up to 5, as a polynomial
// in 2u/5 - 1, from the highest power. Its error is below 7e-7, and the remainder beyond 5 below
// 2e-6.
var geluTail = [15]float32{
	0.008853518404066563, -0.025444375351071358, -0.02375466376543045, 0.13159015774726868,
	-0.04990993067622185, -0.25140854716300964, 0.31623077392578125, 0.07726433873176575,
	-0.48064517974853516, 0.4189891219139099, -0.019070586189627647, -0.2569682002067566,
	0.2327725887298584, -0.09402215480804443, 0.015524355694651604,
}

// exp2Coefficients approximate 2^f for f from -½ to ½, from the highest power of f; the last
// coefficient is 1.
var exp2Coefficients = [6]float32{
	0.00015469732170458883, 0.0013400432653725147, 0.00961802527308464,
	0.05550327152013779, 0.24022650718688965, 0.6931471824645996,
}

// portableKernels run on any processor. Conversions that look redundant keep the compiler from
// fusing a product with the sum it is added to.
var portableKernels = kernels{
	name:      "portable",
	dot:       dotPortable,
	quantise:  quantisePortable,
	gelu:      geluPortable,
	normalise: normalisePortable,
	attend:    attendPortable,
}

func dotPortable(b block) {
	for row := range blockRows {
		codes := b.codes[row*b.depth : (row+1)*b.depth]
		var sums [blockColumns]int32
		for k := 0; k < b.depth; k += 4 {
			c0, c1, c2, c3 := int32(codes[k]), int32(codes[k+1]), int32(codes[k+2]), int32(codes[k+3])
			weights := b.weights[k*blockColumns : (k+4)*blockColumns]
			for column := range sums {
				w := weights[4*column : 4*column+4 : 4*column+4]
				sums[column] += c0*int32(w[0]) + c1*int32(w[1]) + c2*int32(w[2]) + c3*int32(w[3])
			}
		}
		out := b.out[row*b.stride : row*b.stride+blockColumns]
		for column, sum := range sums {
			x := float32(float32(sum+b.corrections[row]) * b.scales[row])
			x = float32(x*b.factors[column]) + b.bias[column]
			out[column] = x + float32(b.middles[row]*b.sums[column])
		}
	}
}

func quantisePortable(x, shares []float32, codes []int8) (scale, middle float32, sum int32) {
	var low, high float32
	for i, v := range x {
		low, high = min(low, v*shares[i]), max(high, v*shares[i])
	}
	if low == high {
		clear(codes[:len(x)])
		return 0, 0, 0
	}
	middle = (low + high) * 0.5
	factor := 254 / (high - low)
	offset := float32(middle * factor)
	for i, v := range x {
		c := int32(math.RoundToEven(float64(max(-127, min(float32(v*factor)-offset, 127)))))
		codes[i] = int8(c)
		sum += c
	}
	return (high - low) / 254, middle, sum
}

func geluPortable(x []float32) {
	for i, v := range x {
		t := float32(min(max(v, -v), 5)*0.4) - 1
		y := geluTail[0]
		for _, c := range geluTail[1:] {
			y = float32(y*t) + c
		}
		x[i] = max(v, 0) - y
	}
}

// lanes is the number of parallel partial sums.
const lanes = 16

// sum adds the lanes, halves to halves.
func sum(s [lanes]float32) float32 {
	for half := lanes / 2; half > 0; half /= 2 {
		for i := range half {
			s[i] += s[i+half]
		}
	}
	return s[0]
}

func normalisePortable(x, residual, gain, bias []float32) {
	var sums, squares [lanes]float32
	for i := range x {
		x[i] += residual[i]
		sums[i%lanes] += x[i]
	}
	mean := sum(sums) / float32(len(x))
	for i, v := range x {
		squares[i%lanes] += float32((v - mean) * (v - mean))
	}
	const epsilon = 1e-12
	variance := sum(squares)/float32(len(x)) + epsilon
	scale := 1 / float32(math.Sqrt(float64(variance)))
	for i, v := range x {
		x[i] = float32(float32((v-mean)*scale)*gain[i]) + bias[i]
	}
}

func attendPortable(h head) {
	scores := h.scratch[:h.tokens]
	for i := range h.tokens {
		q := h.q[i*h.width : i*h.width+headDims]
		largest := float32(math.Inf(-1))
		for j := range scores {
			k := h.k[j*h.width : j*h.width+headDims]
			var s [4]float32
			for d, x := range q {
				s[d%4] += float32(x * k[d])
			}
			scores[j] = (s[0] + s[1]) + (s[2] + s[3])
			largest = max(largest, scores[j])
		}
		var sums [lanes]float32
		for j, s := range scores {
			scores[j] = exp(s - largest)
			sums[j%lanes] += scores[j]
		}
		scale := 1 / sum(sums)
		out := h.out[i*h.outWidth : i*h.outWidth+headDims]
		clear(out)
		for j, s := range scores {
			for d, x := range h.v[j*h.width : j*h.width+headDims] {
				out[d] += float32(s * x)
			}
		}
		for d := range out {
			out[d] *= scale
		}
	}
}

// exp is e^x for x up to 0.
func exp(x float32) float32 {
	x = float32(max(x, -80) * float32(1.442695))
	whole := float32(math.RoundToEven(float64(x)))
	x -= whole
	y := exp2Coefficients[0]
	for _, c := range exp2Coefficients[1:] {
		y = float32(y*x) + c
	}
	y = float32(y*x) + 1
	return float32(math.Ldexp(float64(y), int(whole)))
}
