// The tables of a run file that hold its impacts, and what else names a place:
//   impact_contacts  every contact's part, flat; impacts.contact_end says where an impact's end
//   impact_states    q, v before and after of the first OutputScene::impacts
//   impacts          kinetic energies, works, how the law went about it
#pragma once
#include "saltus/integrators/impact_record.h"
#include "saltus/runs/run_file.h"

namespace saltus {

// A table whose rows say where something happened, in their first columns.
[[nodiscard]] TableSpec with_place(const char* name, const std::vector<Column>& columns);
// What they hold.
struct PlaceRow {
  std::uint8_t kind = 2;
  std::int32_t a = -1, b = -1, feature = 0;
  explicit PlaceRow(const Place& place);
};

// The parts of an impact that are kept: those with the largest impulses.
inline constexpr std::size_t most_parts = 32;

// In the order in which they are written.
[[nodiscard]] std::vector<TableSpec> impact_tables(const Model& model);

class ImpactWriter {
 public:
  // `first` is the number of the first of the tables, `states` how many states are kept.
  ImpactWriter(int first, std::int64_t states) : first_(first), states_(states) {}
  void append(const ImpactRecord& record, std::int64_t step, RunWriter& to);
  // Rows of the tables, in their order, that an earlier run wrote up to and including this step;
  // writing goes on behind them.
  [[nodiscard]] std::vector<std::size_t> resume(const RunReader& from, std::int64_t step);

 private:
  int first_;
  std::int64_t states_, impacts_ = 0, parts_ = 0;
};

}  // namespace saltus
