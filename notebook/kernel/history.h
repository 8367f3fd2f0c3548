#pragma once

// The history of executed cells, for the history search of JupyterLab.

#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <xeus/xhistory_manager.hpp>

namespace accelerate::notebook {

/// Answers Jupyter's history requests. There is one session, that of this kernel. The history manager of xeus does not
/// follow the protocol: it returns numbers as strings, and outputs in the wrong place.
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
