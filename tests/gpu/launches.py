"""launches.py STEPS: launches kernels of the stand-in's GPU from Python functions; prints their nanoseconds."""
import ctypes
import sys
import time

cuda = ctypes.CDLL("libcuda.so.1")


class Kernel(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("duration_ns", ctypes.c_uint64), ("grid", ctypes.c_uint32),
                ("block", ctypes.c_uint32), ("registers", ctypes.c_uint32)]


SCALE = Kernel(b"_Z5scalePfi", 7000, 64, 256, 32)
ADD = Kernel(b"_Z3addPfS_i", 5000, 128, 128, 24)


def launch(kernel):
    cuda.cuLaunchKernel(ctypes.byref(kernel), 1)


def forward():
    launch(SCALE)
    launch(ADD)


class Block:
    def __call__(self):
        forward()


def main(steps):
    cuda.cuInit(0)
    time.sleep(0.3)  # cairn learns how the frames of this interpreter are read
    block = Block()
    for _ in range(steps):
        block()
        cuda.cuStreamSynchronize(1)
    print(steps * (SCALE.duration_ns + ADD.duration_ns))


main(int(sys.argv[1]))
