// Declarations of macOS, copied by hand from its manual pages and public headers: as many as Sources/HoldfastPlatform uses,
// and no others. Scripts/check-platforms checks the branches for Darwin with them. They link to nothing.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// sys/types.h
typedef int pid_t;
typedef unsigned int uid_t;
typedef unsigned int gid_t;
typedef long long off_t;
typedef unsigned short mode_t;
typedef long ssize_t;
typedef unsigned long long rlim_t;
typedef long time_t;
typedef int suseconds_t;

// errno.h
#define EINTR 4
#define EADDRNOTAVAIL 49
#define ENOTSUP 45
#define ETIMEDOUT 60

// sys/resource.h
struct rlimit { rlim_t rlim_cur; rlim_t rlim_max; };
int getrlimit(int, struct rlimit *);
int setrlimit(int, const struct rlimit *);

// sys/time.h, time.h
struct timeval { time_t tv_sec; suseconds_t tv_usec; };
struct timespec { time_t tv_sec; long tv_nsec; };
typedef enum { _CLOCK_REALTIME = 0, _CLOCK_MONOTONIC = 6 } clockid_t;
// A macro for the value there, which the importer takes from Apple's headers alone.
static const clockid_t CLOCK_MONOTONIC = 6;
int clock_gettime(clockid_t, struct timespec *);

// sys/socket.h, sys/un.h
typedef unsigned char sa_family_t;
typedef uint32_t socklen_t;
#define SOCK_STREAM 1
#define SOCK_DGRAM 2
#define AF_UNIX 1
#define SOL_SOCKET 0xffff
#define SO_REUSEADDR 0x0004
#define SO_SNDTIMEO 0x1005
#define SO_NOSIGPIPE 0x1022
struct sockaddr { uint8_t sa_len; sa_family_t sa_family; char sa_data[14]; };
struct sockaddr_un { unsigned char sun_len; sa_family_t sun_family; char sun_path[104]; };
int socket(int, int, int);
int bind(int, const struct sockaddr *, socklen_t);
int getsockopt(int, int, int, void *, socklen_t *);
int setsockopt(int, int, int, const void *, socklen_t);
ssize_t sendto(int, const void *, size_t, int, const struct sockaddr *, socklen_t);

// netdb.h
#define AI_PASSIVE 0x00000001
#define AI_NUMERICSERV 0x00001000
struct addrinfo {
    int ai_flags;
    int ai_family;
    int ai_socktype;
    int ai_protocol;
    socklen_t ai_addrlen;
    char *ai_canonname;
    struct sockaddr *ai_addr;
    struct addrinfo *ai_next;
};
int getaddrinfo(const char *, const char *, const struct addrinfo *, struct addrinfo **);
void freeaddrinfo(struct addrinfo *);

// signal.h
#define SIGSTOP 17
#define SIGTSTP 18
int kill(pid_t, int);

// termios.h, sys/ttycom.h
typedef unsigned long tcflag_t;
typedef unsigned char cc_t;
typedef unsigned long speed_t;
struct termios {
    tcflag_t c_iflag;
    tcflag_t c_oflag;
    tcflag_t c_cflag;
    tcflag_t c_lflag;
    cc_t c_cc[20];
    speed_t c_ispeed;
    speed_t c_ospeed;
};
#define TCSADRAIN 1
int tcgetattr(int, struct termios *);
int tcsetattr(int, int, const struct termios *);
void cfmakeraw(struct termios *);
struct winsize { unsigned short ws_row; unsigned short ws_col; unsigned short ws_xpixel; unsigned short ws_ypixel; };
// A macro that the importer can't read; Swift's overlay has it as this.
static const unsigned long TIOCGWINSZ = 0x40087468;

// unistd.h
pid_t getpid(void);
int close(int) __attribute__((swift_attr("@discardableResult")));
int fsync(int);
int ftruncate(int, off_t);
int getpeereid(int, uid_t *, gid_t *);

// fcntl.h
#define F_SETFD 2
#define F_PREALLOCATE 42
#define F_FULLFSYNC 51
#define FD_CLOEXEC 1
#define F_ALLOCATEALL 0x00000004
#define F_PEOFPOSMODE 3
typedef struct fstore {
    unsigned int fst_flags;
    int fst_posmode;
    off_t fst_offset;
    off_t fst_length;
    off_t fst_bytesalloc;
} fstore_t;

// sys/stat.h
struct stat {
    int32_t st_dev;
    mode_t st_mode;
    uint16_t st_nlink;
    uint64_t st_ino;
    uid_t st_uid;
    gid_t st_gid;
    int32_t st_rdev;
    struct timespec st_atimespec;
    struct timespec st_mtimespec;
    struct timespec st_ctimespec;
    struct timespec st_birthtimespec;
    off_t st_size;
    int64_t st_blocks;
    int32_t st_blksize;
    uint32_t st_flags;
    uint32_t st_gen;
    int32_t st_lspare;
    int64_t st_qspare[2];
};
int fstat(int, struct stat *);

// sys/mount.h, sys/param.h
#define MNT_LOCAL 0x00001000
typedef struct fsid { int32_t val[2]; } fsid_t;
struct statfs {
    uint32_t f_bsize;
    int32_t f_iosize;
    uint64_t f_blocks;
    uint64_t f_bfree;
    uint64_t f_bavail;
    uint64_t f_files;
    uint64_t f_ffree;
    fsid_t f_fsid;
    uid_t f_owner;
    uint32_t f_type;
    uint32_t f_flags;
    uint32_t f_fssubtype;
    char f_fstypename[16];
    char f_mntonname[1024];
    char f_mntfromname[1024];
    uint32_t f_flags_ext;
    uint32_t f_reserved[7];
};
int statfs(const char *, struct statfs *);

// malloc/malloc.h
typedef struct _malloc_zone_t { void *reserved1; void *reserved2; } malloc_zone_t;
size_t malloc_zone_pressure_relief(malloc_zone_t *, size_t);

// pthread.h
typedef struct _opaque_pthread_mutex_t { long __sig; char __opaque[56]; } pthread_mutex_t;
typedef struct _opaque_pthread_mutexattr_t { long __sig; char __opaque[8]; } pthread_mutexattr_t;
typedef struct _opaque_pthread_cond_t { long __sig; char __opaque[40]; } pthread_cond_t;
typedef struct _opaque_pthread_condattr_t { long __sig; char __opaque[8]; } pthread_condattr_t;
int pthread_mutex_init(pthread_mutex_t *, const pthread_mutexattr_t *);
int pthread_mutex_destroy(pthread_mutex_t *) __attribute__((swift_attr("@discardableResult")));
int pthread_mutex_lock(pthread_mutex_t *);
int pthread_mutex_unlock(pthread_mutex_t *);
int pthread_condattr_init(pthread_condattr_t *);
int pthread_condattr_destroy(pthread_condattr_t *);
int pthread_cond_init(pthread_cond_t *, const pthread_condattr_t *);
int pthread_cond_destroy(pthread_cond_t *) __attribute__((swift_attr("@discardableResult")));
int pthread_cond_signal(pthread_cond_t *);
int pthread_cond_broadcast(pthread_cond_t *);
int pthread_cond_wait(pthread_cond_t *, pthread_mutex_t *);
int pthread_cond_timedwait_relative_np(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
