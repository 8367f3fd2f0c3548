#include "accelerate/base/content_key.h"

#include <doctest/doctest.h>

using accelerate::ContentKey;

TEST_CASE("a content key depends on every part and on where parts end") {
  CHECK(ContentKey().hex() == "6c62272e07bb014262b821756295c58d");
  CHECK(ContentKey().add("a").add("b").hex() == ContentKey().add("a").add("b").hex());
  CHECK(ContentKey().add("ab").add("c").hex() != ContentKey().add("a").add("bc").hex());
  CHECK(ContentKey().add("a").hex() != ContentKey().add("a").add("").hex());
  CHECK(ContentKey().add(1).hex() != ContentKey().add(2).hex());
  CHECK(ContentKey().add_file("/nowhere").hex() != ContentKey().hex());
}
