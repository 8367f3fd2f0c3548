#include "notebook/worker/diagnostics.h"

#include <utility>

#include <clang/Basic/Diagnostic.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Lex/Preprocessor.h>
#include <llvm/ADT/SmallString.h>

namespace accelerate::notebook {

/// Prints as clang does, and notes the first error in one line.
class CellDiagnostics::Printer : public clang::TextDiagnosticPrinter {
 public:
  Printer(CellDiagnostics& owner, clang::DiagnosticOptions* options)
      : TextDiagnosticPrinter(owner.stream_, options), owner_(owner) {}

  void HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& info) override {
    TextDiagnosticPrinter::HandleDiagnostic(level, info);
    auto& first = owner_.report_.first_error;
    if (level < clang::DiagnosticsEngine::Error || !first.empty()) return;
    llvm::SmallString<200> message;
    info.FormatDiagnostic(message);
    if (info.hasSourceManager() && info.getLocation().isValid()) {
      auto& sources = info.getSourceManager();
      auto place = sources.getPresumedLoc(sources.getExpansionLoc(info.getLocation()));
      if (place.isValid())
        first = std::string(place.getFilename()) + ", line " + std::to_string(place.getLine()) + ": ";
    }
    first += message.str().str();
  }

 private:
  CellDiagnostics& owner_;
};

CellDiagnostics::CellDiagnostics(clang::CompilerInstance& compiler) : stream_(report_.text) {
  stream_.enable_colors(true);
  auto& options = compiler.getDiagnosticOpts();
  options.ShowColors = 1;
  auto printer = std::make_unique<Printer>(*this, &options);
  printer->BeginSourceFile(compiler.getLangOpts(), &compiler.getPreprocessor());
  compiler.getDiagnostics().setClient(printer.release(), /*ShouldOwnClient=*/true);
}

CellReport CellDiagnostics::take() {
  stream_.flush();
  auto report = std::exchange(report_, {});
  // For clang a cell is a part of one endless file, which would be named before each message.
  const std::string from_cells = "In file included from <<< inputs >>>:1:\n";
  for (size_t at; (at = report.text.find(from_cells)) != std::string::npos;) report.text.erase(at, from_cells.size());
  return report;
}

}  // namespace accelerate::notebook
