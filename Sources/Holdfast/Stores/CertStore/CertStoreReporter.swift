import Foundation
import Logging

/// Tells a ``CertStore``'s observers, and the log, what happens in it.
final class CertStoreReporter: Sendable {
    let observers = Subscribers<@Sendable (CertStore.Event) -> Void>()
    private let storeName: String
    private let logger: Logger
    /// Said once.
    private let hasWarnedOfReplay = Lock(false)

    init(storeName: String, logger: Logger) {
        self.storeName = storeName
        self.logger = logger
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
        let warningOfReplay = hasWarnedOfReplay.withLock { hasWarned in
            defer { if !content.isSignedAsAWhole { hasWarned = true } }
            return !content.isSignedAsAWhole && !hasWarned
        }
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
