import ArgumentParser
import Holdfast

/// What `check` requires of certificates in addition to a valid path: that nobody has revoked them, a certain policy
/// under which they were issued, and that transparency logs have seen them.
struct StatusOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Refuse a certificate that its issuer's revocation list in this file (DER or PEM) names. Repeatable.",
            valueName: "file"),
        completion: .file(extensions: ["crl", "pem", "der"]))
    var crl: [String] = []

    @Flag(
        help: "Fetch the revocation lists that the certificates name; each certificate must be known not to be revoked."
    )
    var revocation = false

    @Option(
        help: ArgumentHelp(
            "Require a path that is valid for this certificate policy, such as 2.23.140.1.1. Of several, one is enough.",
            valueName: "oid"),
        transform: Self.policy)
    var policy: [String] = []

    @Option(
        name: .customLong("log-list"),
        help: ArgumentHelp(
            "Require timestamps of the transparency logs in this file (Google's log_list.json, version 3).",
            valueName: "file"),
        completion: .file(extensions: ["json"]))
    var logList: String?

    /// Makes a validator with these requirements.
    func validator(
        to anchors: TrustAnchors, by lookup: RevocationLookup
    ) throws(CommandFailure) -> PathValidator {
        PathValidator(
            anchors: anchors, revocation: lookup.source, certificatePolicies: certificatePolicies,
            transparency: try transparency())
    }

    private func transparency() throws(CommandFailure) -> Transparency {
        guard let logList else { return .none }
        let json = try InputFile.content(of: logList, maximumBytes: TransparencyLogList.maximumBytes)
        do throws(DocumentError) {
            return .required(try TransparencyLogList(json: json))
        } catch {
            throw CommandFailure(.unreadableFile, "\(logList): \(error)")
        }
    }

    private var certificatePolicies: CertificatePolicies {
        policy.isEmpty ? .any : CertificatePolicies(acceptable: Set(policy), requiresExplicitPolicy: true)
    }

    /// Reads the files with revocation lists.
    func lookup(within limit: Duration) throws(CommandFailure) -> RevocationLookup {
        let lists = try RevocationFile.lists(from: crl)
        return try RevocationLookup(lists: lists, fetches: revocation, within: limit)
    }

    private static func policy(_ text: String) throws -> String {
        guard CertificatePolicies.isObjectIdentifier(text) else {
            throw ValidationError("\(text.quoted) is no object identifier such as 2.23.140.1.1.")
        }
        return text
    }
}
