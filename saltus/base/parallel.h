// A loop whose turns do not depend on each other, on several threads.
#pragma once

namespace saltus {

void parallel_turns(int count, int threads, void (*turn)(void* context, int i), void* context);

// f(i) for i in [0, count); with one thread in order. The result must not depend on the order.
template <class F>
void parallel_for(int count, int threads, F&& f) {
  if (threads <= 1 || count <= 1) {
    for (int i = 0; i < count; ++i) f(i);
    return;
  }
  parallel_turns(
      count, threads, [](void* context, int i) { (*static_cast<F*>(context))(i); }, &f);
}

}  // namespace saltus
