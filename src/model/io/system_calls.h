/* System calls that read, write or wait for files and sockets, and those that make, copy and close
 * descriptors: their numbers on each machine, and what their arguments and results mean.
 *
 * Threads: any thread.
 */
#ifndef CN_MODEL_IO_SYSTEM_CALLS_H
#define CN_MODEL_IO_SYSTEM_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cn_system_machine { CN_SYSTEM_X86_64, CN_SYSTEM_AARCH64, CN_SYSTEM_MACHINE_COUNT };

enum cn_io_kind {
    CN_IO_READ,       /* the result is bytes */
    CN_IO_WRITE,      /* likewise */
    CN_IO_SYNC,       /* until data is on the disk */
    CN_IO_WAIT,       /* until one of several descriptors is ready */
    CN_IO_OPEN,       /* makes a descriptor: open, accept, connect */
    CN_IO_OTHER,      /* about files, directories and sockets */
    CN_IO_DISK_READ,  /* no system call: a request of a disk, until it is complete */
    CN_IO_DISK_WRITE, /* likewise */
    CN_IO_DISK_OTHER, /* likewise: it empties caches, discards blocks */
    CN_IO_MINOR_FAULT, /* no system call either: a page is accessed that is not mapped; the result is how many */
    CN_IO_MAJOR_FAULT, /* likewise: the page has to be read */
    CN_IO_HIDDEN,      /* not shown: followed for its descriptors */
};

/* What a call does to descriptors if it succeeds. */
enum cn_io_role {
    CN_IO_USES,       /* nothing */
    CN_IO_MAKES,      /* the result is a new one */
    CN_IO_CONNECTS,   /* it has another peer */
    CN_IO_BINDS,      /* its own address is known */
    CN_IO_PAIRS,      /* makes two, which are stored in memory */
    CN_IO_CLOSES,     /* also if it fails */
    CN_IO_CLOSES_ALL, /* from the first argument to the second */
    CN_IO_COPIES,     /* the result is a copy of it */
    CN_IO_CONTROLS,   /* fcntl() */
    CN_IO_ENTERS,     /* it, or the path, is the new working directory */
    CN_IO_REMAPS, /* none: moves or extends what is mapped, from an address to the result */
};

struct cn_system_call {
    const char *name;
    int16_t numbers[CN_SYSTEM_MACHINE_COUNT]; /* -1: not there */
    uint8_t kind, role;
    int8_t descriptor;      /* the argument; -1: none */
    int8_t path;            /* likewise */
    int8_t directory;       /* that the path begins at; -1: the working directory */
    int8_t flags;           /* likewise, of `closing_flag` */
    uint32_t closing_flag;  /* the new descriptor is closed by exec */
    const char *tracepoint; /* NULL: it has the same name */
};

enum { CN_SYSTEM_CALL_NONE = UINT16_MAX, CN_SYSTEM_NUMBER_MAX = 512 };

/* All of them; numbers of calls are indices. */
size_t cn_system_call_count(void);
const struct cn_system_call *cn_system_call(size_t index);

/* The calls of a machine by their numbers there; CN_SYSTEM_CALL_NONE: it is not one of these. */
struct cn_system_numbers {
    uint16_t call[CN_SYSTEM_NUMBER_MAX];
};
void cn_system_numbers_init(struct cn_system_numbers *numbers,
                            enum cn_system_machine machine);
uint16_t cn_system_call_find(const struct cn_system_numbers *numbers, uint64_t number);

/* The call of this name, which files have; CN_SYSTEM_CALL_NONE: it is not one of these. */
uint16_t cn_system_call_named(const char *name);

/* The machine that this runs on; CN_SYSTEM_MACHINE_COUNT: another one. */
enum cn_system_machine cn_system_machine_here(void);

/* The machine of this name, as uname has it; CN_SYSTEM_MACHINE_COUNT: another one. */
enum cn_system_machine cn_system_machine_named(const char *name);

const char *cn_io_kind_name(enum cn_io_kind kind);

/* A request for a page of a file that a thread accesses in memory; of kind CN_IO_DISK_READ. */
#define CN_IO_FAULT_NAME "page fault"

/* Page faults, which the kernel answers with a page that it has, or which the thread waits for. */
#define CN_IO_MINOR_NAME "minor page fault"
#define CN_IO_MAJOR_NAME "major page fault"

/* Those that are added up apart from system calls: one may be a part of the other. All have numbers as
 * system calls have them. */
enum cn_io_class { CN_IO_SYSTEM_CALLS, CN_IO_DISKS, CN_IO_FAULTS, CN_IO_CLASS_COUNT };
enum cn_io_class cn_io_class_of(enum cn_io_kind kind);

/* The number of a request of a disk. */
uint16_t cn_io_disk_call(enum cn_io_kind kind);

/* A number for requests that begin at a sector of a disk, which has its number in the kernel. */
uint64_t cn_io_disk_key(uint32_t disk, uint64_t sector);

#endif
