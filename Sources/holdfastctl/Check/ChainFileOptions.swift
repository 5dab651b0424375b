import ArgumentParser
import Foundation
import Holdfast
import HoldfastPublishing

/// The options for a chain in a file that no server presents yet.
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
        _ checking: ChainChecking, at time: Date, policy: (DialedHost) throws -> any TrustPolicy
    ) async throws -> CheckReport {
        guard let chain, let host = try hostArgument?.get() else {
            throw CommandFailure(.wrongUsage, "--chain and --host go together")
        }
        return await checking.report(
            on: try InputFile.chain(of: chain).certificates, of: host, by: try policy(host), at: time)
    }
}
