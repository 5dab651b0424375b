public import Foundation
import Synchronization

/// Where the public listener of this process answers, for clients that run in it: they take the way that apps take.
public final class OwnListener: Sendable {
    private let held = Mutex<URL?>(nil)

    /// Nobody listens yet.
    public init() {}

    /// The address below which it answers; nil before it listens, and where clients of this process cannot ask it.
    public var url: URL? { held.withLock { $0 } }

    /// Notes where it listens. An address beyond loopback is not asked: plain HTTP leaves this machine for nobody, and no
    /// certificate is for the address of a socket.
    /// - Parameters:
    ///   - host: the address of the socket; nil for one that speaks TLS.
    ///   - port: its port.
    public func listens(on host: String?, port: Int) {
        let place: String? =
            switch host {
            case "0.0.0.0"?: "127.0.0.1"
            case "::"?, "::1"?: "[::1]"
            case let host? where host.utf8.starts(with: "127.".utf8): host
            default: nil
            }
        held.withLock { $0 = place.flatMap { URL(string: "http://\($0):\(port)") } }
    }
}
