/* Programs that wait for the machine: timers, the disk, memory, processors. */
#include "planted.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int ends[2];

/* Nothing but sleep. */
NOINLINE void poll_again(void)
{
    nap(20);
    sink++;
}
static void sleeper(void)
{
    for (int i = 0; i < 5; i++)
        poll_again();
}

NOINLINE void wait_for_input(void)
{
    struct pollfd none = {.fd = ends[0], .events = POLLIN};

    (void)poll(&none, 1, 25);
    sink++;
}
static void timeout(void)
{
    if (pipe(ends) != 0)
        exit(1);
    for (int i = 0; i < 5; i++)
        wait_for_input();
}

/* Each block is written to the disk. */
NOINLINE void save_block(int fd, const char *block)
{
    (void)!write(fd, block, 1 << 20);
    fsync(fd);
    sink++;
}
static void sync_each(void)
{
    int fd = open("sync.data", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    char *block = calloc(1, 1 << 20);
    for (int i = 0; i < 40; i++)
        save_block(fd, block);
    free(block);
    close(fd);
}

/* Reads that bypass the cache. */
NOINLINE void read_block(int fd, char *block, int i)
{
    (void)!pread(fd, block, 1 << 20, (off_t)i << 20);
    sink++;
}
static void disk_reads(void)
{
    char *block = aligned_alloc(4096, 1 << 20);
    int fd = open("read.data", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    memset(block, 1, 1 << 20);
    for (int i = 0; i < 8; i++)
        (void)!write(fd, block, 1 << 20);
    fsync(fd);
    close(fd);
    fd = open("read.data", O_RDONLY | O_DIRECT | O_CLOEXEC);
    if (fd < 0)
        exit(77);
    for (int i = 0; i < 400; i++)
        read_block(fd, block, i % 8);
    close(fd);
}

/* Pages of a mapped file come from the disk, one by one. */
NOINLINE void visit_pages(const char *at, size_t len)
{
    for (size_t i = 0; i < len; i += 4096)
        sink += (unsigned char)at[i];
}
static void faults(void)
{
    size_t len = 8 << 20;
    int fd = open("pages.data", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    char *block = calloc(1, len);

    (void)!write(fd, block, len);
    free(block);
    fsync(fd);
    (void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    char *at = mmap(NULL, len, PROT_READ, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED)
        exit(1);
    (void)madvise(at, len, MADV_RANDOM);
    visit_pages(at, len);
    close(fd);
}

/* New pages: nothing waits, the kernel works. */
NOINLINE void touch_pages(void)
{
    size_t len = 64 << 20;

    for (int k = 0; k < 4; k++) {
        char *at =
            mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        if (at == MAP_FAILED)
            exit(1);
        for (size_t i = 0; i < len; i += 4096)
            at[i] = 1;
        munmap(at, len);
    }
    sink++;
}

/* Others use the only processor. */
NOINLINE void own_work(void)
{
    compute(40);
    sink++;
}
static void preemption(void)
{
    cpu_set_t one;
    pid_t others[4];

    CPU_ZERO(&one);
    CPU_SET(0, &one);
    (void)sched_setaffinity(0, sizeof(one), &one);
    for (int i = 0; i < 4; i++) {
        others[i] = fork();
        if (others[i] == 0) {
            for (;;)
                compute(1000);
        }
    }
    own_work();
    for (int i = 0; i < 4; i++)
        kill(others[i], 9);
}

const struct planted planted_machine[] = {
    {"sleep", sleeper},         {"timeout", timeout},
    {"sync", sync_each},        {"disk", disk_reads},
    {"faults", faults},         {"pages", touch_pages},
    {"preemption", preemption}, {0},
};
