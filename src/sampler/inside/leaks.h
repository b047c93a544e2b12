/* At the end of the program, ask cairn to look for leaks, and wait until it has.
 * Threads: that which loads the library.
 */
#ifndef CN_SAMPLER_INSIDE_LEAKS_H
#define CN_SAMPLER_INSIDE_LEAKS_H

#include <stdint.h>

/* This program is to be checked, unless it is a forked child, which does not know what it inherited. */
void cn_inside_leaks_begin(uint32_t image);

#endif
