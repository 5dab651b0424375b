import Foundation
import Holdfast
import Logging

/// The revocation lists of one run of `check`, and where it looked for them.
struct RevocationLookup: Sendable {
    let source: any RevocationSource
    private let store: RevocationStore?

    /// - Parameters:
    ///   - lists: the lists that were given.
    ///   - fetches: whether the lists that certificates name are fetched. If so, the status of every certificate must
    ///     be known.
    ///   - limit: how long fetching the lists of a host may take.
    init(
        lists: [CertificateRevocationList], fetches: Bool, within limit: Duration,
        provider: any RemoteDataProvider = RevocationListProvider()
    ) throws(CommandFailure) {
        guard fetches else {
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
            throw CommandFailure(.wrongUsage, "\(error)")
        }
    }

    /// The decision after the lists were fetched that the path of the first decision named.
    func decision(
        after first: TrustDecision, by policy: any TrustPolicy, _ validator: PathValidator
    ) async -> TrustDecision {
        guard let store, let chain = first.chain, first.isTrusted || Self.isOpen(first) else { return first }
        // The report says which list could not be fetched.
        try? await store.prepare()
        let trust = ServerTrust(chain: chain, purpose: .server(identity: first.host), validator: validator)
        return policy.evaluate(trust, at: first.time)
    }

    private static func isOpen(_ decision: TrustDecision) -> Bool {
        decision.failure?.code == .revocationUnknown
    }

    /// Where the lists of a chain were looked for; nil if none were fetched.
    func places(of chain: PresentedChain) -> [Place]? {
        store?.lists(namedBy: chain.certificates.compactMap { try? X509Certificate(der: $0) }).map(Place.init)
    }

    /// A list that was looked for. Its fields are those of the JSON object.
    struct Place: Encodable {
        let url: String
        let isUsable: Bool
        let revokedCertificates: Int?
        let thisUpdate: String?
        let nextUpdate: String?
        let error: String?

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
        var text: String {
            guard isUsable else { return "\(url): \(error ?? "no answer in time")" }
            let count = revokedCertificates ?? 0
            let until = nextUpdate.map { ", until \($0)" } ?? ""
            return "\(url): \(count) revoked certificate\(count == 1 ? "" : "s")\(until)"
        }
    }
}
