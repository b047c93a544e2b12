#!/usr/bin/env python3
"""Print a C program that calls a lot: the workload of the benchmarks of recordings.

512 functions in 8 layers of 64; each calls up to three of the next layer, some of them
depending on a number, so that contexts vary. `mix THREADS ROUNDS` runs it.
"""
import random

LAYERS, WIDTH = 8, 64
HEAD = """#include <pthread.h>
#include <stdlib.h>
volatile unsigned sink;
static unsigned long rounds;
"""
MAIN = """
__attribute__((noinline)) void *run(void *arg)
{
    unsigned x = (unsigned)(unsigned long)arg;
    for (unsigned long i = 0; i < rounds; i++)
        x += tops[(x + i) % %d](x);
    sink += x;
    return NULL;
}
int main(int argc, char **argv)
{
    pthread_t threads[256];
    unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
    rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : 1000;
    for (unsigned long i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, run, (void *)(i + 1));
    for (unsigned long i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
"""


def name(layer, place):
    return f"stage{layer}_of_subsystem_{place:02d}_handles_its_part"


def body(rng, layer):
    if layer + 1 == LAYERS:
        return "    sink += x;\n"
    lines = []
    for _ in range(rng.choice((1, 2, 2, 3))):
        callee = name(layer + 1, rng.randrange(WIDTH))
        guard = f"if (x & {1 << rng.randrange(6)}) " if rng.random() < 0.5 else ""
        lines.append(f"    {guard}x = x * 31 + {callee}(x);\n")
    return "".join(lines)


def main():
    rng = random.Random(20)
    parts = [HEAD]
    for layer in reversed(range(LAYERS)):
        for place in range(WIDTH):
            parts.append(f"__attribute__((noinline)) unsigned {name(layer, place)}(unsigned x)\n"
                         f"{{\n    x = x * 2654435761u + {layer * WIDTH + place};\n"
                         f"{body(rng, layer)}    return x;\n}}\n")
    tops = ", ".join(name(0, place) for place in range(WIDTH))
    parts.append(f"static unsigned (*const tops[])(unsigned) = {{{tops}}};\n")
    print("".join(parts) + MAIN.replace("%d", str(WIDTH)))


if __name__ == "__main__":
    main()
