package import Logging

/// Logs messages of policies, each only once.
package final class PolicyLog: Sendable {
    /// The log for everything that is made without one. Published calls have no parameter for a log, so a test sets its
    /// own log here.
    @TaskLocal package static var shared = PolicyLog(
        Logger(label: "holdfast.policies"), stores: Logger(label: "holdfast.store"))

    /// Writes nothing; for tools that evaluate policies for times in the future.
    package static let silent = PolicyLog(Logger(label: "holdfast.silent") { _ in SwiftLogNoOpLogHandler() })

    /// The maximum number of messages that are remembered; beyond that, messages may repeat.
    private static let maximumRemembered = 10_000

    private struct State {
        var said: Set<String> = []
        var hostOfBundle: [String: String] = [:]
    }

    /// The log of policies.
    package let logger: Logger
    /// The log of stores without a logger.
    package let storeLogger: Logger
    private let state = Lock(State())
    private let levelOfStores = Lock<Logger.Level?>(nil)

    package init(_ logger: Logger, stores storeLogger: Logger? = nil) {
        self.logger = logger
        var stores = storeLogger ?? logger
        stores.handler = AdjustableLogHandler(stores.handler, level: levelOfStores)
        self.storeLogger = stores
    }

    /// The minimum level that stores without their own logger write, including existing stores; nil for the level of
    /// the log to which they write.
    package var storeLevel: Logger.Level? {
        get { levelOfStores.withLock { $0 } }
        set { levelOfStores.withLock { $0 = newValue } }
    }

    func validationDisabled(for host: String) {
        guard isFirst("disabled \(host)") else { return }
        logger.warning("every server is trusted: validation is disabled for this host", metadata: ["host": "\(host)"])
    }

    func pinsExpired(for host: String, outcome: String) {
        guard isFirst("expired \(host)") else { return }
        logger.warning("the pins have expired", metadata: ["host": "\(host)", "outcome": "\(outcome)"])
    }

    func hostsWithoutBackup(_ hosts: [String]) {
        guard !hosts.isEmpty, isFirst("backup \(hosts)") else { return }
        logger.warning(
            "hosts of a pin file have no backup pin: losing their key locks every client out",
            metadata: ["hosts": "\(hosts.prefix(16).joined(separator: ", "))", "count": "\(hosts.count)"])
    }

    /// Logged at each use, because a debug override should never go unnoticed.
    func debugAnchorUsed(for host: String, anchor: String) {
        logger.warning(
            "trusted by a debug anchor, without a pin", metadata: ["host": "\(host)", "anchor": "\(anchor)"])
    }

    func issuerPinsDoNotCount(for host: String, certificates: [String]) {
        guard isFirst("issuer pins \(host)") else { return }
        logger.warning(
            "pinned issuers do not count, since the host is not checked",
            metadata: ["host": "\(host)", "certificates": "\(certificates.joined(separator: "; "))"])
    }

    /// Warns if a bundle pins a second host. Every certificate of a bundle is a pin of every policy that is made from
    /// it, which is rarely right for two hosts.
    package func bundle(_ path: String, pins host: String) {
        let other = state.withLock { state -> String? in
            if state.hostOfBundle.count >= Self.maximumRemembered { state.hostOfBundle = [:] }
            guard let first = state.hostOfBundle[path] else {
                state.hostOfBundle[path] = host
                return nil
            }
            return first == host ? nil : first
        }
        guard let other, isFirst("bundle \(path)") else { return }
        logger.notice(
            "two hosts share a bundle: every certificate in it pins both",
            metadata: ["bundle": "\(path)", "hosts": "\(other), \(host)"])
    }

    func fileWithoutCertificates(_ file: String) {
        logger.info("a PEM file without certificates was skipped", metadata: ["file": "\(file)"])
    }

    private func isFirst(_ message: String) -> Bool {
        state.withLock { state in
            if state.said.count >= Self.maximumRemembered { state.said = [] }
            return state.said.insert(message).inserted
        }
    }
}
