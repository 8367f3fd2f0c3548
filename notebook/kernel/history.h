#pragma once

// The cells that have been run, for what JupyterLab offers when somebody looks for an earlier one.

#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <xeus/xhistory_manager.hpp>

namespace accelerate::notebook {

/// Answers Jupyter's requests for the history of this kernel, which is the one session that there is. The manager that
/// xeus brings along gives numbers as texts and outputs in a place of their own, which Jupyter does not understand.
class History : public xeus::xhistory_manager {
 private:
  using json = nlohmann::json;

  struct Cell {
    int number = 0;  // of the cell
    std::string input = {};
    std::string output = {};
  };

  void configure_impl() override {}
  void store_inputs_impl(int session, int line, const std::string& input, const std::string& output) override;
  json get_tail_impl(int count, bool raw, bool output) const override;
  json get_range_impl(int session, int start, int stop, bool raw, bool output) const override;
  json search_impl(const std::string& pattern, bool raw, bool output, int count, bool unique) const override;

  std::vector<Cell> cells_;
};

}  // namespace accelerate::notebook
