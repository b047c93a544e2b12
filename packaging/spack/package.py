# A recipe for Spack: copy it to packages/cairn/ of a repository of your own.
from spack.package import *


class Cairn(CMakePackage):
    """Records, samples and analyses call-path performance data; reads and writes data of uftrace and
    HPCToolkit."""

    homepage = "https://cairn.example"
    git = "https://cairn.example/cairn.git"
    license("Apache-2.0")

    version("main", branch="main")
    version("0.9.0", tag="v0.9.0")

    variant("mpi", default=False, description="mpirun cairn analyze")
    variant("sqlite", default=True, description="cairn sql, cairn convert --to sqlite")
    variant("tui", default=True, description="cairn tui")
    variant("web", default=False, description="the viewer in the browser; npm fetches packages")

    depends_on("c", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("node-js@18:", type="build", when="+web")
    depends_on("npm", type="build", when="+web")
    depends_on("binutils+headers+libiberty")
    depends_on("capstone")
    depends_on("curl")
    depends_on("elfutils")
    depends_on("expat")
    depends_on("libbpf")
    depends_on("gnutls")
    depends_on("libdeflate")
    depends_on("libmicrohttpd")
    depends_on("libyaml")
    depends_on("lz4")
    depends_on("nghttp2")
    depends_on("xxhash")
    depends_on("xz")
    depends_on("zlib-api")
    depends_on("zstd")
    depends_on("mpi", when="+mpi")
    depends_on("ncurses", when="+tui")
    depends_on("sqlite", when="+sqlite")

    generator("ninja")
    conflicts("platform=darwin", msg="cairn needs Linux")

    def cmake_args(self):
        return [
            self.define("CN_TESTS", "OFF"),
            self.define("CN_WERROR", False),
            self.define_from_variant("CN_MPI", "mpi"),
            self.define_from_variant("CN_WEB", "web"),
        ]
