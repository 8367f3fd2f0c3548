// HTTP requests with libcurl. Without its headers, no_http.cpp is built instead. The library is loaded at the first
// request: it has thirty dependencies, which would slow down the start of programs without MLflow.

#include <curl/curl.h>
#include <dlfcn.h>

#include <memory>

#include "accelerate/base/error.h"
#include "accelerate/tracking/http.h"

namespace accelerate::tracking {

namespace {

/// The functions of libcurl that are used.
struct Curl {
  decltype(&curl_global_init) global_init = nullptr;
  decltype(&curl_easy_init) easy_init = nullptr;
  decltype(&curl_easy_setopt) easy_setopt = nullptr;
  decltype(&curl_easy_perform) easy_perform = nullptr;
  decltype(&curl_easy_getinfo) easy_getinfo = nullptr;
  decltype(&curl_easy_strerror) easy_strerror = nullptr;
  decltype(&curl_easy_cleanup) easy_cleanup = nullptr;
  decltype(&curl_slist_append) slist_append = nullptr;
  decltype(&curl_slist_free_all) slist_free_all = nullptr;
};

Curl load_curl() {
  void* library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
  auto find = [&](auto& function, const char* name) {
    function = library ? reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, name)) : nullptr;
    if (!function) fail("web requests need libcurl, which cannot be loaded (", dlerror(), "); install libcurl4");
  };
  Curl curl;
  find(curl.global_init, "curl_global_init");
  find(curl.easy_init, "curl_easy_init");
  find(curl.easy_setopt, "curl_easy_setopt");
  find(curl.easy_perform, "curl_easy_perform");
  find(curl.easy_getinfo, "curl_easy_getinfo");
  find(curl.easy_strerror, "curl_easy_strerror");
  find(curl.easy_cleanup, "curl_easy_cleanup");
  find(curl.slist_append, "curl_slist_append");
  find(curl.slist_free_all, "curl_slist_free_all");
  if (curl.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) fail("libcurl could not be initialized");
  return curl;
}

size_t append_body(char* data, size_t size, size_t count, void* body) {
  static_cast<std::string*>(body)->append(data, size * count);
  return size * count;
}

}  // namespace

HttpResponse send(const HttpRequest& request) {
  static const Curl curl = load_curl();
  std::unique_ptr<CURL, decltype(curl.easy_cleanup)> handle(curl.easy_init(), curl.easy_cleanup);
  if (!handle) fail(request.url, ": libcurl has no memory for a request");
  auto set = [&](CURLoption option, auto value) { curl.easy_setopt(handle.get(), option, value); };

  curl_slist* list = nullptr;
  for (const auto& header : request.headers) list = curl.slist_append(list, header.c_str());
  if (!request.body.empty()) {
    list = curl.slist_append(list, "Content-Type: application/json");
    set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    set(CURLOPT_POSTFIELDS, request.body.data());
  }
  if (!request.user_and_password.empty()) set(CURLOPT_USERPWD, request.user_and_password.c_str());
  std::unique_ptr<curl_slist, decltype(curl.slist_free_all)> headers(list, curl.slist_free_all);

  HttpResponse response;
  char reason[CURL_ERROR_SIZE] = "";
  set(CURLOPT_URL, request.url.c_str());
  set(CURLOPT_HTTPHEADER, headers.get());
  set(CURLOPT_TIMEOUT_MS, static_cast<long>(request.timeout.count()));
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_ERRORBUFFER, static_cast<char*>(reason));
  set(CURLOPT_WRITEFUNCTION, &append_body);
  set(CURLOPT_WRITEDATA, &response.body);
  auto code = curl.easy_perform(handle.get());
  if (code != CURLE_OK) fail(request.url, ": ", reason[0] ? reason : curl.easy_strerror(code));
  curl.easy_getinfo(handle.get(), CURLINFO_RESPONSE_CODE, &response.status);
  return response;
}

}  // namespace accelerate::tracking
