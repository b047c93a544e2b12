/* Memory for the structures of threads, and their frames.
 *
 * It is mapped in blocks, reused by later threads, and never unmapped. Structures that are not in
 * use are a list, which a thread removes as a whole: it takes the first one and adds the others
 * again. Meanwhile others find no list, and map a block. So there is no lock that a thread could
 * hold while it does not run, or leave to the child of a fork; a structure has one owner, whatever
 * the order of steps. A list that a thread had while another forked is lost in the child.
 * Threads: any thread that has blocked its signals.
 */
#ifndef CN_RECORD_STATE_THREAD_POOL_H
#define CN_RECORD_STATE_THREAD_POOL_H

struct cn_rec_thread;

/* A structure with frames, which no other thread uses: in its first use, all else is 0. NULL if
 * there is no memory. */
struct cn_rec_thread *cn_rec_thread_pool_take(void);

/* Let another thread use it. */
void cn_rec_thread_pool_add(struct cn_rec_thread *thread);

/* The address space is limited: unmap most frames of structures that are not in use. */
void cn_rec_thread_pool_shrink(void);

/* Unmap the frames of a structure after `last`, and what belongs to them; its `real_end` is less
 * then. */
struct cn_rec_frame;
void cn_rec_thread_pool_cut(struct cn_rec_thread *thread, struct cn_rec_frame *last);

#endif
