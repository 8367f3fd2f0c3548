// Replaces http_curl.cpp if the headers of libcurl are missing.

#include "accelerate/base/error.h"
#include "accelerate/tracking/http.h"

namespace accelerate::tracking {

HttpResponse send(const HttpRequest& request) {
  fail(request.url,
       ": this library was built without the headers of libcurl; install libcurl4-openssl-dev and build it again");
}

}  // namespace accelerate::tracking
