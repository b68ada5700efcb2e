// Python's C API in its stable form of 3.10, and the few things that every file here needs of it.

#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <chrono>
#include <string>
#include <thread>
#include <utility>

// Buffers are in the stable ABI since 3.11, with the layout and the names that 3.10 has, too: its
// header hides them, so they are declared here.
#if Py_LIMITED_API < 0x030B0000
extern "C" {
struct Py_buffer {
  void* buf;
  PyObject* obj;
  Py_ssize_t len;
  Py_ssize_t itemsize;
  int readonly;
  int ndim;
  char* format;
  Py_ssize_t* shape;
  Py_ssize_t* strides;
  Py_ssize_t* suboffsets;
  void* internal;
};
PyAPI_FUNC(int) PyObject_CheckBuffer(PyObject* object);
PyAPI_FUNC(int) PyObject_GetBuffer(PyObject* object, Py_buffer* view, int flags);
PyAPI_FUNC(void) PyBuffer_Release(Py_buffer* view);
}
inline constexpr int PyBUF_SIMPLE = 0, PyBUF_FORMAT = 0x4, PyBUF_ND = 0x8;
inline constexpr int PyBUF_STRIDES = 0x10 | PyBUF_ND;
inline constexpr int PyBUF_RECORDS_RO = PyBUF_STRIDES | PyBUF_FORMAT;
#endif
#ifndef Py_bf_getbuffer
#define Py_bf_getbuffer 1
#endif

namespace taper::python {

// Owns one reference; null if there is none.
class Ref {
 public:
  Ref() = default;
  explicit Ref(PyObject* owned) : object_(owned) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() { Py_XDECREF(object_); }

  PyObject* get() const { return object_; }
  PyObject* release() { return std::exchange(object_, nullptr); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  PyObject* object_ = nullptr;
};

// taper.Error, and taper.ClosedError which is one.
extern PyObject* error_type;
extern PyObject* closed_type;

// Sets the exception, and returns null for the caller to return. The text may hold any bytes.
PyObject* raise(PyObject* type, const std::string& text);

// The text as a str; bytes that are no UTF-8 are replaced.
PyObject* text_of(const std::string& text);

// Releases the interpreter's lock for the lifetime of this object. Where the interpreter has ended
// meanwhile, the thread waits for the end of the process: Python before 3.14 would unwind it,
// through objects that must not be destroyed without the lock. (That unwinding has no object to
// which a reference could be bound.)
class Unlocked {
 public:
  Unlocked() : state_(PyEval_SaveThread()) {}
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;
  ~Unlocked() {
    try {
      PyEval_RestoreThread(state_);
    } catch (...) {
      for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
    }
  }

 private:
  PyThreadState* state_;
};

}  // namespace taper::python
