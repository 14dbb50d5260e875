// The functions that stand in for libc's. See storage_faults.h.
#define _GNU_SOURCE
#include "internal.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))real(&real_##name, #name))
#define SLOT(name) static void *real_##name

// Looked up once for each; two threads that do it at a time find the same.
static void *real(void **slot, const char *name) {
    void *found = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
    if (!found) {
        found = dlsym(RTLD_NEXT, name);
        if (!found) abort();
        __atomic_store_n(slot, found, __ATOMIC_RELEASE);
    }
    return found;
}

SLOT(pwrite);
SLOT(write);
SLOT(writev);
SLOT(pread);
SLOT(fsync);
SLOT(fdatasync);
SLOT(ftruncate);
SLOT(posix_fallocate);
SLOT(open);
SLOT(mkdir);

// As in lmdb.h, which this target does not have.
typedef struct MDB_env MDB_env;
typedef struct MDB_txn MDB_txn;
typedef struct MDB_cursor MDB_cursor;
typedef struct MDB_val MDB_val;
#define MDB_RDONLY 0x20000
int mdb_txn_begin(MDB_env *environment, MDB_txn *parent, unsigned flags, MDB_txn **transaction);
int mdb_put(MDB_txn *transaction, unsigned table, MDB_val *key, MDB_val *value, unsigned flags);
int mdb_cursor_put(MDB_cursor *cursor, MDB_val *key, MDB_val *value, unsigned flags);
int mdb_del(MDB_txn *transaction, unsigned table, MDB_val *key, MDB_val *value);
int mdb_cursor_del(MDB_cursor *cursor, unsigned flags);
SLOT(mdb_txn_begin);
SLOT(mdb_put);
SLOT(mdb_cursor_put);
SLOT(mdb_del);
SLOT(mdb_cursor_del);

static int write_kind(int descriptor) {
    return fcntl(descriptor, F_GETFL) & (O_DSYNC | O_SYNC) ? SF_SYNC_WRITE : SF_WRITE;
}

// A write of `count` bytes at `offset`, which `perform` does; as far as the fault lets it.
static ssize_t watched_write(int descriptor, int file, const uint8_t *bytes, size_t count, off_t offset) {
    int kind = write_kind(descriptor);
    struct fault fault;
    bool fails = sf_next_call(kind, &fault);
    size_t wanted = count;
    if (fails && fault.how == SF_NOTHING_WRITTEN) wanted = 0;
    if (fails && (fault.how == SF_HALF_WRITTEN || fault.how == SF_SHORT)) wanted = count / 2;
    ssize_t written = wanted ? REAL(pwrite)(descriptor, bytes, wanted, offset) : 0;
    if (written > 0) sf_record(kind, file, offset, written, bytes, fails);
    if (!fails) return written;
    if (fault.how == SF_SHORT) return written;
    errno = fault.error;
    return -1;
}

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
    int file = sf_file_of(descriptor);
    if (file < 0) return REAL(pwrite)(descriptor, bytes, count, offset);
    return watched_write(descriptor, file, bytes, count, offset);
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off_t offset) {
    return pwrite(descriptor, bytes, count, offset);
}

ssize_t write(int descriptor, const void *bytes, size_t count) {
    int file = sf_file_of(descriptor);
    if (file < 0) return REAL(write)(descriptor, bytes, count);
    off_t offset = lseek(descriptor, 0, SEEK_CUR);
    ssize_t written = watched_write(descriptor, file, bytes, count, offset);
    if (written > 0) lseek(descriptor, offset + written, SEEK_SET);
    return written;
}

ssize_t writev(int descriptor, const struct iovec *parts, int count) {
    int file = sf_file_of(descriptor);
    if (file < 0) return REAL(writev)(descriptor, parts, count);
    size_t total = 0;
    for (int part = 0; part < count; part++) total += parts[part].iov_len;
    uint8_t *bytes = malloc(total);
    if (!bytes) abort();
    size_t filled = 0;
    for (int part = 0; part < count; part++) {
        memcpy(bytes + filled, parts[part].iov_base, parts[part].iov_len);
        filled += parts[part].iov_len;
    }
    off_t offset = lseek(descriptor, 0, SEEK_CUR);
    ssize_t written = watched_write(descriptor, file, bytes, total, offset);
    int error = errno;
    if (written > 0) lseek(descriptor, offset + written, SEEK_SET);
    free(bytes);
    errno = error;
    return written;
}

ssize_t pread(int descriptor, void *bytes, size_t count, off_t offset) {
    struct fault fault;
    if (sf_file_of(descriptor) >= 0 && sf_next_call(SF_READ, &fault)) {
        errno = fault.error;
        return -1;
    }
    return REAL(pread)(descriptor, bytes, count, offset);
}

ssize_t pread64(int descriptor, void *bytes, size_t count, off_t offset) {
    return pread(descriptor, bytes, count, offset);
}

static int watched_sync(int descriptor, int (*perform)(int)) {
    int file = sf_file_of(descriptor);
    if (file < 0) return perform(descriptor);
    int64_t began = sf_position();
    struct fault fault;
    bool fails = sf_next_call(SF_SYNC, &fault);
    int result = fails ? -1 : sf_simulates() ? 0 : perform(descriptor);
    sf_record(SF_SYNC, file, began, 0, NULL, result != 0);
    if (fails) errno = fault.error;
    return result;
}

int fsync(int descriptor) { return watched_sync(descriptor, REAL(fsync)); }
int fdatasync(int descriptor) { return watched_sync(descriptor, REAL(fdatasync)); }

int ftruncate(int descriptor, off_t length) {
    int file = sf_file_of(descriptor);
    if (file < 0) return REAL(ftruncate)(descriptor, length);
    struct fault fault;
    if (sf_next_call(SF_TRUNCATE, &fault)) {
        errno = fault.error;
        return -1;
    }
    int result = REAL(ftruncate)(descriptor, length);
    if (result == 0) sf_record(SF_TRUNCATE, file, 0, length, NULL, false);
    return result;
}

int ftruncate64(int descriptor, off_t length) { return ftruncate(descriptor, length); }

int posix_fallocate(int descriptor, off_t offset, off_t length) {
    int file = sf_file_of(descriptor);
    if (file < 0) return REAL(posix_fallocate)(descriptor, offset, length);
    struct fault fault;
    if (sf_next_call(SF_ALLOCATE, &fault)) return fault.error;
    int result = 0;
    if (sf_simulates()) {
        struct stat facts;
        if (fstat(descriptor, &facts) != 0) return errno;
        if (facts.st_size < offset + length && REAL(ftruncate)(descriptor, offset + length) != 0) return errno;
    } else {
        result = REAL(posix_fallocate)(descriptor, offset, length);
    }
    if (result == 0) sf_record(SF_ALLOCATE, file, 0, offset + length, NULL, false);
    return result;
}

int posix_fallocate64(int descriptor, off_t offset, off_t length) {
    return posix_fallocate(descriptor, offset, length);
}

static int watched_open(const char *path, int flags, mode_t mode) {
    int file = sf_file_at(path);
    if (file < 0) return REAL(open)(path, flags, mode);
    struct fault fault;
    if (sf_next_call(SF_CREATE, &fault)) {
        errno = fault.error;
        return -1;
    }
    bool is_new = (flags & O_CREAT) && access(path, F_OK) != 0;
    int descriptor = REAL(open)(path, flags, mode);
    if (is_new && descriptor >= 0) sf_record(SF_CREATE, file, 0, 0, NULL, false);
    return descriptor;
}

int open(const char *path, int flags, ...) {
    mode_t mode = 0;
    if (flags & (O_CREAT | __O_TMPFILE)) {
        va_list rest;
        va_start(rest, flags);
        mode = va_arg(rest, mode_t);
        va_end(rest);
    }
    return watched_open(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    mode_t mode = 0;
    if (flags & (O_CREAT | __O_TMPFILE)) {
        va_list rest;
        va_start(rest, flags);
        mode = va_arg(rest, mode_t);
        va_end(rest);
    }
    return watched_open(path, flags, mode);
}

int mkdir(const char *path, mode_t mode) {
    int file = sf_file_at(path);
    if (file < 0) return REAL(mkdir)(path, mode);
    struct fault fault;
    if (sf_next_call(SF_MAKE_DIRECTORY, &fault)) {
        errno = fault.error;
        return -1;
    }
    int result = REAL(mkdir)(path, mode);
    if (result == 0) sf_record(SF_MAKE_DIRECTORY, file, 0, 0, NULL, false);
    return result;
}

void *mmap(void *address, size_t length, int protection, int flags, int descriptor, off_t offset) {
    struct fault fault;
    if (descriptor >= 0 && sf_file_of(descriptor) >= 0 && sf_next_call(SF_MAP, &fault)) {
        errno = fault.error;
        return MAP_FAILED;
    }
    // Not looked up: sanitizers and allocators map before anything can be.
    return (void *)syscall(SYS_mmap, address, length, protection, flags, descriptor, offset);
}

// liblmdb does not call these itself, so what is counted is what the journal asks for.

int mdb_txn_begin(MDB_env *environment, MDB_txn *parent, unsigned flags, MDB_txn **transaction) {
    struct fault fault;
    if (!(flags & MDB_RDONLY) && sf_is_active() && sf_next_call(SF_BEGIN, &fault)) return fault.error;
    return REAL(mdb_txn_begin)(environment, parent, flags, transaction);
}

int mdb_put(MDB_txn *transaction, unsigned table, MDB_val *key, MDB_val *value, unsigned flags) {
    struct fault fault;
    if (sf_is_active() && sf_next_call(SF_PUT, &fault)) return fault.error;
    return REAL(mdb_put)(transaction, table, key, value, flags);
}

int mdb_cursor_put(MDB_cursor *cursor, MDB_val *key, MDB_val *value, unsigned flags) {
    struct fault fault;
    if (sf_is_active() && sf_next_call(SF_PUT, &fault)) return fault.error;
    return REAL(mdb_cursor_put)(cursor, key, value, flags);
}

int mdb_del(MDB_txn *transaction, unsigned table, MDB_val *key, MDB_val *value) {
    struct fault fault;
    if (sf_is_active() && sf_next_call(SF_DELETE, &fault)) return fault.error;
    return REAL(mdb_del)(transaction, table, key, value);
}

int mdb_cursor_del(MDB_cursor *cursor, unsigned flags) {
    struct fault fault;
    if (sf_is_active() && sf_next_call(SF_DELETE, &fault)) return fault.error;
    return REAL(mdb_cursor_del)(cursor, flags);
}
