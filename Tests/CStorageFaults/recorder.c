// The record, the fault that is planned, and the watch. See storage_faults.h.
#define _GNU_SOURCE
#include "internal.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define GREATEST_FILES 64
#define PATH_BYTES 512

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile bool active;
static volatile bool simulating;
static char root[PATH_BYTES];
static size_t root_length;
static char paths[GREATEST_FILES][PATH_BYTES];
static int path_count;
static sf_event *events;
static int64_t event_count, event_room;
static int64_t calls[SF_KINDS];

static struct {
    bool planned, persistent, begun;
    int32_t kind, error, how;
    int64_t number, hits, first;
    uint32_t mask;
} plan;

void sf_start(const char *path) {
    pthread_mutex_lock(&lock);
    for (int64_t index = 0; index < event_count; index++) free((void *)events[index].bytes);
    event_count = 0;
    path_count = 0;
    memset(calls, 0, sizeof calls);
    plan.planned = false;
    snprintf(root, sizeof root, "%s", path);
    root_length = strlen(root);
    active = true;
    pthread_mutex_unlock(&lock);
}

void sf_stop(void) { active = false; }
void sf_simulate_disk(bool simulate) { simulating = simulate; }
bool sf_simulates(void) { return simulating; }
bool sf_is_active(void) { return active; }

int64_t sf_position(void) {
    pthread_mutex_lock(&lock);
    int64_t count = event_count;
    pthread_mutex_unlock(&lock);
    return count;
}

sf_event sf_event_at(int64_t index) { return events[index]; }
const char *sf_path(int32_t file) { return paths[file]; }
int32_t sf_files(void) { return path_count; }

int64_t sf_calls(int32_t kind) {
    pthread_mutex_lock(&lock);
    int64_t count = calls[kind];
    pthread_mutex_unlock(&lock);
    return count;
}

int sf_file_at(const char *path) {
    if (!active || strncmp(path, root, root_length) != 0) return -1;
    if (path[root_length] != '/' && path[root_length] != 0) return -1;
    pthread_mutex_lock(&lock);
    int found = -1;
    for (int file = 0; file < path_count && found < 0; file++)
        if (strcmp(paths[file], path) == 0) found = file;
    if (found < 0) {
        if (path_count == GREATEST_FILES || strlen(path) >= PATH_BYTES) abort();
        found = path_count++;
        strcpy(paths[found], path);
    }
    pthread_mutex_unlock(&lock);
    return found;
}

int sf_file_of(int descriptor) {
    if (!active) return -1;
    char link[64], path[PATH_BYTES];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0) return -1;
    path[length] = 0;
    return sf_file_at(path);
}

void sf_record(int kind, int file, int64_t offset, int64_t length, const void *bytes, bool failed) {
    pthread_mutex_lock(&lock);
    if (event_count == event_room) {
        event_room = event_room ? 2 * event_room : 1024;
        events = realloc(events, event_room * sizeof *events);
        if (!events) abort();
    }
    uint8_t *copy = NULL;
    if (bytes) {
        copy = malloc(length);
        if (!copy) abort();
        memcpy(copy, bytes, length);
    }
    events[event_count++] = (sf_event){kind, file, offset, length, copy, failed};
    pthread_mutex_unlock(&lock);
}

bool sf_next_call(int kind, struct fault *fault) {
    pthread_mutex_lock(&lock);
    int64_t number = calls[kind]++;
    bool fails = false;
    if (plan.planned) {
        if (kind == plan.kind && number == plan.number) {
            plan.begun = true;
            fails = true;
        } else if (plan.begun && plan.persistent && (plan.mask & (1u << kind))) {
            fails = true;
        }
        if (fails) {
            if (plan.hits++ == 0) plan.first = event_count;
            fault->error = plan.error;
            fault->how = kind == SF_WRITE || kind == SF_SYNC_WRITE ? plan.how : SF_NOTHING_WRITTEN;
        }
    }
    pthread_mutex_unlock(&lock);
    return fails;
}

void sf_fail(int32_t kind, int64_t number, int32_t error, int32_t how, bool persistent, uint32_t mask) {
    pthread_mutex_lock(&lock);
    plan.planned = true;
    plan.persistent = persistent;
    plan.begun = false;
    plan.kind = kind;
    plan.number = number;
    plan.error = error;
    plan.how = how;
    plan.hits = 0;
    plan.first = 0;
    plan.mask = mask;
    pthread_mutex_unlock(&lock);
}

void sf_lift(void) {
    pthread_mutex_lock(&lock);
    plan.planned = false;
    pthread_mutex_unlock(&lock);
}

int64_t sf_hits(void) {
    pthread_mutex_lock(&lock);
    int64_t hits = plan.hits;
    pthread_mutex_unlock(&lock);
    return hits;
}

int64_t sf_first_hit(void) {
    pthread_mutex_lock(&lock);
    int64_t first = plan.first;
    pthread_mutex_unlock(&lock);
    return first;
}

// The watch. A handler may only use what is safe in one.

static char watched[1024];
static char signal_stack[64 << 10];

static void tell(const char *text) { syscall(SYS_write, 2, text, strlen(text)); }

static void died(int number) {
    char digits[8];
    snprintf(digits, sizeof digits, "%d", number);
    tell(number == SIGALRM ? "breach: it took too long, at " : "breach: died of signal ");
    if (number != SIGALRM) {
        tell(digits);
        tell(" at ");
    }
    tell(watched);
    tell("\n");
    _exit(3);
}

void sf_watch(const char *text, unsigned seconds) {
    static bool installed;
    if (!installed) {
        installed = true;
        stack_t stack = {.ss_sp = signal_stack, .ss_size = sizeof signal_stack};
        sigaltstack(&stack, NULL);
        struct sigaction action = {.sa_handler = died, .sa_flags = SA_ONSTACK};
        int numbers[] = {SIGSEGV, SIGBUS, SIGILL, SIGABRT, SIGFPE, SIGTRAP, SIGALRM};
        for (size_t index = 0; index < sizeof numbers / sizeof *numbers; index++)
            sigaction(numbers[index], &action, NULL);
    }
    snprintf(watched, sizeof watched, "%s", text ? text : "");
    alarm(text ? seconds : 0);
}
