import Logging

/// What policies write to the log, each thing once.
final class PolicyLog: Sendable {
    static let shared = PolicyLog(Logger(label: "holdfast.policies"))

    /// What is remembered as said; past it everything may be said again.
    private static let maximumRemembered = 10_000

    private struct State {
        var said: Set<String> = []
        var hostOfBundle: [String: String] = [:]
    }

    let logger: Logger
    private let state = Lock(State())

    init(_ logger: Logger) {
        self.logger = logger
    }

    func validationDisabled(for host: String) {
        guard isFirst("disabled \(host)") else { return }
        logger.warning("every server is trusted: validation is disabled for this host", metadata: ["host": "\(host)"])
    }

    func pinsExpired(for host: String, outcome: String) {
        guard isFirst("expired \(host)") else { return }
        logger.warning("the pins have expired", metadata: ["host": "\(host)", "outcome": "\(outcome)"])
    }

    func issuerPinsDoNotCount(for host: String, certificates: [String]) {
        guard isFirst("issuer pins \(host)") else { return }
        logger.warning(
            "pinned issuers do not count, since the host is not checked",
            metadata: ["host": "\(host)", "certificates": "\(certificates.joined(separator: "; "))"])
    }

    /// Every certificate of a bundle pins every policy that is made from it, which two hosts rarely want.
    func bundle(_ path: String, pins host: String) {
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
