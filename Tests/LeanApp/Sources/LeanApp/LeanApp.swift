import Holdfast

/// An app that pins one host, linked as such an app links Holdfast.
@main
enum LeanApp {
    static func main() async throws {
        guard let pin = CommandLine.arguments.dropFirst().first else {
            print("usage: LeanApp sha256/…")
            return
        }
        let host = try DialedHost("api.example.com")
        let policy = try PinnedPolicy(host: HostPattern(host), pins: PinSet(pins: [Pin(pin)]))
        let manager = TrustManager(policies: [policy])
        let trust = ServerTrust(certificates: [], host: host, anchors: try await TrustAnchors.system())
        print(manager.evaluate(trust).failure?.description ?? "trusted")
    }
}
