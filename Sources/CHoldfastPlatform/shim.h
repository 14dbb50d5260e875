// What Swift's modules of the C libraries leave out.
#if defined(__linux__)
// statfs(2): the kind of a file system. Darwin's module has it.
#include <sys/vfs.h>

#include <sys/syscall.h>
extern long syscall(long number, ...);

// memfd_create(2) with MFD_CLOEXEC. Swift can't call syscall(2), and not every module has the function.
static inline int holdfast_memory_file(const char *name) { return (int) syscall(SYS_memfd_create, name, 1U); }
#endif
