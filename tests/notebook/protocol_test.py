"""Jupyter's own tests of a kernel, for everything that this one claims to do."""

import unittest

import jupyter_kernel_test


class ProtocolTest(jupyter_kernel_test.KernelTests):
    kernel_name = "accelerate-cpp"
    language_name = "c++"
    file_extension = ".cpp"
    code_hello_world = 'std::cout << "hello, world" << std::endl;'
    code_stderr = 'std::cerr << "to stderr" << std::endl;'
    code_generate_error = "throw std::runtime_error(\"wanted\");"
    code_execute_result = [{"code": "6 * 7", "result": "42"}, {"code": 'std::string("a")', "result": '"a"'}]
    code_display_data = [
        {"code": "accelerate::notebook::display(accelerate::notebook::image(torch::rand({4, 4})));", "mime": "image/png"},
        {"code": "accelerate::notebook::display(accelerate::notebook::plot({1, 2}));", "mime": "image/svg+xml"},
    ]
    completion_samples = [{"text": "accelerate::set_se", "matches": {"set_seed"}}]
    complete_code_samples = ["1 + 1", "int f() { return 1; }"]
    incomplete_code_samples = ["int f() {", "f(1,", '"open']
    code_inspect_sample = "torch::ones"
    supported_history_operations = ("tail", "search", "range")
    code_history_pattern = "6 *7*"

    @classmethod
    def setUpClass(cls):
        jupyter_kernel_test.TIMEOUT = 120
        super().setUpClass()
        cls.kc.execute_interactive("1;", timeout=120)  # the interpreter has started


if __name__ == "__main__":
    unittest.main()
