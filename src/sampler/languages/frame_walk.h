/* The frames of an interpreter in the memory of a process, found by a table.
 *
 * The table of a process says where the state of a thread is, how frames follow each other and
 * which words of each are read. The program in the kernel walks at the sample, and the functions
 * here where that is not allowed: both take the steps of frame_steps.h. What the words mean is
 * known to the language.
 *
 * The memory is not trusted: what can not be read ends the walk, and its length is bounded.
 * Threads: one thread at a time.
 */
#ifndef CN_SAMPLER_LANGUAGES_FRAME_WALK_H
#define CN_SAMPLER_LANGUAGES_FRAME_WALK_H

#include <stdbool.h>
#include <stdint.h>

enum {
    CN_FRAME_LEN = 128, /* what is read of a frame at once, at most */
    CN_FRAME_WORDS = CN_FRAME_LEN / 8,
    CN_FRAME_READS_MAX = 14, /* of each frame */
    CN_FRAME_HEAD_READS_MAX = 31,
    CN_FRAME_VALUES = 64,      /* results of reads, and what they start from */
    CN_FRAME_ROW_MAX = 10,     /* words that are kept of a frame */
    CN_FRAME_HEAD_MAX = 32,    /* one more than what is kept of the state */
    CN_FRAME_WORDS_MAX = 8192, /* and of a stack */
    CN_FRAME_STEPS_MAX = 2048,
    CN_FRAME_THREADS_MAX = 512,
    CN_FRAME_STATES_MAX = 4, /* of one thread, in several interpreters */
    CN_FRAME_TAGS = 7,       /* bits of a reference that are no address */
};

/* Where the state of a thread is. */
enum cn_frame_root {
    CN_FRAME_AT_ADDRESS, /* at `root` itself: the process has one */
    CN_FRAME_AT_THREAD, /* a variable of the thread points to it: `root` is from the thread
                          * pointer on, or in the variables of `root_module` */
    CN_FRAME_IN_LISTS,  /* in lists of the interpreters that start at `root`: Python */
    CN_FRAME_IN_REGISTER, /* in x28 of aarch64: Go */
};

/* How frames follow each other. */
enum cn_frame_order {
    CN_FRAME_NONE,   /* there are none: the words of the state are all */
    CN_FRAME_LINKED, /* each points to its caller */
    CN_FRAME_UP,     /* an array, the callers at higher addresses */
    CN_FRAME_DOWN, /* arrays, the callers at lower addresses, then in the array before */
};

/* What a read starts from: one of these, or CN_FRAME_FOUND plus the index of an earlier read. */
enum {
    CN_FRAME_SELF,
    CN_FRAME_ARRAY,
    CN_FRAME_STATE,
    CN_FRAME_OTHER,     /* an address that the table has */
    CN_FRAME_DELEGATOR, /* the generator that the frame is of, if it delegates */
    CN_FRAME_FOUND,
};

enum { CN_FRAME_NOWHERE = 255 };

/* In the place of an offset: the address of the frame, or of the delegator. */
#define CN_FRAME_ADDRESS INT32_MIN

/* 8 bytes at an offset from a start, or from the sum of two. Words of a row that several reads go to
 * are added up. */
struct cn_frame_read {
    uint8_t from, to;
    uint16_t plus; /* CN_FRAME_FOUND plus the index of an earlier read; 0: none */
    int32_t off;
};

/* A run-time that runs its own code on the stack of the thread, and that of the program on others
 * (Go): where its functions that change to the first end, the stack goes on with the other. Words
 * of the state say where. */
enum {
    CN_FRAME_OTHER_FROM, /* the state of what runs on the stack of the thread */
    CN_FRAME_OTHER_SP,
    CN_FRAME_OTHER_PC,
    CN_FRAME_OTHER_FP,
    CN_FRAME_OTHER_BEGIN, /* of the other stack */
    CN_FRAME_OTHER_END,
    CN_FRAME_OTHER_LEN,
};

struct cn_frame_range {
    uint64_t begin, end;
};

enum { CN_FRAME_CHANGES_MAX = 4 };

/* A run-time that frees the variables of a function when its caller is the current one again (PHP):
 * the frame that ends lies after that of the caller, or after that of the last call that the caller
 * prepares, if the stack of frames is not at its end there. Offsets; `top` 0: it does not. */
struct cn_frame_ending {
    uint32_t top;       /* in the state: where the stack of frames ends */
    uint32_t prepared;  /* in a frame: the last call that it prepares, or 0 */
    uint32_t function;  /* in a frame */
    uint32_t arguments; /* in a frame: their number */
    uint32_t internal;  /* the kind of functions that have arguments alone */
    uint32_t parameters, variables, temporaries; /* in a function: their numbers */
    uint32_t frame_len, slot_len; /* of a frame without them, and of each */
};

enum { CN_FRAME_ENDING_MAX = 1 << 18 }; /* bytes of a frame that ends */

/* Objects that words of rows point to may be freed before their names are asked for. Each that is seen for
 * the first time is copied, with its parts: what pointers in it point to. */
enum {
    CN_FRAME_OBJECT_MAX = 512,
    CN_FRAME_PART_MAX = 1 << 13, /* bytes; of a longer one the head is copied */
    CN_FRAME_PARTS_MAX = 4,
    CN_FRAME_COPIES_MAX = 1 << 14, /* where the last one begins */
    CN_FRAME_COPY_HEAD = 16,
    CN_FRAME_OBJECT_BITS = 14, /* of hashes of addresses */
};

struct cn_frame_part {
    uint32_t pointer; /* offset in the object */
    uint32_t head;    /* bytes before its items; at most CN_FRAME_OBJECT_MAX */
    uint32_t count;   /* offset in the part: the number of items, of 8 bytes */
    uint32_t width;   /* of an item, at most; 0: the head is enough */
};

struct cn_frame_object {
    uint32_t len; /* 0: none is copied */
    uint32_t word,
        sum; /* of a row: its address, and what tells it from a later one there */
    uint32_t part_count;
    struct cn_frame_part parts[CN_FRAME_PARTS_MAX];
};

/* A run-time whose generators delegate to others (PHP, `yield from`): the caller of the innermost is
 * a placeholder, a frame without a function. It has the generator that was resumed, from which on each
 * points to the one that it delegates to; the frames of them are between the two, the outermost first.
 * Offsets; `parent` 0: it has none. */
struct cn_frame_delegation {
    uint32_t function, generator; /* in a frame */
    uint32_t frame, parent;       /* in a generator */
};

struct cn_frame_table {
    uint64_t root;
    uint32_t root_kind, order;
    /* In lists: interpreters, the threads of each, and how a thread is recognised. */
    uint32_t interpreter_next, interpreter_threads;
    uint32_t thread_next, thread_previous, thread_interpreter;
    uint32_t thread_id,
        tid_off; /* tid_off 0: the number is there, not behind a pointer */
    /* From the state to the innermost frame or array. */
    uint32_t first;
    uint32_t has_second, second; /* then through another pointer */
    uint32_t link;               /* linked: in a frame */
    uint32_t stride;             /* of arrays */
    /* Up: of the state, where the array ends: words after a pointer. Down: of an array. */
    uint32_t base, count, array_next;
    uint32_t frame_len;
    uint32_t head_read_count, head_len; /* of words that are read once */
    uint32_t read_count, row_len;
    uint32_t language;    /* enum cn_language */
    uint32_t root_module; /* of glibc; 0: none */
    uint64_t other;       /* what reads may start from */
    struct cn_frame_range
        changes[CN_FRAME_CHANGES_MAX]; /* functions that change stacks */
    struct cn_frame_range
        resumed; /* one that is shown in the place of them, and left out */
    struct cn_frame_ending ending;
    struct cn_frame_object object;
    struct cn_frame_delegation delegation;
    struct cn_frame_read head_reads[CN_FRAME_HEAD_READS_MAX], reads[CN_FRAME_READS_MAX];
};

/* An object with its parts, as memory.h has copies. */
struct cn_frame_copies {
    uint64_t address; /* of the object */
    uint8_t bytes[CN_FRAME_COPIES_MAX + CN_FRAME_COPY_HEAD + CN_FRAME_PART_MAX];
};

/* What a walk found: words of the state, then rows of the frames, the innermost first. A thread may
 * run one interpreter from another: a row of zeros is between their frames. */
struct cn_frames_found {
    uint32_t language;
    uint16_t head_len, row_len;
    uint32_t is_cut; /* frames of callers are missing */
    uint32_t word_count;
};

/* One walk. */
struct cn_frame_walk {
    struct cn_memory *memory; /* NULL in the kernel, which reads its own process */
    uint64_t interpreter, state, array, frame, end;
    uint32_t pid, tid;
    uint64_t time_ns;               /* in the kernel, and `pid` */
    uint64_t delegator, resumed_by; /* 0: the frame is of no generator that delegates */
    bool is_single;                 /* there is one interpreter */
    bool has_failed;
    uint64_t states[CN_FRAME_STATES_MAX]; /* that were found, the innermost first */
    uint32_t state_count;
    uint64_t values[CN_FRAME_VALUES];     /* by what a read starts from */
    uint64_t frame_words[CN_FRAME_WORDS]; /* of the frame that is read */
    uint64_t record_head[3]; /* of the record that the kernel sends; unused by others */
    struct cn_frames_found found;
    uint64_t words[CN_FRAME_WORDS_MAX];
};

/* Walk from the state of a thread on. False if nothing could be read, or not all of it. */
bool cn_frame_walk_from(struct cn_frame_walk *walk, const struct cn_frame_table *table,
                        uint64_t state);

/* The same for a thread whose state is in lists. `*known` is where it was the last time, or 0, and
 * where it is now. */
bool cn_frame_walk_thread(struct cn_frame_walk *walk, const struct cn_frame_table *table,
                          uint32_t tid, uint64_t *known);

#endif
