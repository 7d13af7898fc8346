# Copy this file to `packages/gleaner/package.py` in a Spack repository, and replace OWNER.

from spack_repo.builtin.build_systems.generic import Package

from spack.package import *


class Gleaner(Package):
    """Replays supercomputer idle-node logs through an optimal allocator of elastic training tasks."""

    homepage = "https://github.com/OWNER/gleaner"
    git = "https://github.com/OWNER/gleaner.git"

    license("MIT OR Apache-2.0", checked_by="OWNER")

    version("main", branch="main")
    version("0.1.0", tag="v0.1.0")

    variant("highs", default=True, description="Include the solver HiGHS")
    variant("cbc", default=True, description="Include the solver CBC")
    variant("harvest", default=True, description="Include the daemon that trains tasks on the idle nodes of a cluster")

    depends_on("c", type="build")
    depends_on("cxx", type="build", when="+highs")
    depends_on("rust@1.89:", type="build")
    depends_on("cmake@3.15:", type="build", when="+highs")
    depends_on("llvm+clang", type="build", when="+highs")
    depends_on("pkgconfig", type="build", when="+cbc")
    depends_on("cbc", when="+cbc")

    def setup_build_environment(self, env):
        if self.spec.satisfies("+highs"):
            env.set("LIBCLANG_PATH", self.spec["llvm"].prefix.lib)

    def install(self, spec, prefix):
        features = ["cli"] + [name for name in ("highs", "cbc", "harvest") if spec.satisfies(f"+{name}")]
        cargo = which("cargo")
        cargo("build", "--release", "--locked", "--no-default-features", "--features", ",".join(features))
        Executable("scripts/install.sh")("install", prefix, "target/release/gleaner")

    def test_version(self):
        """The program starts and prints its version."""
        assert str(self.spec.version) in Executable(self.prefix.bin.gleaner)("--version", output=str)
