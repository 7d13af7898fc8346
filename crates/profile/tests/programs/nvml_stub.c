/* A stub of the driver's library with one GPU that replays a trace. Its values are not measured.
 *
 * TRACE is a file with a line for each sample: "idle" or "busy", utilisation and memory utilisation
 * in percent, MiB in use. Samples are taken every PERIOD_US, from the busy lines while one of the
 * processes listed in the file PIDS lives, else from the idle ones; each kind starts over at its end.
 * SAMPLES_ERROR, PROCESS_ERROR and MEMORY_ERROR are what these calls return while a process lives,
 * ALWAYS_ERROR what calls for samples always return. MIG says whether the GPU is partitioned. */

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#ifndef PERIOD_US
#define PERIOD_US 166667
#endif
#ifndef SAMPLES_ERROR
#define SAMPLES_ERROR 0
#endif
#ifndef PROCESS_ERROR
#define PROCESS_ERROR 0
#endif
#ifndef MEMORY_ERROR
#define MEMORY_ERROR 0
#endif
#ifndef ALWAYS_ERROR
#define ALWAYS_ERROR 0
#endif
#ifndef MIG
#define MIG 0
#endif

enum { SUCCESS = 0, NOT_SUPPORTED = 3, NOT_FOUND = 6, INSUFFICIENT_SIZE = 7 };
enum { MOST = 100000, UNSIGNED_INT = 1, MEMORY_SAMPLES = 2, MIB = 1 << 20 };

typedef unsigned long long u64;
typedef struct { int gpu, memory, used; } Line;
typedef struct { u64 time; Line line; int busy; } Taken;
typedef struct { u64 time; union { double d; u64 u; unsigned i; } value; } Sample;
typedef struct { unsigned pid; u64 time; unsigned sm, mem, enc, dec; } ProcessSample;
typedef struct { unsigned pid; u64 used; unsigned instance, compute; } Process;
typedef struct { unsigned version; u64 total, reserved, free, used; } Memory;
typedef struct { unsigned gpu, memory; } Rates;

static Line idle[1000], busy[1000];
static int idles, busies, next_idle, next_busy;
static Taken taken[MOST];
static int count;
static u64 next_time;

static u64 now(void) {
    struct timespec at;
    clock_gettime(CLOCK_REALTIME, &at);
    return (u64)at.tv_sec * 1000000 + (u64)at.tv_nsec / 1000;
}

/* The listed processes that live. */
static int living(unsigned *pids) {
    FILE *file = fopen(PIDS, "r");
    int found = 0;
    unsigned pid;
    if (!file) return 0;
    while (found < 100 && fscanf(file, "%u", &pid) == 1)
        if (kill((int)pid, 0) == 0) pids[found++] = pid;
    fclose(file);
    return found;
}

static int is_busy(void) {
    unsigned pids[100];
    return living(pids) > 0;
}

/* Takes the samples that are due. */
static void play(void) {
    int works = is_busy();
    for (; next_time <= now() && count < MOST; next_time += PERIOD_US) {
        Line line = works ? busy[next_busy++ % busies] : idle[next_idle++ % idles];
        taken[count++] = (Taken){next_time, line, works};
    }
}

int nvmlInit_v2(void) {
    FILE *file = fopen(TRACE, "r");
    char kind[16];
    Line line;
    if (!file) return 999;
    while (fscanf(file, "%15s %d %d %d", kind, &line.gpu, &line.memory, &line.used) == 4)
        if (strcmp(kind, "busy") == 0) busy[busies++] = line;
        else idle[idles++] = line;
    fclose(file);
    next_time = now();
    return SUCCESS;
}

int nvmlShutdown(void) { return SUCCESS; }

int nvmlSystemGetDriverVersion(char *text, unsigned length) {
    snprintf(text, length, "0.stub");
    return SUCCESS;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device) {
    *device = taken;
    return index == 0 ? SUCCESS : 2;
}

int nvmlDeviceGetName(void *device, char *text, unsigned length) {
    (void)device;
    snprintf(text, length, "Stub");
    return SUCCESS;
}

int nvmlDeviceGetMigMode(void *device, unsigned *current, unsigned *pending) {
    (void)device;
    *current = *pending = MIG;
    return SUCCESS;
}

int nvmlDeviceGetMemoryInfo_v2(void *device, Memory *memory) {
    (void)device;
    play();
    if (is_busy() && MEMORY_ERROR) return MEMORY_ERROR;
    int used = count ? taken[count - 1].line.used : idle[0].used;
    memory->total = (u64)40000 * MIB;
    memory->reserved = 0;
    memory->used = (u64)used * MIB;
    memory->free = memory->total - memory->used;
    return SUCCESS;
}

int nvmlDeviceGetSamples(void *device, int kind, u64 last, int *type, unsigned *size, Sample *out) {
    unsigned found = 0;
    (void)device;
    play();
    if (MIG) return NOT_SUPPORTED;
    if (ALWAYS_ERROR) return ALWAYS_ERROR;
    if (is_busy() && SAMPLES_ERROR) return SAMPLES_ERROR;
    /* The buffer is small, as the driver's. */
    for (int at = count > 120 ? count - 120 : 0; at < count; at++) {
        if (taken[at].time <= last) continue;
        if (out && found < *size) {
            Line line = taken[at].line;
            out[found].time = taken[at].time;
            out[found].value.u = 0;
            out[found].value.i = (unsigned)(kind == MEMORY_SAMPLES ? line.memory : line.gpu);
        }
        found++;
    }
    *type = UNSIGNED_INT;
    *size = out && found > *size ? *size : found;
    return found ? SUCCESS : NOT_FOUND;
}

int nvmlDeviceGetUtilizationRates(void *device, Rates *rates) {
    (void)device;
    play();
    if (!count) return NOT_FOUND;
    rates->gpu = (unsigned)taken[count - 1].line.gpu;
    rates->memory = (unsigned)taken[count - 1].line.memory;
    return SUCCESS;
}

/* Each living process has an equal part of the last sample. */
int nvmlDeviceGetProcessUtilization(void *device, ProcessSample *out, unsigned *size, u64 last) {
    unsigned pids[100];
    int found = living(pids);
    (void)device;
    play();
    if (PROCESS_ERROR) return PROCESS_ERROR;
    if (!found || !count || taken[count - 1].time <= last) return NOT_FOUND;
    if (!out) {
        *size = (unsigned)found;
        return INSUFFICIENT_SIZE;
    }
    if (*size > (unsigned)found) *size = (unsigned)found;
    for (unsigned at = 0; at < *size; at++) {
        unsigned part = (unsigned)(taken[count - 1].line.gpu / found);
        out[at] = (ProcessSample){pids[at], taken[count - 1].time, part, 0, 0, 0};
    }
    return SUCCESS;
}

int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *size, Process *out) {
    unsigned pids[100];
    int found = living(pids);
    (void)device;
    play();
    if (PROCESS_ERROR) return PROCESS_ERROR;
    if (!out || *size < (unsigned)found) {
        *size = (unsigned)found;
        return found ? INSUFFICIENT_SIZE : SUCCESS;
    }
    *size = (unsigned)found;
    for (int at = 0; at < found; at++)
        out[at] = (Process){pids[at], (u64)(1000 / found) * MIB, ~0u, ~0u};
    return SUCCESS;
}
