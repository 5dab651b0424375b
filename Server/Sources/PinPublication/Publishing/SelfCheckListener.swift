package import Foundation
package import Holdfast
import HostMonitoring
import Synchronization

/// The public listener of this process, for clients that run in it. They query it in the same way as apps.
package final class SelfCheckListener: Sendable {
    /// The way to query the listener.
    package struct Way: Sendable {
        /// The address below which it answers.
        package let url: URL
        /// Verifies its certificate, or that it is this machine; nil for plain HTTP on loopback, which any client can
        /// query.
        package let reader: (any RemoteDataProvider)?
    }

    private let held = Mutex<Way?>(nil)
    private let begun: AsyncStream<Void>
    private let beginning: AsyncStream<Void>.Continuation

    /// Creates a value for a listener that does not listen yet.
    package init() { (begun, beginning) = AsyncStream.makeStream() }

    /// The way to query the listener; nil before it listens, and if clients of this process cannot query it.
    package var way: Way? { held.withLock { $0 } }

    /// The address below which it answers; nil before it listens, and if clients of this process cannot query it.
    package var url: URL? { way?.url }

    /// Sets the address of the listener. With TLS it is queried at any address, because only the holder of its key can
    /// answer. With plain HTTP, as behind proxies, it is queried at any address of this machine, and requests do not
    /// leave the machine. The listener sees clients of this process as clients at its own address: only proxies forward
    /// another one.
    /// - Parameters:
    ///   - host: the address of the socket; nil if unknown.
    ///   - port: its port.
    ///   - leaf: DER of the certificate that it presents now; nil for plain HTTP.
    package func listens(on host: String?, port: Int, showing leaf: (@Sendable () -> [UInt8])? = nil) {
        let place: String? =
            switch host {
            case "0.0.0.0"?: "127.0.0.1"
            case "::"?, "::1"?: "[::1]"
            // A link-local address is valid on one interface only, which is unknown here.
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
    package func begins() async {
        for await _ in begun {}
    }
}
