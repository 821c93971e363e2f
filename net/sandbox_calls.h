/* net/sandbox_calls.h: the system calls that sandbox.c refuses and allows.
 * Those that depend on their arguments are there. */
#ifndef BIDE_NET_SANDBOX_CALLS_H
#define BIDE_NET_SANDBOX_CALLS_H

#include <stdint.h>
#include <sys/syscall.h>

/* Programs, other processes, mounts, code in the kernel, namespaces, user ids.
 * clone3 is not here: its flags cannot be seen, and the C library falls back to
 * clone if the kernel does not have it. */
static const uint32_t never[] = {
    __NR_execve, __NR_execveat, __NR_ptrace, __NR_process_vm_readv,
    __NR_process_vm_writev, __NR_kcmp, __NR_pidfd_getfd, __NR_process_madvise,
    __NR_mount, __NR_umount2, __NR_pivot_root, __NR_chroot, __NR_move_mount,
    __NR_open_tree, __NR_fsopen, __NR_fsconfig, __NR_fsmount, __NR_fspick,
    __NR_mount_setattr, __NR_bpf, __NR_perf_event_open, __NR_userfaultfd,
    __NR_io_uring_setup, __NR_io_uring_enter, __NR_io_uring_register,
    __NR_kexec_load, __NR_kexec_file_load, __NR_init_module, __NR_finit_module,
    __NR_delete_module, __NR_unshare, __NR_setns, __NR_personality, __NR_reboot,
    __NR_swapon, __NR_swapoff, __NR_acct, __NR_quotactl, __NR_syslog,
    __NR_keyctl, __NR_add_key, __NR_request_key, __NR_open_by_handle_at,
    __NR_name_to_handle_at, __NR_settimeofday, __NR_clock_settime,
    __NR_clock_adjtime, __NR_adjtimex, __NR_sethostname, __NR_setdomainname,
    __NR_vhangup, __NR_setuid, __NR_setgid, __NR_setreuid, __NR_setregid,
    __NR_setresuid, __NR_setresgid, __NR_setfsuid, __NR_setfsgid,
    __NR_setgroups, __NR_capset, __NR_mknodat, __NR_fchmodat, __NR_fchown,
    __NR_fchownat,
#ifdef __x86_64__
    __NR_fork, __NR_vfork, __NR_iopl, __NR_ioperm, __NR_modify_ldt,
    __NR_create_module, __NR_mknod, __NR_chmod, __NR_chown, __NR_lchown,
#endif
};

/* Files, memory, sockets, waiting, threads, signals, time. */
static const uint32_t always[] = {
    __NR_read, __NR_write, __NR_readv, __NR_writev, __NR_pread64, __NR_pwrite64,
    __NR_preadv, __NR_pwritev, __NR_preadv2, __NR_pwritev2, __NR_close,
    __NR_close_range, __NR_dup, __NR_dup3, __NR_openat, __NR_fstat,
    __NR_newfstatat, __NR_statx, __NR_faccessat, __NR_faccessat2,
    __NR_readlinkat, __NR_getdents64, __NR_getcwd, __NR_lseek, __NR_fcntl,
    __NR_flock, __NR_fsync, __NR_fdatasync, __NR_ftruncate, __NR_fallocate,
    __NR_fadvise64, __NR_umask, __NR_unlinkat, __NR_statfs, __NR_fstatfs,
    __NR_sendfile, __NR_splice, __NR_copy_file_range, __NR_memfd_create,
    __NR_mmap, __NR_munmap, __NR_mprotect, __NR_mremap, __NR_madvise, __NR_brk,
    __NR_mincore, __NR_msync, __NR_mlock, __NR_munlock, __NR_membarrier,
    __NR_connect, __NR_bind, __NR_listen, __NR_accept, __NR_accept4,
    __NR_sendto, __NR_recvfrom, __NR_sendmsg, __NR_recvmsg, __NR_sendmmsg,
    __NR_recvmmsg, __NR_getsockname, __NR_getpeername, __NR_setsockopt,
    __NR_getsockopt, __NR_shutdown, __NR_ppoll, __NR_pselect6,
    __NR_epoll_create1, __NR_epoll_ctl, __NR_epoll_pwait, __NR_epoll_pwait2,
    __NR_eventfd2, __NR_pipe2, __NR_timerfd_create, __NR_timerfd_settime,
    __NR_timerfd_gettime, __NR_signalfd4, __NR_inotify_init1,
    __NR_inotify_add_watch, __NR_inotify_rm_watch, __NR_futex, __NR_futex_waitv,
    __NR_set_robust_list, __NR_get_robust_list, __NR_rseq, __NR_set_tid_address,
    __NR_exit, __NR_exit_group, __NR_restart_syscall, __NR_rt_sigreturn,
    __NR_rt_sigaction, __NR_rt_sigprocmask, __NR_rt_sigpending,
    __NR_rt_sigtimedwait, __NR_rt_sigsuspend, __NR_sigaltstack,
    __NR_sched_yield, __NR_sched_getaffinity, __NR_sched_setaffinity,
    __NR_sched_getparam, __NR_sched_getscheduler, __NR_sched_get_priority_max,
    __NR_sched_get_priority_min, __NR_getcpu, __NR_getpid, __NR_gettid,
    __NR_getppid, __NR_getpgid, __NR_getsid, __NR_getuid, __NR_geteuid,
    __NR_getgid, __NR_getegid, __NR_getresuid, __NR_getresgid, __NR_getgroups,
    __NR_capget, __NR_getpriority, __NR_prctl, __NR_clock_gettime,
    __NR_clock_getres, __NR_clock_nanosleep, __NR_nanosleep, __NR_gettimeofday,
    __NR_times, __NR_setitimer, __NR_getitimer, __NR_getrandom, __NR_uname,
    __NR_sysinfo, __NR_getrusage, __NR_getrlimit,
#ifdef __x86_64__
    __NR_open, __NR_stat, __NR_lstat, __NR_access, __NR_readlink, __NR_getdents,
    __NR_unlink, __NR_dup2, __NR_poll, __NR_select, __NR_epoll_create,
    __NR_epoll_wait, __NR_eventfd, __NR_pipe, __NR_inotify_init, __NR_getpgrp,
    __NR_arch_prctl, __NR_time, __NR_alarm, __NR_pause,
#endif
};

#endif
