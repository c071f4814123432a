#include "apps/saltus/papers/page.h"

#include <fmt/format.h>

#include <cmath>

#include "saltus/version.h"

namespace saltus::cli {

namespace {

constexpr const char* style = R"(
:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.6rem}h2{margin-top:2.5rem;border-bottom:1px solid #8886;padding-bottom:.2rem}
figure{margin:1.2rem 0}figcaption{font-size:.92rem;opacity:.85}svg{width:100%;height:auto}
table{border-collapse:collapse;width:100%;margin:1rem 0;font-variant-numeric:tabular-nums}
th,td{text-align:left;padding:.25rem .6rem;border-bottom:1px solid #8884}
td.n,th.n{text-align:right}code{font-size:.88em;background:#8882;padding:.1em .3em;border-radius:3px}
.ok{color:#1a7f37}.no{color:#cf222e;font-weight:600}
@media(prefers-color-scheme:dark){.ok{color:#3fb950}.no{color:#f85149}}
)";

std::string command_html(const std::string& command) {
  return command.empty() ? "" : fmt::format("<br><code>{}</code>", escaped(command));
}

// A figure with the digits that its tolerance speaks of.
std::string figure_text(double x, const FigureRow& r) {
  const bool fine = r.tolerance > 0 && r.tolerance < 1e-5;
  return fine ? fmt::format("{:.10g} {}", x, r.unit) : fmt::format("{:.6g} {}", x, r.unit);
}

// A relative difference: in percent, unless it is tiny.
std::string share_text(double share, double tolerance) {
  const bool fine = tolerance > 0 && tolerance < 1e-5;
  return fine ? fmt::format("{:.1e}", share) : fmt::format("{:.3f} %", 100 * share);
}

}  // namespace

Page::Page(std::string title, std::string intro)
    : title_(std::move(title)),
      body_(fmt::format("<h1>{}</h1>\n<p>{}</p>\n", escaped(title_), escaped(intro))) {}

void Page::section(const std::string& title, const std::string& paragraph) {
  body_ += fmt::format("<h2>{}</h2>\n", escaped(title));
  if (!paragraph.empty()) text(paragraph);
}

void Page::text(const std::string& paragraph) {
  body_ += fmt::format("<p>{}</p>\n", escaped(paragraph));
}

void Page::plot(const Plot& p, const std::string& caption, const std::string& command) {
  body_ += fmt::format("<figure>{}<figcaption>{}{}</figcaption></figure>\n", svg(p),
                       escaped(caption), command_html(command));
}

void Page::table(const std::vector<FigureRow>& rows, const std::string& command) {
  body_ +=
      "<table><tr><th>figure</th><th class=n>ours</th><th class=n>reference</th><th>source</th>"
      "<th class=n>difference</th><th class=n>allowed</th></tr>\n";
  for (const FigureRow& r : rows) {
    std::string reference, difference, allowed;
    const char* verdict = "";
    if (std::isfinite(r.reference)) {
      const double off = std::abs(r.ours / r.reference - 1);
      reference = figure_text(r.reference, r);
      difference = share_text(off, r.tolerance);
      if (r.tolerance > 0) {
        const bool ok = off <= r.tolerance;
        misses_ += !ok;
        verdict = ok ? "ok" : "no";
        allowed = r.tolerance < 1e-5 ? fmt::format("{:.0e}", r.tolerance)
                                     : fmt::format("{:g} %", 100 * r.tolerance);
      }
    }
    body_ += fmt::format(
        "<tr><td>{}</td><td class=n>{}</td><td class=n>{}</td><td>{}</td><td class='n {}'>{}</td>"
        "<td class=n>{}</td></tr>\n",
        escaped(r.what), std::isfinite(r.ours) ? figure_text(r.ours, r) : "not reached", reference,
        escaped(r.source), verdict, difference, allowed);
  }
  body_ += fmt::format("</table>\n<p>{}</p>\n",
                       command.empty() ? "" : fmt::format("<code>{}</code>", escaped(command)));
}

void Page::grid(const std::vector<std::string>& head,
                const std::vector<std::vector<std::string>>& rows, const std::string& command) {
  const auto row = [&](const std::vector<std::string>& cells, const char* tag) {
    body_ += "<tr>";
    for (std::size_t i = 0; i < cells.size(); ++i)
      body_ += fmt::format("<{0}{1}>{2}</{0}>", tag, i == 0 ? "" : " class=n", escaped(cells[i]));
    body_ += "</tr>\n";
  };
  body_ += "<table>";
  row(head, "th");
  for (const auto& cells : rows) row(cells, "td");
  body_ += "</table>\n";
  if (!command.empty()) body_ += fmt::format("<p><code>{}</code></p>\n", escaped(command));
}

void Page::list(const std::vector<std::string>& items) {
  body_ += "<ul>\n";
  for (const std::string& item : items) body_ += fmt::format("<li>{}</li>\n", escaped(item));
  body_ += "</ul>\n";
}

std::string Page::html() const {
  return fmt::format(
      "<!doctype html>\n<html lang=en><meta charset=utf-8><meta name=viewport "
      "content='width=device-width'><title>{}</title><style>{}</style>\n{}<p><small>Made by saltus "
      "{} ({}).</small></p></html>\n",
      escaped(title_), style, body_, version, commit);
}

}  // namespace saltus::cli
