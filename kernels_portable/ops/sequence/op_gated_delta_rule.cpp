// llama::gated_delta_rule.out and channelwise_gated_delta_rule.out: linear attention whose state, a
// matrix that maps keys to values, is updated toward each new pair of key and value.
//
//   state = state * decay[t]                    one number for each row of the state, or for all
//   state = state + key[t] x (value[t] - key[t]^T state) * beta[t]
//   out[t] = query[t]^T state
//
// float32 and contiguous. query [B, Hq, T, K], key [B, H, T, K], value [B, H, T, V], beta
// [B, H, T], decay [B, H, T] or [B, H, T, K], state [B, H, K, V], out [B, Hq, T, V]. Query head h
// reads state h / (Hq / H).

#include <algorithm>
#include <cstring>

#include "taper/kernel.h"

namespace taper::portable {
namespace {

struct DeltaRule {
  const Tensor& query;
  const Tensor& key;
  const Tensor& value;
  const Tensor& decay;
  const Tensor& beta;
  const Tensor& initial_state;
};

bool has_sizes(const Tensor& tensor, Span<const int64_t> sizes) {
  bool same = tensor.dim() == static_cast<int64_t>(sizes.size());
  for (size_t d = 0; same && d < sizes.size(); ++d) same = tensor.sizes()[d] == sizes[d];
  return same;
}

Status check_delta_rule(const DeltaRule& r, const Tensor& out, const Tensor& state) {
  for (const Tensor* each :
       {&r.query, &r.key, &r.value, &r.decay, &r.beta, &r.initial_state, &out, &state}) {
    TAPER_REQUIRE(each->scalar_type() == ScalarType::kFloat, Error::kInvalidType,
                  "gated_delta_rule: tensors must be float32");
    TAPER_REQUIRE(each->is_contiguous(), Error::kNotSupported,
                  "gated_delta_rule: tensors must be contiguous");
  }
  TAPER_REQUIRE(r.query.dim() == 4 && r.key.dim() == 4 && r.value.dim() == 4,
                Error::kInvalidArgument,
                "gated_delta_rule: query, key and value must have four dimensions");
  const int64_t batch = r.key.size(0), heads = r.key.size(1);
  const int64_t tokens = r.key.size(2), rows = r.key.size(3), columns = r.value.size(3);
  TAPER_REQUIRE(heads > 0 && r.query.size(1) % heads == 0, Error::kInvalidArgument,
                "gated_delta_rule: heads of query must be a multiple of heads of key");
  const int64_t query[] = {batch, r.query.size(1), tokens, rows};
  const int64_t value[] = {batch, heads, tokens, columns};
  const int64_t decay[] = {batch, heads, tokens, rows};
  const int64_t state_sizes[] = {batch, heads, rows, columns};
  const Span<const int64_t> per_token(decay, 3);
  TAPER_REQUIRE(has_sizes(r.query, query) && has_sizes(r.value, value) &&
                    has_sizes(r.beta, per_token) && has_sizes(r.initial_state, state_sizes) &&
                    (has_sizes(r.decay, decay) || has_sizes(r.decay, per_token)),
                Error::kInvalidArgument, "gated_delta_rule: the arguments' sizes do not fit");
  return {};
}

// to[i] += factor * from[i]
void add_scaled(float* to, float factor, const float* from, int64_t count) {
  for (int64_t i = 0; i < count; ++i) to[i] += factor * from[i];
}

// Updates the state of one head with one token. `row` is scratch for one row of values.
void correct(const float* key, const float* value, const float* decay, bool one_decay, float beta,
             int64_t rows, int64_t columns, float* state, float* row) {
  std::fill_n(row, columns, 0.0f);
  for (int64_t k = 0; k < rows; ++k) {
    float* line = state + k * columns;
    const float factor = decay[one_decay ? 0 : k];
    for (int64_t v = 0; v < columns; ++v) line[v] *= factor;
    add_scaled(row, key[k], line, columns);
  }
  for (int64_t v = 0; v < columns; ++v) row[v] = (value[v] - row[v]) * beta;
  for (int64_t k = 0; k < rows; ++k) add_scaled(state + k * columns, key[k], row, columns);
}

// Computes all tokens of one head of the state. `head` counts the heads of the whole batch.
void run_head(const DeltaRule& r, int64_t head, Tensor& out, float* state) {
  const int64_t tokens = r.key.size(2), rows = r.key.size(3), columns = r.value.size(3);
  const int64_t readers = r.query.size(1) / r.key.size(1);
  const bool one_decay = r.decay.dim() == 3;
  for (int64_t t = 0; t < tokens; ++t) {
    const int64_t at = head * tokens + t;
    const float* decay = r.decay.const_data_ptr<float>() + (one_decay ? at : at * rows);
    // The row of the first query head serves as scratch before its result is written.
    float* results = out.mutable_data_ptr<float>() + (head * readers * tokens + t) * columns;
    correct(r.key.const_data_ptr<float>() + at * rows,
            r.value.const_data_ptr<float>() + at * columns, decay, one_decay,
            r.beta.const_data_ptr<float>()[at], rows, columns, state, results);
    for (int64_t reader = 0; reader < readers; ++reader) {
      const int64_t line = (head * readers + reader) * tokens + t;
      const float* query = r.query.const_data_ptr<float>() + line * rows;
      float* result = results + reader * tokens * columns;
      std::fill_n(result, columns, 0.0f);
      for (int64_t k = 0; k < rows; ++k) {
        add_scaled(result, query[k], state + k * columns, columns);
      }
    }
  }
}

Status gated_delta_rule_out(KernelContext&, const Tensor& query, const Tensor& key,
                            const Tensor& value, const Tensor& decay, const Tensor& beta,
                            const Tensor& initial_state, Tensor& out, Tensor& final_state_out) {
  const DeltaRule r = {query, key, value, decay, beta, initial_state};
  TAPER_TRY(check_delta_rule(r, out, final_state_out));
  const int32_t sizes[] = {query.sizes()[0], query.sizes()[1], query.sizes()[2], value.sizes()[3]};
  TAPER_TRY(out.resize(sizes));
  TAPER_TRY(final_state_out.resize(initial_state.sizes()));
  float* state = final_state_out.mutable_data_ptr<float>();
  const float* before = initial_state.const_data_ptr<float>();
  if (state != before) std::memmove(state, before, initial_state.nbytes());
  if (query.size(1) == 0) return {};
  for (int64_t head = 0; head < key.size(0) * key.size(1); ++head) {
    run_head(r, head, out, state + head * key.size(3) * value.size(3));
  }
  return {};
}

}  // namespace

extern const Kernel kGatedDeltaRuleOut;
const Kernel kGatedDeltaRuleOut = make_kernel<gated_delta_rule_out>("llama::gated_delta_rule.out");
extern const Kernel kChannelwiseGatedDeltaRuleOut;
const Kernel kChannelwiseGatedDeltaRuleOut =
    make_kernel<gated_delta_rule_out>("llama::channelwise_gated_delta_rule.out");

}  // namespace taper::portable
