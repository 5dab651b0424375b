#if os(macOS) || os(Linux)
package import Foundation

/// A program of others that tests talk to, and the command that installs it; or something else that a machine may lack.
package struct ForeignProgram: Sendable, Hashable {
    /// How a program is installed.
    package enum Installation: Sendable, Hashable {
        /// By packages of Debian and its like, or of Homebrew.
        case packages(debian: [String], homebrew: [String])
        /// By a script of this package.
        case script(String)
        /// By nothing that may be published: a variable of the environment names a folder that has it.
        case setting(String)
        /// It comes with the Swift toolchain or with the system.
        case included
        /// It is no program: an address, a right or a file, which the machine has or not.
        case machine
    }

    /// The name in the reason for which a test is skipped.
    package let name: String
    package let installation: Installation
    /// Whether tests with it run: the program is there, or `HOLDFAST_REQUIRE_FOREIGN_PEERS` is 1. In the second case a
    /// test that does not find it fails instead of being skipped.
    package let runsTests: Bool

    /// - Parameter canRun: whether it is there.
    package init(_ name: String, _ installation: Installation, canRun: Bool) {
        self.init(name, installation, runsTests: canRun || Self.areRequired)
    }

    /// - Parameter runsTests: whether tests with it run.
    package init(_ name: String, _ installation: Installation, runsTests: Bool) {
        self.name = name
        self.installation = installation
        self.runsTests = runsTests
    }

    /// Whether the absence of a program is a failure and not a reason to skip.
    package static let areRequired = ProcessInfo.processInfo.environment["HOLDFAST_REQUIRE_FOREIGN_PEERS"] == "1"

    /// A program on the search path; nil if it is not there.
    package static func find(_ name: String) -> URL? {
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
            .map { URL(filePath: String($0)).appending(path: name) }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }
}

extension ForeignProgram {
    /// The GNU tools that scripts for Linux use, and a Mac does not have.
    package static let gnuTools = ForeignProgram(
        "GNU's mv, stat and date", .machine,
        canRun: succeeds("/bin/sh", ["-c", "mv -T --version && stat -c %a / && date -d @0"]))

    /// Whether a program ends without an error.
    package static func succeeds(_ program: String, _ arguments: [String]) -> Bool {
        guard let child = try? ChildProcess(program, arguments), (try? child.input.close()) != nil else { return false }
        while child.octets() != nil {}
        return child.wait() == 0
    }

    package static let openSSL = ForeignProgram(
        "OpenSSL 3", .packages(debian: ["openssl"], homebrew: ["openssl@3"]), runsTests: OpenSSLProgram.isAvailable)
    package static let pythonTUF = ForeignProgram(
        "python-tuf", .script("scripts/python tuf"), runsTests: PythonTUF.runs)
}
#endif
