/* Messages to the agent of a recorded program, as uftrace exchanges them over
 * sockets (folder.h). Each has a head and `len` bytes of data; the agent answers each
 * with CN_AGENT_OK or CN_AGENT_ERROR.
 *
 *   CN_AGENT_QUERY    answer: a u32, the options that the agent can set
 *   CN_AGENT_SET      u32 option, then its value: a u32, the u64 of CN_AGENT_TIME, or a text
 *                     with its NUL
 *   CN_AGENT_CLOSE    apply all options that were set, at once
 *   CN_AGENT_ERROR    i32, and from cairn a text with its NUL that says what is wrong
 *
 * Threads: any thread.
 */
#ifndef CN_LAUNCHER_AGENT_FORMAT_H
#define CN_LAUNCHER_AGENT_FORMAT_H

#include "base/bytes/record.h"

enum {
    CN_AGENT_MAGIC = 0xface,
    CN_AGENT_MESSAGE_MAX = 64 << 10, /* bytes of data */
};

enum cn_agent_type {
    CN_AGENT_CLOSE = 200,
    CN_AGENT_QUERY = 201,
    CN_AGENT_SET = 203,
    CN_AGENT_OK = 204,
    CN_AGENT_ERROR = 205,
};

enum cn_agent_option {
    CN_AGENT_TRACE = 1,      /* 0: off */
    CN_AGENT_DEPTH = 2,      /* as -D */
    CN_AGENT_TIME = 4,       /* as -t, in nanoseconds */
    CN_AGENT_PATTERN = 8,    /* enum cn_agent_pattern, for the patterns that follow */
    CN_AGENT_FILTER = 16,    /* as -F, separated by ";"; "!" before those of -N */
    CN_AGENT_CALLER = 32,    /* as -C, separated by ";" */
    CN_AGENT_TRIGGER = 64,   /* as -T, separated by ";" */
    CN_AGENT_SIZE = 1 << 16, /* as -Z; an addition of cairn */
};

enum cn_agent_pattern { CN_AGENT_REGEX = 2, CN_AGENT_GLOB = 3 };

#define CN_AGENT_HEAD(F)                  \
    F(0, u16, magic, "CN_AGENT_MAGIC")    \
    F(2, u16, type, "enum cn_agent_type") \
    F(4, u32, len, "bytes of data that follow")
CN_RECORD(cn_agent_head, CN_AGENT_HEAD, 8);

#endif
