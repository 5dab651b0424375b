import Foundation
import HoldfastTestSupport
import HoldfastTesting

/// Programs of others that agree with us or not.
enum ForeignPeers {
    /// Where they must be there, their absence is a failure and not a reason to skip.
    static let areRequired = ForeignProgram.areRequired

    static let curl = ForeignProgram.find("curl")
    /// Its parsers judge what is printed, and it has terminals.
    static let python = ForeignProgram.find("python3")
    static let swiftCompiler = ForeignProgram.find("swiftc")
    /// Judges XML by a schema.
    static let xmllint = ForeignProgram.find("xmllint")

    /// Reads units of systemd as that does. It is not asked for where there is no systemd.
    static let systemdAnalyze = ForeignProgram.find("systemd-analyze")

    /// Moves the clock of another program.
    static let faketime = ForeignProgram.find("faketime")
    /// It runs GNU's date, which a Mac has only if its package was installed.
    static let canTurnClock = faketime.map { ForeignProgram.succeeds($0.path, ["+1 days", "true"]) } ?? false

    /// A web server that keeps certificates, and reads them again only on request.
    static let caddy = ForeignProgram.find("caddy")

    static let hasNginx = ["/usr/sbin/nginx", "/usr/bin/nginx", "/usr/local/bin/nginx", "/opt/homebrew/bin/nginx"]
        .contains { FileManager.default.isExecutableFile(atPath: $0) }

    /// OpenSC's tool for PKCS #11.
    private static let pkcs11Tool = ForeignProgram.find("pkcs11-tool")
    /// A token in software, as a module of PKCS #11.
    static let softHSM: URL? = {
        // Debian and its like, Fedora, Homebrew on either kind of Mac.
        let places = [
            "/usr/lib/softhsm", "/usr/lib64/softhsm", "/usr/lib64/pkcs11", "/usr/local/lib/softhsm",
            "/opt/homebrew/lib/softhsm",
        ]
        guard pkcs11Tool != nil, ForeignProgram.find("softhsm2-util") != nil else { return nil }
        return places.map { URL(filePath: $0).appending(path: "libsofthsm2.so") }
            .first { FileManager.default.fileExists(atPath: $0.path) }
    }()
}

extension ForeignProgram {
    static let curl = ForeignProgram(
        "curl", .packages(debian: ["curl"], homebrew: ["curl"]), canRun: ForeignPeers.curl != nil)
    static let python = ForeignProgram(
        "python3", .packages(debian: ["python3"], homebrew: ["python3"]), canRun: ForeignPeers.python != nil)
    static let swiftCompiler = ForeignProgram("swiftc", .included, canRun: ForeignPeers.swiftCompiler != nil)
    static let xmllint = ForeignProgram(
        "xmllint", .packages(debian: ["libxml2-utils"], homebrew: ["libxml2"]), canRun: ForeignPeers.xmllint != nil)
    static let systemdAnalyze = ForeignProgram(
        "systemd-analyze", .machine, runsTests: ForeignPeers.systemdAnalyze != nil)
    static let faketime = ForeignProgram(
        "faketime", .packages(debian: ["faketime"], homebrew: ["libfaketime"]), canRun: ForeignPeers.canTurnClock)
    static let caddy = ForeignProgram(
        "caddy", .packages(debian: ["caddy"], homebrew: ["caddy"]), canRun: ForeignPeers.caddy != nil)
    static let softHSM = ForeignProgram(
        "opensc and softhsm2", .packages(debian: ["opensc", "softhsm2"], homebrew: ["opensc", "softhsm"]),
        canRun: ForeignPeers.softHSM != nil)
    static let nginx = ForeignProgram(
        "nginx", .packages(debian: ["nginx-light"], homebrew: ["nginx"]), canRun: ForeignPeers.hasNginx)
    static let acmeSite = ForeignProgram(
        "certbot, pebble, nginx and curl",
        .packages(
            debian: ["certbot", "pebble", "nginx-light", "curl"], homebrew: ["certbot", "pebble", "nginx", "curl"]),
        canRun: ACMESite.canRun)
    static let root = ForeignProgram("the rights of root", .machine, runsTests: geteuid() == 0)
    /// Root, and what makes an account without touching those of this machine.
    static let accounts = ForeignProgram(
        "the rights of root, useradd and setpriv", .machine,
        runsTests: geteuid() == 0
            && (ForeignPeers.areRequired || ["useradd", "setpriv"].allSatisfy { ForeignProgram.find($0) != nil })
    )
    static let fullDevice = ForeignProgram(
        "/dev/full", .machine, runsTests: FileManager.default.fileExists(atPath: "/dev/full"))
    static let s3Tools = ForeignProgram("moto and aws", .script("scripts/python s3"), runsTests: S3Store.isAvailable)
}
