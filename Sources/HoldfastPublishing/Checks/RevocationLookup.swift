import Foundation
package import Holdfast
import Logging

/// The revocation lists of one check, and the places where they were looked up.
package struct RevocationLookup: Sendable {
    package let source: any RevocationSource
    private let store: RevocationStore?

    /// - Parameters:
    ///   - lists: the given lists.
    ///   - limit: the maximum time to fetch the lists of a host.
    ///   - provider: fetches the lists that certificates name, and makes their status mandatory; nil to fetch none.
    package init(
        lists: [CertificateRevocationList], within limit: Duration, fetchingWith provider: (any RemoteDataProvider)?
    ) throws(PublishingError) {
        guard let provider else {
            (source, store) = (lists.isEmpty ? Revocation.none : .crls(lists), nil)
            return
        }
        var configuration = RevocationConfiguration()
        configuration.lists = lists
        (configuration.unknownLeaf, configuration.unknownIssuer) = (.fails, .fails)
        (configuration.preparationTimeout, configuration.updateTimeout) = (limit, limit)
        configuration.maximumLists = 1_024
        configuration.remoteDataProvider = provider
        configuration.secureDataStore = InMemoryDataStore()
        do throws(StoreError) {
            let quiet = Logger(label: "holdfast.store") { _ in SwiftLogNoOpLogHandler() }
            let store = try RevocationStore(configuration: configuration, logger: quiet)
            (source, self.store) = (store, store)
        } catch {
            throw PublishingError(.invalidInput, expected: error.expected, found: error.found, remedy: error.remedy)
        }
    }

    /// The decision after the lists in the path of the first decision were fetched.
    package func decision(
        after first: TrustDecision, by policy: any TrustPolicy, _ validator: PathValidator
    ) async -> TrustDecision {
        guard let store, let chain = first.chain, first.isTrusted || Self.isOpen(first) else { return first }
        let trust = ServerTrust(chain: chain, purpose: .server(identity: first.host), validator: validator)
        trust.tell(first)
        // The report states which list could not be fetched.
        try? await store.prepare()
        return policy.decision(about: trust, at: first.time)
    }

    private static func isOpen(_ decision: TrustDecision) -> Bool {
        decision.failure?.code == .revocationUnknown
    }

    /// The lists of a chain that were looked up; nil if none were fetched.
    package func places(of chain: PresentedChain) -> [Place]? {
        store?.lists(namedBy: chain.certificates.compactMap { try? X509Certificate(der: $0) }).map(Place.init)
    }

    /// A list that was looked up. Its fields are those of the JSON object.
    package struct Place: Sendable, Encodable {
        package let url: String
        package let isUsable: Bool
        package let revokedCertificates: Int?
        package let thisUpdate: String?
        package let nextUpdate: String?
        package let error: String?

        init(_ status: RevocationListStatus) {
            url = status.url.absoluteString
            isUsable = status.isUsable
            revokedCertificates = status.list?.count
            thisUpdate = status.list?.thisUpdate.formatted(.iso8601)
            nextUpdate = status.list?.nextUpdate?.formatted(.iso8601)
            error =
                status.isUsable ? nil : status.lastUpdate?.error.map { "expected \($0.expected), found \($0.found)" }
        }

        /// One line for people.
        package var text: String {
            guard isUsable else { return "\(url): \(error ?? "no answer in time")" }
            let count = revokedCertificates ?? 0
            let until = nextUpdate.map { ", until \($0)" } ?? ""
            return "\(url): \(count) revoked certificate\(count == 1 ? "" : "s")\(until)"
        }
    }
}
