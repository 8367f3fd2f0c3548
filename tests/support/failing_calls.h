#pragma once

// Calls of this process that change a disk and fail, in a program that failing_calls.cpp is linked into.

namespace accelerate::tests {

/// The `number`-th such call from now on, counted from 1, fails with `error` (ENOSPC, ...), or ends the process when
/// that is 0. With the number 0 all succeed.
void fail_call(int number, int error);

/// How many there were since.
int calls_so_far();

}  // namespace accelerate::tests
