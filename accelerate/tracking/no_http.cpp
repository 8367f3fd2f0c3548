// Takes the place of http_curl.cpp where libcurl is missing.

#include "accelerate/base/error.h"
#include "accelerate/tracking/http.h"

namespace accelerate::tracking {

bool http_is_available() { return false; }

HttpResponse send(const HttpRequest& request) {
  fail(request.url, ": this library was built without libcurl; install libcurl4-openssl-dev and build it again");
}

}  // namespace accelerate::tracking
