#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include "signals.h"

namespace saltus::python {

using namespace nb::literals;

Signal signal_of(const SignalLike& x) {
  return std::visit(
      [](const auto& s) -> Signal {
        if constexpr (std::is_same_v<std::decay_t<decltype(s)>, double>) {
          require_finite(s, "signal");
          return Constant{s};
        } else {
          return s;
        }
      },
      x);
}

namespace {

std::vector<double> numbers_of(nb::handle x, const char* name) {
  const Vec v = vector_of_any_length(x, name);
  return {v.data(), v.data() + v.size()};
}

// Ascending times, as many values.
template <class S>
S samples(nb::handle times, nb::handle values) {
  S s;
  s.times = numbers_of(times, "times");
  s.values = numbers_of(values, "values");
  if (s.times.empty() || s.times.size() != s.values.size())
    throw InputError(fmt::format("expected as many values as times, got {} and {}", s.values.size(),
                                 s.times.size()));
  for (std::size_t i = 1; i < s.times.size(); ++i)
    if (!(s.times[i - 1] < s.times[i])) throw InputError("times: expected ascending times");
  return s;
}

int depth(const Signal& s) {
  int deepest = 0;
  if (const auto* sum = std::get_if<Sum>(&s))
    for (const Signal& term : sum->terms) deepest = std::max(deepest, 1 + depth(term));
  return deepest;
}

void require_defined(const Signal& s) {
  if (const char* which = undefined(s))
    throw InputError(fmt::format("{}: expected finite numbers that make sense", which));
}

template <class C>
void bind_values(C& c) {
  using S = typename C::Type;
  c.def(
       "value",
       [](const S& s, double t) {
         require_finite(t, "t");
         return value(Signal(s), t);
       },
       "t"_a, "at the time t [s]")
      .def(
          "rate",
          [](const S& s, double t) {
            require_finite(t, "t");
            return rate(Signal(s), t);
          },
          "t"_a, "right-hand derivative at the time t [s]")
      .def(
          "next_break",
          [](const S& s, double t) {
            require_finite(t, "t");
            return next_break(Signal(s), t);
          },
          "t"_a, "first time after t at which the value or a derivative jumps [s]; or infinity");
}

}  // namespace

void bind_signals(nb::module_& m) {
  auto constant = nb::class_<Constant>(m, "Constant", "A number.")
                      .def(
                          "__init__",
                          [](Constant* self, double x) {
                            require_finite(x, "value");
                            new (self) Constant{x};
                          },
                          "value"_a = 0.0);
  bind_values(constant);
  auto sine = nb::class_<Sine>(m, "Sine", "offset + amplitude sin(omega t + phase).")
                  .def(
                      "__init__",
                      [](Sine* self, double amplitude, double omega, double phase, double offset) {
                        require_finite(amplitude, "amplitude");
                        require_finite(omega, "omega");
                        require_finite(phase, "phase");
                        require_finite(offset, "offset");
                        new (self) Sine{amplitude, omega, phase, offset};
                      },
                      "amplitude"_a, "omega"_a, "phase"_a = 0.0, "offset"_a = 0.0,
                      "omega [rad/s], phase [rad].")
                  .def_ro("amplitude", &Sine::amplitude)
                  .def_ro("omega", &Sine::omega, "[rad/s]")
                  .def_ro("phase", &Sine::phase, "[rad]")
                  .def_ro("offset", &Sine::offset);
  bind_values(sine);
  auto half =
      nb::class_<HalfSine>(m, "HalfSine", "offset + amplitude max(0, sin(omega t + phase)).")
          .def(
              "__init__",
              [](HalfSine* self, double amplitude, double omega, double phase, double offset) {
                const HalfSine s{amplitude, omega, phase, offset};
                require_defined(s);
                new (self) HalfSine(s);
              },
              "amplitude"_a, "omega"_a, "phase"_a = 0.0, "offset"_a = 0.0,
              "omega [rad/s], phase [rad].");
  bind_values(half);
  auto square =
      nb::class_<Square>(m, "Square", "on for the first `duty` of every period, else off.")
          .def(
              "__init__",
              [](Square* self, double on, double off, double period, double duty, double start) {
                const Square s{on, off, period, duty, start};
                require_defined(s);
                new (self) Square(s);
              },
              "on"_a, "off"_a, "period"_a, "duty"_a = 0.5, "start"_a = 0.0,
              "period and start [s], duty in (0, 1].");
  bind_values(square);
  auto bang = nb::class_<BangBang>(m, "BangBang", "values[k] from times[k] [s] on.")
                  .def(
                      "__init__",
                      [](BangBang* self, const ArrayLike& times, const ArrayLike& values) {
                        new (self) BangBang(samples<BangBang>(times, values));
                      },
                      "times"_a, "values"_a);
  bind_values(bang);
  auto table = nb::class_<Table>(m, "Table", "Values at times [s], linear in between or held.")
                   .def(
                       "__init__",
                       [](Table* self, const ArrayLike& times, const ArrayLike& values, bool hold) {
                         Table t = samples<Table>(times, values);
                         t.interpolation = hold ? Interpolation::hold : Interpolation::linear;
                         new (self) Table(t);
                       },
                       "times"_a, "values"_a, "hold"_a = false);
  bind_values(table);
  auto move =
      nb::class_<Move>(m, "Move", "A cycloid between two values, at rest at both ends.")
          .def(
              "__init__",
              [](Move* self, double from, double to, double start, double duration) {
                require_finite(from, "from_");
                require_finite(to, "to");
                require_finite(start, "start");
                require_positive(duration, "duration");
                new (self) Move{from, to, start, duration};
              },
              "from_"_a, "to"_a, "start"_a = 0.0, "duration"_a = 1.0, "start and duration [s].");
  bind_values(move);
  auto spline =
      nb::class_<Spline>(m, "Spline",
                         "A cubic spline through values at times [s]; closed: it repeats, its last "
                         "value is the first; else at rest at both ends.")
          .def(
              "__init__",
              [](Spline* self, const ArrayLike& times, const ArrayLike& values, bool closed) {
                const Table t = samples<Table>(times, values);
                if (closed && t.values.front() != t.values.back())
                  throw InputError("expected the first value again at the end");
                const Spline s = make_spline(t.times, t.values, closed);
                require_defined(s);
                new (self) Spline(s);
              },
              "times"_a, "values"_a, "closed"_a = false);
  bind_values(spline);
  auto leg =
      nb::class_<LegGait>(m, "LegGait",
                          "Flexion or knee angle of a leg of two equal segments that trots open "
                          "loop (P2).")
          .def(
              "__init__",
              [](LegGait* self, bool knee, double segment, double height, double stroke,
                 double lift, double frequency, double phase, double start, double ramp) {
                const LegGait s{knee, segment, height, stroke, lift, frequency, phase, start, ramp};
                require_defined(Signal(s));
                new (self) LegGait(s);
              },
              nb::kw_only(), "knee"_a = false, "segment"_a = 0.2, "height"_a = 0.33,
              "stroke"_a = 0.0, "lift"_a = 0.0, "frequency"_a = 1.0, "phase"_a = 0.0,
              "start"_a = 0.0, "ramp"_a = 0.0,
              "Lengths [m], frequency [Hz], phase [rad], times [s].");
  bind_values(leg);
  auto sum = nb::class_<Sum>(m, "Sum", "The sum of signals.")
                 .def(
                     "__init__",
                     [](Sum* self, const std::vector<SignalLike>& terms) {
                       Sum s;
                       for (const SignalLike& t : terms) s.terms.push_back(signal_of(t));
                       if (depth(Signal(s)) > 32)
                         throw InputError("expected sums nested at most 32 deep");
                       new (self) Sum(s);
                     },
                     "terms"_a);
  bind_values(sum);
}

}  // namespace saltus::python
