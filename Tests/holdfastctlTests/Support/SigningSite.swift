import Foundation
import Holdfast
import HoldfastSigning
import HoldfastTestSupport
import HoldfastTesting
import Testing

/// A folder with a key, an authority and what else an operator who signs pins has at hand.
struct SigningSite {
    static let name = "www.example.com"

    let folder: URL
    let key = SigningKey()
    let root: TestAuthority
    let issuing: TestAuthority
    /// The public key as the command takes it.
    let publicKey: String

    static func with<Result>(_ body: (SigningSite) async throws -> Result) async throws -> Result {
        try await withTemporaryFolder { try await body(try SigningSite(folder: $0)) }
    }

    private init(folder: URL) throws {
        self.folder = folder
        root = try TestAuthority.root()
        issuing = try root.intermediate()
        publicKey = try key.publicKey.base64
        try write("key.pem", key.pem, mode: 0o600)
        try write("root.pem", root.certificate.pem)
    }

    func write(_ name: String, _ text: String, mode: Int = 0o644) throws {
        let file = folder.appending(path: name)
        try Data(text.utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
    }

    func text(_ name: String) throws -> String { try String(contentsOf: folder.appending(path: name), encoding: .utf8) }

    func mode(_ name: String) throws -> Int? {
        let path = folder.appending(path: name).path
        return (try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber)?.intValue
    }

    /// A certificate for names, in a file with its issuers.
    @discardableResult
    func leaf(
        _ file: String, _ names: [TestGeneralName] = [.dns(name)],
        configure: (inout CertificateSpecification) -> Void = { _ in }
    ) throws -> TestCertificate {
        let leaf = try issuing.leaf(names: names, configure: configure)
        try write(file, leaf.chainPEM)
        return leaf
    }

    /// Runs the command in the folder, inside this process if that is possible.
    func run(_ arguments: [String]) async throws -> CommandRun {
        guard !CommandRun.needsProcess(arguments) else {
            return try await CommandRun.holdfastctl(arguments, in: folder)
        }
        return try await CommandRun.inProcess(arguments, in: folder)
    }

    /// Signs with the site's key and root. Unless the arguments say where its hosts are, no host is asked of a new list:
    /// there is none.
    func sign(_ arguments: [String]) async throws -> CommandRun {
        var isNew = true
        if let option = arguments.firstIndex(of: "--list"), option + 1 < arguments.count {
            isNew = !FileManager.default.fileExists(atPath: folder.appending(path: arguments[option + 1]).path)
        }
        let isSaid = arguments.contains("--connect-to") || arguments.contains("--force")
        let offline = isNew && !isSaid ? ["--force", "offline"] : []
        return try await run(["sign", "--key", "key.pem", "--ca", "root.pem"] + arguments + offline)
    }

    /// The entries of a list, verified.
    func entries(of file: String = "pins.json") throws -> [FingerprintEntry] {
        try FingerprintList(verifying: Data(try text(file).utf8), with: try key.publicKey).entries
    }

    /// Writes a list of entries with a letter for a fingerprint and days until they expire.
    func list(_ entries: [(name: String, letter: Character, days: Double)], to file: String = "pins.json") throws {
        let now = SystemWallClock().now.timeIntervalSince1970
        let draft = PinListDraft(
            try entries.map { name, letter, days in
                try FingerprintEntry(
                    name: name, pin: Pin(subject: .certificate, digest: Self.digest(letter.asciiValue ?? 0)),
                    expires: Int64(now + days * 86_400))
            })
        try write(file, String(decoding: try draft.signed(by: key), as: UTF8.self))
    }

    /// A digest that begins with a byte, and is no placeholder.
    static func digest(_ octet: UInt8) -> [UInt8] {
        [octet] + Pin.certificate([octet, octet, octet]).digest.dropFirst()
    }

    static func hex(_ octet: UInt8) -> String { digest(octet).map { String(format: "%02x", $0) }.joined() }

    static func fingerprint(_ certificate: TestCertificate) -> String {
        Data(Pin.certificate(certificate.der).digest).base64EncodedString()
    }
}
