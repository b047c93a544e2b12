/* Where the sockets of agents are: in a folder of the user who records, which no other user can
 * enter. uftrace looks for them in /tmp/uftrace, which all users share: there is a symbolic link
 * in it, if it can be trusted.
 * Threads: any thread.
 */
#ifndef CN_LAUNCHER_AGENT_FOLDER_H
#define CN_LAUNCHER_AGENT_FOLDER_H

#include <sys/types.h>
#include <sys/un.h>

#include "base/error.h"

/* Create the folder of this user, and check that it is private. */
CN_CHECK bool cn_agent_folder_make(struct cn_error *err);

/* The address of the agent of `pid`, which this user records. */
struct sockaddr_un cn_agent_address(pid_t pid);

/* A link where uftrace would look for it, made only in a folder that others cannot change. */
void cn_agent_link(pid_t pid);
void cn_agent_unlink(pid_t pid);

/* The `i`-th address at which an agent of `pid` may be, of any user; false when there are no
 * more. */
bool cn_agent_address_at(pid_t pid, unsigned i, struct sockaddr_un *out);

#endif
