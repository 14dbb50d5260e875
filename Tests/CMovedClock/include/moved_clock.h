// A wall clock that tells another time than the kernel's.
//
// The functions that read it stand in for libc's, in the executable that this is linked into and in the libraries it loads.
// The kernel goes on by its own time: whoever computes an instant of the wall clock and has the kernel wait for it, waits as
// many seconds too long as the clock is ahead. The monotonic clock is left alone.
#ifndef MOVED_CLOCK_H
#define MOVED_CLOCK_H

#include <stdint.h>

// From now on the wall clock is so many seconds ahead of the kernel's, or behind it.
void mc_move(int64_t seconds);

#endif
