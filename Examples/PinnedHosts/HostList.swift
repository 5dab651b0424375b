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
    /// Why policies are missing; nil if none are.
    let problem: String?
    private let delegate: PinnedSessionDelegate
    private let session: URLSession

    init() {
        let manager = TrustManager()
        // The last one has no policy, and is rejected for that.
        entries = ["www.example.com", "www.swift.org", "www.apple.com"].map { Entry(host: $0) }
        var problem: String?
        do {
            try Self.addPolicies(to: manager)
        } catch {
            // A manager without policies rejects every host, and the view says why.
            problem = "\(error)"
        }
        self.problem = problem
        delegate = PinnedSessionDelegate(manager: manager)
        session = URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: nil)
    }

    private static func addPolicies(to manager: TrustManager) throws {
        // Replace both pins: the first with what `holdfastctl pin www.example.com` prints, the second with what
        // `holdfastctl pin backup.pem` prints for a backup key that you keep offline. Without a backup, every client is
        // locked out when the server's key is lost. These two are nobody's keys, so that the host is rejected.
        let pins = try PinSet(pins: [
            Pin("sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="),
            Pin("sha256/AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE="),
        ])
        manager.add(policy: try PinnedPolicy(host: HostPattern("www.example.com"), pins: pins))
        manager.add(policy: StandardPolicy(host: try HostPattern("www.swift.org")))
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
