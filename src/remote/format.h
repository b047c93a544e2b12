/* The messages of `uftrace record --host`, which have no answer:
 *
 *   message header (8) | payload
 *
 * Integers of the protocol are big endian; the contents of files are as on disk. The first
 * message, after that with a token, names the recording; the last one is END. Every payload
 * with the contents of a file is appended to it. After END the receiver closes the
 * connection: to a sender of cairn, that is the acknowledgement.
 */
#ifndef CN_REMOTE_FORMAT_H
#define CN_REMOTE_FORMAT_H

#include "base/bytes/record.h"

#define CN_REMOTE_HEADER(F)                \
    F(0, u16, magic, "0xface")             \
    F(2, u16, type, "type of the message") \
    F(4, u32, len, "bytes of the payload")
CN_RECORD_BE(cn_remote_header, CN_REMOTE_HEADER, 8);

enum {
    CN_REMOTE_MAGIC = 0xface,
    CN_REMOTE_TOKEN = 100,  /* the token, if the receiver asks for one; of cairn alone */
    CN_REMOTE_DIR = 101,    /* the name of the recording */
    CN_REMOTE_TASK = 102,   /* u32 tid, then bytes of TID.dat */
    CN_REMOTE_KERNEL = 103, /* u32 cpu, then bytes of kernel-cpuN.dat */
    CN_REMOTE_PERF = 104,   /* u32 cpu, then bytes of perf-cpuN.dat */
    CN_REMOTE_INFO = 105,   /* all of info; its header is big endian as well */
    CN_REMOTE_META = 106,   /* u32 length of a name, the name, bytes of that file */
    CN_REMOTE_END = 107,    /* empty */
};

enum {
    CN_REMOTE_PORT = 8090,
    CN_REMOTE_NAME_MAX = 255,  /* bytes of a file's name */
    CN_REMOTE_PATH_MAX = 4096, /* bytes of the name of a recording: it may be a path */
    CN_REMOTE_FILES_MAX = 100000,
    CN_REMOTE_TOKEN_MAX = 255,
};

#endif
