package import ServerFoundation
import ServerModel
import ServerStore

/// A report by the holder of a token about hosts probed from one network, as JSON (`holdfast-sightings-v1`). It
/// contains the presented chains, and no evaluation of them.
package struct SightingsReport: Sendable {
    /// The chain presented by one address.
    package struct Shown: Sendable, Hashable {
        /// The address, with its port.
        let address: String
        /// The chain.
        let chain: CertificateChain
    }

    /// The time, in seconds since 1970.
    package let time: Int64
    /// The chains presented by each host, by `NAME:PORT`.
    package let hosts: [(label: String, shown: [Shown])]

    private static let name = "holdfast-sightings-v1"

    /// Reads a report.
    /// - Throws: ``ServerError`` `malformed` or `invalidValue`, with the field.
    package init(_ fields: inout JSONFields) throws(ServerError) {
        try fields.text("format", Self.name) { $0.elementsEqual(Self.name.utf8) ? () : nil }
        time = try fields.text("time", "a time such as 2026-11-24T12:00:00Z") { UTCText.decode($0) }
        hosts = try fields.array("hosts", atMost: 256) { value, place throws(ServerError) in
            var fields = try JSONFields(value, place)
            let label = try fields.text("host", "NAME:PORT") { Self.text($0) }
            let shown = try fields.array("shown", atMost: 64) { value, place throws(ServerError) in
                try Self.shown(value, place)
            }
            try fields.finish()
            return (label: label, shown: shown)
        }
        try fields.finish()
    }

    private static func shown(_ value: CanonicalJSON, _ place: String) throws(ServerError) -> Shown {
        var fields = try JSONFields(value, place)
        let address = try fields.text("address", "an address") { text($0) }
        let certificates = try fields.array("certificates", atMost: 16) { value, place throws(ServerError) in
            guard case .text(let text) = value, let der = Base64.decode(text) else {
                throw ServerError(
                    .invalidValue, of: place, expected: "the Base64 of a certificate in DER", found: "another value")
            }
            return der
        }
        try fields.finish()
        return Shown(address: address, chain: try CertificateChain(certificates))
    }

    private static func text(_ bytes: [UInt8]) -> String? {
        ASCIIText.isPrintable(bytes, 1...255) ? String(decoding: bytes, as: UTF8.self) : nil
    }
}

extension Catalog {
    /// Stores the report of a token's holder.
    /// - Parameters:
    ///   - report: the report, of the last hour.
    ///   - token: the name of the token, which becomes the name of the vantage.
    ///   - app: the app, which has all those hosts.
    ///   - actor: the token or person that reports it, for the audit.
    /// - Throws: ``ServerError`` `invalidValue`, `notFound`; nothing is stored then.
    package func take(
        _ report: SightingsReport, from token: String, of app: AppName, by actor: String
    ) async throws(ServerError) {
        guard Vantage.isName(token), !token.utf8.elementsEqual(Vantage.usual.utf8) else {
            throw ServerError(
                .invalidValue, of: "token",
                expected: "a name of letters, digits, periods, hyphens and underscores, other than \(Vantage.usual)",
                found: "\(token)", remedy: "Make a token with such a name: what it reports is shown with that.")
        }
        let now = try await now()
        guard (now - Vantage.lifetime...now + ClockGuard.tolerance).contains(report.time) else {
            throw ServerError(
                .invalidValue, of: "time", expected: "a time within the last hour",
                found: ClockGuard.text(report.time), remedy: "Look again, and report it at once.")
        }
        let known = try await hosts(of: app)
        var looks: [(host: CatalogHost, seen: [Observation])] = []
        for (label, shown) in report.hosts {
            guard let host = known.first(where: { $0.label.utf8.elementsEqual(label.utf8) }) else {
                throw ServerError(.notFound, of: "hosts", expected: "hosts of \(app), as NAME:PORT", found: label)
            }
            let time = min(now, report.time)
            let seen = shown.map { shown in
                Observation(
                    vantage: token, address: shown.address, chain: shown.chain, firstSeen: time, lastSeen: time)
            }
            looks.append((host, seen))
        }
        let accepted = try await acceptedChains(looks.map { ($0.host, $0.seen.compactMap(\.chain)) }, of: app)
        try await note(looks, accepting: accepted, from: token, of: app, by: actor)
    }
}
