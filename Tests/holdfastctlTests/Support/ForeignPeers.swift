import Foundation
import HoldfastTesting

/// Programs of others that agree with us or not.
enum ForeignPeers {
    /// Where they must be there, their absence is a failure and not a reason to skip.
    static let areRequired = ProcessInfo.processInfo.environment["HOLDFAST_REQUIRE_FOREIGN_PEERS"] == "1"

    static let curl = program("curl")
    /// Its parsers judge what is printed, and it has terminals.
    static let python = program("python3")
    static let swiftCompiler = program("swiftc")
    /// Judges XML by a schema.
    static let xmllint = program("xmllint")

    /// Reads units of systemd as that does. It is not asked for where there is no systemd.
    static let systemdAnalyze = program("systemd-analyze")

    /// Moves the clock of another program.
    static let faketime = program("faketime")

    /// A web server that keeps certificates, and reads them anew only if it is told.
    static let caddy = program("caddy")

    /// OpenSC's tool for PKCS #11.
    private static let pkcs11Tool = program("pkcs11-tool")
    /// A token in software, as a module of PKCS #11.
    static let softHSM: URL? = {
        // Debian and its like, Fedora, Homebrew on either kind of Mac.
        let places = [
            "/usr/lib/softhsm", "/usr/lib64/softhsm", "/usr/lib64/pkcs11", "/usr/local/lib/softhsm",
            "/opt/homebrew/lib/softhsm",
        ]
        guard pkcs11Tool != nil, program("softhsm2-util") != nil else { return nil }
        return places.map { URL(filePath: $0).appending(path: "libsofthsm2.so") }
            .first { FileManager.default.fileExists(atPath: $0.path) }
    }()

    private static func program(_ name: String) -> URL? {
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
            .map { URL(filePath: String($0)).appending(path: name) }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }

    static let runsOpenSSL = OpenSSLProgram.isAvailable || areRequired
    static let runsCurl = curl != nil || areRequired
    static let runsPython = python != nil || areRequired
    static let runsSoftHSM = softHSM != nil || areRequired
    static let runsCaddy = caddy != nil || areRequired
    static let runsFaketime = faketime != nil || areRequired
    static let runsXMLLint = xmllint != nil || areRequired
    static let runsSwiftCompiler = swiftCompiler != nil || areRequired
}
