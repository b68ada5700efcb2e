// Every allocation fails once while a program is quantised. Each failure must be an exception that
// says that memory was short, or be done without, and nothing may be lost.

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>

#include "exir/quantize/quantize.h"
#include "test/faults/each_allocation.h"
#include "tools/quantize/graph_engine.h"
#include "tools/quantize/samples.h"

namespace taper::test {
namespace {

TEST(FaultsOfTheQuantizer, AreErrors) {
  const std::string folder = TAPER_SOURCE_DIR "/test/quantize/data/";
  exir::QuantizeRequest request;
  request.path = folder + "table.pt2";
  request.engine = tools::graph_engine({"portable", 1});
  const exir::ExportedProgram program = exir::import_pt2(request.path);
  request.samples = tools::read_samples(folder + "table_calibrate.npy", *program.graph);
  request.samples.resize(2);
  every_allocation_fails_once([&] {
    try {
      return !exir::quantize_program(request).file.pieces.joined().empty();
    } catch (const std::bad_alloc&) {
      return true;
    } catch (const std::runtime_error& failure) {
      return std::string(failure.what()).find("memory") != std::string::npos;
    }
  });
}

}  // namespace
}  // namespace taper::test
