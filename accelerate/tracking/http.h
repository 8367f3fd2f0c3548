#pragma once

// HTTP requests.

#include <chrono>
#include <string>
#include <vector>

namespace accelerate::tracking {

struct HttpRequest {
  std::string url = {};
  std::string body = {};                                        // not empty: POST of JSON; empty: GET
  std::vector<std::string> headers = {};                        // "Name: value"
  std::string user_and_password = {};                           // "user:password"; empty: no authentication
  std::chrono::milliseconds timeout = std::chrono::seconds(5);  // of the whole request
};

struct HttpResponse {
  long status = 0;
  std::string body = {};
};

/// Sends the request and waits for the response. Throws Error naming the URL if there is none in time, or if libcurl is
/// missing.
HttpResponse send(const HttpRequest& request);

}  // namespace accelerate::tracking
