/* A libnvidia-ml.so.1 for tests: the functions and structures that pynvml calls, answered from a file.
 *
 * NVML_STATE names the file; it is read again when it changed, so a test breaks a GPU by writing it anew (by rename).
 * A line is `key value`: of the whole library, or of GPU n as `gpu.n.key`, of every GPU as `gpu.*.key`; the last line
 * of a key counts. A value is a number or a word, `-` for "not supported" (as a key that is missing is), `!15` for the
 * return code 15. `hang NAME` lets the call NAME not return while the line is there.
 * `event SEQ GPU TYPE DATA GI CI` is told once, in the order of SEQ.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#ifndef VERSION
#define VERSION "570.148.08"
#endif
enum { SUCCESS = 0, UNINITIALIZED = 1, INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6, INSUFFICIENT_SIZE = 7,
       DRIVER_NOT_LOADED = 9, TIMEOUT = 10, LIB_RM_VERSION_MISMATCH = 18 };
#define GPUS 16
#define LINES 8192

typedef struct { int index; } Device;
typedef Device *Handle;
typedef struct { char key[48]; char value[64]; } Line;
typedef struct { unsigned fieldId, scopeId; long long timestamp, latency; unsigned type, code;
                 union { double d; unsigned ui; unsigned long ul; unsigned long long ull; long long sll; int si; } value;
} Field;
typedef struct { char old[16]; unsigned domain, bus, device, id, subsystem; char busId[32]; } Pci;
typedef struct { unsigned gpu, memory; } Utilization;
typedef struct { unsigned version; int margin; } Margin;
typedef struct { unsigned version; unsigned char cluster[16]; unsigned status, clique; unsigned char state;
                 unsigned health; } Fabric;
typedef struct { unsigned version; unsigned long long counts[11]; unsigned exceeded; } Sram;
typedef struct { Handle device; unsigned long long type, data; unsigned gpu_instance, compute_instance; } Event;
typedef struct { unsigned long long last; unsigned long long mask[GPUS]; } Set;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Line lines[LINES];
static int count;
static struct stat seen;
static int begun;
static Device devices[GPUS], slices[GPUS * 8];

static void load(void) {
    const char *path = getenv("NVML_STATE");
    struct stat now;
    if (!path || stat(path, &now)) return;
    if (now.st_ino == seen.st_ino && now.st_mtim.tv_sec == seen.st_mtim.tv_sec &&
        now.st_mtim.tv_nsec == seen.st_mtim.tv_nsec && now.st_size == seen.st_size) return;
    FILE *file = fopen(path, "r");
    if (!file) return;
    seen = now;
    count = 0;
    char text[160];
    while (count < LINES && fgets(text, sizeof text, file)) {
        char *space = strchr(text, ' ');
        if (!space) continue;
        *space = 0;
        space[strcspn(space + 1, "\n") + 1] = 0;
        snprintf(lines[count].key, sizeof lines[count].key, "%s", text);
        snprintf(lines[count].value, sizeof lines[count].value, "%s", space + 1);
        count++;
    }
    fclose(file);
}

static int look_up(const char *key, char *value) {
    for (int i = count - 1; i >= 0; i--)
        if (!strcmp(lines[i].key, key)) { strcpy(value, lines[i].value); return 1; }
    return 0;
}

/* The value of a GPU's key, or a return code. */
static int text_of(Handle device, const char *key, char *value) {
    char name[64];
    if (!device) return INVALID_ARGUMENT;
    pthread_mutex_lock(&lock);
    snprintf(name, sizeof name, "gpu.%d.%s", device->index, key);
    int found = look_up(name, value);
    if (!found) { snprintf(name, sizeof name, "gpu.*.%s", key); found = look_up(name, value); }
    pthread_mutex_unlock(&lock);
    if (!found || !strcmp(value, "-")) return NOT_SUPPORTED;
    return value[0] == '!' ? atoi(value + 1) : SUCCESS;
}

static int number_of(Handle device, const char *key, long long *value) {
    char text[64];
    int code = text_of(device, key, text);
    if (!code) *value = strtoll(text, NULL, 0);
    return code;
}

static long long setting(const char *key, long long otherwise) {
    char value[64];
    pthread_mutex_lock(&lock);
    int found = look_up(key, value);
    pthread_mutex_unlock(&lock);
    return found ? strtoll(value, NULL, 0) : otherwise;
}

static int hangs(const char *name) {
    char value[64];
    pthread_mutex_lock(&lock);
    load();
    int found = look_up("hang", value) && !strcmp(value, name);
    pthread_mutex_unlock(&lock);
    return found;
}

static int enter(const char *name) {
    while (hangs(name)) usleep(10000);
    return begun ? SUCCESS : UNINITIALIZED;
}

/* What every call on a GPU does first: a lost one answers nothing else. */
static int enter_gpu(const char *name, Handle device) {
    long long error = 0;
    int code = enter(name);
    if (code) return code;
    number_of(device, "error", &error);
    return (int)error;
}

#define ENTER() do { int code_ = enter(__func__); if (code_) return code_; } while (0)
#define ENTER_GPU(device) do { int code_ = enter_gpu(__func__, device); if (code_) return code_; } while (0)
#define NUMBER(name, key, type) \
    int name(Handle device, type *out) { \
        long long value = 0; \
        ENTER_GPU(device); \
        int code = number_of(device, key, &value); \
        if (!code) *out = (type)value; \
        return code; \
    }
#define TEXT(name, key) \
    int name(Handle device, char *out, unsigned size) { \
        char value[64]; \
        ENTER_GPU(device); \
        int code = text_of(device, key, value); \
        if (!code && snprintf(out, size, "%s", value) >= (int)size) code = INSUFFICIENT_SIZE; \
        return code; \
    }

int nvmlInitWithFlags(unsigned flags) {
    char module[64] = VERSION;
    (void)flags;
    while (hangs(__func__)) usleep(10000);
    long long refused = setting("init", 0);
    if (refused) return (int)refused;
    pthread_mutex_lock(&lock);
    look_up("module", module);
    pthread_mutex_unlock(&lock);
    if (strcmp(module, VERSION)) return LIB_RM_VERSION_MISMATCH;
    begun++;
    return SUCCESS;
}

int nvmlShutdown(void) { if (!begun) return UNINITIALIZED; begun--; return SUCCESS; }

const char *nvmlErrorString(int code) {
    static __thread char text[32];
    snprintf(text, sizeof text, "NVML code %d", code);
    return text;
}

int nvmlSystemGetDriverVersion(char *out, unsigned size) { ENTER(); snprintf(out, size, "%s", VERSION); return SUCCESS; }

int nvmlDeviceGetCount_v2(unsigned *out) {
    ENTER();
    long long ended = setting("ended", 0);
    if (ended) return (int)ended;
    *out = (unsigned)setting("count", 0);
    return SUCCESS;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, Handle *out) {
    long long error = 0;
    ENTER();
    if (index >= GPUS || index >= (unsigned)setting("count", 0)) return INVALID_ARGUMENT;
    devices[index].index = (int)index;
    number_of(&devices[index], "handle_error", &error);
    if (!error) *out = &devices[index];
    return (int)error;
}

TEXT(nvmlDeviceGetUUID, "uuid")
TEXT(nvmlDeviceGetSerial, "serial")
TEXT(nvmlDeviceGetName, "name")

int nvmlDeviceGetPciInfo_v3(Handle device, Pci *out) {
    char value[64];
    ENTER_GPU(device);
    int code = text_of(device, "pci", value);
    if (code) return code;
    memset(out, 0, sizeof *out);
    if (sscanf(value, "%x:%x:%x", &out->domain, &out->bus, &out->device) != 3) return INVALID_ARGUMENT;
    snprintf(out->busId, sizeof out->busId, "%08X:%02X:%02X.0", out->domain, out->bus, out->device);
    return SUCCESS;
}

NUMBER(nvmlDeviceGetCurrentClocksEventReasons, "reasons", unsigned long long)
NUMBER(nvmlDeviceGetCurrPcieLinkGeneration, "generation", unsigned)
NUMBER(nvmlDeviceGetMaxPcieLinkGeneration, "full_generation", unsigned)
NUMBER(nvmlDeviceGetCurrPcieLinkWidth, "width", unsigned)
NUMBER(nvmlDeviceGetMaxPcieLinkWidth, "full_width", unsigned)
NUMBER(nvmlDeviceGetSupportedEventTypes, "events", unsigned long long)
NUMBER(nvmlDeviceGetMaxMigDeviceCount, "mig_most", unsigned)

int nvmlDeviceGetTemperature(Handle device, unsigned sensor, unsigned *out) {
    long long value = 0;
    ENTER_GPU(device);
    int code = sensor ? INVALID_ARGUMENT : number_of(device, "temperature", &value);
    if (!code) *out = (unsigned)value;
    return code;
}

int nvmlDeviceGetTemperatureThreshold(Handle device, unsigned which, unsigned *out) {
    char key[24];
    long long value = 0;
    ENTER_GPU(device);
    snprintf(key, sizeof key, "threshold.%u", which);
    int code = number_of(device, key, &value);
    if (!code) *out = (unsigned)value;
    return code;
}

int nvmlDeviceGetMarginTemperature(Handle device, Margin *out) {
    long long value = 0;
    ENTER_GPU(device);
    if (out->version != (1u << 24 | sizeof *out)) return 25;
    int code = number_of(device, "margin", &value);
    if (!code) out->margin = (int)value;
    return code;
}

int nvmlDeviceGetUtilizationRates(Handle device, Utilization *out) {
    long long value = 0;
    ENTER_GPU(device);
    int code = number_of(device, "busy", &value);
    if (!code) out->gpu = (unsigned)value, out->memory = 0;
    return code;
}

int nvmlDeviceGetMigMode(Handle device, unsigned *now, unsigned *next) {
    long long value = 0;
    ENTER_GPU(device);
    int code = number_of(device, "mig", &value);
    if (!code) *now = *next = (unsigned)value;
    return code;
}

int nvmlDeviceGetMigDeviceHandleByIndex(Handle device, unsigned index, Handle *out) {
    long long value = 0;
    ENTER_GPU(device);
    int code = number_of(device, "mig_instances", &value);
    if (code || index >= value) return code ? code : NOT_FOUND;
    *out = &slices[(device->index * 8 + (int)index) % (GPUS * 8)];
    (*out)->index = device->index;
    return SUCCESS;
}

int nvmlDeviceGetNvLinkState(Handle device, unsigned link, unsigned *out) {
    char key[24];
    long long value = 0;
    ENTER_GPU(device);
    snprintf(key, sizeof key, "link.%u", link);
    int code = number_of(device, key, &value);
    if (!code) *out = (unsigned)value;
    return code;
}

int nvmlDeviceGetNvLinkErrorCounter(Handle device, unsigned link, unsigned counter, unsigned long long *out) {
    char key[32];
    long long value = 0;
    ENTER_GPU(device);
    snprintf(key, sizeof key, "counter.%u.%u", link, counter);
    int code = number_of(device, key, &value);
    if (!code) *out = (unsigned long long)value;
    return code;
}

int nvmlDeviceGetFieldValues(Handle device, int asked, Field *fields) {
    ENTER_GPU(device);
    for (int i = 0; i < asked; i++) {
        char key[32];
        long long value = 0;
        unsigned id = fields[i].fieldId;
        if (id >= 161 && id <= 225)
            snprintf(key, sizeof key, id == 165 ? "link.%u" : "field.%u.%u", id == 165 ? fields[i].scopeId : id,
                     fields[i].scopeId);
        if (id < 161 || id > 225 || id == 194) snprintf(key, sizeof key, "field.%u", id);
        int single = id == 165 && number_of(device, "state_by_call", &value) == SUCCESS; /* as before Hopper */
        fields[i].code = single ? NOT_SUPPORTED : (unsigned)number_of(device, key, &value);
        memset(&fields[i].value, 0, sizeof fields[i].value);
        if (id == 194) fields[i].type = 5, fields[i].value.si = (int)value;
        else if (id == 31 || id == 82 || id == 165 || id == 230 || (id >= 142 && id <= 145))
            fields[i].type = 1, fields[i].value.ui = (unsigned)value;
        else fields[i].type = 3, fields[i].value.ull = (unsigned long long)value;
    }
    return SUCCESS;
}

int nvmlDeviceGetSramEccErrorStatus(Handle device, Sram *out) {
    long long value = 0;
    ENTER_GPU(device);
    if (out->version != (1u << 24 | sizeof *out)) return 25;
    int code = number_of(device, "sram_exceeded", &value);
    if (!code) memset(out->counts, 0, sizeof out->counts), out->exceeded = (unsigned)value;
    return code;
}

int nvmlDeviceGetGpuFabricInfoV(Handle device, Fabric *out) {
    long long state = 0, status = 0, health = 0;
    ENTER_GPU(device);
    if (out->version != (2u << 24 | sizeof *out)) return 25;
    int code = number_of(device, "fabric", &state);
    if (code) return code;
    number_of(device, "fabric_status", &status);
    number_of(device, "fabric_health", &health);
    out->state = (unsigned char)state, out->status = (unsigned)status, out->health = (unsigned)health;
    return SUCCESS;
}

/* Events: every line with a number above the last that was told, of a GPU and type that were registered. */

int nvmlEventSetCreate(Set **out) {
    ENTER();
    *out = calloc(1, sizeof **out);
    return SUCCESS;
}

int nvmlEventSetFree(Set *set) { free(set); return SUCCESS; }

int nvmlDeviceRegisterEvents(Handle device, unsigned long long types, Set *set) {
    long long refused = 0;
    ENTER_GPU(device);
    number_of(device, "register", &refused);
    if (!refused) set->mask[device->index] |= types;
    return (int)refused;
}

static int next_event(Set *set, Event *out) {
    for (int i = 0; i < count; i++) {
        unsigned long long number, type, data;
        int gpu;
        unsigned gi, ci;
        if (strcmp(lines[i].key, "event")) continue;
        if (sscanf(lines[i].value, "%llu %d %lli %lli %u %u", &number, &gpu, (long long *)&type, (long long *)&data, &gi,
                   &ci) != 6) continue;
        if (number <= set->last || gpu < 0 || gpu >= GPUS) continue;
        set->last = number;
        if (!(set->mask[gpu] & type)) continue;
        *out = (Event){&devices[gpu], type, data, gi, ci};
        return 1;
    }
    return 0;
}

int nvmlEventSetWait_v2(Set *set, Event *out, unsigned milliseconds) {
    ENTER();
    for (unsigned waited = 0;; waited += 50) {
        pthread_mutex_lock(&lock);
        load();
        int found = next_event(set, out);
        pthread_mutex_unlock(&lock);
        if (found) return SUCCESS;
        if (waited >= milliseconds) return TIMEOUT;
        usleep(50000);
    }
}
