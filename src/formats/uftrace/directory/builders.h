/* The steps of opening a directory, in this order; cn_uft_kernel_build() is the last one.
 * None fails: what they cannot read becomes a warning of the recording.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_UFTRACE_DIRECTORY_BUILDERS_H
#define CN_FORMATS_UFTRACE_DIRECTORY_BUILDERS_H

#include "formats/uftrace/directory/directory.h"

void cn_uft_sessions_build(struct cn_uft_directory *dir);  /* task.txt, sid-SID.map */
void cn_uft_modules_build(struct cn_uft_directory *dir);   /* NAME.sym */
void cn_uft_arguments_build(struct cn_uft_directory *dir); /* info, NAME.dbg */
void cn_uft_tasks_build(struct cn_uft_directory *dir);     /* task.txt, TID.dat */
void cn_uft_perf_build(struct cn_uft_directory *dir);      /* perf-cpuN.dat */
void cn_uft_extras_build(struct cn_uft_directory *dir);    /* extern.dat and the like */

#endif
