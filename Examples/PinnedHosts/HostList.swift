import Foundation
import Holdfast
import Observation

/// The hosts, and what came of the last connection to each.
@MainActor
@Observable
final class HostList {
    struct Entry: Identifiable {
        enum Verdict {
            case unknown
            case trusted
            case rejected(String)
            case unreachable(String)
        }

        let host: String
        var verdict = Verdict.unknown

        var id: String { host }

        var symbol: String {
            switch verdict {
            case .unknown: "questionmark.circle"
            case .trusted: "checkmark.shield"
            case .rejected: "xmark.shield"
            case .unreachable: "wifi.exclamationmark"
            }
        }

        var explanation: String? {
            switch verdict {
            case .unknown, .trusted: nil
            case .rejected(let reason), .unreachable(let reason): reason
            }
        }
    }

    private(set) var entries: [Entry]
    private let delegate: PinnedSessionDelegate
    private let session: URLSession

    init() {
        let manager = TrustManager()
        // The keys of `holdfastctl pin host www.example.com` come here; this one is nobody's, so that it is rejected.
        let pins = ["sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="]
        if let host = try? HostPattern("www.example.com"), let set = try? PinSet(pins: pins.map { try Pin($0) }),
            let policy = try? PinnedPolicy(host: host, pins: set)
        {
            manager.add(policy: policy)
        }
        if let host = try? HostPattern("www.swift.org") { manager.add(policy: StandardPolicy(host: host)) }
        delegate = PinnedSessionDelegate(manager: manager)
        session = URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: nil)
        // The last one has no policy, and is rejected for that.
        entries = ["www.example.com", "www.swift.org", "www.apple.com"].map { Entry(host: $0) }
    }

    /// Connects to each host, and shows why a connection was rejected.
    func connect() async {
        for position in entries.indices {
            entries[position].verdict = await verdict(of: entries[position].host)
        }
    }

    private func verdict(of host: String) async -> Entry.Verdict {
        guard let url = URL(string: "https://\(host)/") else { return .unreachable("not a host") }
        do {
            _ = try await session.data(from: url)
            return .trusted
        } catch {
            if let failure = delegate.failure(forHost: host) { return .rejected(failure.description) }
            return .unreachable(error.localizedDescription)
        }
    }
}
