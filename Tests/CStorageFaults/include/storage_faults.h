// A recorder of what a process asks of the files below one directory, and a way to make those calls fail.
//
// Linked into an executable, its `pwrite`, `fdatasync` and so on take the place of libc's for every library of the
// process, liblmdb included. Without a root everything passes through untouched.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What is recorded, and what can be made to fail.
enum {
    SF_WRITE = 0,      // pwrite, writev, write
    SF_SYNC_WRITE = 1, // the same through a descriptor with O_DSYNC: liblmdb's meta pages
    SF_SYNC = 2,       // fsync, fdatasync, of files and of directories
    SF_TRUNCATE = 3,   // ftruncate
    SF_ALLOCATE = 4,   // posix_fallocate
    SF_CREATE = 5,     // open that makes a file; as a fault: every open
    SF_MAKE_DIRECTORY = 6,
    SF_READ = 7, // pread; a fault only
    SF_MAP = 8,  // mmap of a file; a fault only
    // liblmdb's own calls, faults only: a map that is full shows there.
    SF_BEGIN = 9,  // mdb_txn_begin, of those that write
    SF_PUT = 10,   // mdb_put, mdb_cursor_put
    SF_DELETE = 11, // mdb_del, mdb_cursor_del
    SF_KINDS = 12,
};

// How a write fails.
enum {
    SF_NOTHING_WRITTEN = 0,
    SF_HALF_WRITTEN = 1, // half reaches the cache, and the call fails
    SF_ALL_WRITTEN = 2,  // all reaches the cache, and the call fails: what a synchronous write does on a broken disk
    SF_SHORT = 3,        // half reaches the cache, and the call says so
};

typedef struct {
    int32_t kind;
    int32_t file;         // for sf_path
    int64_t offset;       // of a sync: how many events there were when it began
    int64_t length;       // of a write, a truncation or an allocation (its end)
    const uint8_t *bytes; // of a write: what reached the cache
    bool failed;
} sf_event;

// Records from now on what happens below `root`, an absolute path without symbolic links; forgets what was recorded.
void sf_start(const char *root);
void sf_stop(void);
// Syncs do not reach the real disk, and allocations leave holes: what the disk would hold is worked out from the record.
void sf_simulate_disk(bool simulate);

int64_t sf_position(void);
sf_event sf_event_at(int64_t index);
const char *sf_path(int32_t file);
int32_t sf_files(void);

// Calls of that kind below the root since sf_start, those that failed included.
int64_t sf_calls(int32_t kind);
// Makes the call of that kind with that number (from 0) fail; if `persistent`, and every later one of those in `mask`
// (1 << kind, ...).
void sf_fail(int32_t kind, int64_t number, int32_t error, int32_t how, bool persistent, uint32_t mask);
void sf_lift(void);
// How many calls were made to fail since sf_fail.
int64_t sf_hits(void);
// How many events there were when the first of them did.
int64_t sf_first_hit(void);

// Where the process dies by a signal or runs for longer than `seconds`, `text` and the signal go to standard error, and
// the process ends with status 3. NULL ends the watch.
void sf_watch(const char *text, unsigned seconds);
