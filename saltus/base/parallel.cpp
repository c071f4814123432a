#include "saltus/base/parallel.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

namespace saltus {

void parallel_turns(int count, int threads, void (*turn)(void* context, int i), void* context) {
  tbb::task_arena arena(threads);
  arena.execute([&] {
    tbb::parallel_for(tbb::blocked_range<int>(0, count), [&](const tbb::blocked_range<int>& r) {
      for (int i = r.begin(); i != r.end(); ++i) turn(context, i);
    });
  });
}

}  // namespace saltus
