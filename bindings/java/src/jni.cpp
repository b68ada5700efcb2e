// The native half of the Java package: the functions of dev.taper.Native, which call those of
// taper/taper.h. The Java half checks its arguments, holds the buffers that the library uses, and
// lets one thread at a time into a model.
//
// Texts cross as bytes, since Java's own form of UTF-8 is another one, and names come from files.

#include <jni.h>

#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "taper/taper.h"
#include "tools/own_threads.h"

namespace {

// What a model needs as long as it is open.
struct Held {
  std::vector<max_align_t> program;
  std::unique_ptr<taper::tools::OwnThreads> threads;
  taper::ThreadPool pool;
  taper_public_key key = {};
};
std::mutex mutex;
std::map<taper_model, std::unique_ptr<Held>> models;

// A Java exception is pending; ends the native function.
struct Pending {};

jbyteArray to_java(JNIEnv* env, const char* bytes, size_t size) {
  const jbyteArray out = env->NewByteArray(static_cast<jsize>(size));
  if (out == nullptr) throw Pending();
  env->SetByteArrayRegion(out, 0, static_cast<jsize>(size), reinterpret_cast<const jbyte*>(bytes));
  return out;
}

void raise(JNIEnv* env, const char* code, const char* message) {
  const jclass type = env->FindClass("dev/taper/TaperException");
  const jmethodID make = type ? env->GetMethodID(type, "<init>", "([B[B)V") : nullptr;
  if (make == nullptr) return;  // An exception is pending all the same.
  try {
    const jbyteArray name = to_java(env, code, std::strlen(code));
    const jbyteArray text = to_java(env, message, std::strlen(message));
    const jobject made = env->NewObject(type, make, name, text);
    if (made != nullptr) env->Throw(static_cast<jthrowable>(made));
  } catch (const Pending&) {
  }
}

// Calls body(); what goes wrong there becomes a Java exception.
template <typename Body>
auto guarded(JNIEnv* env, const Body& body) -> decltype(body()) {
  try {
    return body();
  } catch (const Pending&) {
  } catch (const std::bad_alloc&) {
    raise(env, taper_code_name(TAPER_OUT_OF_MEMORY), "there is not enough memory");
  } catch (const std::exception& error) {  // No thread can be started, for example.
    raise(env, taper_code_name(TAPER_INTERNAL), error.what());
  }
  return decltype(body())();
}

void check(JNIEnv* env, taper_code code, const taper_error& error) {
  if (code == TAPER_OK) return;
  raise(env, taper_code_name(code), error.message);
  throw Pending();
}

// A text of Java's half, which ends with a zero.
std::string text(JNIEnv* env, jbyteArray bytes) {
  std::string out(static_cast<size_t>(env->GetArrayLength(bytes)), '\0');
  env->GetByteArrayRegion(bytes, 0, static_cast<jsize>(out.size()),
                          reinterpret_cast<jbyte*>(out.data()));
  return out;
}

struct Bytes {
  char* data;
  size_t size;
};
Bytes bytes_of(JNIEnv* env, jobject buffer) {
  static char none;  // Where an empty buffer has no address.
  char* data = static_cast<char*>(env->GetDirectBufferAddress(buffer));
  const jlong size = env->GetDirectBufferCapacity(buffer);
  if (size < 0 || (data == nullptr && size > 0)) {
    raise(env, taper_code_name(TAPER_INTERNAL), "the buffer is not a direct one");
    throw Pending();
  }
  return {data != nullptr ? data : &none, static_cast<size_t>(size)};
}

std::vector<const taper_backend*> find_backends(JNIEnv* env, jobjectArray names) {
  std::vector<const taper_backend*> found;
  for (jsize i = 0; i < env->GetArrayLength(names); ++i) {
    const auto name = static_cast<jbyteArray>(env->GetObjectArrayElement(names, i));
    taper_error error;
    found.push_back(taper_find_backend(text(env, name).c_str(), &error));
    if (found.back() == nullptr) check(env, error.code, error);
    env->DeleteLocalRef(name);
  }
  return found;
}

// --- The functions of dev.taper.Native, in its order.

jlong open(JNIEnv* env, jclass, jbyteArray path, jobject program, jbyteArray data,
           jobjectArray backends, jint threads, jlong max_memory, jbyteArray public_key) {
  return guarded(env, [&]() -> jlong {
    auto held = std::make_unique<Held>();
    const std::vector<const taper_backend*> found = find_backends(env, backends);
    const std::string data_path = data != nullptr ? text(env, data) : "";
    taper_error error;
    taper_options options = {};
    options.struct_size = sizeof(options);
    options.kernels = taper_fast_kernels();
    options.backends = found.data();
    options.backend_count = found.size();
    if (data != nullptr) options.data_path = data_path.c_str();
    options.max_memory_bytes = static_cast<uint64_t>(max_memory);
    if (threads != 1) {
      held->threads = std::make_unique<taper::tools::OwnThreads>(threads);
      held->pool = held->threads->thread_pool();
      options.parallel_for = held->pool.run;
      options.parallel_context = held->pool.context;
      options.threads = held->pool.threads;
    }
    if (public_key != nullptr) {
      const std::string pem = text(env, public_key);
      check(env, taper_read_public_key(pem.c_str(), &held->key, &error), error);
      options.check_file = taper_signed_by;
      options.check_context = &held->key;
    }
    taper_model model = 0;
    if (path != nullptr) {
      const std::string name = text(env, path);
      check(env, taper_open_path(name.c_str(), &options, &model, &error), error);
    } else {
      const Bytes given = bytes_of(env, program);
      held->program.resize(given.size / sizeof(max_align_t) + 1);
      std::memcpy(held->program.data(), given.data, given.size);
      check(env, taper_open_memory(held->program.data(), given.size, &options, &model, &error),
            error);
    }
    const std::lock_guard<std::mutex> lock(mutex);
    models[model] = std::move(held);
    return static_cast<jlong>(model);
  });
}

void close(JNIEnv* env, jclass, jlong model) {
  guarded(env, [&] {
    if (taper_close(static_cast<taper_model>(model)) != TAPER_OK) return;
    const std::lock_guard<std::mutex> lock(mutex);
    models.erase(static_cast<taper_model>(model));
  });
}

// Makes a byte[][] of `count` texts, of which name(i) gives one.
template <typename Name>
jobjectArray texts(JNIEnv* env, size_t count, const Name& name) {
  const jclass type = env->FindClass("[B");
  if (type == nullptr) throw Pending();
  const jobjectArray out = env->NewObjectArray(static_cast<jsize>(count), type, nullptr);
  if (out == nullptr) throw Pending();
  for (size_t i = 0; i < count; ++i) {
    const char* each = name(i);
    const jbyteArray bytes = to_java(env, each, std::strlen(each));
    env->SetObjectArrayElement(out, static_cast<jsize>(i), bytes);
    env->DeleteLocalRef(bytes);
  }
  return out;
}

jobjectArray methods(JNIEnv* env, jclass, jlong model) {
  return guarded(env, [&] {
    taper_error error;
    size_t count = 0;
    check(env, taper_method_count(static_cast<taper_model>(model), &count, &error), error);
    return texts(env, count, [&](size_t i) {
      const char* name = nullptr;
      check(env, taper_method_name(static_cast<taper_model>(model), i, &name, &error), error);
      return name;
    });
  });
}

jbyteArray named_data(JNIEnv* env, jclass, jlong model, jbyteArray name) {
  return guarded(env, [&]() -> jbyteArray {
    const void* data = nullptr;
    size_t size = 0;
    taper_error error;
    const taper_code code = taper_named_data(static_cast<taper_model>(model),
                                             text(env, name).c_str(), &data, &size, &error);
    if (code == TAPER_NOT_FOUND) return nullptr;
    check(env, code, error);
    return to_java(env, static_cast<const char*>(data), size);
  });
}

void load(JNIEnv* env, jclass, jlong model, jbyteArray method) {
  guarded(env, [&] {
    taper_error error;
    const std::string name = text(env, method);
    check(env, taper_load_method(static_cast<taper_model>(model), name.c_str(), &error), error);
  });
}

jlongArray count(JNIEnv* env, jclass, jlong model, jbyteArray method) {
  return guarded(env, [&] {
    taper_error error;
    taper_method_info info = {};
    const std::string name = text(env, method);
    check(env, taper_describe_method(static_cast<taper_model>(model), name.c_str(), &info, &error),
          error);
    const jlong counts[] = {static_cast<jlong>(info.inputs), static_cast<jlong>(info.outputs),
                            static_cast<jlong>(info.block_bytes),
                            static_cast<jlong>(info.planned_bytes)};
    const jlongArray out = env->NewLongArray(4);
    if (out == nullptr) throw Pending();
    env->SetLongArrayRegion(out, 0, 4, counts);
    return out;
  });
}

// A value as Native.java reads it: kind, dtype, rank, bytes, number, sizes, dim order.
struct Info {
  jlong kind, dtype, rank, bytes, number;
  jlong sizes[TAPER_MAX_RANK];
  jlong dim_order[TAPER_MAX_RANK];

  void write(JNIEnv* env, jlongArray to) const {
    env->SetLongArrayRegion(to, 0, sizeof(*this) / sizeof(jlong), &kind);
  }
};
static_assert(sizeof(Info) == 37 * sizeof(jlong), "Native.VALUE_LENGTH");

void describe(JNIEnv* env, jclass, jlong model, jbyteArray method, jboolean is_output, jint index,
              jlongArray to) {
  guarded(env, [&] {
    taper_error error;
    taper_value_info info = {};
    const std::string name = text(env, method);
    const auto about = is_output ? taper_describe_output : taper_describe_input;
    check(env,
          about(static_cast<taper_model>(model), name.c_str(), static_cast<size_t>(index), &info,
                &error),
          error);
    Info out = {info.kind,    info.dtype, info.rank, static_cast<jlong>(info.bytes),
                info.dynamic, {},         {}};
    for (int d = 0; d < info.rank; ++d) {
      out.sizes[d] = info.sizes[d];
      out.dim_order[d] = info.dim_order[d];
    }
    out.write(env, to);
  });
}

void set_input(JNIEnv* env, jclass, jlong model, jbyteArray method, jint index, jobject data,
               jint dtype, jintArray sizes, jboolean copy) {
  guarded(env, [&] {
    const Bytes bytes = bytes_of(env, data);
    const jsize rank = env->GetArrayLength(sizes);
    taper_value value = {};
    value.kind = TAPER_TENSOR;
    value.dtype = dtype;
    value.rank = rank;  // The library refuses one that is too large.
    env->GetIntArrayRegion(sizes, 0, rank < TAPER_MAX_RANK ? rank : TAPER_MAX_RANK, value.sizes);
    value.data = bytes.data;
    value.bytes = bytes.size;
    const size_t size = taper_dtype_size(dtype);
    const bool aligned = size == 0 || reinterpret_cast<uintptr_t>(bytes.data) % size == 0;
    const auto set = copy || !aligned ? taper_set_input : taper_bind_input;
    taper_error error;
    const std::string name = text(env, method);
    check(env,
          set(static_cast<taper_model>(model), name.c_str(), static_cast<size_t>(index), &value,
              &error),
          error);
  });
}

void bind_output(JNIEnv* env, jclass, jlong model, jbyteArray method, jint index, jobject data) {
  guarded(env, [&] {
    const Bytes bytes = data != nullptr ? bytes_of(env, data) : Bytes{nullptr, 0};
    taper_error error;
    const std::string name = text(env, method);
    check(env,
          taper_bind_output(static_cast<taper_model>(model), name.c_str(),
                            static_cast<size_t>(index), bytes.data, bytes.size, &error),
          error);
  });
}

void run(JNIEnv* env, jclass, jlong model, jbyteArray method) {
  guarded(env, [&] {
    taper_error error;
    const std::string name = text(env, method);
    check(env, taper_run(static_cast<taper_model>(model), name.c_str(), &error), error);
  });
}

taper_value output_of(JNIEnv* env, jlong model, jbyteArray method, jint index) {
  taper_error error;
  taper_value value = {};
  const std::string name = text(env, method);
  check(env,
        taper_get_output(static_cast<taper_model>(model), name.c_str(), static_cast<size_t>(index),
                         &value, &error),
        error);
  return value;
}

void output(JNIEnv* env, jclass, jlong model, jbyteArray method, jint index, jlongArray to) {
  guarded(env, [&] {
    const taper_value value = output_of(env, model, method, index);
    Info out = {value.kind,    value.dtype, value.rank, static_cast<jlong>(value.bytes),
                value.integer, {},          {}};
    if (value.kind == TAPER_DOUBLE) std::memcpy(&out.number, &value.number, sizeof(out.number));
    for (int d = 0; d < value.rank; ++d) out.sizes[d] = value.sizes[d];
    out.write(env, to);
  });
}

void copy_output(JNIEnv* env, jclass, jlong model, jbyteArray method, jint index, jobject to) {
  guarded(env, [&] {
    const taper_value value = output_of(env, model, method, index);
    const Bytes bytes = bytes_of(env, to);
    const size_t size = bytes.size < value.bytes ? bytes.size : value.bytes;
    if (size > 0) std::memcpy(bytes.data, value.data, size);
  });
}

void reset(JNIEnv* env, jclass, jlong model) {
  guarded(env, [&] {
    taper_error error;
    check(env, taper_reset_state(static_cast<taper_model>(model), &error), error);
  });
}

jobjectArray backend_names(JNIEnv* env, jclass) {
  return guarded(env, [&] { return texts(env, taper_backend_count(), taper_backend_name); });
}

jbyteArray version(JNIEnv* env, jclass) {
  return guarded(env, [&] {
    const char* text = taper_version_text();
    return to_java(env, text, std::strlen(text));
  });
}

// JNI's table has names and signatures that are not const in older headers.
template <typename Function>
JNINativeMethod entry(const char* name, const char* signature, Function* function) {
  return {const_cast<char*>(name), const_cast<char*>(signature), reinterpret_cast<void*>(function)};
}

}  // namespace

extern "C" JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM* vm, void*) {
  JNIEnv* env = nullptr;
  if (vm->GetEnv(reinterpret_cast<void**>(&env), JNI_VERSION_1_6) != JNI_OK) return JNI_ERR;
  const jclass type = env->FindClass("dev/taper/Native");
  if (type == nullptr) return JNI_ERR;
  const JNINativeMethod functions[] = {
      entry("open", "([BLjava/nio/ByteBuffer;[B[[BIJ[B)J", open),
      entry("close", "(J)V", close),
      entry("methods", "(J)[[B", methods),
      entry("namedData", "(J[B)[B", named_data),
      entry("load", "(J[B)V", load),
      entry("count", "(J[B)[J", count),
      entry("describe", "(J[BZI[J)V", describe),
      entry("setInput", "(J[BILjava/nio/ByteBuffer;I[IZ)V", set_input),
      entry("bindOutput", "(J[BILjava/nio/ByteBuffer;)V", bind_output),
      entry("run", "(J[B)V", run),
      entry("output", "(J[BI[J)V", output),
      entry("copyOutput", "(J[BILjava/nio/ByteBuffer;)V", copy_output),
      entry("reset", "(J)V", reset),
      entry("backends", "()[[B", backend_names),
      entry("version", "()[B", version),
  };
  const jint count = sizeof(functions) / sizeof(functions[0]);
  return env->RegisterNatives(type, functions, count) == JNI_OK ? JNI_VERSION_1_6 : JNI_ERR;
}
