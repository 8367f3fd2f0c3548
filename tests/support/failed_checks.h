#pragma once

// How many checks of this process have failed so far.

namespace accelerate::tests {

int failed_checks();

}  // namespace accelerate::tests
