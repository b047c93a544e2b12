#include "model/io/system_calls.h"

#include <string.h>

/* O_CLOEXEC and SOCK_CLOEXEC, on both machines. */
enum { CLOEXEC = 02000000 };

/* clang-format off */
/* Name, numbers on x86_64 and aarch64, kind, role; arguments: descriptor, path, its directory, flags. */
static const struct cn_system_call calls[] = {
    {"read", {0, 63}, CN_IO_READ, CN_IO_USES, 0, -1, -1, -1, 0, NULL},
    {"pread64", {17, 67}, CN_IO_READ, CN_IO_USES, 0, -1, -1, -1, 0, NULL},
    {"readv", {19, 65}, CN_IO_READ, CN_IO_USES, 0, -1, -1, -1, 0, NULL},
    {"preadv", {295, 69}, CN_IO_READ, CN_IO_USES, 0, -1, -1, -1, 0, NULL},
    {"preadv2", {327, 286}, CN_IO_READ, CN_IO_USES, 0, -1, -1, -1, 0, NULL},
    {"recvfrom", {45, 207}, CN_IO_READ, CN_IO_USES, 0, -1, -1, -1, 0, NULL},
    {"recvmsg", {47, 212}, CN_IO_READ, CN_IO_USES, 0, -1, -1, -1, 0, NULL},
    {"write", {1, 64}, CN_IO_WRITE, CN_IO_USES, 0, -1, -1, -1, 0, NULL},
    {"pwrite64", {18, 68}, CN_IO_WRITE, CN_IO_USES, 0, -1, -1, -1, 0, NULL},
    {"writev", {20, 66}, CN_IO_WRITE, CN_IO_USES, 0, -1, -1, -1, 0, NULL},
    {"pwritev", {296, 70}, CN_IO_WRITE, CN_IO_USES, 0, -1, -1, -1, 0, NULL},
    {"pwritev2", {328, 287}, CN_IO_WRITE, CN_IO_USES, 0, -1, -1, -1, 0, NULL},
    {"sendto", {44, 206}, CN_IO_WRITE, CN_IO_USES, 0, -1, -1, -1, 0, NULL},
    {"sendmsg", {46, 211}, CN_IO_WRITE, CN_IO_USES, 0, -1, -1, -1, 0, NULL},
    {"sendfile", {40, 71}, CN_IO_WRITE, CN_IO_USES, 0, -1, -1, -1, 0, "sendfile64"},
    {"copy_file_range", {326, 285}, CN_IO_WRITE, CN_IO_USES, 2, -1, -1, -1, 0, NULL},
    {"splice", {275, 76}, CN_IO_WRITE, CN_IO_USES, 2, -1, -1, -1, 0, NULL},
    {"vmsplice", {278, 75}, CN_IO_WRITE, CN_IO_USES, 0, -1, -1, -1, 0, NULL},
    {"recvmmsg", {299, 243}, CN_IO_OTHER, CN_IO_USES, 0, -1, -1, -1, 0, NULL},
    {"sendmmsg", {307, 269}, CN_IO_OTHER, CN_IO_USES, 0, -1, -1, -1, 0, NULL},
    {"fsync", {74, 82}, CN_IO_SYNC, CN_IO_USES, 0, -1, -1, -1, 0, NULL},
    {"fdatasync", {75, 83}, CN_IO_SYNC, CN_IO_USES, 0, -1, -1, -1, 0, NULL},
    {"sync_file_range", {277, 84}, CN_IO_SYNC, CN_IO_USES, 0, -1, -1, -1, 0, NULL},
    {"syncfs", {306, 267}, CN_IO_SYNC, CN_IO_USES, 0, -1, -1, -1, 0, NULL},
    {"sync", {162, 81}, CN_IO_SYNC, CN_IO_USES, -1, -1, -1, -1, 0, NULL},
    {"msync", {26, 227}, CN_IO_SYNC, CN_IO_USES, -1, -1, -1, -1, 0, NULL},
    {"poll", {7, -1}, CN_IO_WAIT, CN_IO_USES, -1, -1, -1, -1, 0, NULL},
    {"ppoll", {271, 73}, CN_IO_WAIT, CN_IO_USES, -1, -1, -1, -1, 0, NULL},
    {"select", {23, -1}, CN_IO_WAIT, CN_IO_USES, -1, -1, -1, -1, 0, NULL},
    {"pselect6", {270, 72}, CN_IO_WAIT, CN_IO_USES, -1, -1, -1, -1, 0, NULL},
    {"epoll_wait", {232, -1}, CN_IO_WAIT, CN_IO_USES, 0, -1, -1, -1, 0, NULL},
    {"epoll_pwait", {281, 22}, CN_IO_WAIT, CN_IO_USES, 0, -1, -1, -1, 0, NULL},
    {"epoll_pwait2", {441, 441}, CN_IO_WAIT, CN_IO_USES, 0, -1, -1, -1, 0, NULL},
    {"io_uring_enter", {426, 426}, CN_IO_WAIT, CN_IO_USES, 0, -1, -1, -1, 0, NULL},
    {"open", {2, -1}, CN_IO_OPEN, CN_IO_MAKES, -1, 0, -1, 1, CLOEXEC, NULL},
    {"openat", {257, 56}, CN_IO_OPEN, CN_IO_MAKES, -1, 1, 0, 2, CLOEXEC, NULL},
    {"openat2", {437, 437}, CN_IO_OPEN, CN_IO_MAKES, -1, 1, 0, -1, 0, NULL},
    {"creat", {85, -1}, CN_IO_OPEN, CN_IO_MAKES, -1, 0, -1, -1, 0, NULL},
    {"connect", {42, 203}, CN_IO_OPEN, CN_IO_CONNECTS, 0, -1, -1, -1, 0, NULL},
    {"accept", {43, 202}, CN_IO_OPEN, CN_IO_MAKES, 0, -1, -1, -1, 0, NULL},
    {"accept4", {288, 242}, CN_IO_OPEN, CN_IO_MAKES, 0, -1, -1, 3, CLOEXEC, NULL},
    {"stat", {4, -1}, CN_IO_OTHER, CN_IO_USES, -1, 0, -1, -1, 0, "newstat"},
    {"lstat", {6, -1}, CN_IO_OTHER, CN_IO_USES, -1, 0, -1, -1, 0, "newlstat"},
    {"fstat", {5, 80}, CN_IO_OTHER, CN_IO_USES, 0, -1, -1, -1, 0, "newfstat"},
    {"newfstatat", {262, 79}, CN_IO_OTHER, CN_IO_USES, -1, 1, 0, -1, 0, NULL},
    {"statx", {332, 291}, CN_IO_OTHER, CN_IO_USES, -1, 1, 0, -1, 0, NULL},
    {"access", {21, -1}, CN_IO_OTHER, CN_IO_USES, -1, 0, -1, -1, 0, NULL},
    {"faccessat", {269, 48}, CN_IO_OTHER, CN_IO_USES, -1, 1, 0, -1, 0, NULL},
    {"faccessat2", {439, 439}, CN_IO_OTHER, CN_IO_USES, -1, 1, 0, -1, 0, NULL},
    {"readlink", {89, -1}, CN_IO_OTHER, CN_IO_USES, -1, 0, -1, -1, 0, NULL},
    {"readlinkat", {267, 78}, CN_IO_OTHER, CN_IO_USES, -1, 1, 0, -1, 0, NULL},
    {"getdents64", {217, 61}, CN_IO_OTHER, CN_IO_USES, 0, -1, -1, -1, 0, NULL},
    {"lseek", {8, 62}, CN_IO_OTHER, CN_IO_USES, 0, -1, -1, -1, 0, NULL},
    {"ioctl", {16, 29}, CN_IO_OTHER, CN_IO_USES, 0, -1, -1, -1, 0, NULL},
    {"flock", {73, 32}, CN_IO_OTHER, CN_IO_USES, 0, -1, -1, -1, 0, NULL},
    {"truncate", {76, 45}, CN_IO_OTHER, CN_IO_USES, -1, 0, -1, -1, 0, NULL},
    {"ftruncate", {77, 46}, CN_IO_OTHER, CN_IO_USES, 0, -1, -1, -1, 0, NULL},
    {"fallocate", {285, 47}, CN_IO_OTHER, CN_IO_USES, 0, -1, -1, -1, 0, NULL},
    {"readahead", {187, 213}, CN_IO_OTHER, CN_IO_USES, 0, -1, -1, -1, 0, NULL},
    {"rename", {82, -1}, CN_IO_OTHER, CN_IO_USES, -1, 0, -1, -1, 0, NULL},
    {"renameat", {264, 38}, CN_IO_OTHER, CN_IO_USES, -1, 1, 0, -1, 0, NULL},
    {"renameat2", {316, 276}, CN_IO_OTHER, CN_IO_USES, -1, 1, 0, -1, 0, NULL},
    {"mkdir", {83, -1}, CN_IO_OTHER, CN_IO_USES, -1, 0, -1, -1, 0, NULL},
    {"mkdirat", {258, 34}, CN_IO_OTHER, CN_IO_USES, -1, 1, 0, -1, 0, NULL},
    {"rmdir", {84, -1}, CN_IO_OTHER, CN_IO_USES, -1, 0, -1, -1, 0, NULL},
    {"unlink", {87, -1}, CN_IO_OTHER, CN_IO_USES, -1, 0, -1, -1, 0, NULL},
    {"unlinkat", {263, 35}, CN_IO_OTHER, CN_IO_USES, -1, 1, 0, -1, 0, NULL},
    {"shutdown", {48, 210}, CN_IO_OTHER, CN_IO_USES, 0, -1, -1, -1, 0, NULL},
    {"disk read", {-1, -1}, CN_IO_DISK_READ, CN_IO_USES, -1, -1, -1, -1, 0, NULL},
    {CN_IO_FAULT_NAME, {-1, -1}, CN_IO_DISK_READ, CN_IO_USES, -1, -1, -1, -1, 0, NULL},
    {"disk write", {-1, -1}, CN_IO_DISK_WRITE, CN_IO_USES, -1, -1, -1, -1, 0, NULL},
    {"disk flush", {-1, -1}, CN_IO_DISK_OTHER, CN_IO_USES, -1, -1, -1, -1, 0, NULL},
    {CN_IO_MINOR_NAME, {-1, -1}, CN_IO_MINOR_FAULT, CN_IO_USES, -1, -1, -1, -1, 0, NULL},
    {CN_IO_MAJOR_NAME, {-1, -1}, CN_IO_MAJOR_FAULT, CN_IO_USES, -1, -1, -1, -1, 0, NULL},
    {"close", {3, 57}, CN_IO_HIDDEN, CN_IO_CLOSES, 0, -1, -1, -1, 0, NULL},
    {"close_range", {436, 436}, CN_IO_HIDDEN, CN_IO_CLOSES_ALL, -1, -1, -1, -1, 0, NULL},
    {"dup", {32, 23}, CN_IO_HIDDEN, CN_IO_COPIES, 0, -1, -1, -1, 0, NULL},
    {"dup2", {33, -1}, CN_IO_HIDDEN, CN_IO_COPIES, 0, -1, -1, -1, 0, NULL},
    {"dup3", {292, 24}, CN_IO_HIDDEN, CN_IO_COPIES, 0, -1, -1, 2, CLOEXEC, NULL},
    {"fcntl", {72, 25}, CN_IO_HIDDEN, CN_IO_CONTROLS, 0, -1, -1, -1, 0, NULL},
    {"socket", {41, 198}, CN_IO_HIDDEN, CN_IO_MAKES, -1, -1, -1, 1, CLOEXEC, NULL},
    {"bind", {49, 200}, CN_IO_HIDDEN, CN_IO_BINDS, 0, -1, -1, -1, 0, NULL},
    {"getsockname", {51, 204}, CN_IO_HIDDEN, CN_IO_BINDS, 0, -1, -1, -1, 0, NULL},
    {"mremap", {25, 216}, CN_IO_HIDDEN, CN_IO_REMAPS, -1, -1, -1, -1, 0, NULL},
    {"pipe", {22, -1}, CN_IO_HIDDEN, CN_IO_PAIRS, -1, -1, -1, -1, 0, NULL},
    {"pipe2", {293, 59}, CN_IO_HIDDEN, CN_IO_PAIRS, -1, -1, -1, 1, CLOEXEC, NULL},
    {"socketpair", {53, 199}, CN_IO_HIDDEN, CN_IO_PAIRS, -1, -1, -1, 1, CLOEXEC, NULL},
    {"chdir", {80, 49}, CN_IO_HIDDEN, CN_IO_ENTERS, -1, 0, -1, -1, 0, NULL},
    {"fchdir", {81, 50}, CN_IO_HIDDEN, CN_IO_ENTERS, 0, -1, -1, -1, 0, NULL},
};
/* clang-format on */

enum { COUNT = sizeof(calls) / sizeof(calls[0]) };

size_t cn_system_call_count(void)
{
    return COUNT;
}

const struct cn_system_call *cn_system_call(size_t index)
{
    return &calls[index];
}

void cn_system_numbers_init(struct cn_system_numbers *numbers,
                            enum cn_system_machine machine)
{
    for (size_t i = 0; i < CN_SYSTEM_NUMBER_MAX; i++)
        numbers->call[i] = CN_SYSTEM_CALL_NONE;
    for (uint16_t i = 0; machine < CN_SYSTEM_MACHINE_COUNT && i < COUNT; i++)
        if (calls[i].numbers[machine] >= 0)
            numbers->call[calls[i].numbers[machine]] = i;
}

uint16_t cn_system_call_find(const struct cn_system_numbers *numbers, uint64_t number)
{
    return number < CN_SYSTEM_NUMBER_MAX ? numbers->call[number] : CN_SYSTEM_CALL_NONE;
}

uint16_t cn_system_call_named(const char *name)
{
    for (uint16_t i = 0; i < COUNT; i++)
        if (strcmp(calls[i].name, name) == 0)
            return i;
    return CN_SYSTEM_CALL_NONE;
}

enum cn_system_machine cn_system_machine_here(void)
{
#if defined(__x86_64__)
    return CN_SYSTEM_X86_64;
#elif defined(__aarch64__)
    return CN_SYSTEM_AARCH64;
#else
    return CN_SYSTEM_MACHINE_COUNT;
#endif
}

enum cn_system_machine cn_system_machine_named(const char *name)
{
    return strcmp(name, "x86_64") == 0 ? CN_SYSTEM_X86_64
           : strcmp(name, "aarch64") == 0 || strcmp(name, "arm64") == 0
               ? CN_SYSTEM_AARCH64
               : CN_SYSTEM_MACHINE_COUNT;
}

const char *cn_io_kind_name(enum cn_io_kind kind)
{
    static const char *const names[] = {
        "read",      "write",      "sync", "wait",        "open",        "other",
        "disk read", "disk write", "disk", "minor fault", "major fault", "hidden"};

    return names[kind];
}

enum cn_io_class cn_io_class_of(enum cn_io_kind kind)
{
    if (kind == CN_IO_MINOR_FAULT || kind == CN_IO_MAJOR_FAULT)
        return CN_IO_FAULTS;
    return kind == CN_IO_DISK_READ || kind == CN_IO_DISK_WRITE || kind == CN_IO_DISK_OTHER
               ? CN_IO_DISKS
               : CN_IO_SYSTEM_CALLS;
}

uint16_t cn_io_disk_call(enum cn_io_kind kind)
{
    return cn_system_call_named(kind == CN_IO_DISK_READ    ? "disk read"
                                : kind == CN_IO_DISK_WRITE ? "disk write"
                                                           : "disk flush");
}

/* Of all bits of the disk: its driver is in the upper ones. */
uint64_t cn_io_disk_key(uint32_t disk, uint64_t sector)
{
    return disk * UINT64_C(0x9e3779b97f4a7c15) ^ sector;
}
