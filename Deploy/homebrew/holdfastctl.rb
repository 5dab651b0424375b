# The command, for a tap of its own: brew install OWNER/holdfast/holdfastctl. Untried on a Mac until a release was made.
# A release replaces the version's address and digest; without an archive for this system, brew builds from the source.
class Holdfastctl < Formula
  desc "Examine TLS servers, make pins, and sign and publish them"
  homepage "https://github.com/OWNER/holdfast"
  url "https://github.com/OWNER/holdfast/archive/refs/tags/0.1.0.tar.gz"
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license "Apache-2.0"
  head "https://github.com/OWNER/holdfast.git", branch: "main"

  depends_on xcode: ["26.0", :build]
  depends_on macos: :ventura
  uses_from_macos "swift" => :build

  on_linux do
    depends_on "zlib"
  end

  def install
    # brew has a sandbox of its own, in which SwiftPM's cannot be made.
    system "swift", "build", "-c", "release", "--disable-sandbox", "--product", "holdfastctl"
    system "scripts/install", "--prefix", prefix, "--binary", ".build/release/holdfastctl"
  end

  test do
    assert_equal version.to_s, shell_output("#{bin}/holdfastctl --version").strip
    system bin/"holdfastctl", "keygen", "--tls", "www.example.com", "-o", testpath/"backup.key"
    assert_match "sha256/", shell_output("#{bin}/holdfastctl pin #{testpath}/backup.key")
  end
end
