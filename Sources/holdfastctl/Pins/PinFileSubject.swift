import ArgumentParser
import Foundation
import Holdfast
import HoldfastPublishing

/// The host of a pin file that a verb works on.
struct PinFileSubject: ParsableArguments {
    static let explanation = "The host as the pin file names it, also *.example.com or **.example.com."

    @Argument(
        help: ArgumentHelp(explanation, valueName: "host"),
        transform: { text in CheckedArgument { try HostPattern(text) } })
    var host: CheckedArgument<HostPattern>

    @Argument(
        help: ArgumentHelp(
            "Pins (sha256/BASE64), and files with certificates, keys or certificate requests. From a file with a chain, "
                + "only the server's own certificate counts.",
            valueName: "pin | file"),
        completion: .file())
    var sources: [String] = []

    func validate() throws { try host.validate("HOST") }

    /// A pin that an argument names.
    struct Named {
        let named: NamedPin
        /// Whether the certificate is that of an authority; nil for a pin alone.
        let isIssuer: Bool?
        /// Whether no certificate contains the key; nil for a pin alone.
        let isBackup: Bool?
        /// The argument.
        let source: String
        /// The certificate or key of a file; nil for a pin alone.
        var entry: PinEntry?
        /// The entries of the same file, in its order.
        var neighbors: [PinEntry] = []
    }

    /// The pins, each once.
    /// - Parameter includesIssuers: whether the issuers in a file are included.
    func pins(includingIssuers includesIssuers: Bool = false) throws -> [Named] {
        var named: [Named] = []
        for source in sources {
            for pin in try Self.pins(of: source, includesIssuers)
            where !named.contains(where: { $0.named == pin.named }) {
                named.append(pin)
            }
        }
        return named
    }

    private static func pins(of source: String, _ includesIssuers: Bool) throws -> [Named] {
        if source.hasPrefix("sha256/") || source.hasPrefix("cert-sha256/") {
            do {
                let pin = try NamedPin(source)
                guard pin.isOfKey else {
                    throw CommandFailure(
                        .wrongUsage, "\(source): expected the pin of a key, sha256/BASE64, found that of a certificate")
                }
                return [Named(named: pin, isIssuer: nil, isBackup: nil, source: source)]
            } catch let failure as CommandFailure {
                throw failure
            } catch {
                throw CommandFailure(.wrongUsage, "\(source): \(error)")
            }
        }
        let entries = try InputFile.publicKeys(of: source).entries
        let chosen = includesIssuers ? entries.filter(\.isIssuer) : entries.filter { !$0.isIssuer }
        guard !chosen.isEmpty else {
            throw CommandFailure(
                .wrongUsage,
                includesIssuers
                    ? "\(source) has no certificate of an authority, which --role issuer is about"
                    : "\(source) has only certificates of authorities; --role issuer pins those")
        }
        return try chosen.map { entry in
            Named(
                named: try NamedPin(entry.keyPin), isIssuer: entry.isIssuer, isBackup: entry.isBackup, source: source,
                entry: entry, neighbors: entries)
        }
    }
}
