/* `programs NAME` does one of the programs with a planted cause of waiting. */
#include "planted.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

volatile unsigned long sink;

pthread_t start(void *(*body)(void *))
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, body, NULL) != 0)
        exit(1);
    return thread;
}

void nap(int ms)
{
    usleep((useconds_t)ms * 1000);
}

int main(int argc, char **argv)
{
    const struct planted *const kinds[] = {planted_locks, planted_threads,
                                           planted_processes, planted_machine};

    for (size_t i = 0; argc > 1 && i < sizeof(kinds) / sizeof(kinds[0]); i++)
        for (const struct planted *p = kinds[i]; p->name; p++)
            if (strcmp(p->name, argv[1]) == 0) {
                p->body();
                return 0;
            }
    return 2;
}
