/* queue/sqlite/lock.h: a lock on one byte of a file, which the kernel releases when
 * the process is gone. Of the open file, not of the process: closing another
 * descriptor of it does not release it. */
#ifndef BIDE_QUEUE_SQLITE_LOCK_H
#define BIDE_QUEUE_SQLITE_LOCK_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>

static inline bool lock_byte(int fd, int64_t n)
{
    struct flock l = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = n,
                       .l_len = 1 };
    return fcntl(fd, F_OFD_SETLK, &l) == 0;
}

static inline void unlock_byte(int fd, int64_t n)
{
    struct flock l = { .l_type = F_UNLCK, .l_whence = SEEK_SET, .l_start = n,
                       .l_len = 1 };
    (void)fcntl(fd, F_OFD_SETLK, &l);
}

/* Whether somebody else has it. If that cannot be found out, somebody has. */
static inline bool byte_is_locked(int fd, int64_t n)
{
    struct flock l = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = n,
                       .l_len = 1 };
    return fcntl(fd, F_OFD_GETLK, &l) != 0 || l.l_type != F_UNLCK;
}

#endif
