import ArgumentParser
import Foundation
import Holdfast

/// The options for a chain in a file, which no server has yet.
struct ChainFileOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Check the chain in this file (PEM, the server's own certificate first) instead of a server's.",
            valueName: "file"),
        completion: .file(extensions: ["pem", "crt", "cer"]))
    var chain: String?

    @Option(
        name: .customLong("host"), help: ArgumentHelp("The host that the chain is for.", valueName: "host"),
        transform: { text in CheckedArgument { try ServerAddress.host(text) } })
    var hostArgument: CheckedArgument<DialedHost>?

    @Option(
        name: .customLong("at"),
        help: ArgumentHelp("The time at which it must be valid: Unix seconds, or a date in UTC.", valueName: "time"),
        transform: TimeArgument.seconds)
    var seconds: Int64?

    var isEmpty: Bool { chain == nil }
    var time: Date? { seconds.map { Date(timeIntervalSince1970: Double($0)) } }

    func validate() throws {
        try hostArgument?.validate("--host")
        guard (chain == nil) == (hostArgument == nil) else { throw ValidationError("--chain and --host go together.") }
        guard seconds == nil || chain != nil else { throw ValidationError("--at goes with --chain.") }
    }

    /// Reports what a client would decide if a server presented this chain.
    func report(
        validator: PathValidator, lookup: RevocationLookup, at time: Date, watch: ExpiryWatch?,
        policy: (DialedHost) throws -> any TrustPolicy
    ) async throws -> CheckReport {
        guard let chain, let host = try hostArgument?.get() else {
            throw CommandFailure(.wrongUsage, "--chain and --host go together")
        }
        let certificates = try InputFile.certificates(of: chain)
        let trust = ServerTrust(
            chain: PresentedChain(certificates.map(\.der)), purpose: .server(identity: host), validator: validator)
        let policy = try policy(host)
        let decision = await lookup.decision(after: policy.evaluate(trust, at: time), by: policy, validator)
        var report = CheckReport(host: host, time: time, pins: decision.configuredPins)
        report.take(decision, validator: validator, watch: watch)
        report.revocationLists = lookup.places(of: trust.chain)
        let remarks = (report.remarks ?? []) + Self.remarks(on: certificates)
        report.remarks = remarks.isEmpty ? nil : remarks
        return report
    }

    /// Remarks on the order. RFC 5246 7.4.2 requires that each certificate follows the one that it certifies, and
    /// allows the root to be omitted.
    static func remarks(on certificates: [X509Certificate]) -> [String] {
        var remarks: [String] = []
        if let leaf = certificates.first, leaf.isIssuerOnly {
            remarks.append("the first certificate is an authority's; the server's own has to come first")
        }
        for (position, pair) in zip(certificates, certificates.dropFirst()).enumerated()
        where pair.0.issuer != pair.1.subject {
            remarks.append("certificate \(position + 1) did not issue certificate \(position), and some clients mind")
        }
        if certificates.count > 1, let last = certificates.last, last.isSelfIssued {
            remarks.append("certificate \(certificates.count - 1) is a root, which clients have themselves")
        }
        return remarks
    }
}
