// Web requests through libcurl; no_http.cpp takes the place of this file where it is missing.

#include <curl/curl.h>

#include <memory>

#include "accelerate/base/error.h"
#include "accelerate/tracking/http.h"

namespace accelerate::tracking {

namespace {

size_t append_body(char* data, size_t size, size_t count, void* body) {
  static_cast<std::string*>(body)->append(data, size * count);
  return size * count;
}

}  // namespace

bool http_is_available() { return true; }

HttpResponse send(const HttpRequest& request) {
  static const auto initialized = curl_global_init(CURL_GLOBAL_DEFAULT);
  std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl(curl_easy_init(), curl_easy_cleanup);
  if (initialized != CURLE_OK || !curl) fail(request.url, ": libcurl could not be initialized");

  curl_slist* list = nullptr;
  for (const auto& header : request.headers) list = curl_slist_append(list, header.c_str());
  if (!request.body.empty()) {
    list = curl_slist_append(list, "Content-Type: application/json");
    curl_easy_setopt(curl.get(), CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    curl_easy_setopt(curl.get(), CURLOPT_POSTFIELDS, request.body.data());
  }
  if (!request.user_and_password.empty()) {
    curl_easy_setopt(curl.get(), CURLOPT_USERPWD, request.user_and_password.c_str());
  }
  std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> headers(list, curl_slist_free_all);

  HttpResponse response;
  char reason[CURL_ERROR_SIZE] = "";
  curl_easy_setopt(curl.get(), CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(curl.get(), CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(curl.get(), CURLOPT_TIMEOUT_MS, static_cast<long>(request.timeout.count()));
  curl_easy_setopt(curl.get(), CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl.get(), CURLOPT_ERRORBUFFER, reason);
  curl_easy_setopt(curl.get(), CURLOPT_WRITEFUNCTION, append_body);
  curl_easy_setopt(curl.get(), CURLOPT_WRITEDATA, &response.body);
  auto code = curl_easy_perform(curl.get());
  if (code != CURLE_OK) fail(request.url, ": ", reason[0] ? reason : curl_easy_strerror(code));
  curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &response.status);
  return response;
}

}  // namespace accelerate::tracking
