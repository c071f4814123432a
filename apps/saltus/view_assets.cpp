#include "apps/saltus/view_assets.h"

#include "saltus/base/error.h"

namespace saltus::cli {

std::string_view viewer_page() {
  const std::string_view page = embedded_viewer_page();
  if (page.empty())
    throw InputError("this saltus was built without its viewer; 'make viewer build' adds it");
  return page;
}

}  // namespace saltus::cli
