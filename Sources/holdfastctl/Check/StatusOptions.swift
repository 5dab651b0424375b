import ArgumentParser
import Holdfast
import HoldfastProbe
import HoldfastPublishing

/// The requirements of `check` in addition to a valid path: no revocation, a certain certificate policy, and entries in
/// transparency logs.
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

    /// Reads the files, for checks of hosts or chains.
    /// - Parameter limit: how long fetching the lists of a host may take.
    func checking(
        trusting anchors: TrustAnchors, watch: ExpiryWatch?, within limit: Duration
    ) throws(CommandFailure) -> ChainChecking {
        let lists = try lists()
        let logs = try logList.map { path throws(CommandFailure) in
            (name: path, json: try InputFile.content(of: path, maximumBytes: TransparencyLogList.maximumBytes))
        }
        return try CommandFailure.rethrowing { () throws(PublishingError) in
            let lookup = try RevocationLookup(
                lists: lists.lists, within: limit, fetchingWith: revocation ? RevocationListDownloader() : nil)
            return try ChainChecking(trusting: anchors, lookup: lookup, policies: policy, logs: logs, watch: watch)
        }
    }

    /// Reads the files with revocation lists.
    func lists() throws(CommandFailure) -> RevocationLists {
        var lists = RevocationLists()
        for path in crl {
            let data = try InputFile.content(of: path, maximumBytes: RevocationLists.maximumBytes)
            do throws(PublishingError) {
                try lists.add(data, named: path)
            } catch {
                throw CommandFailure(error)
            }
        }
        return lists
    }

    private static func policy(_ text: String) throws -> String {
        guard CertificatePolicies.isObjectIdentifier(text) else {
            throw ValidationError("\(text.quoted) is no object identifier such as 2.23.140.1.1.")
        }
        return text
    }
}
