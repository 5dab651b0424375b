import AsyncHTTPClient
import Foundation
import Holdfast
import HoldfastAsyncHTTPClient
import NIOCore

/// Fetches a URL with AsyncHTTPClient, from a server with one of two pinned keys and from no other.
@main
struct PinnedFetch {
    static func main() async {
        let arguments = CommandLine.arguments.dropFirst()
        guard arguments.count == 3, let url = arguments.first else {
            print("usage: PinnedFetch URL PIN BACKUP-PIN    (holdfastctl pin HOST prints pins)")
            exit(2)
        }
        do {
            let manager = try manager(for: url, pin: arguments[2], backup: arguments[3])
            print(try await fetch(url, manager: manager, anchors: .system()))
        } catch {
            // A TrustFailure says what was expected, what the server presented, and what to do.
            print(error)
            exit(1)
        }
    }

    /// One policy, for the host of the URL: its chain validates, and one of the two keys is in it.
    static func manager(for url: String, pin: String, backup: String) throws -> TrustManager {
        guard let url = URL(string: url) else { throw URLError(.badURL) }
        let host = HostPattern(try DialedHost(url: url))
        let pins = try PinSet(pins: [Pin(pin)], backups: [Pin(backup)])
        return TrustManager(policies: [try PinnedPolicy(host: host, pins: pins)])
    }

    /// The body of the response.
    /// - Throws: the `TrustFailure` of a server that is refused. No byte of the request is sent to such a server.
    static func fetch(_ url: String, manager: TrustManager, anchors: TrustAnchors) async throws -> String {
        let validator = PathValidator(anchors: anchors, cache: VerifiedPathCache())
        let client = try PinnedHTTPClient(manager: manager, validator: validator)
        do {
            let response = try await client.execute(HTTPClientRequest(url: url), timeout: .seconds(30))
            let body = try await response.body.collect(upTo: 1_048_576)
            try await client.shutdown()
            return String(buffer: body)
        } catch {
            try? await client.shutdown()
            throw error
        }
    }
}
