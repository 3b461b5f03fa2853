// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A program of the CUDA runtime, for check E: a kernel, 3 allocations of which
// one is freed, and a wait for the end of its input.

#include <cstdio>
#include <unistd.h>

__global__ void fill(float *values)
{
	values[threadIdx.x] = 1.0f;
}

int main()
{
	float *pointers[3];
	char line[8];
	for (float *&pointer : pointers)
		if (cudaMalloc(&pointer, 1 << 20) != cudaSuccess)
			return 1;
	cudaFree(pointers[1]);
	fill<<<1, 32>>>(pointers[0]);
	if (cudaDeviceSynchronize() != cudaSuccess)
		return 1;
	printf("READY %d\n", (int)getpid());
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin))
		;
	return 0;
}
