public import Foundation
import Holdfast
import Synchronization

/// Where the public listener of this process answers, for clients that run in it: they take the way that apps take.
public final class SelfCheckListener: Sendable {
    /// How it is asked.
    struct Way: Sendable {
        /// The address below which it answers.
        let url: URL
        /// What knows its certificate, or that it is this machine; nil for plain HTTP on loopback, which any client can ask.
        let reader: (any RemoteDataProvider)?
    }

    private let held = Mutex<Way?>(nil)
    private let begun: AsyncStream<Void>
    private let beginning: AsyncStream<Void>.Continuation

    /// Nobody listens yet.
    public init() { (begun, beginning) = AsyncStream.makeStream() }

    /// How it is asked; nil before it listens, and where clients of this process cannot ask it.
    var way: Way? { held.withLock { $0 } }

    /// The address below which it answers; nil before it listens, and where clients of this process cannot ask it.
    public var url: URL? { way?.url }

    /// Notes where it listens. One that speaks TLS is asked at any address, since only whoever has its key answers. Plain
    /// HTTP, as proxies get it, is asked at any address of this machine, and leaves it for nobody. The listener takes
    /// clients of this process for what they are, clients at its own address: only proxies forward another.
    /// - Parameters:
    ///   - host: the address of the socket; nil for one that is not known.
    ///   - port: its port.
    ///   - leaf: DER of the certificate that it shows now; nil for one that speaks plain HTTP.
    public func listens(on host: String?, port: Int, showing leaf: (@Sendable () -> [UInt8])? = nil) {
        let place: String? =
            switch host {
            case "0.0.0.0"?: "127.0.0.1"
            case "::"?, "::1"?: "[::1]"
            // Such an address means something on one interface only, which nobody has said.
            case let host? where host.utf8.starts(with: "fe80:".utf8): nil
            case let host?: host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
            case nil: nil
            }
        let scheme = leaf == nil ? "http" : "https"
        let url = place.flatMap { URL(string: "\(scheme)://\($0):\(port)") }
        let isLoopback = place.map { $0.utf8.starts(with: "127.".utf8) || $0 == "[::1]" } ?? true
        let reader: (any RemoteDataProvider)? =
            if let leaf { LeafDataProvider(leaf: leaf) } else if isLoopback { nil } else { OwnAddressProvider() }
        held.withLock { $0 = url.map { Way(url: $0, reader: reader) } }
        beginning.finish()
    }

    /// Waits until it listens, or until the task is canceled.
    func begins() async {
        for await _ in begun {}
    }
}
