#pragma once

// Requests to a web server.

#include <chrono>
#include <string>
#include <vector>

namespace accelerate::tracking {

struct HttpRequest {
  std::string url = {};
  std::string body = {};                                        // with one it is a POST of JSON, without a GET
  std::vector<std::string> headers = {};                        // "Name: value"
  std::string user_and_password = {};                           // "user:password"; empty: nobody in particular asks
  std::chrono::milliseconds timeout = std::chrono::seconds(5);  // of everything together
};

struct HttpResponse {
  long status = 0;
  std::string body = {};
};

/// Sends the request and waits for the response. Throws Error naming the address when there is none in time, or when
/// libcurl is missing.
HttpResponse send(const HttpRequest& request);

/// The text as part of an address, with all but letters, digits and -._~ escaped.
std::string url_escape(const std::string& text);

}  // namespace accelerate::tracking
