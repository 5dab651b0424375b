import Foundation
import Logging

/// Tells a ``CertStore``'s observers, and the log, what happens in it.
final class CertStoreReporter: Sendable {
    let observers = Subscribers<@Sendable (CertStoreEvent) -> Void>()
    private let clock: any WallClock
    private let storeName: String
    private let logger = Logger(label: "holdfast.store")
    /// Said once.
    private let hasWarnedOfReplay = Lock(false)

    init(clock: any WallClock, storeName: String) {
        self.clock = clock
        self.storeName = storeName
    }

    func tell(_ event: CertStoreEvent) {
        for observer in observers.all { observer(event) }
    }

    func passOn(_ event: DocumentStoreEvent<StoreContent>) {
        switch event {
        case .updateStarted(let kind): tell(.updateStarted(kind))
        case .updateFinished(let report): tell(.updateFinished(report))
        case .replaced(let content): say(about: content)
        case .reset: tell(.reset)
        }
    }

    private func say(about content: StoreContent) {
        let now = clock.now
        let warningOfReplay = hasWarnedOfReplay.withLock { hasWarned in
            defer { if !content.isSignedAsAWhole { hasWarned = true } }
            return !content.isSignedAsAWhole && !hasWarned
        }
        tell(.pinsReplaced(entries: content.table.count))
        if let issued = content.issuedAt, issued > now {
            tell(.issuedAheadOfClock(issued.timeIntervalSince(now)))
            logger.warning(
                "a pin document was issued after what the clock says; its time counts from now on",
                metadata: ["store": "\(storeName)", "seconds": "\(issued.timeIntervalSince(now))"])
        }
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
