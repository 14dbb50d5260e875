// Between the two halves of the recorder.
#pragma once
#include "storage_faults.h"

#include <sys/types.h>

struct fault {
    int32_t error;
    int32_t how;
};

// The number of the file behind a descriptor, or at a path; -1 when it is not below the root.
int sf_file_of(int descriptor);
int sf_file_at(const char *path);
// Counts a call; says whether it is to fail, and how.
bool sf_next_call(int kind, struct fault *fault);
bool sf_simulates(void);
bool sf_is_active(void);
void sf_record(int kind, int file, int64_t offset, int64_t length, const void *bytes, bool failed);
