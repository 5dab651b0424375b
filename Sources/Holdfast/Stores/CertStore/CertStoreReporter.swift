import Foundation
import Logging

/// Tells a ``CertStore``'s observers, and the log, what happens in it.
final class CertStoreReporter: Sendable {
    let observers = Subscribers<@Sendable (CertStore.Event) -> Void>()
    private let storeName: String
    private let logger: Logger
    /// Where the document comes from; nil for a URL without a host, with which no update succeeds.
    private let service: DialledHost?
    /// Said once.
    private let hasWarnedOfReplay = Lock(false)
    private let hasWarnedOfHost = Lock(false)

    init(_ configuration: CertStoreConfiguration, logger: Logger) {
        storeName = configuration.instanceIdentifier
        service = try? DialledHost(url: configuration.serviceURL)
        self.logger = logger
    }

    /// The document is downloaded without its own pins. A connection, or a TLS session, of that download which somebody in
    /// the middle holds may be used again for the host, and nobody is asked about it then.
    func note(_ host: HostPattern) {
        guard let service, host.matches(service), hasWarnedOfHost.withLock({ $0.setFirst() }) else { return }
        logger.notice(
            "the document is downloaded from a host that it pins: serve it from another domain",
            metadata: ["store": "\(storeName)", "host": "\(service.name)"])
    }

    func tell(_ event: CertStore.Event) {
        for observer in observers.all { observer(event) }
    }

    func passOn(_ event: DocumentStoreEvent<StoreContent>) {
        switch event {
        case .updateStarted(let kind): tell(.updateStarted(kind))
        case .updateFinished(let report): tell(.updateFinished(report))
        case .replaced(let content): say(about: content)
        case .issuedAhead(let seconds): tell(.issuedAheadOfClock(seconds))
        case .reset: tell(.reset)
        case .loaded: break
        }
    }

    private func say(about content: StoreContent) {
        let warningOfReplay = !content.isSignedAsAWhole && hasWarnedOfReplay.withLock { $0.setFirst() }
        tell(.pinsReplaced(entries: content.table.count))
        if content.hasUnsignedDomains {
            tell(.unsignedDomainsConfigurationIgnored)
            logger.warning(
                "domainsConfig of a static list is not signed and not followed", metadata: ["store": "\(storeName)"])
        }
        if warningOfReplay {
            logger.notice(
                "a static list does not protect against older entries that have not expired; a challenge does",
                metadata: ["store": "\(storeName)"])
        }
    }
}

extension Bool {
    /// Makes it true.
    /// - Returns: whether it was not.
    fileprivate mutating func setFirst() -> Bool {
        defer { self = true }
        return !self
    }
}
